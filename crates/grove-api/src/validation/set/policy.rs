//! `schedulingPolicyConfig`: a topology by name, and pack groups.

use std::collections::BTreeSet;

use super::{Subject, Verdict, template_path};
use crate::{
    field::{Error, Path},
    limits::MAX_PACK_GROUPS,
    messages,
    wire::{GroupingConstraints, PackGroup},
};

pub(super) fn check(subject: &Subject<'_>, verdict: &mut Verdict) {
    let template = subject.template();
    let Some(policy) = &template.scheduling_policy_config else {
        return;
    };
    let path = template_path().child("schedulingPolicyConfig");

    let other = template.topology_constraint.is_some()
        || template.cliques.iter().any(|it| it.topology_constraint.is_some())
        || template.scaling_groups.iter().any(|it| it.topology_constraint.is_some());
    if other {
        verdict.errors.push(Error::forbidden(path.clone(), messages::TWO_TOPOLOGY_APIS));
    }

    let asks = |constraint: &Option<GroupingConstraints>| {
        constraint.as_ref().is_some_and(|it| it.required.is_some())
    };
    let named = policy.topology_name.as_deref().is_some_and(|it| !it.is_empty());
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
