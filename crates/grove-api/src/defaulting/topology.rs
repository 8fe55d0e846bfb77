//! The admin's default topology: which sets get it, and where its name is written.

use std::collections::BTreeSet;

use crate::wire::{
    CliqueTemplate, PodCliqueSet, ReplicaSpread, SchedulingPolicyConfig, SetTemplate, TopologyConstraint,
};

/// Names the admin's `default` topology in a new set that names none by itself: in its `topologyConstraint`s where it has
/// any, else in its `schedulingPolicyConfig`. Which of the two it is tells later whether gangs are packed automatically.
///
/// A set that exists never gets one, whatever the default has become. What it got when it was new it keeps, also where the
/// user, who never wrote it, sends the set without: it cannot be changed.
pub fn default_topology(set: &mut PodCliqueSet, old: Option<&PodCliqueSet>, default: Option<&str>) {
    let spread = set.spec.replica_spread.as_ref().and_then(ReplicaSpread::topology);
    // A set uses one topology.
    let default = default.filter(|it| spread.is_none_or(|spread| spread == *it));
    let (template, old) = (&mut set.spec.template, old.map(|it| &it.spec.template));
    if template.topology_constraints().next().is_some() {
        name_constraints(template, old, default);
    } else {
        name_policy(&mut template.scheduling_policy_config, old, default);
    }
}

fn name_policy(
    policy: &mut Option<SchedulingPolicyConfig>,
    old: Option<&SetTemplate>,
    default: Option<&str>,
) {
    match (old, default) {
        (None, Some(name)) if policy.as_ref().and_then(SchedulingPolicyConfig::topology).is_none() => {
            policy.get_or_insert_default().topology_name = Some(name.to_owned());
        }
        (Some(old), _) if policy.is_none() => {
            let before = old.scheduling_policy_config.as_ref();
            *policy = before.filter(|it| is_name_alone(it)).cloned();
        }
        _ => {}
    }
}

/// Whether a policy is all that a default would have made.
fn is_name_alone(policy: &SchedulingPolicyConfig) -> bool {
    policy.grouping_constraints.is_none() && policy.network_pack_group_configs.is_empty()
}

fn name_constraints(template: &mut SetTemplate, old: Option<&SetTemplate>, default: Option<&str>) {
    // A user who names a topology at one level has chosen; another name at the next would contradict it.
    if template.topology_constraints().any(|it| it.topology().is_some()) {
        return;
    }
    let name = match old {
        None => default,
        Some(old) => defaulted_name(old),
    };
    if let Some(name) = name {
        fill_in(template, name);
    }
}

/// Names the topology in the outermost constraints; those inside of them inherit it.
fn fill_in(template: &mut SetTemplate, name: &str) {
    if let Some(whole) = &mut template.topology_constraint {
        whole.topology_name = Some(name.to_owned());
        return;
    }
    let mut inside = BTreeSet::new();
    for group in &mut template.scaling_groups {
        if let Some(constraint) = &mut group.topology_constraint {
            constraint.topology_name = Some(name.to_owned());
            inside.extend(&group.clique_names);
        }
    }
    for clique in template.cliques.iter_mut().filter(|it| !inside.contains(&it.name)) {
        if let Some(constraint) = &mut clique.topology_constraint {
            constraint.topology_name = Some(name.to_owned());
        }
    }
}

/// The name that the constraints of a set have, where it stands just where a default would have been written.
fn defaulted_name(template: &SetTemplate) -> Option<&str> {
    let name = template.topology_constraints().find_map(TopologyConstraint::topology)?;
    let stored = constraints_of(template);
    let mut again = stored.clone();
    let groups = again.scaling_groups.iter_mut().map(|it| &mut it.topology_constraint);
    let cliques = again.cliques.iter_mut().map(|it| &mut it.topology_constraint);
    let all = std::iter::once(&mut again.topology_constraint).chain(groups).chain(cliques);
    all.flatten().for_each(|it| it.topology_name = None);
    fill_in(&mut again, name);
    (again == stored).then_some(name)
}

/// A template without all that is not about constraints: pods are most of it.
fn constraints_of(template: &SetTemplate) -> SetTemplate {
    let cliques = template.cliques.iter().map(|it| CliqueTemplate {
        name: it.name.clone(),
        topology_constraint: it.topology_constraint.clone(),
        ..CliqueTemplate::default()
    });
    SetTemplate {
        cliques: cliques.collect(),
        scaling_groups: template.scaling_groups.clone(),
        topology_constraint: template.topology_constraint.clone(),
        ..SetTemplate::default()
    }
}

#[cfg(test)]
mod tests;
