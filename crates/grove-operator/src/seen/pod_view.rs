//! A pod as it is kept: a few values out of a large object.
//!
//! Every field of the wire is optional here, so that no pod can fail to decode and stop the watch of all the others.

use std::collections::BTreeMap;

use grove_api::{
    constants::{annotations, labels, taints},
    wire::PodClique,
};
use grove_ownership::OwnerKey;
use grove_plan::{
    facts::{Grouped, Phase, PodFact},
    nodes::Toleration,
};
use k8s_openapi::{
    api::core::v1::Pod,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time},
    jiff::Timestamp,
};
use serde::Deserialize;

/// A pod as it is kept.
#[derive(Clone, Debug, Deserialize, kube::Resource)]
#[serde(from = "Wire")]
#[resource(inherit = Pod)]
pub struct PodView {
    /// Name, namespace, UID, version, deletion; nothing else.
    pub metadata: ObjectMeta,
    /// What decisions depend on.
    pub fact: PodFact,
    /// Name of the set.
    pub set: String,
    /// Name of the clique.
    pub clique: String,
    /// Name of the scaling group.
    pub group: Option<String>,
}

impl PodView {
    pub(crate) fn namespace(&self) -> &str {
        self.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// The clique that controls it.
    pub(crate) fn owner(&self) -> Option<OwnerKey> {
        let uid = &self.fact.owner;
        (!uid.is_empty()).then(|| OwnerKey::of_kind::<PodClique>(self.namespace(), uid))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Wire {
    metadata: Metadata,
    spec: Spec,
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    uid: Option<String>,
    resource_version: Option<String>,
    creation_timestamp: Option<Time>,
    deletion_timestamp: Option<Time>,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    owner_references: Vec<OwnerReference>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
    scheduling_group: Option<Group>,
    scheduling_gates: Vec<Named>,
    volumes: Vec<Volume>,
    tolerations: Vec<Tolerated>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Tolerated {
    key: String,
    operator: String,
    value: String,
    effect: String,
    toleration_seconds: Option<i64>,
}

impl Tolerated {
    /// What it says of taints that end pods, where it says something that not every pod has.
    fn of_running(self) -> Option<Toleration> {
        if !self.effect.is_empty() && self.effect != taints::NO_EXECUTE {
            return None;
        }
        // An operator that is not known here may tolerate any value: no pod is taken away in doubt.
        let compares = self.operator.is_empty() || self.operator == "Equal";
        let value = compares.then_some(self.value);
        let toleration = Toleration { key: self.key, value, seconds: self.toleration_seconds };
        (!toleration.is_default()).then_some(toleration)
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Group {
    pod_group_name: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Volume {
    #[serde(rename = "downwardAPI")]
    downward_api: Option<Files>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Files {
    items: Vec<File>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct File {
    field_ref: Option<FieldRef>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct FieldRef {
    field_path: String,
}

impl Spec {
    /// Whether the pod has the annotation of that key as a file: then its start waits for it. Pods that another
    /// implementation made have an order too, and do not.
    fn reads(&self, annotation: &str) -> bool {
        let path = format!("metadata.annotations['{annotation}']");
        let mut files =
            self.volumes.iter().filter_map(|it| it.downward_api.as_ref()).flat_map(|it| &it.items);
        files.any(|it| it.field_ref.as_ref().is_some_and(|it| it.field_path == path))
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    phase: String,
    conditions: Vec<PodCondition>,
    container_statuses: Vec<Container>,
    init_container_statuses: Vec<Container>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PodCondition {
    #[serde(rename = "type")]
    type_: String,
    status: String,
    reason: String,
    message: String,
    last_transition_time: Option<Time>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Container {
    ready: bool,
    restart_count: i32,
    started: Option<bool>,
    state: State,
    last_state: State,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    running: Option<Running>,
    terminated: Option<Terminated>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Running {
    started_at: Option<Time>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Terminated {
    exit_code: i32,
    finished_at: Option<Time>,
}

impl Container {
    fn failed(&self) -> bool {
        [&self.state, &self.last_state]
            .into_iter()
            .any(|it| it.terminated.as_ref().is_some_and(|it| it.exit_code != 0))
    }

    /// When it ended last before it was started again, or with an error. A kubelet that does not know when one ended still knows
    /// when the next one was started.
    fn failed_at(&self) -> Option<Timestamp> {
        let ended = |it: &State| it.terminated.as_ref().and_then(|it| it.finished_at.as_ref()).map(|it| it.0);
        let is_error = self.state.terminated.as_ref().is_some_and(|it| it.exit_code != 0);
        let last = ended(&self.last_state).max(ended(&self.state).filter(|_| is_error));
        let started = || self.state.running.as_ref()?.started_at.as_ref().map(|it| it.0);
        last.or_else(|| started().filter(|_| self.restart_count > 0))
    }
}

impl From<Wire> for PodView {
    fn from(wire: Wire) -> Self {
        let Wire { mut metadata, spec, status } = wire;
        let condition = |type_: &str| status.conditions.iter().find(|it| it.type_ == type_);
        let unschedulable = condition("PodScheduled")
            .filter(|it| it.status == "False" && it.reason == "Unschedulable")
            .map(|it| it.message.clone());
        let containers = || status.init_container_statuses.iter().chain(&status.container_statuses);
        // Only a PodClique has pods, whatever else a pod says of whom it belongs to.
        let is_clique = |it: &&OwnerReference| {
            it.controller == Some(true) && OwnerKey::of_reference("", it).is_a::<PodClique>()
        };
        let owner = metadata.owner_references.iter().find(is_clique);
        let mut take = |key: &str| metadata.labels.remove(key);
        let (set, said) = (take(labels::PART_OF), take(labels::POD_CLIQUE));
        // Who owns it knows better than who relabelled it.
        let clique = owner.map(|it| it.name.clone()).or(said);
        let told = metadata.annotations.get(annotations::PARENTS_READY).is_some_and(|it| !it.is_empty());
        let pod_group = metadata.annotations.remove(annotations::POD_GROUP_NAME);
        let created = metadata.creation_timestamp.as_ref().map_or(Timestamp::UNIX_EPOCH, |it| it.0);
        let ready = condition("Ready").filter(|it| it.status == "True");
        let fact = PodFact {
            awaits_parents: !told && spec.reads(annotations::PARENTS_READY),
            index: take(labels::POD_INDEX).and_then(|it| it.parse().ok()),
            gang: take(labels::POD_GANG).unwrap_or_default(),
            hash: take(labels::POD_TEMPLATE_HASH).unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            owner: owner.map(|it| it.uid.clone()).unwrap_or_default(),
            created,
            phase: Phase::from_wire(&status.phase),
            terminating: metadata.deletion_timestamp.is_some(),
            gates: spec.scheduling_gates.into_iter().map(|it| it.name).collect(),
            bound: spec.node_name.as_ref().is_some_and(|it| !it.is_empty()),
            node: spec.node_name.unwrap_or_default(),
            tolerations: spec.tolerations.into_iter().filter_map(Tolerated::of_running).collect(),
            goes_by: metadata.deletion_timestamp.as_ref().map(|it| it.0),
            grouped: match spec.scheduling_group.and_then(|it| it.pod_group_name) {
                None => Grouped::Alone,
                Some(group) if Some(&group) == clique.as_ref() => Grouped::ByClique,
                Some(_) => Grouped::ByGang,
            },
            pod_group,
            ready: ready.is_some(),
            ready_since: ready.map(|it| it.last_transition_time.as_ref().map_or(created, |it| it.0)),
            errored: containers().any(Container::failed),
            restarted: containers().any(|it| it.restart_count > 0),
            failed_at: containers().filter_map(Container::failed_at).max(),
            started: status.container_statuses.iter().any(|it| it.started == Some(true) && !it.ready),
            unschedulable,
        };
        let group = take(labels::SCALING_GROUP);
        Self {
            set: set.unwrap_or_default(),
            clique: clique.unwrap_or_default(),
            group,
            fact,
            metadata: ObjectMeta {
                name: metadata.name,
                namespace: metadata.namespace,
                uid: metadata.uid,
                resource_version: metadata.resource_version,
                deletion_timestamp: metadata.deletion_timestamp,
                ..ObjectMeta::default()
            },
        }
    }
}

#[cfg(test)]
mod tests;
