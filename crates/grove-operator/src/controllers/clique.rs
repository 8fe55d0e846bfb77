//! PodCliques: their pods.

use std::time::Duration;

use futures::StreamExt;
use grove_api::{
    constants::{events::pod_clique as reasons, labels},
    names,
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    facts::{PodFact, Refusal, index_label, template_hash},
    layout::{self, Place, count, group_named},
    objects::Start,
    pods::{self, Outdated, PodPlan, Victim, Want, Why},
    rollout,
};
use grove_runtime::{EventKind, Outcome};
use kube::Resource;
use tracing::{info, warn};

use super::{
    Grove, IN_FLIGHT, SOON,
    dry_run::MayReplace,
    pod_creation::{Created, NotCreated},
    restart_policy::EndedPods,
    sooner,
    start_order::parents_of,
    uid,
};
use crate::{backends::Operation, error::Error, key::Key, memory::Purpose, seen::label};

/// How long a PodClique waits for pods that are being created.
const BUSY: Duration = Duration::from_secs(1);

impl Grove {
    pub(crate) async fn reconcile_clique(&self, key: Key) -> Result<Outcome, Error> {
        let Some(clique) = self.seen.cliques.cache.get(&key.namespace, &key.name) else {
            return self.delete_undecodable_clique(&key).await;
        };
        if clique.metadata.deletion_timestamp.is_some() {
            return self.delete_clique(clique.as_ref()).await;
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
        let stuck = self.remove_stuck(&clique).await;
        let outcome = self.see_to_pods(&key, &set, &clique, start).await?;
        told?;
        Ok(sooner(outcome, stuck?))
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
        // A reconcile before this one ended at its deadline, and pods that it asked for are about to be there.
        if self.writes.is_busy(id) {
            return Ok(Outcome::After(BUSY));
        }
        self.list_uncertain(clique).await?;
        let pods = self.seen.pods_of(clique);
        let facts: Vec<&PodFact> = pods.iter().map(|it| &it.fact).collect();
        let refused = self.memory.refused_for(id);
        let EndedPods { ended, wait: failed } = self.ended_pods(set, clique, &facts).await?;
        let allowed = self.allowed(set, clique);
        // Whatever is made or replaced of the template that it still has would be old at once.
        let waits = self.awaits_template(set, clique);
        let lost = self.with_losses(clique, &pods, |it| it.gone()).unwrap_or_default();
        self.read_nodes(&lost.unconfirmed, Purpose::Lost);
        let limit = self.quota_limit(clique, allowed);
        if limit < allowed {
            self.queues.quotas.add(key.namespace.clone());
        }
        let existing = facts.iter().filter(|it| !it.terminating).count();
        let can_replace = !waits && pods::can_recreate(allowed, limit, existing);
        let want = Want {
            replicas: clique.spec.replicas.map_or(0, count),
            minimum: layout::spec_minimum(&clique.spec),
            outdated: if can_replace { outdated_pods(set, clique) } else { Outdated::Stay },
            core: self.core_of(set, clique),
            hash: template_hash(&clique.metadata),
            may_complete: pods::may_complete(clique),
            ended,
            at_most: if refused.is_some() || waits { 0 } else { limit },
            restart_before: clique.status.as_ref().and_then(|it| it.restart.as_ref()).map(|it| it.before.0),
            lost: &lost.uids,
        };
        let mut plan = pods::plan(want, &facts);
        let mut blocked = None;
        if plan.delete.iter().any(|it| it.why == Why::Outdated) {
            match self.may_replace(set, clique).await {
                MayReplace::Yes => {}
                MayReplace::Asked => return Ok(Outcome::Again),
                MayReplace::No(retry) => {
                    plan = pods::plan(Want { outdated: Outdated::Stay, ..want }, &facts);
                    blocked = Some(retry);
                }
            }
        }
        if plan.delete.iter().any(|it| it.why == Why::Ended) {
            self.memory.replaced(id);
        }
        if plan == PodPlan::default() {
            self.settle(clique, allowed);
            return Ok(sooner(earliest(refused, failed), blocked));
        }
        info!(clique = ?key, create = plan.create.len(), delete = plan.delete.len(), "changing pods");
        self.delete_victims(clique, &plan.delete).await?;
        // It may have got another template meanwhile, which has woken us.
        let now = self.seen.cliques.cache.get(&key.namespace, &key.name);
        if now.is_none_or(|it| template_hash(&it.metadata) != template_hash(&clique.metadata)) {
            return Ok(Outcome::Again);
        }
        match self.create_pods(set, clique, &plan.create, start).await {
            Ok(Created::Some) => {
                self.wake_gang_of(clique);
                Ok(Outcome::After(SOON))
            }
            Ok(Created::All) => {
                if !plan.create.is_empty() && self.memory.admitted(id) {
                    self.wake_reports_of_clique(clique);
                }
                self.wake_gang_of(clique);
                self.settle(clique, allowed);
                Ok(sooner(earliest(refused, failed), blocked))
            }
            Err(NotCreated::Unprepared(words)) => Ok(Outcome::After(self.unprepared(clique, words))),
            Err(NotCreated::Write(error)) if error.is_refusal() => {
                if error.is_namespace_terminating() {
                    self.memory.namespace_ends(&key.namespace);
                }
                let prefix = names::pod_prefix(clique.metadata.name.as_deref().unwrap_or_default());
                let words = without_suffix(&error.message(), &prefix);
                let pause = self.refused(clique, words, error.is_quota_exceeded());
                if error.is_quota_exceeded() {
                    self.quota_exceeded(clique);
                } else {
                    self.wake_quota(&key.namespace);
                }
                Ok(Outcome::After(pause))
            }
            Err(NotCreated::Write(error)) => {
                if error.is_outcome_unknown() {
                    self.memory.creations.lost(id);
                }
                Err(error.into())
            }
        }
    }

    /// Notes that everything this generation asks for was done: as many pods are there, kept ones too, as there may be.
    fn settle(&self, clique: &PodClique, allowed: u32) {
        let id = uid(clique);
        let there = self.seen.pods_of(clique).iter().filter(|it| !it.fact.terminating).count();
        // Where no more are wanted, it does not matter any more that more were refused.
        if there >= clique.spec.replicas.map_or(0, count) as usize && self.memory.admitted(id) {
            self.wake_reports_of_clique(clique);
        }
        let is_done = allowed > 0 || clique.spec.replicas == Some(0);
        if is_done && there >= allowed as usize && self.memory.acted_on(id, clique.metadata.generation) {
            self.wake_status_of(clique);
        }
    }

    /// Deletes pods, and tells of it on the object that decided.
    pub(super) async fn delete_victims<K: Resource<DynamicType = ()>>(
        &self,
        decider: &K,
        victims: &[Victim],
    ) -> Result<(), Error> {
        let namespace = decider.meta().namespace.as_deref().unwrap_or_default();
        let mut deletions = self
            .unless_stopping(victims.to_vec())
            .map(|victim| async move {
                let result = self.delete(&self.seen.pods, namespace, &victim.name, &victim.uid).await;
                (victim, result)
            })
            .buffer_unordered(IN_FLIGHT);
        let mut names = Vec::new();
        let mut failed = None;
        while let Some((victim, result)) = deletions.next().await {
            match result {
                Ok(()) => {
                    self.metrics.pods.deleted(victim.why);
                    names.push(victim.name);
                }
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if let Some(note) = words("deleted", &names) {
            self.tell(decider, EventKind::Normal, reasons::POD_DELETED, "DeletePod", note);
        }
        if let Some(error) = failed {
            self.tell(
                decider,
                EventKind::Warning,
                reasons::POD_DELETE_FAILED,
                "DeletePod",
                error.to_string(),
            );
            return Err(error.into());
        }
        if names.len() < victims.len() { Err(Error::Stopping) } else { Ok(()) }
    }

    /// The scheduler's backend cannot prepare pods.
    fn unprepared(&self, clique: &PodClique, words: String) -> Duration {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        let known = self.memory.refusal(uid(clique)).is_some_and(|it| it.message == words);
        if let Some(gang) = self.seen.gangs.cache.get(namespace, gang).filter(|_| !known) {
            self.tell_of_backend(&gang, "PreparePod", Operation::Mutate.as_str(), &words);
        }
        self.refused(clique, words, false)
    }

    /// Remembers why there are no more pods, so that conditions say it, and how long to leave the server in peace.
    fn refused(&self, clique: &PodClique, message: String, over_quota: bool) -> Duration {
        let refusal = Refusal { message: message.clone(), since: self.now() };
        let (pause, is_new) = self.memory.refused(uid(clique), refusal, over_quota);
        if is_new {
            warn!(clique = ?Key::of(clique), reason = message, "pods cannot be created");
            self.tell(clique, EventKind::Warning, reasons::POD_CREATE_FAILED, "CreatePod", message);
            self.wake_reports_of_clique(clique);
            self.wake_gang_of(clique);
        }
        pause
    }
}

/// What happens to pods of an old template. Those of members are the business of their group, which replaces all of a
/// replica together.
fn outdated_pods(set: &PodCliqueSet, clique: &PodClique) -> Outdated {
    let labels = clique.metadata.labels.as_ref();
    match (label(&clique.metadata, labels::SCALING_GROUP), index_label(labels, labels::SET_REPLICA_INDEX)) {
        (None, Some(replica)) => rollout::outdated_pods(set, replica, clique),
        _ => Outdated::Stay,
    }
}

/// Where the gang of a clique is in its set. Not by the label of its base gang: what upstream Grove made from v0.1.0-alpha.12 on has
/// none before it is adopted, and would be taken for a part of the base gang.
pub(super) fn gang_place<'a>(set: &'a PodCliqueSet, clique: &PodClique) -> Option<Place<'a>> {
    let labels = clique.metadata.labels.as_ref();
    let replica = index_label(labels, labels::SET_REPLICA_INDEX)?;
    let Some(group) = label(&clique.metadata, labels::SCALING_GROUP) else {
        // One with a base gang has lost its group, which is mended first.
        let is_standalone = label(&clique.metadata, labels::BASE_POD_GANG).is_none();
        return is_standalone.then_some(Place::Base { replica });
    };
    let config = group_named(set, replica, group)?;
    let group_replica = index_label(labels, labels::SCALING_GROUP_REPLICA_INDEX)?;
    Some(layout::place_of_member(replica, config, group_replica))
}

/// The server names the pod it refuses, by a name that it made up just then. Without that, the same refusal has the same
/// words.
pub(super) fn without_suffix(message: &str, prefix: &str) -> String {
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
pub(super) fn words(verb: &str, names: &[&str]) -> Option<String> {
    const SHOWN: usize = 3;
    match names {
        [] => None,
        names if names.len() <= SHOWN => Some(format!("{verb} {}", names.join(", "))),
        names => Some(format!("{verb} {} pods ({}, …)", names.len(), names[..SHOWN].join(", "))),
    }
}

fn earliest(one: Option<Duration>, other: Option<Duration>) -> Outcome {
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
