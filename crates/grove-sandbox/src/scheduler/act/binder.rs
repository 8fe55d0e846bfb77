//! Binds pods to the nodes that were decided, and tries again as long as that can help.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_runtime::{Cache, Failure, Outcome, Queue, QueueMetrics, work};
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Api, Client, api::PostParams, core::Status};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::FIELD_MANAGER;
use crate::scheduler::observe::pod_view::PodKey;

/// Bindings that are under way at the same time.
const WORKERS: usize = 32;

/// Longest time that one binding may take before it is tried again.
const DEADLINE: Duration = Duration::from_secs(30);

/// A pod that is to be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) pod: PodKey,
    pub(crate) uid: String,
    pub(crate) node: String,
}

/// What became of a binding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The pod is on the node.
    Done(Binding),
    /// It is not and will not be: the pod changed, or the node is gone.
    Failed(Binding, String),
}

/// Binds pods.
pub(crate) struct Binder {
    client: Client,
    nodes: Cache<Node>,
    jobs: Mutex<BTreeMap<PodKey, Binding>>,
    queue: Queue<PodKey>,
    results: mpsc::UnboundedSender<Bound>,
}

/// Why a binding is tried again.
#[derive(Debug, thiserror::Error)]
#[error("bind: {0}")]
struct BindError(kube::Error);

impl Failure for BindError {
    fn reason(&self) -> &'static str {
        "Bind"
    }
}

impl Binder {
    pub(crate) fn new(client: Client, nodes: Cache<Node>, results: mpsc::UnboundedSender<Bound>) -> Self {
        let queue = Queue::new("bind", &QueueMetrics::default());
        Self { client, nodes, jobs: Mutex::default(), queue, results }
    }

    /// Binds pods; what becomes of each is sent to where [`Binder::new`] was told to.
    pub(crate) fn bind(&self, bindings: Vec<Binding>) {
        for binding in bindings {
            let key = binding.pod.clone();
            self.jobs.lock().insert(key.clone(), binding);
            self.queue.add(key);
        }
    }

    /// Works until it is dropped.
    pub(crate) async fn run(self: Arc<Self>) {
        let queue = self.queue.clone();
        work(queue, WORKERS, DEADLINE, move |key| Arc::clone(&self).bind_one(key)).await;
    }

    async fn bind_one(self: Arc<Self>, key: PodKey) -> Result<Outcome, BindError> {
        let Some(binding) = self.jobs.lock().get(&key).cloned() else { return Ok(Outcome::Done) };
        let bound = self.attempt(&binding).await?;
        let mut jobs = self.jobs.lock();
        if jobs.get(&key) == Some(&binding) {
            jobs.remove(&key);
        }
        drop(jobs);
        // Where nobody listens any more, the scheduler is being stopped.
        let _ = self.results.send(bound);
        Ok(Outcome::Done)
    }

    async fn attempt(&self, binding: &Binding) -> Result<Bound, BindError> {
        let failed = |why: String| Ok(Bound::Failed(binding.clone(), why));
        if self.nodes.get("", &binding.node).is_none() {
            return failed(format!("node {} is gone", binding.node));
        }
        let api: Api<Pod> = Api::namespaced(self.client.clone(), &binding.pod.namespace);
        let body = json!({
            "apiVersion": "v1", "kind": "Binding",
            "metadata": { "name": binding.pod.name, "namespace": binding.pod.namespace, "uid": binding.uid },
            "target": { "apiVersion": "v1", "kind": "Node", "name": binding.node },
        });
        let params = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let answer =
            api.create_subresource::<Value, Value>("binding", &binding.pod.name, &params, &body).await;
        match answer {
            Ok(_) => Ok(Bound::Done(binding.clone())),
            Err(kube::Error::Api(status)) if status.code == 409 => {
                self.after_conflict(&api, binding, &status).await
            }
            Err(kube::Error::Api(status)) if is_final(&status) => failed(status.message.clone()),
            Err(error) => Err(BindError(error)),
        }
    }

    /// A conflict may be our own binding, of which the answer was lost.
    async fn after_conflict(
        &self,
        api: &Api<Pod>,
        binding: &Binding,
        status: &Status,
    ) -> Result<Bound, BindError> {
        let pod = api.get_opt(&binding.pod.name).await.map_err(BindError)?;
        let pod = pod.filter(|it| it.metadata.uid.as_deref() == Some(binding.uid.as_str()));
        let node = pod.and_then(|it| it.spec?.node_name).filter(|it| *it == binding.node);
        Ok(match node {
            Some(_) => Bound::Done(binding.clone()),
            None => Bound::Failed(binding.clone(), status.message.clone()),
        })
    }
}

/// Whether the server said no, and would say so again.
fn is_final(status: &Status) -> bool {
    (400..500).contains(&status.code) && ![401, 408, 425, 429].contains(&status.code)
}
