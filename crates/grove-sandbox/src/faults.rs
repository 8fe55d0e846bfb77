//! Faults: nodes that are lost, cordoned and drained, pods that fail. Everything here is a write that `kubectl` can do, too.

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api, Client,
    api::{DeleteParams, EvictParams, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use crate::annotations::{CRASH, E2E_PREFIX, EXIT_CODE, FAIL_AFTER, LOST, NEVER_READY, PREFIX};

/// What became of the pods of a drained node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drained {
    /// Namespace and name of the pods that were evicted.
    pub evicted: Vec<(String, String)>,
    /// Those that were not, and why.
    pub refused: Vec<(String, String, String)>,
}

/// Causes faults through the API.
#[derive(Clone)]
pub struct Faults {
    client: Client,
}

impl std::fmt::Debug for Faults {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Faults").finish_non_exhaustive()
    }
}

impl Faults {
    /// Faults in the cluster of this client.
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    /// The node's kubelet falls silent.
    pub async fn lose_node(&self, node: &str) -> kube::Result<()> {
        let patch = json!({ "metadata": { "annotations": { key(LOST): "true" } } });
        self.patch_node(node, &patch).await
    }

    /// The node's kubelet is back.
    pub async fn return_node(&self, node: &str) -> kube::Result<()> {
        let labels = json!({ format!("{E2E_PREFIX}{LOST}"): null, key(LOST): null });
        let patch = json!({ "metadata": { "annotations": labels, "labels": labels } });
        self.patch_node(node, &patch).await
    }

    /// No more pods are scheduled to the node.
    pub async fn cordon(&self, node: &str) -> kube::Result<()> {
        self.patch_node(node, &json!({ "spec": { "unschedulable": true } })).await
    }

    /// Pods are scheduled to the node again.
    pub async fn uncordon(&self, node: &str) -> kube::Result<()> {
        self.patch_node(node, &json!({ "spec": { "unschedulable": null } })).await
    }

    /// Cordons the node and evicts its pods, but for those of DaemonSets. What a disruption budget protects stays.
    pub async fn drain(&self, node: &str) -> kube::Result<Drained> {
        self.cordon(node).await?;
        let all: Api<Pod> = Api::all(self.client.clone());
        let pods = all.list(&ListParams::default().fields(&format!("spec.nodeName={node}"))).await?;
        let mut drained = Drained::default();
        for pod in pods.items {
            let is_of_daemon =
                pod.metadata.owner_references.iter().flatten().any(|it| it.kind == "DaemonSet");
            if is_of_daemon || pod.metadata.deletion_timestamp.is_some() {
                continue;
            }
            let (namespace, name) =
                (pod.metadata.namespace.unwrap_or_default(), pod.metadata.name.unwrap_or_default());
            match self.evict(&namespace, &name).await {
                Ok(()) => drained.evicted.push((namespace, name)),
                Err(error) => drained.refused.push((namespace, name, error.to_string())),
            }
        }
        Ok(drained)
    }

    /// The pod ends with this exit code, and is Failed.
    pub async fn fail_pod(&self, namespace: &str, pod: &str, exit_code: u8) -> kube::Result<()> {
        let exit_code = exit_code.to_string();
        self.annotate(namespace, pod, json!({ key(FAIL_AFTER): "0s", key(EXIT_CODE): exit_code })).await
    }

    /// The pod's containers crash once; its restartPolicy says what follows.
    pub async fn crash_pod(&self, namespace: &str, pod: &str) -> kube::Result<()> {
        self.annotate(namespace, pod, json!({ key(CRASH): "true" })).await
    }

    /// The pod's containers run on and are not ready, until this is called with `true`.
    pub async fn set_pod_ready(&self, namespace: &str, pod: &str, ready: bool) -> kube::Result<()> {
        let value = if ready { Value::Null } else { "true".into() };
        self.annotate(namespace, pod, json!({ key(NEVER_READY): value })).await
    }

    async fn evict(&self, namespace: &str, name: &str) -> kube::Result<()> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        match api.evict(name, &EvictParams::default()).await {
            // As kubectl does where evictions are not served.
            Err(kube::Error::Api(status)) if [404, 405].contains(&status.code) => {
                match api.delete(name, &DeleteParams::default()).await {
                    Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
                    result => result.map(drop),
                }
            }
            result => result.map(drop),
        }
    }

    async fn patch_node(&self, name: &str, patch: &Value) -> kube::Result<()> {
        let api: Api<Node> = Api::all(self.client.clone());
        api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await.map(drop)
    }

    async fn annotate(&self, namespace: &str, pod: &str, annotations: Value) -> kube::Result<()> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        let patch = json!({ "metadata": { "annotations": annotations } });
        api.patch(pod, &PatchParams::default(), &Patch::Merge(&patch)).await.map(drop)
    }
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}
