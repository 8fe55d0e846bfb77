//! What has to be placed together: a tree of groups, with pods at the leaves.

mod from_kube;
mod from_tree;

use crate::pod::PodRequirements;

pub use from_kube::{KubeGangs, from_objects};
pub use from_tree::from_tree;

/// A part of a gang, or the whole of it. Its minimum is placed, or nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Name, for people.
    pub name: String,
    /// How many of its pods, or of the groups in it, have to be placed together. Those above are placed where they fit, after
    /// all minima.
    pub min_count: u32,
    /// Node label of which all of its pods have to have one value.
    pub required: Option<String>,
    /// Node label of which they should have one value.
    pub preferred: Option<String>,
    /// What it consists of.
    pub members: Members,
}

/// What a group consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Members {
    /// Pods.
    Pods(Vec<GangPod>),
    /// Groups.
    Groups(Vec<Group>),
}

impl Default for Members {
    fn default() -> Self {
        Self::Pods(Vec::new())
    }
}

/// A pod of a gang.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GangPod {
    /// Name.
    pub name: String,
    /// What it asks for.
    pub requirements: PodRequirements,
    /// The node that it is bound to. It counts towards the minimum, its group stays in its domain, and the cluster counts what
    /// it uses.
    pub node: Option<String>,
}

impl Group {
    /// Groups that are all needed.
    pub fn all_of(name: impl Into<String>, groups: Vec<Self>) -> Self {
        let min_count = u32::try_from(groups.len()).unwrap_or(u32::MAX);
        Self { name: name.into(), min_count, members: Members::Groups(groups), ..Self::default() }
    }

    /// A group of pods.
    pub fn of_pods(name: impl Into<String>, min_count: u32, pods: Vec<GangPod>) -> Self {
        Self { name: name.into(), min_count, members: Members::Pods(pods), ..Self::default() }
    }

    /// All pods, in the order of the tree.
    pub fn pods(&self) -> Vec<&GangPod> {
        match &self.members {
            Members::Pods(pods) => pods.iter().collect(),
            Members::Groups(groups) => groups.iter().flat_map(Self::pods).collect(),
        }
    }
}
