//! What may be created of a set that asks for more than one set may have, from the caches.

use std::sync::Arc;

use grove_api::{
    constants::conditions::size_limit_exceeded,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, ScalingGroupConfig},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    allotment::{Allotment, Existing},
    layout::{count, set_name, set_namespace},
};

use super::{Grove, set::by_name};
use crate::{key::Key, seen::joined};

impl Grove {
    /// For one scaling group of a set.
    pub(super) fn allotment_of_group(
        &self,
        set: &PodCliqueSet,
        config: &ScalingGroupConfig,
        group: &PodCliqueScalingGroup,
    ) -> Allotment {
        // Nearly always: the others need not be looked at.
        if Allotment::is_certain(self.caps, set, config, count(group.spec.replicas)) {
            return Allotment::default();
        }
        let groups = self.seen.groups.of_owner(&OwnerKey::of(set));
        let groups = by_name(&groups);
        Allotment::within(self.caps, set, &groups, || {
            let cliques = self.seen.cliques.by_set.get(&joined(set_namespace(set), set_name(set)));
            existing(&cliques, groups.values().copied())
        })
    }

    /// Room that becomes free in a set that is too large, or was, is for groups too that nothing else wakes.
    pub(super) fn wake_withheld(&self, set: &PodCliqueSet, allotment: &Allotment) {
        let conditions = set.status.iter().flat_map(|it| &it.conditions);
        let was_over = conditions.into_iter().any(|it| it.type_ == size_limit_exceeded::TYPE);
        if !allotment.is_over() && !was_over {
            return;
        }
        for group in self.seen.groups.of_owner(&OwnerKey::of(set)) {
            self.queues.groups.add(Key::of(group.as_ref()));
        }
    }
}

/// The parts of a set that are there.
pub(super) fn existing<'a>(
    cliques: &'a [Arc<PodClique>],
    groups: impl IntoIterator<Item = &'a PodCliqueScalingGroup>,
) -> Existing {
    Existing::of(cliques.iter().map(Arc::as_ref), groups)
}
