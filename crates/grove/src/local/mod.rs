//! A whole cluster in this process, with Grove in it: a cluster of `grove-sandbox`, the operator and the pod grouper.
//!
//! `folder` keeps its files and the lock, `credentials` makes certificates and tokens, `control_plane` serves the API on the loopback
//! interface, `objects` applies manifests, and `binding` describes the levels of the nodes. A `component` is a program of Grove's as in production, through a kubeconfig with the token
//! of its service account, on `ports` of its own: the `operator`, with webhooks over TLS, and the `pod_grouper`.

mod binding;
mod component;
mod control_plane;
mod credentials;
mod folder;
mod objects;
mod operator;
mod pod_grouper;
mod ports;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use futures::{FutureExt as _, future::try_join};
use grove_api::schema::CRDS;
use grove_placement::topology;
use grove_podgrouper::Hub;
use grove_runtime::{Metrics, Throttle, cluster_config, connect};
use grove_sandbox::{ClusterOptions, ControllerOptions, KubeletOptions, SandboxCluster, SandboxOptions};
use grove_scheduler::Registry;
use kube::Client;

use self::component::Component;
pub(crate) use self::{
    folder::{Folder, Hold, kubeconfig},
    objects::apply_text,
};

/// Requests per second and at once of the simulated nodes and controllers: a limit only for what runs away.
const QPS: f64 = 10_000.0;
const BURST: u32 = 10_000;
const IN_FLIGHT: usize = 128;

/// What a local cluster is made of.
pub(crate) struct LocalOptions {
    /// The nodes.
    pub(crate) nodes: grove_placement::Cluster,
    /// What the kubelets do where no annotation says otherwise.
    pub(crate) kubelets: KubeletOptions,
    /// How long a kubelet may be silent before its node is NotReady, and then how long before its pods are replaced.
    pub(crate) node_grace: Duration,
    /// Port of the API server; 0 for a free one.
    pub(crate) port: u16,
}

/// A cluster that runs in this process until it is stopped or dropped.
pub(crate) struct LocalCluster {
    folder: Folder,
    client: Client,
    cluster: SandboxCluster,
    operator: Component,
    pod_grouper: Component,
}

impl LocalCluster {
    /// Starts everything, and waits until operator and pod grouper are ready. `progress` gets one sentence per step.
    pub(crate) async fn start(
        registry: &Registry,
        hub: &Hub,
        folder: Folder,
        options: LocalOptions,
        progress: &mut (dyn FnMut(&str) + Send),
    ) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let control_plane = control_plane::start(address, &folder).await?;
        let client = client(&folder.kubeconfig()).await?;
        progress(&format!("API server is listening on {}", control_plane.address()));

        let (summary, node_grace) = (summary(&options.nodes), options.node_grace);
        let binding = binding::of(&options.nodes);
        let cluster = SandboxCluster::start(control_plane, &client, cluster_options(options));
        cluster.sandbox().synced().await;
        progress(&summary);

        let crds: Vec<serde_json::Value> = CRDS.iter().map(grove_api::schema::Crd::to_value).collect();
        objects::install_crds(&client, &crds).await?;
        let control_plane = cluster.control_plane();
        let (operator, pod_grouper) = try_join(
            operator::start(registry, &client, control_plane, &folder, node_grace),
            pod_grouper::start(registry, hub, &client, control_plane, &folder),
        )
        .await?;
        if let Some(binding) = binding {
            apply_text(&client, &binding.to_string(), "").await?;
        }
        progress("the operator and the pod grouper are ready, with their own service accounts and webhooks");
        Ok(Self { folder, client, cluster, operator, pod_grouper })
    }

    /// A client with all rights.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Resolves when the operator or the pod grouper has ended, which they never do by themselves: why.
    pub(crate) async fn failed(&self) -> io::Error {
        let (operator, pod_grouper) = (self.operator.ended().boxed(), self.pod_grouper.ended().boxed());
        futures::future::select(operator, pod_grouper).await.factor_first().0
    }

    /// Stops everything and removes the files. Nothing outlives the process, so requests in flight are not waited for.
    pub(crate) async fn stop(self) -> io::Result<()> {
        self.operator.stop();
        self.pod_grouper.stop();
        self.cluster.stop().await;
        self.folder.remove()
    }
}

/// What of the cluster is chosen by the user.
fn cluster_options(options: LocalOptions) -> ClusterOptions {
    let LocalOptions { nodes, kubelets, node_grace, port: _ } = options;
    let controllers =
        ControllerOptions { node_monitor_grace_period: node_grace, ..ControllerOptions::default() };
    let sandbox = SandboxOptions { nodes: Some(nodes), kubelets, controllers, ..SandboxOptions::default() };
    ClusterOptions { sandbox, ..ClusterOptions::default() }
}

/// A client over HTTP/2, as the operator has one.
async fn client(kubeconfig: &Path) -> io::Result<Client> {
    let config = cluster_config(Some(kubeconfig.to_owned())).await.map_err(io::Error::other)?;
    let agent = format!("grove-sandbox/{}", env!("CARGO_PKG_VERSION"));
    connect(config, &agent, Throttle::new(QPS, BURST, IN_FLIGHT), Metrics::new().requests)
        .map_err(io::Error::other)
}

/// `2 zones, 8 racks, 16 nodes, 128 GPUs, all simulated`
fn summary(cluster: &grove_placement::Cluster) -> String {
    let nodes = cluster.nodes();
    let mut parts = Vec::new();
    for (key, word) in [(topology::ZONE, "zone"), (topology::RACK, "rack")] {
        let domains: std::collections::BTreeSet<&String> =
            nodes.iter().filter_map(|it| it.labels.get(key)).collect();
        if !domains.is_empty() {
            parts.push(count(domains.len() as u64, word));
        }
    }
    parts.push(count(nodes.len() as u64, "node"));
    let gpus: i64 = nodes.iter().map(|it| it.allocatable.get(grove_placement::resources::GPU)).sum();
    parts.push(count(gpus.unsigned_abs(), "GPU"));
    format!("{}, all simulated", parts.join(", "))
}

fn count(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_the_levels_that_exist() {
        let of = |line: &str| summary(&topology::parse(line).unwrap());
        assert_eq!(
            of("zones=2,blocks=2,racks=2,hosts=2,gpus=8"),
            "2 zones, 8 racks, 16 nodes, 128 GPUs, all simulated"
        );
        assert_eq!(of("racks=1,hosts=1,gpus=1"), "1 rack, 1 node, 1 GPU, all simulated");
        assert_eq!(of("hosts=3"), "3 nodes, 0 GPUs, all simulated");
    }
}
