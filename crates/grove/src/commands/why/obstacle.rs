//! What keeps pods off nodes, with numbers: read from the messages of schedulers, and from the nodes themselves where
//! they may be read.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Pod;

use super::{nodes::Node, refusals::Refusals};
use crate::{amount::Amount, demand};

/// Nodes that are named in a command.
const MAX_NAMES: usize = 3;

/// One reason why nodes are no use to the pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// Nodes without the label of a required topology level.
    MissingLabel {
        key: String,
        without: usize,
        of: usize,
    },
    /// No node has the resource at all.
    ResourceAbsent {
        resource: String,
    },
    /// No node is large enough, even an empty one.
    RequestTooLarge {
        resource: String,
        requested: Amount,
        largest: Amount,
    },
    /// Each resource alone would fit a node, all of them together fit none.
    RequestsTogetherTooLarge {
        requests: String,
    },
    Cordoned {
        count: u64,
        of: Option<u64>,
        names: Vec<String>,
    },
    Tainted {
        count: u64,
    },
    NotSelected {
        count: u64,
        /// Whether no node is left.
        all: bool,
    },
    Insufficient {
        resource: String,
        count: u64,
    },
}

/// What is known of pods that are not placed.
pub(super) struct Question<'a> {
    /// What the scheduler says of the group, and of its pods.
    pub(super) messages: Vec<&'a str>,
    /// The pods that wait.
    pub(super) pods: Vec<&'a Pod>,
    /// `None` where they could not be read.
    pub(super) nodes: Option<&'a [Node]>,
    /// Labels of the topology levels that are required.
    pub(super) keys: BTreeSet<&'a str>,
}

impl Obstacle {
    /// All of them; those that no free capacity would help against come first.
    pub(super) fn all(question: &Question<'_>) -> Vec<Self> {
        let said = Refusals::read(&question.messages);
        let mut all = Vec::new();
        match question.nodes.filter(|it| !it.is_empty()) {
            Some(nodes) => {
                all.extend(missing_labels(&question.keys, nodes));
                all.extend(too_large(&question.pods, nodes, &said));
            }
            None => all.extend(question.messages.iter().filter_map(|it| label_of(it)).take(1)),
        }
        all.extend(cordoned(question, &said));
        if said.tainted > 0 {
            all.push(Self::Tainted { count: said.tainted });
        }
        if said.not_selected > 0 {
            let nodes = question.messages.iter().filter_map(|it| nodes_of(it)).max();
            let nodes = nodes.or(question.nodes.map(|it| it.len() as u64));
            all.push(Self::NotSelected {
                count: said.not_selected,
                all: nodes.is_some_and(|it| said.not_selected >= it),
            });
        }
        let explained = |resource: &str| {
            all.iter().any(|it| match it {
                Self::ResourceAbsent { resource: own } | Self::RequestTooLarge { resource: own, .. } => {
                    own == resource
                }
                _ => false,
            })
        };
        let short = said.insufficient.iter().filter(|it| !explained(it.0));
        let short: Vec<Self> = short
            .map(|(resource, count)| Self::Insufficient { resource: resource.clone(), count: *count })
            .collect();
        all.extend(short);
        all.sort_by_key(|it| !it.is_final());
        all
    }

    /// Whether free capacity would not help.
    pub(super) fn is_final(&self) -> bool {
        match self {
            Self::MissingLabel { without, of, .. } => without == of,
            Self::NotSelected { all, .. } => *all,
            Self::ResourceAbsent { .. }
            | Self::RequestTooLarge { .. }
            | Self::RequestsTogetherTooLarge { .. } => true,
            Self::Cordoned { .. } | Self::Tainted { .. } | Self::Insufficient { .. } => false,
        }
    }

    /// For machines.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::MissingLabel { .. } => "missingLabel",
            Self::ResourceAbsent { .. } => "resourceAbsent",
            Self::RequestTooLarge { .. } | Self::RequestsTogetherTooLarge { .. } => "requestTooLarge",
            Self::Cordoned { .. } => "cordoned",
            Self::Tainted { .. } => "tainted",
            Self::NotSelected { .. } => "notSelected",
            Self::Insufficient { .. } => "insufficient",
        }
    }

    /// Part of a sentence.
    pub(super) fn text(&self) -> String {
        match self {
            Self::MissingLabel { key, without, of } if without == of => {
                format!("no node has the label {key}")
            }
            Self::MissingLabel { key, without, of } => {
                format!(
                    "{without} of {of} nodes {} not have the label {key}",
                    plural(*without as u64, "does", "do")
                )
            }
            Self::ResourceAbsent { resource } => format!("no node offers {resource}"),
            Self::RequestTooLarge { resource, requested, largest } => format!(
                "each pod requests {} {resource} and the largest node has {}",
                requested.text(resource),
                largest.text(resource)
            ),
            Self::RequestsTogetherTooLarge { requests } => {
                format!("each pod requests {requests}, and no node has all of that")
            }
            Self::Cordoned { count, of, .. } => {
                let are = plural(*count, "is", "are");
                match of {
                    Some(all) => format!("{count} of {all} nodes {are} cordoned"),
                    None => format!("{} {are} cordoned", nodes(*count)),
                }
            }
            Self::Tainted { count } => {
                format!(
                    "{} {} taints that the pods do not tolerate",
                    nodes(*count),
                    plural(*count, "has", "have")
                )
            }
            Self::NotSelected { count, .. } => format!(
                "{} {} not match the pods' nodeSelector or affinity",
                nodes(*count),
                plural(*count, "does", "do")
            ),
            Self::Insufficient { resource, count } => {
                format!("{} {} too little free {resource}", nodes(*count), plural(*count, "has", "have"))
            }
        }
    }

    /// Whether the scheduler's own words say it.
    pub(super) fn is_told_by(&self, words: &str) -> bool {
        let said = Refusals::read(&[words]);
        match self {
            Self::MissingLabel { .. } => words.contains(&self.text()),
            Self::Cordoned { .. } => said.cordoned > 0,
            Self::Tainted { .. } => said.tainted > 0,
            Self::NotSelected { .. } => said.not_selected > 0,
            Self::Insufficient { resource, .. } => said.insufficient.contains_key(resource),
            Self::ResourceAbsent { .. }
            | Self::RequestTooLarge { .. }
            | Self::RequestsTogetherTooLarge { .. } => false,
        }
    }

    /// What would help against it; `None` where that is capacity.
    pub(super) fn fix(&self) -> Option<String> {
        Some(match self {
            Self::MissingLabel { key, without, of } if without == of => format!(
                "label the nodes with {key}, or correct the key of that level in the ClusterTopologyBinding \
                 (`grove topology` shows it)"
            ),
            Self::MissingLabel { key, without, .. } => {
                format!(
                    "label the other {} with {key}, if they are part of the topology",
                    nodes(*without as u64)
                )
            }
            Self::ResourceAbsent { resource } => format!(
                "install the device plugin that provides {resource}, or correct the resource name in the pod template"
            ),
            Self::RequestTooLarge { resource, requested, largest } => format!(
                "request at most {} {resource} per pod, or add nodes with at least {}",
                largest.text(resource),
                requested.text(resource)
            ),
            Self::RequestsTogetherTooLarge { requests } => {
                format!("request less per pod, or add nodes with at least {requests}")
            }
            Self::Cordoned { names, .. } if !names.is_empty() => {
                let more = if names.len() > MAX_NAMES { " …" } else { "" };
                let shown: Vec<&str> = names.iter().take(MAX_NAMES).map(String::as_str).collect();
                format!("uncordon nodes: `kubectl uncordon {}{more}`", shown.join(" "))
            }
            Self::Cordoned { .. } => {
                "uncordon nodes (`kubectl get nodes` shows SchedulingDisabled)".to_owned()
            }
            Self::Tainted { count } => {
                format!("add tolerations for the taints of the {}, or remove the taints", nodes(*count))
            }
            Self::NotSelected { .. } => {
                "correct the nodeSelector or affinity in the pod template, or label nodes to match it"
                    .to_owned()
            }
            Self::Insufficient { .. } => return None,
        })
    }
}

/// `no node has the label KEY of its required topology level`, as the backend of kube-scheduler says.
fn label_of(words: &str) -> Option<Obstacle> {
    let (key, _) = words.split_once("no node has the label ")?.1.split_once(" of its required")?;
    Some(Obstacle::MissingLabel { key: key.to_owned(), without: 0, of: 0 })
}

/// `0/16 nodes are available: …`
fn nodes_of(words: &str) -> Option<u64> {
    let (before, _) = words.split_once(" nodes are available")?;
    before.rsplit_once("0/")?.1.parse().ok()
}

/// Labels of required levels that nodes do not have.
fn missing_labels<'a>(
    keys: &'a BTreeSet<&str>,
    nodes: &'a [Node],
) -> impl Iterator<Item = Obstacle> + use<'a> {
    keys.iter().filter_map(|key| {
        let without = nodes.iter().filter(|it| !it.labels.contains_key(*key)).count();
        let missing = Obstacle::MissingLabel { key: (*key).to_owned(), without, of: nodes.len() };
        (without > 0).then_some(missing)
    })
}

/// Requests that no node could hold, even an empty one. A scheduler that counts what is insufficient knows better what
/// it does not look at, such as resources that come with claims.
fn too_large(pods: &[&Pod], nodes: &[Node], said: &Refusals) -> Vec<Obstacle> {
    let mut all: Vec<Obstacle> = Vec::new();
    let mut sizes: Vec<BTreeMap<String, Amount>> = Vec::new();
    for requests in pods.iter().filter_map(|it| it.spec.as_ref()).map(demand::of_all) {
        if !sizes.contains(&requests) {
            sizes.push(requests);
        }
    }
    for mut requests in sizes {
        if requests.keys().any(|it| said.insufficient.contains_key(it)) {
            requests.retain(|name, _| said.insufficient.contains_key(name));
        }
        if requests.is_empty() || nodes.iter().any(|it| it.holds(&requests)) {
            continue;
        }
        let mut alone: Vec<Obstacle> = Vec::new();
        for (resource, requested) in &requests {
            let largest = nodes.iter().map(|it| it.has(resource)).max().unwrap_or_default();
            let (resource, requested) = (resource.clone(), *requested);
            if largest.is_zero() {
                alone.push(Obstacle::ResourceAbsent { resource });
            } else if largest < requested {
                alone.push(Obstacle::RequestTooLarge { resource, requested, largest });
            }
        }
        if alone.is_empty() {
            let text = |(resource, it): (&String, &Amount)| format!("{} {resource}", it.text(resource));
            let requests = requests.iter().map(text).collect::<Vec<_>>().join(" and ");
            alone.push(Obstacle::RequestsTogetherTooLarge { requests });
        }
        for it in alone {
            if !all.contains(&it) {
                all.push(it);
            }
        }
    }
    all
}

/// Cordoned nodes that could hold one of the pods; what the scheduler counted, where nodes cannot be read.
fn cordoned(question: &Question<'_>, said: &Refusals) -> Option<Obstacle> {
    let Some(nodes) = question.nodes else {
        return (said.cordoned > 0).then(|| Obstacle::Cordoned {
            count: said.cordoned,
            of: None,
            names: Vec::new(),
        });
    };
    let sizes: Vec<_> = question.pods.iter().filter_map(|it| it.spec.as_ref()).map(demand::of_all).collect();
    let helps = |it: &&Node| it.is_cordoned && sizes.iter().any(|requests| it.holds(requests));
    let mut names: Vec<String> = nodes.iter().filter(helps).map(|it| it.name.clone()).collect();
    names.sort();
    let (count, of) = (names.len() as u64, Some(nodes.len() as u64));
    (count > 0).then_some(Obstacle::Cordoned { count, of, names })
}

fn nodes(count: u64) -> String {
    format!("{count} {}", plural(count, "node", "nodes"))
}

fn plural<'a>(count: u64, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

#[cfg(test)]
mod tests;
