//! A cluster without a server: what a plan says is done, and seen by the next plan.

#![allow(dead_code, reason = "each test target uses its part")]

#[path = "../../src/fixture/set.rs"]
mod set;
mod world;

use grove_api::{
    constants::{gates, labels},
    wire::{NamespacedName, PodGang},
};
use grove_plan::{
    children::{Action, Child, ChildPlan},
    facts::{Grouped, Phase, PodFact, index_label, label},
};
use k8s_openapi::{
    api::core::v1::Pod,
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
    jiff::Timestamp,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

#[allow(unused_imports, reason = "each test target uses its part")]
pub(crate) use self::{set::set, world::World};

/// What an operator would know of a pod that nobody has started.
fn fact(pod: &Pod) -> PodFact {
    let of_pod = pod.metadata.labels.as_ref();
    let spec = pod.spec.as_ref().unwrap();
    let text = |key: &str| label(of_pod, key).unwrap().to_owned();
    PodFact {
        name: name_of(&pod.metadata).to_owned(),
        uid: pod.metadata.uid.clone().unwrap(),
        owner: owner(&pod.metadata).uid.clone(),
        index: index_label(of_pod, labels::POD_INDEX),
        gang: text(labels::POD_GANG),
        hash: text(labels::POD_TEMPLATE_HASH),
        created: Timestamp::UNIX_EPOCH,
        phase: if spec.node_name.is_some() { Phase::Running } else { Phase::Pending },
        terminating: false,
        gates: spec.scheduling_gates.iter().flatten().map(|it| it.name.clone()).collect(),
        bound: spec.node_name.is_some(),
        node: spec.node_name.clone().unwrap_or_default(),
        tolerations: Vec::new(),
        goes_by: None,
        grouped: Grouped::Alone,
        pod_group: None,
        ready: spec.node_name.is_some(),
        ready_since: spec.node_name.is_some().then_some(Timestamp::UNIX_EPOCH),
        errored: false,
        restarted: false,
        failed_at: None,
        started: false,
        awaits_parents: false,
        unschedulable: None,
    }
}

/// Whether a pod is held back by our gate.
pub(crate) fn is_gated(pod: &Pod) -> bool {
    let gates = pod.spec.iter().flat_map(|it| it.scheduling_gates.iter().flatten());
    gates.into_iter().any(|it| it.name == gates::POD_GANG_PENDING)
}

/// A plan in words: `create PodGang inf-0`, `blocked …`, `waiting`.
pub(crate) fn lines(plan: &ChildPlan) -> Vec<String> {
    let action = |it: &Action| match it {
        Action::Create(child) => format!("create {} {}", child.kind().as_str(), name_of(child.metadata())),
        Action::CreateClique(draft) => format!("create PodClique {}", name_of(draft.metadata())),
        Action::Patch { kind, name, .. } => format!("patch {} {name}", kind.as_str()),
        Action::Delete { kind, name, .. } => format!("delete {} {name}", kind.as_str()),
    };
    let mut lines: Vec<String> = plan.actions.iter().map(action).collect();
    lines.extend(plan.blocked.iter().map(|it| format!("blocked {} {}", it.kind.as_str(), it.name)));
    lines.extend(plan.outdated.iter().map(|it| format!("outdated {}", it.name)));
    lines.extend(plan.waiting.then(|| "waiting".to_owned()));
    lines
}

/// Changes an object by a merge patch, as a server would.
pub(crate) fn merge<T: Serialize + DeserializeOwned>(object: &mut T, patch: &Value) {
    let mut value = serde_json::to_value(&*object).unwrap();
    json_patch::merge(&mut value, patch);
    *object = serde_json::from_value(value).unwrap();
}

pub(crate) fn metadata_mut(child: &mut Child) -> &mut ObjectMeta {
    match child {
        Child::Service(it) => &mut it.metadata,
        Child::Autoscaler(it) => &mut it.metadata,
        Child::Clique(it) => &mut it.metadata,
        Child::Group(it) => &mut it.metadata,
        Child::Gang(it) => &mut it.metadata,
    }
}

pub(crate) fn name_of(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap()
}

pub(crate) fn owner(metadata: &ObjectMeta) -> &OwnerReference {
    let [owner] = metadata.owner_references.as_deref().unwrap() else { panic!("one owner") };
    owner
}

/// The pods that a gang lists, group by group.
pub(crate) fn references(gang: &PodGang) -> Vec<(String, Vec<NamespacedName>)> {
    gang.spec.pod_groups.iter().map(|it| (it.name.clone(), it.pod_references.clone())).collect()
}
