//! Children of a scaling group: the member cliques of each of its replicas.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::wire::{PodClique, PodCliqueScalingGroup, ScalingGroupConfig};

use super::{Child, ChildPlan, Kind, decide, delete, is_controlled_by, name_of, update};
use crate::{
    layout::{self, count},
    objects::{self, Context},
};

/// A scaling group and what is there of it.
#[derive(Clone, Debug)]
pub struct GroupChildren<'a> {
    /// The group.
    pub group: &'a PodCliqueScalingGroup,
    /// Its part of the template.
    pub config: &'a ScalingGroupConfig,
    /// Replica of the set.
    pub replica: u32,
    /// Cliques by name: everything with a wanted name and everything that the group owns.
    pub cliques: BTreeMap<&'a str, &'a PodClique>,
}

/// What to do about the member cliques. Replicas have the indices from 0; a hole is filled where it is.
pub fn plan_group(context: Context<'_>, children: &GroupChildren<'_>) -> ChildPlan {
    let mut plan = ChildPlan::default();
    let mut wanted = BTreeSet::new();
    let uid = children.group.metadata.uid.as_deref().unwrap_or_default();
    for group_replica in 0..count(children.group.spec.replicas) {
        for clique in layout::members(context.set, children.replica, children.config, group_replica) {
            let existing = children.cliques.get(clique.name.as_str()).copied();
            decide(&mut plan, uid, Kind::Clique, &clique.name, existing.map(|it| &it.metadata), || {
                let wanted = objects::clique(context, &clique, Some(children.group));
                match existing {
                    None => Err(Child::Clique(Box::new(wanted))),
                    Some(existing) => Ok(update::clique_patch(existing, &wanted)),
                }
            });
            wanted.insert(clique.name);
        }
    }
    let excess = children
        .cliques
        .values()
        .filter(|it| is_controlled_by(&it.metadata, uid) && !wanted.contains(name_of(&it.metadata)))
        .filter_map(|it| delete(Kind::Clique, &it.metadata));
    plan.actions.extend(excess);
    plan
}
