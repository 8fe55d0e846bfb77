//! What is known of a cluster at one moment.

use std::collections::BTreeSet;

use super::{gang::Gang, node::Node, pod::Pod};

/// Nodes, pods of PodCliqueSets and PodGangs, in the order of their namespaces and names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Pods.
    pub pods: Vec<Pod>,
    /// PodGangs.
    pub gangs: Vec<Gang>,
}

impl Snapshot {
    /// How to name objects: with their namespace where there are several.
    pub(super) fn naming(&self) -> Naming {
        let pods = self.pods.iter().map(|it| it.namespace.as_str());
        let namespaces: BTreeSet<&str> =
            pods.chain(self.gangs.iter().map(|it| it.namespace.as_str())).collect();
        Naming { with_namespace: namespaces.len() > 1 }
    }
}

/// How objects are named.
#[derive(Clone, Copy, Debug)]
pub(super) struct Naming {
    with_namespace: bool,
}

impl Naming {
    /// `chat-0`, or `ml/chat-0`.
    pub(super) fn name(self, namespace: &str, name: &str) -> String {
        if self.with_namespace { format!("{namespace}/{name}") } else { name.to_owned() }
    }
}
