//! What schedulers with objects of their own add to a cluster.

use std::{sync::Arc, sync::LazyLock};

use grove_apiserver::{Action, Object, Resource, Resources};
use serde_json::{Value, json};

use super::{Cluster, RESOURCES};
use crate::plan::Backend;

pub(crate) const POD_GROUPS: &str = "podgroups.scheduling.k8s.io";
pub(crate) const COMPOSITES: &str = "compositepodgroups.scheduling.k8s.io";
pub(crate) const KAI_POD_GROUPS: &str = "podgroups.scheduling.run.ai";
pub(crate) const KAI_TOPOLOGIES: &str = "topologies.kai.scheduler";
const BINDINGS: &str = "clustertopologybindings.grove.io";
const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Node labels of the topology, from the broadest level.
pub(crate) const LEVELS: [(&str, &str); 2] = [("block", "example.com/block"), ("rack", "example.com/rack")];

static FLAT: LazyLock<Resources> =
    LazyLock::new(|| RESOURCES.clone().with(group("v1beta1", "PodGroup", "podgroups")));
static TREE: LazyLock<Resources> =
    LazyLock::new(|| FLAT.clone().with(group("v1alpha3", "CompositePodGroup", "compositepodgroups")));
static KAI: LazyLock<Resources> = LazyLock::new(|| {
    let add = |resources: Resources, it: &Value| resources.clone().with_crd(it).unwrap_or(resources);
    kai_definitions().iter().fold(RESOURCES.clone(), add)
});

fn group(version: &str, kind: &str, plural: &str) -> Resource {
    let mut resource = Resource::built_in("scheduling.k8s.io", version, kind, plural);
    (resource.generation, resource.status) = (true, true);
    resource
}

/// What a cluster serves that has this scheduler.
pub(super) fn resources(backend: Option<Backend>) -> Resources {
    match backend {
        None => RESOURCES.clone(),
        Some(Backend::KubeFlat) => FLAT.clone(),
        Some(Backend::KubeTree) => TREE.clone(),
        Some(Backend::Kai) => KAI.clone(),
    }
}

/// KAI's definitions, as far as the operator looks at them.
fn kai_definitions() -> [Value; 2] {
    let definition = |group: &str, version: &str, kind: &str, plural: &str, scope: &str, spec: Value| {
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": { "name": format!("{plural}.{group}") },
            "spec": {
                "group": group, "scope": scope,
                "names": { "kind": kind, "plural": plural, "singular": kind.to_lowercase(), "listKind": format!("{kind}List") },
                "versions": [{ "name": version, "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                    "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
                        "spec": { "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": spec },
                    },
                } } }],
            },
            "status": {
                "acceptedNames": { "kind": kind, "plural": plural },
                "conditions": [{ "type": "Established", "status": "True" }],
            },
        })
    };
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let sub_group = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
        "parent": text, "topologyConstraint": { "type": "object", "x-kubernetes-preserve-unknown-fields": true },
        "minSubGroup": number,
    } });
    let spec = json!({
        "minMember": number, "minSubGroup": number, "preemptionDelay": text, "stalenessGracePeriod": text,
        "subGroups": { "type": "array", "items": sub_group },
    });
    [
        definition("scheduling.run.ai", "v2alpha2", "PodGroup", "podgroups", "Namespaced", spec),
        definition("kai.scheduler", "v1alpha1", "Topology", "topologies", "Cluster", json!({})),
    ]
}

/// The operator's `scheduler` configuration.
pub(crate) fn configuration(backend: Option<Backend>) -> Value {
    match backend {
        Some(Backend::Kai) => json!({
            "profiles": [
                { "name": "default-scheduler" },
                { "name": "kai-scheduler", "config": { "defaultQueue": "queue" } },
            ],
            "defaultProfileName": "kai-scheduler",
        }),
        _ => json!({}),
    }
}

impl Cluster {
    /// Adds what the scheduler needs before the operator starts.
    pub(super) fn install(&self, backend: Backend) {
        if backend != Backend::Kai {
            return;
        }
        for definition in kai_definitions() {
            drop(self.write("cluster", DEFINITIONS, "", None, Action::Create(definition)));
        }
        let levels: Vec<Value> =
            LEVELS.iter().map(|(domain, key)| json!({ "domain": domain, "key": key })).collect();
        let binding = json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding",
            "metadata": { "name": "fabric" }, "spec": { "levels": levels },
        });
        drop(self.write("cluster", BINDINGS, "", None, Action::Create(binding)));
    }

    /// Objects of schedulers that stand for gangs.
    pub(crate) fn backend_objects(&self) -> Vec<(&'static str, Arc<Object>)> {
        let of = |kind: &'static str| self.list(kind).into_iter().map(move |it| (kind, it));
        [POD_GROUPS, COMPOSITES, KAI_POD_GROUPS].into_iter().flat_map(of).collect()
    }
}
