//! The cluster: an API server in memory, and everybody in it but the operator.

mod agenda;
mod autoscaler;
mod backends;
mod hall;
mod kubelet;
mod nodes;
mod scheduler;
mod tenant;
mod users;

use std::sync::{Arc, LazyLock};

use grove_api::schema::CRDS;
use grove_apiserver::{
    Action, Answer, ApiServer, DeleteOptions, Failure, Object, PatchBody, Resources, Subresource,
    WriteRequest,
};
use serde_json::{Value, json};

pub(crate) use self::{
    autoscaler::Autoscaler,
    backends::{COMPOSITES, KAI_POD_GROUPS, KAI_TOPOLOGIES, LEVELS, POD_GROUPS, configuration},
    hall::Hall,
    tenant::{TENANT, Tenant},
    users::User,
};
use crate::{clock, plan::Backend};

/// Namespace of everything here.
pub(crate) const NAMESPACE: &str = "ml";

pub(crate) const SETS: &str = "podcliquesets.grove.io";
pub(crate) const GROUPS: &str = "podcliquescalinggroups.grove.io";
pub(crate) const CLIQUES: &str = "podcliques.grove.io";
pub(crate) const GANGS: &str = "podgangs.scheduler.grove.io";
pub(crate) const PODS: &str = "pods";
pub(crate) const NODES: &str = "nodes";
pub(crate) const SERVICES: &str = "services";
pub(crate) const QUOTAS: &str = "resourcequotas";
pub(crate) const AUTOSCALERS: &str = "horizontalpodautoscalers.autoscaling";

/// Reading the definitions takes longer than many a run.
static RESOURCES: LazyLock<Resources> = LazyLock::new(|| {
    let add = |resources: Resources, crd: &grove_api::schema::Crd| {
        resources.clone().with_crd(&crd.to_value()).unwrap_or(resources)
    };
    let resources = Resources::kubernetes().with_crd(&definitions());
    CRDS.iter().fold(resources.unwrap_or_else(|_| Resources::kubernetes()), add)
});

/// Definitions themselves, of which there are none: the operator watches them.
fn definitions() -> Value {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    json!({
        "spec": {
            "group": "apiextensions.k8s.io", "scope": "Cluster",
            "names": {
                "kind": "CustomResourceDefinition", "plural": "customresourcedefinitions",
                "singular": "customresourcedefinition", "listKind": "CustomResourceDefinitionList",
            },
            "versions": [
                { "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } },
            ],
        },
    })
}

/// A cluster. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Cluster {
    pub(crate) server: ApiServer,
}

impl Cluster {
    /// An empty one, which begins now.
    #[cfg(test)]
    pub(crate) fn new(seed: u64) -> Self {
        Self::with(seed, None)
    }

    /// An empty one, which begins now, with or without a scheduler that has objects of its own for gangs.
    pub(crate) fn with(seed: u64, backend: Option<Backend>) -> Self {
        clock::begin();
        let cluster = Self { server: ApiServer::new(backends::resources(backend), clock::now, seed) };
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
        drop(cluster.write("cluster", "namespaces", "", None, Action::Create(namespace)));
        if let Some(backend) = backend {
            cluster.install(backend);
        }
        cluster
    }

    /// Performs a write in somebody's name.
    pub(crate) fn write(
        &self,
        manager: &str,
        resource: &str,
        name: &str,
        subresource: Option<Subresource>,
        action: Action,
    ) -> Result<Answer, Failure> {
        let Some(resource) = self.server.resources().by_id(resource).map(Arc::clone) else {
            return Err(Failure::new(404, "NotFound", "no such resource"));
        };
        self.server.write(WriteRequest {
            namespace: if resource.namespaced { NAMESPACE.to_owned() } else { String::new() },
            resource,
            name: name.to_owned(),
            subresource,
            manager: manager.to_owned(),
            dry_run: false,
            action,
        })
    }

    /// Merges a patch into an object, or into its status. It may be gone: then nothing happens.
    pub(crate) fn patch(&self, manager: &str, resource: &str, name: &str, patch: Value) {
        let part = patch.get("status").map(|_| Subresource::Status);
        drop(self.write(manager, resource, name, part, Action::Patch(PatchBody::Merge(patch))));
    }

    /// Deletes an object, with grace or without. It may be gone: then nothing happens.
    pub(crate) fn delete(&self, manager: &str, resource: &str, name: &str, grace: Option<i64>) {
        let options = DeleteOptions { grace_period_seconds: grace, ..DeleteOptions::default() };
        drop(self.write(manager, resource, name, None, Action::Delete(options)));
    }

    pub(crate) fn get(&self, resource: &str, name: &str) -> Option<Arc<Object>> {
        self.server.store().get(resource, NAMESPACE, name)
    }

    pub(crate) fn list(&self, resource: &str) -> Vec<Arc<Object>> {
        self.server.store().list(resource, Some(NAMESPACE))
    }
}

/// Whether a pod is ready.
pub(crate) fn is_ready(pod: &Object) -> bool {
    condition(pod, "Ready").is_some_and(|it| it["status"] == "True")
}

/// A condition of an object.
pub(crate) fn condition<'a>(object: &'a Object, type_: &str) -> Option<&'a Value> {
    object.field("/status/conditions")?.as_array()?.iter().find(|it| it["type"] == type_)
}

/// A text of an object, by its pointer; empty if there is none.
pub(crate) fn text<'a>(object: &'a Object, pointer: &str) -> &'a str {
    object.field(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A number of an object, by its pointer.
pub(crate) fn number(object: &Object, pointer: &str) -> Option<u64> {
    object.field(pointer).and_then(Value::as_u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_served() {
        for crd in &CRDS {
            assert!(RESOURCES.by_id(&crd.name()).is_some(), "{}", crd.name());
        }
    }
}
