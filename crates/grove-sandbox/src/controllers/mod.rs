//! What kube-controller-manager does, as far as a sandbox needs it. Each controller is a client of the API with a work queue of its own.

mod error;
mod jobs;
mod namespace_content;
mod namespaces;
mod node_lifecycle;
mod pod_gc;
mod pod_groups;
mod root_certificates;
mod service_accounts;
mod taint_eviction;
mod taints;

use std::time::Duration;

use grove_runtime::{Failure, Outcome, Queue, QueueKey, Switch as _, work};
use kube::Client;
use tokio_util::sync::CancellationToken;

use crate::{caches::Caches, clock::Clock, event_recorder::Recorder, part::Parts};

/// Upper bound of the work for one object at a time.
const DEADLINE: Duration = Duration::from_mins(1);
/// Objects that each controller works on at a time.
const WORKERS: usize = 4;

/// Options of the controllers.
#[derive(Clone, Debug)]
pub struct ControllerOptions {
    /// How long a kubelet may be silent before its node is marked.
    pub node_monitor_grace_period: Duration,
    /// How long pods of a node that does not exist stay.
    pub orphaned_pods_after: Duration,
    /// PEM of the certificate authority for the ConfigMap `kube-root-ca.crt`; without it there is no such ConfigMap.
    pub root_certificate: Option<String>,
}

/// The defaults of kube-controller-manager.
impl Default for ControllerOptions {
    fn default() -> Self {
        Self {
            node_monitor_grace_period: Duration::from_secs(50),
            orphaned_pods_after: Duration::from_secs(40),
            root_certificate: None,
        }
    }
}

/// What a controller works with.
#[derive(Clone)]
struct Context {
    client: Client,
    caches: Caches,
    recorder: Recorder,
    clock: Clock,
}

/// Adds all controllers.
pub(crate) fn add_controllers(
    parts: &Parts,
    client: &Client,
    caches: &Caches,
    recorder: &Recorder,
    clock: &Clock,
    options: &ControllerOptions,
) {
    let context = Context {
        client: client.clone(),
        caches: caches.clone(),
        recorder: recorder.clone(),
        clock: clock.clone(),
    };
    let grace = options.node_monitor_grace_period;
    let controller = node_lifecycle::NodeLifecycle::new(context.clone(), grace);
    parts.add("node-lifecycle", move |stop| controller.clone().run(stop));
    let controller = taint_eviction::TaintEviction::new(context.clone());
    parts.add("taint-eviction", move |stop| controller.clone().run(stop));
    let controller = pod_gc::PodGc::new(context.clone(), options.orphaned_pods_after);
    parts.add("pod-gc", move |stop| controller.clone().run(stop));
    let controller = namespaces::Namespaces::new(context.clone());
    parts.add("namespaces", move |stop| controller.clone().run(stop));
    let controller = service_accounts::ServiceAccounts::new(context.clone());
    parts.add("service-accounts", move |stop| controller.clone().run(stop));
    if let Some(certificate) = &options.root_certificate {
        let controller = root_certificates::RootCertificates::new(context.clone(), certificate.clone());
        parts.add("root-certificates", move |stop| controller.clone().run(stop));
    }
    let controller = jobs::JobController::new(context.clone());
    parts.add("jobs", move |stop| controller.clone().run(stop));
    let controller = pod_groups::PodGroups::new(context);
    parts.add("pod-group-protection", move |stop| controller.clone().run(stop));
}

/// Opens the queue, adds what `existing` returns, and works until `stop`.
async fn serve<T, F, Fut, E>(queue: &Queue<T>, stop: &CancellationToken, existing: Vec<T>, handler: F)
where
    T: QueueKey,
    F: Fn(T) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Outcome, E>> + Send + 'static,
    E: Failure,
{
    queue.open();
    for key in existing {
        queue.add_background(key);
    }
    tokio::join!(work(queue.clone(), WORKERS, DEADLINE, handler), async {
        stop.cancelled().await;
        queue.close();
    });
}

/// A queue that keeps nothing until [`serve`] opens it.
fn queue<T: QueueKey>(name: &'static str) -> Queue<T> {
    let queue = Queue::new(name, &grove_runtime::QueueMetrics::default());
    queue.close();
    queue
}
