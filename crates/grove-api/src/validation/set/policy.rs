//! `schedulingPolicyConfig`: a topology by name, and pack groups.

use std::collections::BTreeSet;

use super::{Subject, Verdict, template_path, topology};
use crate::{
    field::{Error, Path},
    limits::MAX_PACK_GROUPS,
    messages,
    wire::{GroupingConstraints, PackGroup, TopologyLevel},
};

/// The rules of every request: what can be seen of the policy alone.
pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let template = subject.template();
    let Some(policy) = &template.scheduling_policy_config else {
        return;
    };
    let path = policy_path();

    if template.topology_constraints().next().is_some() {
        verdict.errors.push(Error::forbidden(path.clone(), messages::TWO_TOPOLOGY_APIS));
    }

    let asks = |constraint: &Option<GroupingConstraints>| {
        constraint.as_ref().and_then(GroupingConstraints::required).is_some()
    };
    let named = policy.topology().is_some();
    let constrained = asks(&policy.grouping_constraints)
        || policy.network_pack_group_configs.iter().any(|it| asks(&it.topology_constraint));
    if constrained && !named {
        verdict.errors.push(Error::required(path.child("topologyName"), messages::POLICY_NAME_MISSING));
    }
    if named && subject.environment.topology_aware == Some(false) {
        verdict.warn(
            path.child("topologyName"),
            "not applied: topology-aware scheduling is off in the operator configuration",
        );
    }

    let list = path.child("networkPackGroupConfigs");
    let count = policy.network_pack_group_configs.len();
    if count > MAX_PACK_GROUPS {
        verdict.errors.push(Error::too_many(list.clone(), count, MAX_PACK_GROUPS));
    }
    let mut packed = BTreeSet::new();
    for (index, group) in policy.network_pack_group_configs.iter().enumerate() {
        pack_group(subject, group, &list.index(index).child("cliqueNames"), &mut packed, verdict);
    }
}

/// The rules of a new set: its topology exists, has the levels, and no pack group is wider than the set. Later nothing of
/// this can be changed, and a topology that changes must not keep anybody from editing something else.
pub(super) fn check_new(subject: &Subject<'_>, verdict: &mut Verdict) {
    let Some(policy) = &subject.template().scheduling_policy_config else { return };
    let (path, environment) = (policy_path(), subject.environment);
    // What is not applied need not be right.
    let Some(name) = policy.topology().filter(|_| environment.topology_aware != Some(false)) else { return };
    let name_path = path.child("topologyName");
    if environment.topology_aware.is_none() {
        let text = "not checked whether topology-aware scheduling is on: give the operator configuration";
        verdict.warn(name_path.clone(), text);
    }
    let Some(levels) = topology::levels_of(subject, name_path, name, verdict) else { return };
    let whole = required(policy.grouping_constraints.as_ref(), &path.child("groupingConstraints"));
    let at = whole.and_then(|it| level(name, levels, it, verdict));
    let list = path.child("networkPackGroupConfigs");
    for (index, group) in policy.network_pack_group_configs.iter().enumerate() {
        let path = list.index(index).child("topologyConstraint");
        let Some((path, key)) = required(group.topology_constraint.as_ref(), &path) else { continue };
        let inside = level(name, levels, (path.clone(), key), verdict);
        // Levels run from the broadest to the narrowest.
        if let (Some(whole), Some(inside)) = (at, inside)
            && inside < whole
        {
            let detail = format!(
                "is broader than {:?}, which {} requires of the whole replica",
                levels[whole].key,
                policy_path().child("groupingConstraints")
            );
            verdict.errors.push(Error::invalid(path, key, detail));
        }
    }
}

fn policy_path() -> Path {
    template_path().child("schedulingPolicyConfig")
}

/// The key that a constraint at `path` requires, and where it stands.
fn required<'a>(constraint: Option<&'a GroupingConstraints>, path: &Path) -> Option<(Path, &'a str)> {
    let key = constraint?.required()?;
    Some((path.child("required").child("topologyKey"), key))
}

/// Which level a key is; where it is none, it is told.
fn level(
    name: &str,
    levels: &[TopologyLevel],
    (path, key): (Path, &str),
    verdict: &mut Verdict,
) -> Option<usize> {
    let at = levels.iter().position(|it| it.key == key);
    if at.is_none() {
        let detail = topology::no_level(name, levels.iter().map(|it| it.key.as_str()));
        verdict.errors.push(Error::invalid(path, key, detail));
    }
    at
}

fn pack_group<'a>(
    subject: &Subject<'_>,
    group: &'a PackGroup,
    path: &Path,
    packed: &mut BTreeSet<&'a str>,
    verdict: &mut Verdict,
) {
    if group.clique_names.is_empty() {
        verdict.errors.push(Error::required(path.clone(), messages::PACK_GROUP_EMPTY));
    }
    let mut first_group: Option<Option<&str>> = None;
    for (index, name) in group.clique_names.iter().enumerate() {
        let path = path.index(index);
        if subject.template().clique(name).is_none() {
            verdict.errors.push(Error::invalid(path, name, messages::PACK_GROUP_UNKNOWN));
            continue;
        }
        if !packed.insert(name) {
            let error = Error::duplicate(path.clone(), name);
            verdict.errors.push(Error { detail: messages::PACK_GROUP_TWICE.to_owned(), ..error });
        }
        // Each copy of a scaling group is packed on its own, so cliques of different groups cannot be one unit.
        let scaling_group = subject.template().group_of(name).map(|it| it.name.as_str());
        if *first_group.get_or_insert(scaling_group) != scaling_group {
            let detail = "a pack group may have cliques of one scaling group, or cliques of none, not a mix";
            verdict.errors.push(Error::invalid(path, name, detail));
        }
    }
}
