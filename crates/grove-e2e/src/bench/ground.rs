//! What has to be there before the clock starts: our CRDs and nodes that take pods.

use std::time::Duration;

use anyhow::{Context as _, Result};
use grove_api::wire::{PodClique, PodCliqueSet, PodGang};
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api, Client, Config,
    api::{ListParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};

use super::{
    NODES_PER_RACK,
    replica::{self, NAMESPACE, Replica},
};
use crate::{
    cluster::{Cluster, Scheduler},
    nodes::Hall,
    objects,
};

/// How long nodes may take to become ready.
const DEADLINE: Duration = Duration::from_mins(2);

/// Installs the CRDs as a user does, makes the nodes and waits for both.
pub(super) async fn prepare(cluster: &Cluster, nodes: usize, scheduler: Scheduler) -> Result<()> {
    objects::install_crds(&cluster.client).await?;
    first_requests(&cluster.client).await?;
    // No pod asks for a GPU.
    let hall = Hall::racks(nodes / NODES_PER_RACK).nodes(NODES_PER_RACK).gpus(0);
    hall.create(&cluster.client, scheduler).await?;
    until_nodes_take_pods(&cluster.client, nodes).await
}

/// The server holds up whoever creates an object of a kind that was Established less than two seconds ago, and sets the
/// kind up at its first request. An operator has that behind it, so we let it happen here.
async fn first_requests(client: &Client) -> Result<()> {
    let (replica, dry_run) = (Replica(0), PostParams { dry_run: true, ..PostParams::default() });
    let clique: PodClique = serde_json::from_value(replica.clique())?;
    let gang: PodGang = serde_json::from_value(replica.gang())?;
    let set: PodCliqueSet = serde_json::from_value(replica::set(1))?;
    Api::namespaced(client.clone(), NAMESPACE).create(&dry_run, &set).await?;
    Api::namespaced(client.clone(), NAMESPACE).create(&dry_run, &clique).await?;
    Api::namespaced(client.clone(), NAMESPACE).create(&dry_run, &gang).await?;
    Ok(())
}

async fn until_nodes_take_pods(client: &Client, wanted: usize) -> Result<()> {
    let nodes: Api<Node> = Api::all(client.clone());
    let asking = async {
        while nodes.list(&ListParams::default()).await?.items.iter().filter(|it| takes_pods(it)).count()
            < wanted
        {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok::<(), kube::Error>(())
    };
    tokio::time::timeout(DEADLINE, asking).await.context("nodes do not become ready")??;
    Ok(())
}

/// Ready, and the controller-manager has taken its taint off.
fn takes_pods(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|it| it.conditions.as_ref());
    let ready = conditions.into_iter().flatten().any(|it| it.type_ == "Ready" && it.status == "True");
    let tainted = node.spec.as_ref().and_then(|it| it.taints.as_ref()).is_some_and(|it| !it.is_empty());
    ready && !tainted
}

/// A client that the audit log can tell from all others by its `User-Agent`: kwok has the same user.
///
/// It is kube's own client, which speaks HTTP/1.1 only, so each request in flight has a connection of its own;
/// they are kept and used again. It does not repeat a request and has no limit.
pub(super) async fn client(cluster: &Cluster, user_agent: &'static str) -> Result<Client> {
    let file = Kubeconfig::read_from(&cluster.kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    config.headers.push((http::header::USER_AGENT, http::HeaderValue::from_static(user_agent)));
    Ok(Client::try_from(config)?)
}
