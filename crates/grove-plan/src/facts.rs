//! What is known of pods: the few values that decisions depend on.

use std::collections::BTreeMap;

use grove_api::constants::labels;
use k8s_openapi::{apimachinery::pkg::apis::meta::v1::ObjectMeta, jiff::Timestamp};

use crate::nodes::Toleration;

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodFact {
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// UID of the PodClique that owns it.
    pub owner: String,
    /// Index inside its PodClique.
    pub index: Option<u32>,
    /// Gang it says it belongs to.
    pub gang: String,
    /// Hash of the template it was made from.
    pub hash: String,
    /// When it was created.
    pub created: Timestamp,
    /// Phase.
    pub phase: Phase,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// Names of its scheduling gates.
    pub gates: Vec<String>,
    /// Whether it is bound to a node.
    pub bound: bool,
    /// Name of that node; empty without one.
    pub node: String,
    /// What it puts up with on its node, beyond what Kubernetes lets every pod put up with.
    pub tolerations: Vec<Toleration>,
    /// When it has to be gone, where it is being deleted: its time of grace is over then.
    pub goes_by: Option<Timestamp>,
    /// The group that its scheduler counts it in, where that is a field of the pod.
    pub grouped: Grouped,
    /// Likewise, where that is an annotation.
    pub pod_group: Option<String>,
    /// Whether it is ready.
    pub ready: bool,
    /// Since when, where it is.
    pub ready_since: Option<Timestamp>,
    /// Whether a container ended with an error before and the pod is not ready since.
    pub errored: bool,
    /// Whether a container was started again.
    pub restarted: bool,
    /// When a container ended last before it was started again, or with an error; where that is known.
    pub failed_at: Option<Timestamp>,
    /// Whether a container runs and is not ready.
    pub started: bool,
    /// Whether it does not start before it has the annotation that says that its parents are ready.
    pub awaits_parents: bool,
    /// Why the scheduler cannot place it, in its words.
    pub unschedulable: Option<String>,
}

/// Which group a pod is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouped {
    /// None.
    #[default]
    Alone,
    /// One of its clique.
    ByClique,
    /// Another one: that of the gang.
    ByGang,
}

/// Phase of a pod, from least to most valuable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Ended, with failure.
    Failed,
    /// Ended, with success.
    Succeeded,
    /// Not started.
    #[default]
    Pending,
    /// The kubelet is silent.
    Unknown,
    /// Started.
    Running,
}

impl Phase {
    /// By its name on the wire.
    pub fn from_wire(phase: &str) -> Self {
        match phase {
            "Failed" => Self::Failed,
            "Succeeded" => Self::Succeeded,
            "Running" => Self::Running,
            "Unknown" => Self::Unknown,
            _ => Self::Pending,
        }
    }
}

impl PodFact {
    /// Whether Grove holds it back.
    pub fn is_gated(&self) -> bool {
        self.gates.iter().any(|it| it == grove_api::constants::gates::POD_GANG_PENDING)
    }

    /// Whether it counts as one of the pods that are wanted: it is there, and it has not ended with failure.
    pub fn is_live(&self) -> bool {
        !self.terminating && self.phase != Phase::Failed
    }

    /// Whether it failed, or a container of it did and it is not ready since.
    pub fn is_failing(&self) -> bool {
        self.phase == Phase::Failed || (!self.ready && (self.errored || self.restarted))
    }

    /// When a container of it failed last, where the pod is ready again.
    pub fn healed(&self) -> Option<Timestamp> {
        self.failed_at.filter(|_| !self.is_failing() && (self.errored || self.restarted))
    }
}

/// Why the API server refuses pods of a clique.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The server's words.
    pub message: String,
    /// Since when.
    pub since: Timestamp,
}

/// Pods of a clique, counted. Pods that are being deleted count nowhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Pods that are there.
    pub live: u32,
    /// Bound to a node.
    pub scheduled: u32,
    /// Held back by a gate.
    pub gated: u32,
    /// Ready.
    pub ready: u32,
    /// Not ready, and a container ended with an error before.
    pub errored: u32,
    /// Not ready although a container runs.
    pub started: u32,
    /// Made from the wanted template.
    pub updated: u32,
    /// Waiting for the cliques that they start after.
    pub waiting: u32,
    /// Ended, with success.
    pub completed: u32,
    /// Those of them that were made from another template.
    pub completed_old: u32,
    /// Ended, with failure; they count nowhere else but in what follows.
    pub fallen: u32,
    /// Those of them that were made from another template.
    pub fallen_old: u32,
    /// Bound to a node, or fallen on one.
    pub placed: u32,
    /// When the first and the last of those were created that are not being deleted, failed ones among them.
    pub created: Option<(Timestamp, Timestamp)>,
    /// Likewise the last of those that failed, or a container of which did and that are not ready since.
    pub failed: Option<Timestamp>,
    /// Of those that are ready again after a container of them failed, the one where that was last: when, and when it was
    /// created.
    pub healed: Option<(Timestamp, Timestamp)>,
}

impl Tally {
    /// Counts `pods`; `hash` is that of the wanted template.
    pub fn of<'a>(pods: impl IntoIterator<Item = &'a PodFact>, hash: &str) -> Self {
        let mut tally = Self::default();
        for pod in pods.into_iter().filter(|it| !it.terminating) {
            let (first, last) = tally.created.unwrap_or((pod.created, pod.created));
            tally.created = Some((first.min(pod.created), last.max(pod.created)));
            tally.failed = tally.failed.max(Some(pod.created).filter(|_| pod.is_failing()));
            tally.healed = tally.healed.max(pod.healed().map(|at| (at, pod.created)));
            tally.placed += u32::from(pod.bound);
            if pod.phase == Phase::Failed {
                tally.fallen += 1;
                tally.fallen_old += u32::from(pod.hash != hash);
                continue;
            }
            tally.live += 1;
            tally.scheduled += u32::from(pod.bound);
            tally.gated += u32::from(!pod.gates.is_empty() && !pod.bound);
            tally.ready += u32::from(pod.ready);
            tally.errored += u32::from(!pod.ready && pod.errored);
            tally.started += u32::from(!pod.ready && !pod.errored && pod.started);
            tally.updated += u32::from(pod.hash == hash);
            tally.waiting += u32::from(pod.awaits_parents);
            tally.completed += u32::from(pod.phase == Phase::Succeeded);
            tally.completed_old += u32::from(pod.phase == Phase::Succeeded && pod.hash != hash);
        }
        tally
    }

    /// Pods that run or may still come up: bound, and neither failing nor running without getting ready.
    pub fn healthy(&self) -> u32 {
        self.scheduled.saturating_sub(self.errored).saturating_sub(self.started)
    }
}

/// Hash of the template that an object says it is of.
pub fn template_hash(metadata: &ObjectMeta) -> &str {
    label(metadata.labels.as_ref(), labels::POD_TEMPLATE_HASH).unwrap_or_default()
}

/// Label values that identify an object.
pub fn label<'a>(labels: Option<&'a BTreeMap<String, String>>, key: &str) -> Option<&'a str> {
    labels.and_then(|it| it.get(key)).map(String::as_str)
}

/// An index from a label value.
pub fn index_label(labels: Option<&BTreeMap<String, String>>, key: &str) -> Option<u32> {
    label(labels, key).and_then(|it| it.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{at, pods};

    #[test]
    fn phases_by_their_names() {
        let rows = [
            ("Failed", Phase::Failed),
            ("Succeeded", Phase::Succeeded),
            ("Pending", Phase::Pending),
            ("Unknown", Phase::Unknown),
            ("Running", Phase::Running),
            // A pod that nobody has looked at yet has none.
            ("", Phase::Pending),
        ];
        for (name, want) in rows {
            assert_eq!(Phase::from_wire(name), want, "{name}");
        }
        assert!(rows[..5].is_sorted_by_key(|it| it.1), "from least to most valuable");
    }

    /// One that was started again after it ended well has lost what it knew, too.
    #[test]
    fn the_last_pod_that_failed() {
        let tally = |text: &str| Tally::of(&pods(text), "");
        let none = tally("0r@1 1n@2 2S@3 3g@4");
        assert_eq!((none.failed, none.healed), (None, None));
        for mark in ["1F@5", "1ne@5", "1nx@5", "1px@5"] {
            let tally = tally(&format!("0ne@2 {mark} 2r@9 3F!@9"));
            assert_eq!((tally.failed, tally.healed), (Some(at(5)), None), "{mark}");
        }
        for mark in ["1re@5^8", "1rx@5^8"] {
            let tally = tally(&format!("0re@6^7 {mark} 2r@9 3rx!@9^9"));
            assert_eq!((tally.failed, tally.healed), (None, Some((at(8), at(5)))), "{mark}");
        }
    }

    #[test]
    fn indices_are_numbers() {
        let labels = |value: &str| Some([("i".to_owned(), value.to_owned())].into());
        for (labels, want) in
            [(labels("7"), Some(7)), (labels("x"), None), (labels("-1"), None), (None, None)]
        {
            assert_eq!(index_label(labels.as_ref(), "i"), want);
        }
    }
}
