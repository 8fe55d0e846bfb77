//! PodCliqueSets: their children, and the hash of their template.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use grove_api::{
    constants::finalizers,
    wire::{PodCliqueScalingGroup, PodCliqueSet, PodCliqueSetStatus},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    allotment::Allotment,
    children::{ChildPlan, SetChildren, plan_set},
    layout::{set_name, set_namespace},
    rollout::{self, Pace, TemplateState},
    status::status_patch,
};
use grove_runtime::Outcome;
use serde_json::json;
use tracing::info;

use super::{Grove, allotment::existing, children::ROUNDS, slice::Slice, sooner, uid, version};
use crate::{
    error::Error,
    key::Key,
    seen::{controller_name_of, joined},
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
        self.read_kept_template(&set).await?;
        self.keep_hash(&set).await?;
        let outcome = self.keep_children(&key).await;
        // Last, and whatever became of the children.
        let kept = self.keep_revisions(&key).await;
        outcome.and_then(|it| kept.map(|()| it))
    }

    async fn keep_children(&self, key: &Key) -> Result<Outcome, Error> {
        let slice = Slice::begin();
        for _ in 0..ROUNDS {
            let Some(set) = self.seen.sets.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
            if set.metadata.deletion_timestamp.is_some() {
                return self.delete_set(set.as_ref()).await;
            }
            // Changed again meanwhile: noted first, which it has woken us for.
            let template = self.template_state(&set);
            let Some(in_force) = template.set_in_force(&set) else { return Ok(Outcome::Again) };
            let mut plan = self.plan_children(in_force, template.unknown(), &BTreeSet::new());
            let answers = self.try_templates(&set, &plan.replaced).await;
            if answers.is_new {
                continue;
            }
            if !answers.refused.is_empty() {
                plan = self.plan_children(in_force, template.unknown(), &answers.refused);
            }
            if !plan.actions.is_empty() {
                info!(set = ?key, changes = plan.actions.len(), more = plan.more, "changing children");
            }
            if self.carry_out_batch(set.as_ref(), &mut plan, slice).await?.is_all() {
                if !plan.waiting && self.memory.acted_on(uid(set.as_ref()), set.metadata.generation) {
                    self.wake_status_of(set.as_ref());
                }
                return Ok(sooner(Outcome::Done, answers.retry));
            }
            if slice.is_over() {
                return Ok(Slice::again());
            }
        }
        Ok(Outcome::Again)
    }

    /// `set` has the template in force; of those that are `unknown` nothing is made. No PodClique gets a template that is `refused`.
    fn plan_children(
        &self,
        set: &PodCliqueSet,
        unknown: Option<&BTreeSet<String>>,
        refused: &BTreeSet<String>,
    ) -> ChildPlan {
        let seen = &self.seen;
        let (owner, of_set) = (OwnerKey::of(set), joined(set_namespace(set), set_name(set)));
        let services = seen.services.of_owner_and(&owner, seen.services.by_set.get(&of_set));
        let autoscalers = seen.autoscalers.of_owner_and(&owner, seen.autoscalers.by_set.get(&of_set));
        let cliques = seen.cliques.of_owner_and(&owner, seen.cliques.by_set.get(&of_set));
        let groups = seen.groups.of_owner_and(&owner, seen.groups.by_set.get(&of_set));
        let gangs = seen.gangs.of_owner_and(&owner, seen.gangs.by_set.get(&of_set));
        let pods = seen.pods_by_set.get(&of_set);
        let gangs_by_name = by_name(&gangs);
        let groups_by_name = by_name(&groups);
        let allotment = Allotment::within(self.caps, set, &groups_by_name, || {
            existing(&cliques, groups_by_name.values().copied())
        });
        self.wake_withheld(set, &allotment);
        let live = pods.iter().filter(|it| it.fact.is_live());
        let children = SetChildren {
            gangs_of_pods: live.map(|it| it.fact.gang.as_str()).collect(),
            services: by_name(&services),
            autoscalers: by_name(&autoscalers),
            // Members of groups are the groups' business.
            cliques: by_name(&cliques)
                .into_iter()
                .filter(|(_, it)| controller_name_of::<PodCliqueScalingGroup>(&it.metadata).is_none())
                .collect(),
            groups: groups_by_name,
            gangs: gangs_by_name,
            unknown: unknown.into_iter().flatten().map(String::as_str).collect(),
            refused_templates: refused.iter().map(String::as_str).collect(),
            allotment,
            batch: self.batch(uid(set)),
        };
        plan_set(self.context(set), self.topology(set).as_ref(), &children)
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
        self.show(&self.seen.sets, move |writer| async move {
            writer.patch(&key.namespace, &key.name, &patch).await
        })
        .await?;
        Ok(())
    }

    /// Notes the hash of a changed template, and that an update begins, before any child gets the template: from the children
    /// one could no longer tell that it changed.
    async fn keep_hash(&self, set: &PodCliqueSet) -> Result<(), Error> {
        let is_paused = rollout::pace(set) == Pace::Paused;
        if is_paused || self.template_state(set) != TemplateState::Unobserved {
            return Ok(());
        }
        let hash = self.spec_hash(set);
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
        self.patch_status(&self.seen.sets, None, key, patch).await?;
        Ok(())
    }
}

pub(super) fn by_name<K: kube::Resource>(objects: &[Arc<K>]) -> BTreeMap<&str, &K> {
    objects.iter().map(|it| (it.meta().name.as_deref().unwrap_or_default(), it.as_ref())).collect()
}
