//! What has to be placed together, as a tree: the gang, bundles in it, groups of pods at the leaves.
//!
//! A PodGang becomes such a tree ([`from_pod_gang`]), and so does every other workload that the pod grouper knows.
//! Every backend renders trees, so that it never has to know where a gang comes from.

mod from_pod_gang;

use std::collections::BTreeMap;

use grove_api::constants::annotations;

pub use from_pod_gang::{Malformed, from_pod_gang};

/// Annotation of a PodGang: how the scheduler backend makes it, see [`Gang::form`].
pub const FORM_ANNOTATION: &str = annotations::SCHEDULER_FORM;
/// The form of a PodGang that had pods before anybody noted a form: upstream Grove's.
pub const ADOPTED: &str = annotations::SCHEDULER_FORM_ADOPTED;

/// An all-or-nothing unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gang {
    /// Namespace of the gang, its pods, and all that is rendered for it.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID of the object that the gang was made from, which owns what is rendered.
    pub uid: String,
    /// API version of that object.
    pub api_version: String,
    /// Kind of that object.
    pub kind: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// PriorityClass; empty means none.
    pub priority_class: String,
    /// Name of the topology whose levels the constraints use; empty where none has one.
    pub topology: String,
    /// What [`Scheduler::form`](crate::backend::Scheduler::form) said when the gang was created; empty where nobody
    /// noted it, and [`ADOPTED`] for a gang that was there before.
    pub form: String,
    /// Whether a gang is named whose reserved capacity this one takes over.
    pub reuses_reservation: bool,
    /// Placement of the whole gang.
    pub pack: Pack,
    /// What it consists of, all of which is needed.
    pub children: Vec<Node>,
    /// Groups that belong to the gang and are scaled to zero at present: they come back, and what is made for the others
    /// must fit then.
    pub absent: Vec<String>,
    /// Templates of the same workload whose pods are not in this gang: what holds for the whole workload may stand
    /// there.
    pub siblings: Vec<Template>,
    /// Names of the objects that it has at the scheduler, as far as somebody looked.
    pub objects: Vec<String>,
}

/// What a template says of its pods.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Template {
    /// Name of the template.
    pub name: String,
    /// Labels of its pods.
    pub labels: BTreeMap<String, String>,
    /// Annotations of its pods.
    pub annotations: BTreeMap<String, String>,
}

/// A part of a gang.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Name, unique in the gang.
    pub name: String,
    /// Labels that its pods have from their template, as far as they are known.
    pub labels: BTreeMap<String, String>,
    /// Likewise, annotations.
    pub annotations: BTreeMap<String, String>,
    /// Its placement, inside of that of its parent.
    pub pack: Pack,
    /// What it consists of.
    pub content: Content,
}

/// What a part of a gang consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Pods that are alike.
    Group {
        /// How many of them have to be placed together. 0 means that the duty is lifted for the moment.
        min: u32,
        /// Their names.
        pods: Vec<String>,
    },
    /// Parts, all of which are needed.
    Bundle(Vec<Node>),
}

impl Default for Content {
    fn default() -> Self {
        Self::Bundle(Vec::new())
    }
}

/// Placement by node label: the value of the label is equal on all nodes used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pack {
    /// Label key by which it has to be so.
    pub required: Option<String>,
    /// Label key by which it should be so.
    pub preferred: Option<String>,
}

impl Pack {
    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.required.is_none() && self.preferred.is_none()
    }
}

/// A group of pods and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf<'a> {
    /// The group.
    pub node: &'a Node,
    /// Its name.
    pub name: &'a str,
    /// Its placement.
    pub pack: &'a Pack,
    /// How many of its pods have to be placed together.
    pub min: u32,
    /// Their names.
    pub pods: &'a [String],
    /// The bundle that it is in, if any.
    pub parent: Option<&'a str>,
}

/// What a gang looks like, for whoever has to decide whether a scheduler can place it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Groups of pods.
    pub groups: usize,
    /// Bundles.
    pub bundles: usize,
}

impl Gang {
    /// All groups of pods in their order, each with the bundle that it is in.
    pub fn leaves(&self) -> Vec<Leaf<'_>> {
        let mut leaves = Vec::new();
        for child in &self.children {
            child.collect_leaves(None, &mut leaves);
        }
        leaves
    }

    /// The group of this name.
    pub fn leaf(&self, name: &str) -> Option<Leaf<'_>> {
        self.leaves().into_iter().find(|it| it.name == name)
    }

    /// All nodes, parents before their children.
    pub fn nodes(&self) -> Vec<&Node> {
        let mut nodes = Vec::new();
        for child in &self.children {
            child.collect_nodes(&mut nodes);
        }
        nodes
    }

    /// Tells what the templates of a group's pods say.
    pub fn describe_group(
        &mut self,
        name: &str,
        labels: BTreeMap<String, String>,
        annotations: BTreeMap<String, String>,
    ) {
        for child in &mut self.children {
            if let Some(node) = child.find_mut(name) {
                (node.labels, node.annotations) = (labels, annotations);
                return;
            }
        }
    }

    /// How many pods have to be placed together in all.
    pub fn min(&self) -> u32 {
        self.leaves().iter().fold(0, |sum, leaf| sum.saturating_add(leaf.min))
    }

    /// Whether every minimum is lifted: nothing may be changed at the scheduler then.
    pub fn is_lifted(&self) -> bool {
        self.min() == 0
    }

    /// How it is built.
    pub fn shape(&self) -> Shape {
        let nodes = self.nodes();
        let groups = nodes.iter().filter(|it| matches!(it.content, Content::Group { .. })).count();
        Shape { groups, bundles: nodes.len() - groups }
    }
}

impl Node {
    fn collect_leaves<'a>(&'a self, parent: Option<&'a str>, out: &mut Vec<Leaf<'a>>) {
        match &self.content {
            Content::Group { min, pods } => {
                out.push(Leaf { node: self, name: &self.name, pack: &self.pack, min: *min, pods, parent });
            }
            Content::Bundle(children) => {
                for child in children {
                    child.collect_leaves(Some(&self.name), out);
                }
            }
        }
    }

    fn find_mut(&mut self, name: &str) -> Option<&mut Self> {
        if self.name == name {
            return Some(self);
        }
        match &mut self.content {
            Content::Group { .. } => None,
            Content::Bundle(children) => children.iter_mut().find_map(|it| it.find_mut(name)),
        }
    }

    fn collect_nodes<'a>(&'a self, out: &mut Vec<&'a Node>) {
        out.push(self);
        if let Content::Bundle(children) = &self.content {
            for child in children {
                child.collect_nodes(out);
            }
        }
    }
}
