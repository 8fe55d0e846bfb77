//! The rules for our resources, as pure functions over typed objects.
//!
//! Admission, the command line and tests call the same functions. Objects are expected to be defaulted.

mod binding;
mod children;
mod grouping_rule;
mod kubernetes;
mod pod;
mod set;

use std::collections::BTreeMap;

pub use binding::validate_topology_binding;
pub use children::{validate_pod_clique, validate_scaling_group};
pub use grouping_rule::validate_grouping_rule;
pub use set::{in_field_order, too_many_bytes, validate_create, validate_update};

use crate::{
    field::{Errors, Path, Warning},
    wire::TopologyLevel,
};

/// What validation found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The object is refused for these.
    pub errors: Errors,
    /// The object is taken; the user should read these.
    pub warnings: Vec<Warning>,
}

impl Verdict {
    fn warn(&mut self, path: Path, text: impl Into<String>) {
        self.warnings.push(Warning { path, text: text.into() });
    }
}

/// What the rules know of the cluster besides the object. Whatever is not known is not checked, and a warning
/// says so.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// The schedulers that may be used.
    pub schedulers: Option<Schedulers>,
    /// Whether topology-aware scheduling is on.
    pub topology_aware: Option<bool>,
    /// The topology that a new set gets which names none.
    pub default_topology: Option<String>,
    /// Levels of the ClusterTopologyBindings, by name.
    pub topologies: BTreeMap<String, Vec<TopologyLevel>>,
    /// Levels of Kueue's Topologies, by name.
    pub kueue_topologies: BTreeMap<String, Vec<TopologyLevel>>,
    /// Whether both have them all, so that a name that they lack does not exist.
    pub all_topologies_known: bool,
    /// Whether multi-node NVLink domains are managed.
    pub mnnvl: Option<bool>,
}

impl Environment {
    /// The levels of the topology of this name: a ClusterTopologyBinding goes before a Topology of Kueue.
    pub fn topology(&self, name: &str) -> Option<&[TopologyLevel]> {
        self.topologies.get(name).or_else(|| self.kueue_topologies.get(name)).map(Vec::as_slice)
    }
}

/// The schedulers that may be used, by the names that pods carry.
#[derive(Clone, Debug)]
pub struct Schedulers {
    /// What a pod without a scheduler name gets.
    pub default: String,
    /// All that are active, the default included.
    pub active: Vec<Scheduler>,
}

/// One active scheduler.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// What pods carry as schedulerName.
    pub name: String,
    /// Whether its backend keeps topology objects of its own.
    pub topology_aware: bool,
}

impl Schedulers {
    fn get(&self, name: &str) -> Option<&Scheduler> {
        self.active.iter().find(|it| it.name == name)
    }

    fn names(&self) -> Vec<&str> {
        self.active.iter().map(|it| it.name.as_str()).collect()
    }
}
