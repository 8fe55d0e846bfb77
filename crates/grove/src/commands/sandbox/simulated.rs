//! Makes sure that only what is simulated is acted upon: a kubeconfig may point at a real cluster.

use std::{fmt::Debug, io};

use grove_api::field::closest;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Api, Resource, ResourceExt, api::ListParams};
use serde::de::DeserializeOwned;

use crate::{
    cluster::{Cluster, failure},
    commands::kinds::did_you_mean,
};

/// How the provider ID of a simulated node begins.
const PROVIDER: &str = "sandbox://";
/// Names that are compared with a misspelt one.
const MAX_COMPARED: u32 = 1_000;

/// `Err` says why the node must not be touched.
pub(super) async fn check_node(cluster: &Cluster, name: &str) -> io::Result<Result<(), String>> {
    let nodes: Api<Node> = Api::all(cluster.client.clone());
    let found = nodes.get_opt(name).await.map_err(|it| failure(&cluster.server, &it))?;
    let Some(node) = found else {
        let hint = similar(&nodes, name).await;
        return Ok(Err(format!("no node {name:?} at {}{hint}", cluster.server)));
    };
    Ok(judge(&node, &cluster.server))
}

/// `Err` says why the pod must not be touched.
pub(super) async fn check_pod(
    cluster: &Cluster,
    namespace: &str,
    name: &str,
) -> io::Result<Result<(), String>> {
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), namespace);
    let found = pods.get_opt(name).await.map_err(|it| failure(&cluster.server, &it))?;
    let Some(pod) = found else {
        let hint = similar(&pods, name).await;
        return Ok(Err(format!("no pod {name:?} in namespace {namespace:?} at {}{hint}", cluster.server)));
    };
    match pod.spec.and_then(|it| it.node_name).filter(|it| !it.is_empty()) {
        None => Ok(Err(format!("pod {name} is not bound to a node yet"))),
        Some(node) => {
            let checked = check_node(cluster, &node).await?;
            Ok(checked.map_err(|why| format!("pod {name} is on node {node}: {why}")))
        }
    }
}

fn judge(node: &Node, server: &str) -> Result<(), String> {
    let provider = node.spec.as_ref().and_then(|it| it.provider_id.as_deref()).unwrap_or_default();
    if provider.starts_with(PROVIDER) {
        return Ok(());
    }
    let name = node.name_any();
    Err(format!(
        "node {name} at {server} is not simulated: its spec.providerID is {provider:?} and does not begin with {PROVIDER}; \
         nothing was changed"
    ))
}

async fn similar<K: Resource + Clone + Debug + DeserializeOwned>(api: &Api<K>, name: &str) -> String {
    let list = api.list_metadata(&ListParams::default().limit(MAX_COMPARED)).await;
    let names: Vec<String> = list.iter().flat_map(|it| &it.items).map(ResourceExt::name_any).collect();
    did_you_mean(closest(name, names.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_provider_id_of_the_sandbox_will_do() {
        let rows = [
            (json!({ "providerID": "sandbox://n" }), true),
            (json!({ "providerID": "aws:///eu-west-1/i-0abc" }), false),
            (json!({ "providerID": "kind://docker/kind/sandbox://n" }), false),
            (json!({ "providerID": "" }), false),
            (json!({}), false),
        ];
        for (spec, want) in rows {
            let node = json!({ "metadata": { "name": "n" }, "spec": spec });
            let judged = judge(&serde_json::from_value(node).unwrap(), "https://example.com");
            assert_eq!(judged.is_ok(), want, "{spec}: {judged:?}");
            if let Err(why) = judged {
                assert!(why.starts_with("node n at https://example.com is not simulated"), "{why}");
            }
        }
    }
}
