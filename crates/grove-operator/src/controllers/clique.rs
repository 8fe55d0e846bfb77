//! PodCliques: their pods.

use futures::{StreamExt, stream};
use grove_api::{
    constants::{events::pod_clique as reasons, labels},
    names,
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    facts::{PodFact, Refusal, Tally},
    gang::is_initialized,
    layout::{self, Place, count},
    objects::{self, Start},
    pods::{self, PodPlan, Want, Why},
};
use grove_runtime::{EventKind, Outcome, WriteError};
use k8s_openapi::api::core::v1::Pod;
use tracing::{info, warn};

use super::{Grove, IN_FLIGHT, set::group_named, start_order::parents_of, uid};
use crate::{
    error::Error,
    key::Key,
    seen::{PodView, controller_uid, label},
};

impl Grove {
    pub(crate) async fn reconcile_clique(&self, key: Key) -> Result<Outcome, Error> {
        let Some(clique) = self.seen.cliques.cache.get(&key.namespace, &key.name) else {
            return Ok(Outcome::Done);
        };
        if clique.metadata.deletion_timestamp.is_some() {
            return self.delete_clique(&clique).await;
        }
        // Orphans keep their pods as they are.
        let Some(set) = self.seen.set_of(&clique.metadata) else { return Ok(Outcome::Done) };
        if set.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done);
        }
        if let Some(wait) = self.memory.ending_for(&key.namespace) {
            return Ok(Outcome::After(wait));
        }
        // Where it belongs is mended first.
        let Some(parents) = parents_of(&set, &clique) else { return Ok(Outcome::Done) };
        // Pods that may start do so, also where others cannot be created.
        let (may_start, told) = self.release(&set, &clique, &parents).await;
        let start = Start { image: &self.init_image, parents: &parents, may_start };
        let outcome = self.see_to_pods(&key, &set, &clique, start).await?;
        told?;
        Ok(outcome)
    }

    /// Creates and deletes pods, until there are as many as there should be.
    async fn see_to_pods(
        &self,
        key: &Key,
        set: &PodCliqueSet,
        clique: &PodClique,
        start: Start<'_>,
    ) -> Result<Outcome, Error> {
        let id = uid(clique);
        let pods = self.seen.pods_of(id);
        let facts: Vec<&PodFact> = pods.iter().map(|it| &it.fact).collect();
        let (refused, failed) = (self.memory.refused_for(id), self.memory.failed_for(id));
        let allowed = self.allowed(set, clique);
        let want = Want {
            replicas: clique.spec.replicas.map_or(0, count),
            hash: label(&clique.metadata, labels::POD_TEMPLATE_HASH).unwrap_or_default(),
            may_complete: may_complete(clique),
            keep_ended: failed.is_some(),
            at_most: if refused.is_some() { 0 } else { allowed },
        };
        let plan = pods::plan(want, &facts);
        if plan.delete.iter().any(|it| it.why == Why::Ended) {
            self.memory.replaced(id);
        }
        if plan == PodPlan::default() {
            self.settle(clique, allowed);
            return Ok(earliest(refused, failed));
        }
        info!(clique = ?key, create = plan.create.len(), delete = plan.delete.len(), "changing pods");
        self.delete_pods(clique, &plan).await?;
        match self.create_pods(set, clique, &plan.create, start).await {
            Ok(()) => {
                if !plan.create.is_empty() && self.memory.admitted(id) {
                    self.wake_reports_of_clique(clique);
                }
                self.wake_gang_of(clique);
                self.settle(clique, allowed);
                Ok(earliest(refused, failed))
            }
            Err(error) if error.is_refusal() => {
                if error.is_namespace_terminating() {
                    self.memory.namespace_ends(&key.namespace);
                }
                Ok(Outcome::After(self.refused(clique, &error)))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// How many pods there may be: none before the gang, and the minimum while other cliques of the gang lack theirs.
    fn allowed(&self, set: &PodCliqueSet, clique: &PodClique) -> u32 {
        let replicas = clique.spec.replicas.map_or(0, count);
        let minimum = clique.spec.min_available.map_or(replicas, count);
        match (self.has_gang(set, clique), replicas <= minimum || self.others_have_minimum(set, clique)) {
            (false, _) => 0,
            (true, true) => replicas,
            (true, false) => minimum,
        }
    }

    /// Whether every other clique of the gang has its minimum, or had it.
    fn others_have_minimum(&self, set: &PodCliqueSet, clique: &PodClique) -> bool {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        if self.seen.gangs.cache.get(namespace, gang).is_some_and(|it| is_initialized(&it)) {
            return true;
        }
        let Some(place) = gang_place(set, clique) else { return true };
        let Some(wanted) = layout::cliques_of(set, place) else { return true };
        wanted.iter().filter(|it| Some(it.name.as_str()) != clique.metadata.name.as_deref()).all(|other| {
            let Some(object) = self.seen.cliques.cache.get(namespace, &other.name) else { return false };
            let pods = self.seen.pods_of(uid(object.as_ref()));
            Tally::of(pods.iter().map(|it| &it.fact), "").live >= layout::clique_minimum(other.template)
        })
    }

    fn has_gang(&self, set: &PodCliqueSet, clique: &PodClique) -> bool {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        self.seen.gangs.cache.get(namespace, gang).is_some_and(|gang| {
            gang.metadata.deletion_timestamp.is_none()
                && controller_uid(&gang.metadata) == set.metadata.uid.as_deref()
        })
    }

    /// Notes that everything this generation asks for was done: as many pods are there as there may be.
    fn settle(&self, clique: &PodClique, allowed: u32) {
        let id = uid(clique);
        let live = self.seen.pods_of(id).iter().filter(|it| it.fact.is_live()).count();
        let is_done = allowed > 0 || clique.spec.replicas == Some(0);
        if is_done && live >= allowed as usize && self.memory.acted_on(id, clique.metadata.generation) {
            self.wake_status_of(clique);
        }
    }

    async fn delete_pods(&self, clique: &PodClique, plan: &PodPlan) -> Result<(), Error> {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let mut deletions = stream::iter(plan.delete.clone())
            .map(|victim| async move {
                let result = self.delete(&self.seen.pods, namespace, &victim.name, &victim.uid).await;
                (victim.name, result)
            })
            .buffer_unordered(IN_FLIGHT);
        let mut names = Vec::new();
        let mut failed = None;
        while let Some((name, result)) = deletions.next().await {
            match result {
                Ok(()) => names.push(name),
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if let Some(note) = words("deleted", &names) {
            self.tell(clique, EventKind::Normal, reasons::POD_DELETED, "DeletePod", note);
        }
        if let Some(error) = failed {
            self.tell(clique, EventKind::Warning, reasons::POD_DELETE_FAILED, "DeletePod", error.to_string());
            return Err(error.into());
        }
        Ok(())
    }

    /// Creates pods in batches of 1, 2, 4, …: a server that refuses them is asked once, not a thousand times.
    async fn create_pods(
        &self,
        set: &PodCliqueSet,
        clique: &PodClique,
        indices: &[u32],
        start: Start<'_>,
    ) -> Result<(), WriteError> {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let name = set.metadata.name.as_deref().unwrap_or_default();
        let mut rest = indices;
        let mut size = 1;
        let mut created = Vec::new();
        let mut failed = None;
        while !rest.is_empty() && failed.is_none() {
            let (now, later) = rest.split_at(size.min(rest.len()));
            let made = |index: &u32| objects::pod(name, clique, *index, start, &self.schedulers);
            let pods: Vec<Pod> = now.iter().filter_map(made).collect();
            let mut answers = stream::iter(pods)
                .map(|pod| async move { self.writer.create::<PodView>(namespace, &pod).await })
                .buffer_unordered(IN_FLIGHT);
            while let Some(answer) = answers.next().await {
                match answer {
                    Ok(pod) => created.push(self.seen.pods.written(pod).fact.name.clone()),
                    Err(error) => {
                        failed.get_or_insert(error);
                    }
                }
            }
            rest = later;
            size = size.saturating_mul(2).min(IN_FLIGHT * 8);
        }
        let created: Vec<&str> = created.iter().map(String::as_str).collect();
        if let Some(note) = words("created", &created) {
            self.tell(clique, EventKind::Normal, reasons::POD_CREATED, "CreatePod", note);
        }
        failed.map_or(Ok(()), Err)
    }

    /// Remembers the server's words, so that conditions say them, and how long to leave it in peace.
    fn refused(&self, clique: &PodClique, error: &WriteError) -> std::time::Duration {
        let prefix = names::pod_prefix(clique.metadata.name.as_deref().unwrap_or_default());
        let message = without_suffix(&error.message(), &prefix);
        let refusal = Refusal { message: message.clone(), since: self.now() };
        let (pause, is_new) = self.memory.refused(uid(clique), refusal);
        if is_new {
            warn!(clique = ?Key::of(clique), reason = message, "the API server refuses pods");
            self.tell(clique, EventKind::Warning, reasons::POD_CREATE_FAILED, "CreatePod", message);
            self.wake_reports_of_clique(clique);
            self.wake_gang_of(clique);
        }
        pause
    }
}

/// Whether a pod that ended with success has done its work.
pub(super) fn may_complete(clique: &PodClique) -> bool {
    clique.spec.pod_spec.restart_policy.as_deref().is_some_and(|it| it != "Always")
}

/// Where the gang of a clique is in its set.
pub(super) fn gang_place<'a>(set: &'a PodCliqueSet, clique: &PodClique) -> Option<Place<'a>> {
    use grove_plan::facts::index_label;
    let labels = clique.metadata.labels.as_ref();
    let replica = index_label(labels, labels::SET_REPLICA_INDEX)?;
    if label(&clique.metadata, labels::BASE_POD_GANG).is_none() {
        return Some(Place::Base { replica });
    }
    let group = group_named(set, replica, label(&clique.metadata, labels::SCALING_GROUP)?)?;
    let group_replica = index_label(labels, labels::SCALING_GROUP_REPLICA_INDEX)?;
    Some(Place::Scaled { replica, group: &group.name, group_replica })
}

/// The server names the pod it refuses, by a name that it made up just then. Without that, the same refusal has the same
/// words.
fn without_suffix(message: &str, prefix: &str) -> String {
    const SUFFIX: usize = 5;
    let mut text = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find(prefix) {
        let (before, after) = rest.split_at(at + prefix.len());
        text.push_str(before);
        let suffix = after.bytes().take(SUFFIX).take_while(u8::is_ascii_alphanumeric).count();
        rest = if suffix == SUFFIX {
            text.push('*');
            &after[SUFFIX..]
        } else {
            after
        };
    }
    text + rest
}

/// `created web-0-model-x7k2p`, or `created 12 pods (…)`.
fn words(verb: &str, names: &[&str]) -> Option<String> {
    const SHOWN: usize = 3;
    match names {
        [] => None,
        names if names.len() <= SHOWN => Some(format!("{verb} {}", names.join(", "))),
        names => Some(format!("{verb} {} pods ({}, …)", names.len(), names[..SHOWN].join(", "))),
    }
}

fn earliest(one: Option<std::time::Duration>, other: Option<std::time::Duration>) -> Outcome {
    one.into_iter().chain(other).min().map_or(Outcome::Done, Outcome::After)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_up_names_are_cut() {
        let message = r#"pods "web-0-a-x7k2p" is forbidden: exceeded quota: q, requested: pods=1"#;
        assert_eq!(
            without_suffix(message, "web-0-a-"),
            r#"pods "web-0-a-*" is forbidden: exceeded quota: q, requested: pods=1"#
        );
        assert_eq!(without_suffix("web-0-a-é and web-0-a-", "web-0-a-"), "web-0-a-é and web-0-a-");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(words("created", &[]), None);
        assert_eq!(words("created", &["a", "b"]).unwrap(), "created a, b");
        assert_eq!(words("created", &["a", "b", "c", "d"]).unwrap(), "created 4 pods (a, b, c, …)");
    }
}
