//! What a ClusterTopologyBinding says of the schedulers' own topology objects, and of the labels of nodes.

use grove_api::{
    constants::{
        conditions::{nodes_labelled, scheduler_topology_drift as names},
        events::topology as events,
    },
    wire::{ClusterTopologyBinding, ClusterTopologyBindingStatus, SchedulerTopologyStatus},
};
use k8s_openapi::jiff::Timestamp;

use super::conditions::{Now, find, put, remove};

/// A scheduler's topology object, held against a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The scheduler.
    pub scheduler: String,
    /// Name of its object.
    pub reference: String,
    /// Generation of the object, where there is one.
    pub generation: Option<i64>,
    /// What was found.
    pub found: Found,
}

/// What was found of a scheduler's topology object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// It has the levels of the binding.
    Same,
    /// It is not there, is not what the binding says, or could not be made so: why.
    Different(String),
    /// Nobody can look: why.
    Unknown(String),
}

impl Found {
    fn message(&self) -> Option<&str> {
        match self {
            Self::Same => None,
            Self::Different(why) | Self::Unknown(why) => Some(why),
        }
    }
}

/// How many nodes can be placed by the levels of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// The operator may not list nodes.
    NotReadable,
    /// They were counted.
    Counted {
        /// How many nodes there are.
        nodes: usize,
        /// The label of each level, with the number of nodes that do not have it.
        lacking: Vec<(String, usize)>,
    },
}

/// The status of a binding. `is_acted_on` tells whether its present generation was carried out; `coverage` is there where
/// nodes are looked at.
pub fn binding_status(
    binding: &ClusterTopologyBinding,
    compared: &[Compared],
    coverage: Option<&Coverage>,
    is_acted_on: bool,
    now: Timestamp,
) -> ClusterTopologyBindingStatus {
    let old = binding.status.clone().unwrap_or_default();
    let generation = binding.metadata.generation;
    let mut conditions = old.conditions;
    match condition(compared) {
        Some(condition) => put(&mut conditions, condition, generation, now),
        None => remove(&mut conditions, names::TYPE),
    }
    match coverage {
        Some(coverage) => put(&mut conditions, labelled(coverage), generation, now),
        None => remove(&mut conditions, nodes_labelled::TYPE),
    }
    let entry = |it: &Compared| SchedulerTopologyStatus {
        scheduler_name: it.scheduler.clone(),
        topology_reference: it.reference.clone(),
        in_sync: it.found == Found::Same,
        scheduler_backend_topology_observed_generation: it.generation,
        message: it.found.message().map(str::to_owned),
    };
    ClusterTopologyBindingStatus {
        observed_generation: if is_acted_on { generation } else { old.observed_generation },
        conditions,
        scheduler_topology_statuses: compared.iter().map(entry).collect(),
    }
}

/// `None` where no scheduler has objects of its own.
fn condition(compared: &[Compared]) -> Option<Now<'static>> {
    let words = |wanted: fn(&Found) -> bool| {
        let told = compared.iter().filter(|it| wanted(&it.found)).map(|it| {
            let Compared { scheduler, reference, .. } = it;
            format!("{scheduler} {reference:?}: {}", it.found.message().unwrap_or_default())
        });
        told.collect::<Vec<_>>().join("; ")
    };
    let unknown = words(|it| matches!(it, Found::Unknown(_)));
    let different = words(|it| matches!(it, Found::Different(_)));
    let (status, reason, message) = match compared {
        [] => return None,
        _ if !unknown.is_empty() => (None, names::NOT_FOUND, unknown),
        _ if !different.is_empty() => (Some(true), names::DRIFT, different),
        _ => (Some(false), names::IN_SYNC, "every scheduler has these levels".to_owned()),
    };
    Some(Now { type_: names::TYPE, status, reason, message })
}

/// Without the number of all nodes: it would be another message whenever one comes or goes.
fn labelled(coverage: &Coverage) -> Now<'static> {
    use nodes_labelled::{ALL, MISSING, NO_NODES, NOT_READABLE, TYPE};

    let Coverage::Counted { nodes, lacking } = coverage else {
        let message = "the operator may not list nodes: grant list and watch on nodes to its service account";
        return Now { type_: TYPE, status: None, reason: NOT_READABLE, message: message.to_owned() };
    };
    let lacking = lacking.iter().filter(|it| it.1 > 0);
    let lacking: Vec<String> = lacking.map(|(key, count)| format!("{key}: {count}")).collect();
    let (status, reason, message) = if *nodes == 0 {
        (None, NO_NODES, "there are no nodes".to_owned())
    } else if lacking.is_empty() {
        (Some(true), ALL, "all nodes have the labels of all levels".to_owned())
    } else {
        let message = format!("nodes without the label of a level: {}", lacking.join(", "));
        (Some(false), MISSING, message)
    };
    Now { type_: TYPE, status, reason, message }
}

/// What is new for people: whether it is a warning, its reason, and a sentence.
pub fn binding_news(
    old: Option<&ClusterTopologyBindingStatus>,
    new: &ClusterTopologyBindingStatus,
) -> Option<(bool, &'static str, String)> {
    let before = old.and_then(|it| find(&it.conditions, names::TYPE)).map(|it| it.status.as_str());
    let after = find(&new.conditions, names::TYPE)?;
    if before == Some(after.status.as_str()) {
        return None;
    }
    match after.status.as_str() {
        "True" => Some((true, events::DRIFT, after.message.clone())),
        "False" => Some((false, events::IN_SYNC, after.message.clone())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
