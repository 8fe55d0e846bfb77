//! PodCliqueScalingGroups: their member cliques.

use std::collections::BTreeSet;

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, ScalingGroupConfig},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    children::{ChildPlan, GroupChildren, plan_group},
    facts::index_label,
    layout::{self, count, group_named},
    rollout,
};
use grove_runtime::Outcome;
use tracing::info;

use super::{Grove, children::ROUNDS, dry_run::MayReplace, set::by_name, sooner, uid};
use crate::{error::Error, key::Key, seen::joined};

impl Grove {
    pub(crate) async fn reconcile_group(&self, key: Key) -> Result<Outcome, Error> {
        for _ in 0..ROUNDS {
            let Some(group) = self.seen.groups.cache.get(&key.namespace, &key.name) else {
                return self.delete_undecodable_group(&key).await;
            };
            if group.metadata.deletion_timestamp.is_some() {
                return self.delete_group(group.as_ref()).await;
            }
            if let Some(wait) = self.memory.ending_for(&key.namespace) {
                return Ok(Outcome::After(wait));
            }
            let Some(mut plan) = self.plan_members(&group, false) else { return Ok(Outcome::Done) };
            let mut blocked = None;
            match self.may_replace_all(&group, &plan.replaced).await {
                MayReplace::Yes => {}
                MayReplace::Asked => continue,
                MayReplace::No(wait) => {
                    blocked = Some(wait);
                    let Some(without) = self.plan_members(&group, true) else { return Ok(Outcome::Done) };
                    plan = without;
                }
            }
            let is_changed = !plan.actions.is_empty() || plan.more;
            if !plan.actions.is_empty() {
                info!(group = ?key, changes = plan.actions.len(), more = plan.more, "changing cliques");
            }
            let is_done = self.carry_out_batch(group.as_ref(), &mut plan).await?;
            // Changed cliques first: what replaces a pod is of the template that its clique has then.
            if !is_changed && !plan.outdated.is_empty() {
                info!(group = ?key, pods = plan.outdated.len(), "replacing pods of an old template");
                self.delete_victims(group.as_ref(), &plan.outdated).await?;
                continue;
            }
            if !plan.outdated.is_empty() {
                continue;
            }
            if is_done {
                if !plan.waiting && self.memory.acted_on(uid(group.as_ref()), group.metadata.generation) {
                    self.wake_status_of(group.as_ref());
                }
                return Ok(sooner(Outcome::Done, blocked));
            }
        }
        Ok(Outcome::Again)
    }

    /// Whether pods of all these cliques may be replaced.
    async fn may_replace_all(&self, group: &PodCliqueScalingGroup, cliques: &[PodClique]) -> MayReplace {
        let Some(set) = self.seen.set_of(&group.metadata) else { return MayReplace::Yes };
        for clique in cliques {
            match self.may_replace(&set, clique).await {
                MayReplace::Yes => {}
                other => return other,
            }
        }
        MayReplace::Yes
    }

    /// `None` where the group belongs to no set that is there to stay, or to one whose template was just changed. Nothing is
    /// replaced if `all_held`.
    fn plan_members(&self, group: &PodCliqueScalingGroup, all_held: bool) -> Option<ChildPlan> {
        let set = self.seen.set_of(&group.metadata)?;
        if set.metadata.deletion_timestamp.is_some() {
            return None;
        }
        // A changed template is noted before any clique gets it, and that wakes us.
        let template = self.template_state(&set);
        let in_force = template.set_in_force(&set)?;
        let replica = index_label(group.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX)?;
        let name = group.metadata.name.as_deref()?;
        let config = group_named(&set, replica, name)?;
        let of_group = self.seen.cliques_by_group.get(&joined(group.metadata.namespace.as_deref()?, name));
        let cliques = self.seen.cliques.of_owner_and(&OwnerKey::of(group), of_group);
        let pods: Vec<_> = cliques.iter().map(|it| self.seen.pods_of(it)).collect();
        let by_clique = cliques.iter().zip(&pods).map(|(clique, pods)| {
            let name = clique.metadata.name.as_deref().unwrap_or_default();
            (name, pods.iter().map(|it| &it.fact).collect())
        });
        let children = GroupChildren {
            group,
            config,
            replica,
            cliques: by_name(&cliques),
            pods: by_clique.collect(),
            held: if all_held {
                (0..count(group.spec.replicas)).collect()
            } else {
                self.held_replicas(&set, replica, config, count(group.spec.replicas))
            },
            unknown: template.unknown().into_iter().flatten().map(String::as_str).collect(),
            allotment: self.allotment_of_group(&set, config, group),
            batch: self.batch(uid(group)),
        };
        Some(plan_group(self.context(in_force), &children))
    }

    /// Replicas of a group whose pods cannot be made at present. It matters in an update.
    fn held_replicas(
        &self,
        set: &PodCliqueSet,
        replica: u32,
        config: &ScalingGroupConfig,
        replicas: u32,
    ) -> BTreeSet<u32> {
        let progress = set.status.as_ref().and_then(|it| it.update_progress.as_ref());
        if !rollout::is_open(progress) {
            return BTreeSet::new();
        }
        let context = self.context(set);
        let gang = |it: &u32| context.gang_at(layout::place_of_member(replica, config, *it));
        let is_held = |it: &u32| gang(it).is_none_or(|it| !self.can_be_made(set, &it.name));
        (0..replicas).filter(is_held).collect()
    }
}
