//! What a tour knows of its cluster.

/// Gangs, pods and nodes, as informers see them now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// PodGangs.
    pub gangs: Vec<Gang>,
    /// Pods of PodCliqueSets that are not being deleted.
    pub pods: Vec<Pod>,
    /// Nodes.
    pub nodes: Vec<Node>,
}

/// A PodGang.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gang {
    /// Name.
    pub name: String,
    /// Whether its condition `Scheduled` is `True`.
    pub scheduled: bool,
    /// Whether its condition `Scheduled` is `False` because the scheduler has no place for it.
    pub unschedulable: bool,
    /// The message of that condition.
    pub message: String,
}

/// A pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// Name.
    pub name: String,
    /// UID: a pod that replaces another one may have its name.
    pub uid: String,
    /// Name of its PodGang.
    pub gang: String,
    /// Name of its PodCliqueSet.
    pub set: String,
    /// Name of its node.
    pub node: Option<String>,
    /// GPUs that it asks for.
    pub gpus: u32,
    /// Image of its first container.
    pub image: String,
    /// Whether it is ready.
    pub ready: bool,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Name.
    pub name: String,
    /// Whether its kubelet answers.
    pub ready: bool,
}

impl Watched {
    pub(super) fn gang(&self, name: &str) -> Option<&Gang> {
        self.gangs.iter().find(|it| it.name == name)
    }

    pub(super) fn pods_of<'a>(&'a self, gang: &'a str) -> impl Iterator<Item = &'a Pod> {
        self.pods.iter().filter(move |it| it.gang == gang)
    }
}
