//! A set with its children as they are: what its status reports on, and what recovery decides on.

use std::collections::BTreeMap;

use grove_api::wire::{PodCliqueScalingGroup, PodCliqueSet, ScalingGroupConfig};
use k8s_openapi::jiff::Timestamp;

use super::{CliqueState, Members, TopologySeen};
use crate::layout::{self, count};

/// A set, and its cliques with their pods counted.
#[derive(Clone, Debug)]
pub struct SetState<'a> {
    /// The set, with every default filled in.
    pub set: &'a PodCliqueSet,
    /// All its cliques by name.
    pub cliques: BTreeMap<&'a str, CliqueState<'a>>,
    /// Its scaling groups by name.
    pub groups: BTreeMap<&'a str, &'a PodCliqueScalingGroup>,
    /// Its topology.
    pub topology: TopologySeen<'a>,
    /// Hash of its template.
    pub generation_hash: String,
    /// The time.
    pub now: Timestamp,
    /// Since when this operator has watched: since it leads, or since it noticed that etcd was restored from a backup.
    pub watched_since: Timestamp,
    /// When this operator first saw the spec of those of its scaling groups whose status is of an earlier one.
    pub groups_changed: BTreeMap<&'a str, Timestamp>,
}

impl<'a> SetState<'a> {
    /// A scaling group that is here to stay.
    pub(crate) fn group(&self, name: &str) -> Option<&'a PodCliqueScalingGroup> {
        self.groups.get(name).copied().filter(|it| it.metadata.deletion_timestamp.is_none())
    }

    /// The wanted member cliques of a group, by replica.
    pub(crate) fn members(
        &self,
        replica: u32,
        config: &ScalingGroupConfig,
        group: &PodCliqueScalingGroup,
    ) -> Members<'a> {
        let replicas = (0..count(group.spec.replicas)).map(|group_replica| {
            let members = layout::members(self.set, replica, config, group_replica);
            (group_replica, members.map(|it| self.cliques.get(it.name.as_str()).cloned()).collect())
        });
        replicas.collect()
    }
}
