//! The whole simulated cluster: all parts on one client.

use std::{fmt, sync::Arc};

use grove_placement::Cluster;
use kube::Client;
use tracing::warn;

use crate::{
    caches::Caches,
    clock::Clock,
    controllers::{ControllerOptions, add_controllers},
    event_recorder::Recorder,
    faults::Faults,
    kubelet::{Kubelet, KubeletOptions, WorkCount},
    nodes::create_nodes,
    part::Parts,
};

/// What a sandbox is made of.
#[derive(Clone, Debug)]
pub struct SandboxOptions {
    /// The nodes that are created. Nodes that others create have kubelets, too.
    pub nodes: Option<Cluster>,
    /// The kubelets of all nodes.
    pub kubelets: KubeletOptions,
    /// The cluster controllers.
    pub controllers: ControllerOptions,
    /// The time that is written into objects.
    pub clock: Clock,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        Self {
            nodes: None,
            kubelets: KubeletOptions::default(),
            controllers: ControllerOptions::default(),
            clock: Clock::system(),
        }
    }
}

/// Simulated nodes, kubelets and cluster controllers at work.
///
/// They end when it is dropped; [`Sandbox::stop`] lets them finish what they are doing. Garbage collection is not among the parts: it
/// belongs to the API server, and can be added to [`Sandbox::parts`].
///
/// ```no_run
/// # async fn example(client: kube::Client) -> Result<(), grove_placement::topology::TopologyError> {
/// use grove_sandbox::{Sandbox, SandboxOptions};
///
/// let nodes = grove_placement::topology::parse("racks=2,hosts=4,gpus=8")?;
/// let sandbox = Sandbox::start(client, SandboxOptions { nodes: Some(nodes), ..SandboxOptions::default() });
/// sandbox.synced().await;
/// sandbox.stop().await;
/// # Ok(())
/// # }
/// ```
pub struct Sandbox {
    client: Client,
    caches: Caches,
    kubelet: Arc<Kubelet>,
    parts: Parts,
}

impl Sandbox {
    /// Starts all parts. To be called inside a tokio runtime.
    pub fn start(client: Client, options: SandboxOptions) -> Self {
        let SandboxOptions { nodes, kubelets, controllers, clock } = options;
        let (caches, recorder, parts) = (Caches::new(), Recorder::new(clock.clone()), Parts::default());
        // Everybody listens before the informers run.
        let kubelet = Kubelet::new(client.clone(), caches.clone(), recorder.clone(), clock.clone(), kubelets);
        let playing = Arc::clone(&kubelet);
        parts.add("kubelets", move |stop| Arc::clone(&playing).run(stop));
        add_controllers(&parts, &client, &caches, &recorder, &clock, &controllers);
        let asking = client.clone();
        parts.add("events", move |stop| recorder.clone().run(asking.clone(), stop));
        let (watching, asking) = (caches.clone(), client.clone());
        parts.add("informers", move |stop| watching.clone().run(asking.clone(), stop));
        if let Some(nodes) = nodes {
            let (nodes, asking) = (Arc::new(nodes), client.clone());
            parts.add("nodes", move |stop| {
                let (nodes, client) = (Arc::clone(&nodes), asking.clone());
                async move {
                    if let Some(Err(error)) = stop.run_until_cancelled(create_nodes(client, &nodes)).await {
                        // It is started again after a pause.
                        warn!(%error, "nodes could not be created");
                        return;
                    }
                    stop.cancelled().await;
                }
            });
        }
        Self { client, caches, kubelet, parts }
    }

    /// Waits until the parts know the cluster.
    pub async fn synced(&self) {
        self.caches.synced().await;
    }

    /// Causes faults.
    pub fn faults(&self) -> Faults {
        Faults::new(self.client.clone())
    }

    /// The parts by name, to stop, start and add to.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// How much the kubelets had to do.
    pub fn work_count(&self) -> WorkCount {
        self.kubelet.work_count()
    }

    /// Stops all parts and waits for their end.
    pub async fn stop(self) {
        self.parts.stop_all().await;
    }
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox").field("parts", &self.parts).finish_non_exhaustive()
    }
}
