//! A whole cluster in this process: API server, simulated nodes, gang scheduler, cluster controllers and the operator.
//!
//! `folder` keeps its files and the lock, `credentials` makes certificates and tokens, `control_plane` serves the API on the loopback
//! interface, `objects` applies manifests, and `operator` runs the operator as in production: through a kubeconfig with the token of its
//! service account, and with webhooks over TLS.

mod control_plane;
mod credentials;
mod folder;
mod objects;
mod operator;

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use grove_api::schema::CRDS;
use grove_placement::topology;
use grove_runtime::{Metrics, Throttle, cluster_config, connect};
use grove_sandbox::{
    ControllerOptions, KubeletOptions, Sandbox, SandboxOptions,
    scheduler::{Scheduler, SchedulerOptions},
};
use grove_scheduler::Registry;
use kube::Client;
use tokio_util::sync::CancellationToken;

use self::{control_plane::ControlPlane, operator::Operator};
pub(crate) use self::{
    folder::{Folder, Hold, create as create_folder, kubeconfig, ready},
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
    control_plane: ControlPlane,
    sandbox: Sandbox,
    operator: Operator,
}

impl LocalCluster {
    /// Starts everything, and waits until the operator is ready. `progress` gets one sentence per step.
    pub(crate) async fn start(
        registry: &Registry,
        folder: Folder,
        options: LocalOptions,
        progress: &mut (dyn FnMut(&str) + Send),
    ) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let control_plane = ControlPlane::start(address, &folder).await?;
        let client = client(&folder.kubeconfig()).await?;
        progress(&format!("API server is listening on {}", control_plane.address()));

        let (summary, node_grace) = (summary(&options.nodes), options.node_grace);
        let sandbox = start_sandbox(&client, &control_plane, options);
        sandbox.synced().await;
        progress(&summary);

        let crds: Vec<serde_json::Value> = CRDS.iter().map(grove_api::schema::Crd::to_value).collect();
        objects::install_crds(&client, &crds).await?;
        let operator = Operator::start(registry, &client, &control_plane, &folder, node_grace).await?;
        progress("the operator is ready, with its own service account and webhooks");
        Ok(Self { folder, client, control_plane, sandbox, operator })
    }

    /// A client with all rights.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Where its files are.
    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Resolves when the operator has ended, which it never does by itself: why.
    pub(crate) async fn failed(&self) -> io::Error {
        self.operator.ended().await
    }

    /// Stops everything and removes the files. Nothing outlives the process, so requests in flight are not waited for.
    pub(crate) async fn stop(self) -> io::Result<()> {
        self.operator.stop();
        self.sandbox.stop().await;
        self.control_plane.stop().await;
        self.folder.remove()
    }
}

/// Nodes, kubelets, controllers, the scheduler and the garbage collector.
fn start_sandbox(client: &Client, control_plane: &ControlPlane, options: LocalOptions) -> Sandbox {
    let controllers = ControllerOptions {
        node_monitor_grace_period: options.node_grace,
        root_certificate: Some(control_plane.authority().to_owned()),
        ..ControllerOptions::default()
    };
    let sandbox = Sandbox::start(
        client.clone(),
        SandboxOptions {
            nodes: Some(options.nodes),
            kubelets: options.kubelets,
            controllers,
            ..SandboxOptions::default()
        },
    );
    let scheduling = client.clone();
    sandbox.parts().add("scheduler", move |stop: CancellationToken| {
        let scheduler = Scheduler::new(scheduling.clone(), SchedulerOptions::default());
        async move { scheduler.run(stop).await }
    });
    let server = control_plane.server();
    sandbox.parts().add("garbage-collector", move |stop: CancellationToken| {
        grove_apiserver::run_garbage_collector(server.clone(), stop.cancelled_owned())
    });
    sandbox
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
