//! One decision: a node for each pod of a unit, or the reason why not.

use grove_placement::{Cluster, Outcome, place_within};

use super::{needs::Needs, unit::Unit};

/// What was decided for a unit that is ready.
#[derive(Clone, Debug)]
pub(crate) enum Decision {
    /// All minima have a node.
    Bind(Bind),
    /// Nothing is bound.
    Refuse(Refusal),
}

/// Pods with their nodes.
#[derive(Clone, Debug)]
pub(crate) struct Bind {
    /// Pod and node, in the order of the tree.
    pub(crate) pods: Vec<(String, String)>,
    /// Pods above the minima for which there is no room.
    pub(crate) unplaced: Vec<String>,
}

/// Why nothing is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The group that cannot be placed.
    pub(crate) group: String,
    /// What it needs and what there is.
    pub(crate) message: String,
    /// Whether every possibility was considered.
    pub(crate) is_certain: bool,
}

/// Looks for nodes, trying so many alternatives at most.
pub(crate) fn decide(unit: &Unit, cluster: &Cluster, budget: u64) -> Decision {
    match place_within(cluster, &unit.tree, budget) {
        Outcome::Placed(placement) => Decision::Bind(Bind {
            pods: placement.pods.into_iter().map(|it| (it.pod, it.node)).collect(),
            unplaced: placement.unplaced,
        }),
        Outcome::DoesNotFit(reason) => {
            Decision::Refuse(Refusal { group: reason.group, message: reason.message, is_certain: true })
        }
        Outcome::GaveUp { tried } => Decision::Refuse(Refusal {
            group: unit.tree.name.clone(),
            message: format!("no place was found among {tried} alternatives; the search was ended there"),
            is_certain: false,
        }),
    }
}

impl Refusal {
    /// What has to change before it is worth another look.
    pub(crate) fn needs(&self, unit: &Unit) -> Needs {
        let pods = unit.tree.pods();
        let needs = Needs::of(pods.into_iter().filter(|it| it.node.is_none()).map(|it| &it.requirements));
        if self.is_certain { needs } else { needs.any_change() }
    }
}

impl Bind {
    /// Likewise, for the pods that were left over.
    pub(crate) fn needs(&self, unit: &Unit) -> Needs {
        let pods = unit.tree.pods();
        Needs::of(pods.into_iter().filter(|it| self.unplaced.contains(&it.name)).map(|it| &it.requirements))
    }
}
