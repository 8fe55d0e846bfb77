//! Placement by topology: what levels a cluster has, what a set asks of them, and what its gangs are told.
//!
//! [`Topology`] is one form for both kinds that describe a cluster, and [`Placement`] one form for both ways in which a set
//! asks: `topologyConstraint` at three levels, and `schedulingPolicyConfig`. [`Spread`] keeps the replicas of a set apart.

mod asked;
mod placement;
mod places;
mod spread;
#[cfg(test)]
mod tests;

use grove_api::wire::{ClusterTopologyBinding, KueueTopology, TopologyLevel};

pub(crate) use self::{
    asked::{every_level, is_asked, lacks_required_level, missing_levels, requires_any},
    placement::is_required,
};
pub use self::{
    asked::{missing_required_levels, topology_name},
    placement::Placement,
    places::{Places, Score, common_domain, preferred_keys, score},
    spread::Spread,
};

/// The levels of a cluster, the broadest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// Name by which sets and schedulers know it.
    pub name: String,
    /// Levels, the broadest first.
    pub levels: Vec<TopologyLevel>,
}

impl From<&ClusterTopologyBinding> for Topology {
    fn from(binding: &ClusterTopologyBinding) -> Self {
        let name = binding.metadata.name.clone().unwrap_or_default();
        Self { name, levels: binding.spec.levels.clone() }
    }
}

impl From<&KueueTopology> for Topology {
    fn from(topology: &KueueTopology) -> Self {
        let name = topology.metadata.name.clone().unwrap_or_default();
        Self { name, levels: topology.spec.levels() }
    }
}

impl Topology {
    /// Node label of the level that is called `domain`.
    pub fn key_of(&self, domain: &str) -> Option<&str> {
        self.levels.iter().find(|it| it.domain == domain).map(|it| it.key.as_str())
    }

    /// Whether a level has this node label.
    pub fn has_key(&self, key: &str) -> bool {
        self.levels.iter().any(|it| it.key == key)
    }

    /// Node label of the narrowest level.
    pub fn narrowest(&self) -> Option<&str> {
        self.levels.last().map(|it| it.key.as_str())
    }
}
