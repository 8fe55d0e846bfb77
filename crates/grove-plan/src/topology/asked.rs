//! What a set asks of a topology, in either way to say it.

use std::collections::BTreeSet;

use grove_api::wire::{
    GroupingConstraints, PodCliqueSet, ReplicaSpread, SchedulingPolicyConfig, TopologyConstraint,
    TopologyLevel,
};

use super::{Placement, Topology};
use crate::layout::{self, Place};

/// One of the two ways in which a set says where its pods go. Admission lets nobody use both; where somebody does, the
/// constraints that name levels count.
pub(super) enum Asked<'a> {
    /// Nothing is said.
    Nothing,
    /// `topologyConstraint`, at one level of the set at least.
    Constraints,
    /// `schedulingPolicyConfig`.
    Policy(&'a SchedulingPolicyConfig),
}

pub(super) fn asked(set: &PodCliqueSet) -> Asked<'_> {
    let template = &set.spec.template;
    if template.topology_constraints().next().is_some() {
        return Asked::Constraints;
    }
    // Who has a name gets packed gangs, and who has pack groups wants them packed.
    let says =
        |it: &&SchedulingPolicyConfig| it.topology().is_some() || keys(it).next().is_some() || has_groups(it);
    template.scheduling_policy_config.as_ref().filter(says).map_or(Asked::Nothing, Asked::Policy)
}

fn has_groups(policy: &SchedulingPolicyConfig) -> bool {
    !policy.network_pack_group_configs.is_empty()
}

/// The node labels that a policy requires.
fn keys(policy: &SchedulingPolicyConfig) -> impl Iterator<Item = &str> {
    let groups = policy.network_pack_group_configs.iter().filter_map(|it| it.topology_constraint.as_ref());
    policy.grouping_constraints.iter().chain(groups).filter_map(GroupingConstraints::required)
}

/// The topology that a set names.
pub fn topology_name(set: &PodCliqueSet) -> Option<&str> {
    match asked(set) {
        Asked::Nothing => set.spec.replica_spread.as_ref().and_then(ReplicaSpread::topology),
        Asked::Constraints => set.spec.template.topology_constraints().find_map(TopologyConstraint::topology),
        Asked::Policy(policy) => policy.topology(),
    }
}

/// Whether a set asks for anything: a level, that gangs are packed, or that replicas are apart.
pub(crate) fn is_asked(set: &PodCliqueSet) -> bool {
    match asked(set) {
        _ if set.spec.replica_spread.is_some() => true,
        Asked::Nothing => false,
        Asked::Constraints => domains(set).next().is_some(),
        Asked::Policy(_) => true,
    }
}

/// A topology that has every level that a set asks for, called as the set calls it.
pub(crate) fn every_level(set: &PodCliqueSet) -> Topology {
    let level = |it: &str| TopologyLevel { domain: it.to_owned(), key: it.to_owned() };
    let levels = match asked(set) {
        Asked::Nothing => Vec::new(),
        Asked::Constraints => domains(set).map(level).collect(),
        Asked::Policy(policy) => keys(policy).map(level).collect(),
    };
    Topology { name: String::new(), levels }
}

/// The levels that are required of the gang at `place`, or of a part of it, in the words of the set. That can be told without
/// knowing the topology.
fn required_levels(set: &PodCliqueSet, place: Place<'_>) -> BTreeSet<String> {
    let topology = every_level(set);
    let cliques = layout::cliques_of(set, place).unwrap_or_default();
    Placement::of(set, &topology).map(|it| it.required_levels(place, &cliques)).unwrap_or_default()
}

/// The levels that are required of the gang at `place`, or of a part of it, and that a topology does not have.
pub fn missing_required_levels(
    set: &PodCliqueSet,
    place: Place<'_>,
    topology: &Topology,
) -> BTreeSet<String> {
    let mut missing = required_levels(set, place);
    missing.retain(|it| !has_level(set, topology, it));
    missing
}

/// Whether a topology lacks a level that is required of any gang of a set.
pub(crate) fn lacks_required_level(set: &PodCliqueSet, topology: &Topology) -> bool {
    let is_missing = |it: &str| !has_level(set, topology, it);
    match asked(set) {
        Asked::Nothing => false,
        Asked::Constraints => {
            let mut all = set.spec.template.topology_constraints();
            all.any(|it| it.required().is_some_and(is_missing))
        }
        Asked::Policy(policy) => keys(policy).any(is_missing),
    }
}

/// Whether a topology has the level that a set calls so.
fn has_level(set: &PodCliqueSet, topology: &Topology, level: &str) -> bool {
    match asked(set) {
        Asked::Policy(_) => topology.has_key(level),
        Asked::Constraints | Asked::Nothing => topology.key_of(level).is_some(),
    }
}

/// Whether a level is required of any gang of a set.
pub(crate) fn requires_any(set: &PodCliqueSet) -> bool {
    match asked(set) {
        Asked::Nothing => false,
        Asked::Constraints => set.spec.template.topology_constraints().any(|it| it.required().is_some()),
        Asked::Policy(policy) => keys(policy).next().is_some(),
    }
}

/// The levels that a set asks for and a topology does not have, in the words of the set.
pub(crate) fn missing_levels<'a>(set: &'a PodCliqueSet, topology: &Topology) -> BTreeSet<&'a str> {
    let mut missing: BTreeSet<&str> = match asked(set) {
        Asked::Nothing => BTreeSet::new(),
        Asked::Constraints => domains(set).filter(|it| topology.key_of(it).is_none()).collect(),
        Asked::Policy(policy) => keys(policy).filter(|it| !topology.has_key(it)).collect(),
    };
    let apart = set.spec.replica_spread.as_ref().map(|it| it.topology_domain.as_str());
    missing.extend(apart.filter(|it| topology.key_of(it).is_none()));
    missing
}

fn domains(set: &PodCliqueSet) -> impl Iterator<Item = &str> {
    set.spec.template.topology_constraints().flat_map(|it| [it.required(), it.preferred()]).flatten()
}
