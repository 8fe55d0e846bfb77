//! Whether the topology that a set asks for is there.

use std::collections::BTreeSet;

use grove_api::{
    constants::conditions::topology_levels_unavailable as names,
    wire::{ClusterTopologyBinding, PodCliqueSet, TopologyConstraint},
};

use super::conditions::Now;

/// What is known of a set's topology.
#[derive(Clone, Copy, Debug)]
pub enum TopologySeen<'a> {
    /// Placement by topology is off.
    Off,
    /// It is on; the binding that the set names, where there is one.
    On(Option<&'a ClusterTopologyBinding>),
}

/// All constraints of a set: its own, those of groups, those of cliques.
fn constraints(set: &PodCliqueSet) -> impl Iterator<Item = &TopologyConstraint> {
    let template = &set.spec.template;
    let groups = template.scaling_groups.iter().filter_map(|it| it.topology_constraint.as_ref());
    let cliques = template.cliques.iter().filter_map(|it| it.topology_constraint.as_ref());
    template.topology_constraint.iter().chain(groups).chain(cliques)
}

/// The topology that a set names.
pub fn topology_name(set: &PodCliqueSet) -> Option<&str> {
    constraints(set).filter_map(|it| it.topology_name.as_deref()).find(|it| !it.is_empty())
}

/// The condition; `None` where there is nothing to say.
pub(super) fn condition(set: &PodCliqueSet, seen: TopologySeen<'_>) -> Option<Now<'static>> {
    let domains: BTreeSet<&str> =
        constraints(set).flat_map(|it| [it.required(), it.preferred()]).flatten().collect();
    let (status, reason, message) = match seen {
        TopologySeen::Off if domains.is_empty() => return None,
        TopologySeen::Off => {
            let message = "placement by topology is off in the operator's configuration";
            (None, names::DISABLED, message.to_owned())
        }
        TopologySeen::On(_) if domains.is_empty() => {
            (Some(false), names::ALL_AVAILABLE, "the set asks for no topology".to_owned())
        }
        TopologySeen::On(binding) => match (topology_name(set), binding) {
            (None, _) => (None, names::NAME_MISSING, "the set's constraints name no topology".to_owned()),
            (Some(name), None) => {
                let message =
                    format!("there is no ClusterTopologyBinding {name:?}; pods are placed without it");
                (None, names::NOT_FOUND, message)
            }
            (Some(name), Some(binding)) => {
                let has = |domain: &&str| binding.spec.levels.iter().any(|it| it.domain == **domain);
                let missing: Vec<&str> = domains.iter().copied().filter(|it| !has(it)).collect();
                if missing.is_empty() {
                    (Some(false), names::ALL_AVAILABLE, format!("{name:?} has every level"))
                } else {
                    let message = format!("{name:?} has no level {}", missing.join(", "));
                    (Some(true), names::UNAVAILABLE, message)
                }
            }
        },
    };
    Some(Now { type_: names::TYPE, status, reason, message })
}

#[cfg(test)]
mod tests;
