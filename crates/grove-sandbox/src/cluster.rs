//! A whole cluster in this process: an API server, and all that a cluster has around it.

use grove_apiserver::run_garbage_collector;
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::{
    control_plane::ControlPlane,
    sandbox::{Sandbox, SandboxOptions},
    scheduler::{Scheduler, SchedulerOptions},
};

/// What a cluster is made of.
#[derive(Clone)]
pub struct ClusterOptions {
    /// Nodes, kubelets and cluster controllers. The root certificate is that of the control plane.
    pub sandbox: SandboxOptions,
    /// The scheduler; none where another one is to run.
    pub scheduler: Option<SchedulerOptions>,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self { sandbox: SandboxOptions::default(), scheduler: Some(SchedulerOptions::default()) }
    }
}

/// An API server with nodes, kubelets, cluster controllers, a gang scheduler and a garbage collector.
///
/// All but the garbage collector speak with the API server over the network, as in any cluster.
pub struct SandboxCluster {
    control_plane: ControlPlane,
    sandbox: Sandbox,
}

impl SandboxCluster {
    /// Starts all that is around the API server; `client` has to have all rights.
    pub fn start(control_plane: ControlPlane, client: &Client, options: ClusterOptions) -> Self {
        let ClusterOptions { mut sandbox, scheduler } = options;
        sandbox.controllers.root_certificate = Some(control_plane.authority().to_owned());
        let sandbox = Sandbox::start(client.clone(), sandbox);
        if let Some(options) = scheduler {
            let client = client.clone();
            sandbox.parts().add("scheduler", move |stop: CancellationToken| {
                let scheduler = Scheduler::new(client.clone(), options.clone());
                async move { scheduler.run(stop).await }
            });
        }
        let server = control_plane.server();
        sandbox.parts().add("garbage-collector", move |stop: CancellationToken| {
            run_garbage_collector(server.clone(), stop.cancelled_owned())
        });
        Self { control_plane, sandbox }
    }

    /// The API server.
    pub fn control_plane(&self) -> &ControlPlane {
        &self.control_plane
    }

    /// Nodes, kubelets and controllers.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Stops all parts, and then the API server.
    pub async fn stop(self) {
        self.sandbox.stop().await;
        self.control_plane.stop().await;
    }
}
