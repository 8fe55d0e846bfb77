//! Whether the topology that a set asks for is there.

use grove_api::{constants::conditions::topology_levels_unavailable as names, wire::PodCliqueSet};

use super::conditions::Now;
use crate::topology::{
    Topology, is_asked, lacks_required_level, missing_levels, requires_any, topology_name,
};

/// What is known of a set's topology.
#[derive(Clone, Copy, Debug)]
pub enum TopologySeen<'a> {
    /// Placement by topology is off.
    Off,
    /// It is on; the topology that the set names, where there is one.
    On(Option<&'a Topology>),
}

/// The condition; `None` where there is nothing to say.
pub(super) fn condition(set: &PodCliqueSet, seen: TopologySeen<'_>) -> Option<Now<'static>> {
    let asks = is_asked(set);
    let (status, reason, message) = match seen {
        TopologySeen::Off if !asks => return None,
        TopologySeen::Off => {
            let message = "topologyAwareScheduling is disabled in the operator's configuration; pods are placed without topology constraints";
            (None, names::DISABLED, message.to_owned())
        }
        TopologySeen::On(_) if !asks => {
            (Some(false), names::ALL_AVAILABLE, "the set has no topology constraints".to_owned())
        }
        TopologySeen::On(topology) => match (topology_name(set), topology) {
            (None, _) => {
                let message = "the set's topology constraints name no topology; pods are placed without them";
                (None, names::NAME_MISSING, message.to_owned())
            }
            (Some(name), None) => {
                let means = if requires_any(set) {
                    "PodGangs that have their required levels keep them, and new ones stay gated until it is created"
                } else {
                    "pods are placed without it"
                };
                let message = format!("no ClusterTopologyBinding or Kueue Topology {name:?}; {means}");
                (None, names::NOT_FOUND, message)
            }
            (Some(name), Some(topology)) => {
                let missing: Vec<&str> = missing_levels(set, topology).into_iter().collect();
                if missing.is_empty() {
                    (Some(false), names::ALL_AVAILABLE, format!("{name:?} has every level"))
                } else {
                    let means = if lacks_required_level(set, topology) {
                        "; PodGangs that have their required levels keep them, and new ones stay gated until it has them"
                    } else {
                        ""
                    };
                    let message = format!("{name:?} has no level {}{means}", missing.join(", "));
                    (Some(true), names::UNAVAILABLE, message)
                }
            }
        },
    };
    Some(Now { type_: names::TYPE, status, reason, message })
}

#[cfg(test)]
mod tests;
