//! What scenarios need to know of pods and gangs.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::wire::PodGang;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::watch_log::Watched;

/// What a scenario needs to know of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodState {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// UID.
    pub uid: String,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Node it is bound to.
    pub node: Option<String>,
    /// Whether it is ready.
    pub ready: bool,
    /// Names of its scheduling gates.
    pub gates: Vec<String>,
    /// Phase.
    pub phase: String,
    /// Node on which others make room for it.
    pub nominated: Option<String>,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// The scheduler's word on it: reason and message of the condition PodScheduled while it is False.
    pub unschedulable: Option<(String, String)>,
    /// Restarts of all its containers.
    pub restarts: i32,
    /// Image of its first container.
    pub image: String,
}

impl PodState {
    /// A label, empty where it has none.
    pub fn label(&self, key: &str) -> &str {
        self.labels.get(key).map(String::as_str).unwrap_or_default()
    }
}

impl Watched for PodState {
    type Object = Pod;

    fn of(pod: &Pod) -> Self {
        let (spec, status) = (pod.spec.as_ref(), pod.status.as_ref());
        let conditions = status.and_then(|it| it.conditions.as_deref()).unwrap_or_default();
        let condition = |type_: &str| conditions.iter().find(|it| it.type_ == type_);
        let waiting = condition("PodScheduled").filter(|it| it.status == "False");
        let gates = spec.and_then(|it| it.scheduling_gates.as_deref()).unwrap_or_default();
        let containers = status.and_then(|it| it.container_statuses.as_deref()).unwrap_or_default();
        Self {
            namespace: pod.namespace().unwrap_or_default(),
            name: pod.name_any(),
            uid: pod.uid().unwrap_or_default(),
            labels: pod.labels().clone(),
            node: spec.and_then(|it| it.node_name.clone()),
            ready: condition("Ready").is_some_and(|it| it.status == "True"),
            gates: gates.iter().map(|it| it.name.clone()).collect(),
            phase: status.and_then(|it| it.phase.clone()).unwrap_or_default(),
            nominated: status.and_then(|it| it.nominated_node_name.clone()).filter(|it| !it.is_empty()),
            terminating: pod.metadata.deletion_timestamp.is_some(),
            unschedulable: waiting
                .map(|it| (it.reason.clone().unwrap_or_default(), it.message.clone().unwrap_or_default())),
            restarts: containers.iter().map(|it| it.restart_count).sum(),
            image: spec
                .and_then(|it| it.containers.first())
                .and_then(|it| it.image.clone())
                .unwrap_or_default(),
        }
    }

    fn summary(pods: &[Self]) -> String {
        let line = |it: &Self| {
            let place = it
                .node
                .clone()
                .unwrap_or_else(|| it.unschedulable.as_ref().map_or("-".to_owned(), |it| it.0.clone()));
            let ready = if it.ready { " ready" } else { "" };
            let gates =
                if it.gates.is_empty() { String::new() } else { format!(" gated by {}", it.gates.join(",")) };
            let terminating = if it.terminating { " terminating" } else { "" };
            format!("\n    {} {} on {place}{ready}{gates}{terminating}", it.name, it.phase)
        };
        lines(pods, line)
    }
}

/// What a scenario needs to know of a PodGang.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GangState {
    /// Name.
    pub name: String,
    /// The pods of each group, by the group's name.
    pub references: BTreeMap<String, BTreeSet<String>>,
    /// Status of each condition.
    pub conditions: BTreeMap<String, String>,
    /// Phase.
    pub phase: String,
    /// Whether it is being deleted.
    pub terminating: bool,
}

impl GangState {
    /// Whether a condition is True.
    pub fn is(&self, condition: &str) -> bool {
        self.conditions.get(condition).is_some_and(|it| it == "True")
    }

    /// Whether a pod is listed.
    pub fn lists(&self, pod: &str) -> bool {
        self.references.values().any(|it| it.contains(pod))
    }
}

impl Watched for GangState {
    type Object = PodGang;

    fn of(gang: &PodGang) -> Self {
        let groups = gang.spec.pod_groups.iter();
        let references = groups.map(|group| {
            (group.name.clone(), group.pod_references.iter().map(|it| it.name.clone()).collect())
        });
        let status = gang.status.clone().unwrap_or_default();
        Self {
            name: gang.name_any(),
            references: references.collect(),
            conditions: status.conditions.into_iter().map(|it| (it.type_, it.status)).collect(),
            phase: status.phase,
            terminating: gang.metadata.deletion_timestamp.is_some(),
        }
    }

    fn summary(gangs: &[Self]) -> String {
        lines(gangs, |it| {
            let pods: usize = it.references.values().map(BTreeSet::len).sum();
            let conditions: Vec<String> =
                it.conditions.iter().map(|(type_, status)| format!("{type_}={status}")).collect();
            format!("\n    {} {} with {pods} pods {}", it.name, it.phase, conditions.join(" "))
        })
    }
}

fn lines<T>(items: &[T], line: impl Fn(&T) -> String) -> String {
    if items.is_empty() { "nothing".to_owned() } else { items.iter().map(line).collect() }
}
