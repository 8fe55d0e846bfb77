//! PodCliqueSets: their children, and the hash of their template.

use std::{collections::BTreeMap, sync::Arc};

use grove_api::{
    constants::{finalizers, labels},
    names,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodCliqueSetStatus, ScalingGroupConfig},
};
use grove_plan::{
    children::{ChildPlan, SetChildren, plan_set, same_template},
    facts::index_label,
    hash,
    layout::{self, set_name, set_namespace},
    objects,
    rollout::{self, Pace},
    status::status_patch,
};
use grove_runtime::Outcome;
use kube::Resource;
use serde_json::json;
use tracing::info;

use super::{
    Grove,
    children::{BATCH, ROUNDS},
    uid, version,
};
use crate::{
    error::Error,
    key::Key,
    seen::{controller, joined, label},
};

impl Grove {
    pub(crate) async fn reconcile_set(&self, key: Key) -> Result<Outcome, Error> {
        let Some(set) = self.seen.sets.get(&key.namespace, &key.name) else {
            return self.delete_undecodable_set(&key).await;
        };
        if set.metadata.deletion_timestamp.is_some() {
            return self.delete_set(set.as_ref()).await;
        }
        if let Some(wait) = self.memory.ending_for(&key.namespace) {
            return Ok(Outcome::After(wait));
        }
        self.keep_finalizer(&set).await?;
        self.keep_hash(&set).await?;
        let outcome = self.keep_children(&key).await;
        // Last, and whatever became of the children.
        let kept = self.keep_revisions(&key).await;
        outcome.and_then(|it| kept.map(|()| it))
    }

    async fn keep_children(&self, key: &Key) -> Result<Outcome, Error> {
        for _ in 0..ROUNDS {
            let Some(set) = self.seen.sets.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
            if set.metadata.deletion_timestamp.is_some() {
                return self.delete_set(set.as_ref()).await;
            }
            // Changed again meanwhile: noted first, which it has woken us for.
            if rollout::pace(&set) != Pace::Paused && !self.is_noted(&set) {
                return Ok(Outcome::Again);
            }
            let plan = self.plan_children(&set);
            let batch = &plan.actions[..plan.actions.len().min(BATCH)];
            if !batch.is_empty() {
                info!(set = ?key, changes = plan.actions.len(), "changing children");
            }
            self.carry_out(set.as_ref(), batch, &plan.blocked).await?;
            if batch.len() == plan.actions.len() {
                if !plan.waiting && self.memory.acted_on(uid(set.as_ref()), set.metadata.generation) {
                    self.wake_status_of(set.as_ref());
                }
                return Ok(Outcome::Done);
            }
        }
        Ok(Outcome::Again)
    }

    fn plan_children(&self, set: &PodCliqueSet) -> ChildPlan {
        let seen = &self.seen;
        let of_set = joined(set_namespace(set), set_name(set));
        let services = seen.services.of_owner_and(uid(set), seen.services.by_set.get(&of_set));
        let autoscalers = seen.autoscalers.of_owner_and(uid(set), seen.autoscalers.by_set.get(&of_set));
        let cliques = seen.cliques.of_owner_and(uid(set), seen.cliques.by_set.get(&of_set));
        let groups = seen.groups.of_owner_and(uid(set), seen.groups.by_set.get(&of_set));
        let gangs = seen.gangs.of_owner_and(uid(set), seen.gangs.by_set.get(&of_set));
        let pods = seen.pods_by_set.get(&of_set);
        let gangs_by_name = by_name(&gangs);
        let lost = pods.iter().filter(|it| it.fact.is_live()).map(|it| it.fact.gang.as_str());
        let children = SetChildren {
            lost: lost.filter(|it| !gangs_by_name.contains_key(it)).collect(),
            services: by_name(&services),
            autoscalers: by_name(&autoscalers),
            // Members of groups are the groups' business.
            cliques: by_name(&cliques)
                .into_iter()
                .filter(|(_, it)| {
                    controller(&it.metadata).is_none_or(|it| it.kind != PodCliqueScalingGroup::kind(&()))
                })
                .collect(),
            groups: by_name(&groups),
            gangs: gangs_by_name,
        };
        plan_set(self.context(&self.in_use(set)), self.topology(set).as_ref(), &children)
    }

    async fn keep_finalizer(&self, set: &PodCliqueSet) -> Result<(), Error> {
        let present = set.metadata.finalizers.as_deref().unwrap_or_default();
        if present.iter().any(|it| it == finalizers::POD_CLIQUE_SET) {
            return Ok(());
        }
        let mut wanted = present.to_vec();
        wanted.push(finalizers::POD_CLIQUE_SET.to_owned());
        let patch = json!({ "metadata": { "finalizers": wanted, "resourceVersion": version(set) } });
        let key = Key::of(set);
        self.seen.sets.written(self.writer.patch(&key.namespace, &key.name, &patch).await?);
        Ok(())
    }

    /// Notes the hash of a changed template, and that an update begins, before any child gets the template: from the children
    /// one could no longer tell that it changed.
    async fn keep_hash(&self, set: &PodCliqueSet) -> Result<(), Error> {
        let stored = set.status.as_ref().and_then(|it| it.current_generation_hash.as_deref());
        let hash = self.generation_hash(set);
        if stored.is_none_or(|it| it == hash) {
            return Ok(());
        }
        info!(set = ?Key::of(set), %hash, "the template changed");
        let old = set.status.clone().unwrap_or_default();
        let new = PodCliqueSetStatus {
            current_generation_hash: Some(hash),
            update_progress: Some(rollout::started(set, self.now())),
            updated_replicas: 0,
            ..old.clone()
        };
        let patch = status_patch(Some(&old), &new, version(set));
        let key = Key::of(set);
        self.seen.sets.written(self.writer.patch_status(&key.namespace, &key.name, &patch).await?);
        Ok(())
    }

    /// The hash of a set's template. One that somebody else computed is kept for as long as every clique still is what
    /// the template says. While updates are paused it is that of the template before.
    pub(super) fn generation_hash(&self, set: &PodCliqueSet) -> String {
        let stored = set.status.as_ref().and_then(|it| it.current_generation_hash.as_deref());
        self.memory.hash(uid(set), set.metadata.generation, stored, || {
            let ours = hash::generation(set);
            match stored {
                Some(stored) if rollout::pace(set) == Pace::Paused => stored.to_owned(),
                Some(stored) if stored != ours && self.is_of_template(set, stored) => stored.to_owned(),
                _ => ours,
            }
        })
    }

    /// Whether the template that a set has now is the one that is noted: a change is noted before anybody acts on it. While
    /// updates are paused the noted one may be another.
    pub(super) fn is_noted(&self, set: &PodCliqueSet) -> bool {
        let Some(stored) = set.status.as_ref().and_then(|it| it.current_generation_hash.as_deref()) else {
            return true;
        };
        if rollout::pace(set) == Pace::Paused {
            return hash::generation(set) == stored || self.is_of_template(set, stored);
        }
        self.generation_hash(set) == stored
    }

    /// Whether there are cliques, and all of them are what the template says and say that it is `stored`. One that has not
    /// said anything yet proves nothing: a template that was changed, and set back before it reached anything, is not the one
    /// that was noted.
    pub(super) fn is_of_template(&self, set: &PodCliqueSet, stored: &str) -> bool {
        self.cliques_are(set, |known| known == Some(stored))
    }

    /// Whether there are cliques, and all of them are what the template says and have noted a hash that `says` so.
    pub(super) fn cliques_are(&self, set: &PodCliqueSet, says: impl Fn(Option<&str>) -> bool) -> bool {
        let cliques = self.seen.cliques.by_set.get(&joined(set_namespace(set), set_name(set)));
        let mut any = false;
        for clique in &cliques {
            let Some(place) = place_of(set, clique) else { continue };
            any = true;
            let status = clique.status.as_ref();
            if !says(status.and_then(|it| it.current_pod_clique_set_generation_hash.as_deref())) {
                return false;
            }
            if !same_template(clique, &objects::clique(self.context(set), &place, None)) {
                return false;
            }
        }
        any
    }
}

/// Where a clique belongs in its set, by its labels.
pub(super) fn place_of<'a>(set: &'a PodCliqueSet, clique: &PodClique) -> Option<layout::Clique<'a>> {
    let labels = clique.metadata.labels.as_ref();
    let name = clique.metadata.name.as_deref()?;
    let replica = index_label(labels, labels::SET_REPLICA_INDEX)?;
    match label(&clique.metadata, labels::SCALING_GROUP) {
        None => layout::standalone(set, replica).find(|it| it.name == name),
        Some(group) => {
            let group_replica = index_label(labels, labels::SCALING_GROUP_REPLICA_INDEX)?;
            let config = group_named(set, replica, group)?;
            layout::members(set, replica, config, group_replica).find(|it| it.name == name)
        }
    }
}

/// The part of the template that made the scaling group called `name`.
pub(super) fn group_named<'a>(
    set: &'a PodCliqueSet,
    replica: u32,
    name: &str,
) -> Option<&'a ScalingGroupConfig> {
    let mut groups = set.spec.template.scaling_groups.iter();
    groups.find(|it| names::scaling_group(set_name(set), replica, &it.name) == name)
}

pub(super) fn by_name<K: kube::Resource>(objects: &[Arc<K>]) -> BTreeMap<&str, &K> {
    objects.iter().map(|it| (it.meta().name.as_deref().unwrap_or_default(), it.as_ref())).collect()
}
