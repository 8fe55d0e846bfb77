//! The kubelet of one simulated node: silent, or back again.

use anyhow::{Context as _, Result};
use k8s_openapi::{
    api::{coordination::v1::Lease, core::v1::Node},
    apimachinery::pkg::apis::meta::v1::MicroTime,
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::{Value, json};

/// Who holds the lease of a node whose kubelet is silent, and for how long: kwok waits for the end of it.
const NOBODY: &str = "nobody";
const FOR_EVER: i32 = 1_000_000;

/// From now on the node's kubelet is silent.
///
/// kwok lets go of a node with the label; but where it takes a node up just then, it forgets to look at the label. A
/// lease that somebody else holds it never renews.
pub(crate) async fn silence(client: &Client, node: &str) -> Result<()> {
    label(client, node, json!("true")).await?;
    let lease = json!({ "spec": {
        "holderIdentity": NOBODY,
        "leaseDurationSeconds": FOR_EVER,
        "renewTime": MicroTime(Timestamp::now()),
    } });
    leases(client)
        .patch(node, &PatchParams::default(), &Patch::Merge(&lease))
        .await
        .with_context(|| format!("lease of node {node}"))?;
    Ok(())
}

/// The node's kubelet is back.
pub(crate) async fn revive(client: &Client, node: &str) -> Result<()> {
    leases(client).delete(node, &DeleteParams::default()).await?;
    label(client, node, Value::Null).await
}

/// What the cluster knows of the node, for the report of a scenario that waits for it in vain.
pub(crate) async fn told(client: &Client, node: &str) -> Result<String> {
    let node_now = nodes(client).get(node).await?;
    let lease = leases(client).get_opt(node).await?.and_then(|it| it.spec);
    let status = node_now.status.unwrap_or_default();
    let ready = status.conditions.unwrap_or_default().into_iter().find(|it| it.type_ == "Ready");
    let taints: Vec<String> =
        node_now.spec.and_then(|it| it.taints).unwrap_or_default().into_iter().map(|it| it.key).collect();
    Ok(format!(
        "node {node}: ready {:?}, taints {taints:?}, lease of {:?} renewed {:?}",
        ready.map(|it| it.status),
        lease.as_ref().and_then(|it| it.holder_identity.clone()),
        lease.and_then(|it| it.renew_time).map(|it| it.0),
    ))
}

async fn label(client: &Client, node: &str, lost: Value) -> Result<()> {
    let patch = json!({ "metadata": { "labels": { "e2e.grove.io/lost": lost } } });
    nodes(client).patch(node, &PatchParams::default(), &Patch::Merge(&patch)).await?;
    Ok(())
}

fn nodes(client: &Client) -> Api<Node> {
    Api::all(client.clone())
}

fn leases(client: &Client) -> Api<Lease> {
    Api::namespaced(client.clone(), "kube-node-lease")
}
