//! A cluster in memory, and an operator in it.

use std::{sync::Arc, time::Duration};

use grove_api::{
    config::{self, BUILTIN_BACKENDS},
    schema::CRDS,
};
use grove_apiserver::{
    Action, Answer, ApiServer, DeleteOptions, Failure, Object, PatchBody, Resources, Subresource,
    WriteRequest, run_collector,
};
use grove_operator::{Concurrency, Operator, Schedulers, Settings};
use grove_runtime::{Events, InformerMetrics, QueueMetrics};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Namespace of everything here.
pub(crate) const NAMESPACE: &str = "ml";

/// Nothing happens for this long: then nothing will. It is longer than every pause of the operator but those that
/// wait for a cure.
const QUIET: Duration = Duration::from_secs(15);

/// A cluster with or without an operator.
pub(crate) struct World {
    pub(crate) server: ApiServer,
    operator: Option<Running>,
    /// The garbage collector; it ends with the cluster.
    _collector: JoinSet<()>,
    /// Whether pods are bound and become ready.
    pub(crate) nodes: bool,
    /// Cliques and hosts whose pods do not become ready.
    pub(crate) unready: Vec<&'static str>,
}

struct Running {
    tasks: JoinSet<()>,
}

impl World {
    /// An empty cluster.
    pub(crate) fn new(seed: u64) -> Self {
        let mut resources = Resources::kubernetes();
        for crd in &CRDS {
            resources = resources.with_crd(&crd.to_value()).unwrap();
        }
        let server = ApiServer::new(resources, || Timestamp::from_second(1_800_000_000).unwrap(), seed);
        let mut collector = JoinSet::new();
        collector.spawn(run_collector(server.clone(), std::future::pending()));
        let world = Self { server, operator: None, nodes: true, unready: Vec::new(), _collector: collector };
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NAMESPACE } });
        world.write("namespaces", "", "", None, Action::Create(namespace)).unwrap();
        world
    }

    /// A cluster with an operator.
    pub(crate) fn started(seed: u64) -> Self {
        let mut world = Self::new(seed);
        world.start();
        world
    }

    /// Starts an operator that knows nothing.
    pub(crate) fn start(&mut self) {
        let client = Client::new(self.server.service(), NAMESPACE);
        let loaded = config::load(
            &json!({
                "apiVersion": config::API_VERSION,
                "kind": config::KIND,
            }),
            BUILTIN_BACKENDS,
        )
        .unwrap();
        let settings = Settings {
            concurrency: Concurrency { sets: 2, groups: 2, cliques: 4, gangs: 4 },
            schedulers: Schedulers::new(&loaded.profiles),
            init_image: "grove-initc:1".to_owned(),
            topology_aware: false,
            clock: || Timestamp::from_second(1_800_000_000).unwrap(),
        };
        let (informers, queues) = (InformerMetrics::default(), QueueMetrics::default());
        let operator = Arc::new(Operator::new(client, Events::none(), settings, &informers, &queues));
        let mut tasks = JoinSet::new();
        let watching = Arc::clone(&operator);
        tasks.spawn(async move { watching.watch(CancellationToken::new()).await });
        tasks.spawn(async move { operator.work(CancellationToken::new()).await });
        self.operator = Some(Running { tasks });
    }

    /// Ends the operator in the middle of whatever it does.
    pub(crate) fn kill(&mut self) {
        if let Some(mut running) = self.operator.take() {
            running.tasks.abort_all();
        }
    }

    /// Lets everybody work until nothing happens any more.
    pub(crate) async fn settle(&self) {
        self.settle_unless(|| false).await;
    }

    /// Likewise, but ends early when `stop` says so.
    pub(crate) async fn settle_unless(&self, stop: impl Fn() -> bool) {
        let mut quiet = Duration::ZERO;
        while quiet < QUIET && !stop() {
            // Short steps while something happens, so that everybody meets everybody; long ones to wait for the end.
            let pause = Duration::from_millis(if quiet < Duration::from_millis(100) { 5 } else { 500 });
            let before = self.server.store().revision();
            tokio::time::sleep(pause).await;
            if self.server.store().revision() != before || quiet.is_zero() {
                self.simulate();
            }
            quiet = if self.server.store().revision() == before { quiet + pause } else { Duration::ZERO };
        }
    }

    /// One turn of the scheduler and the kubelets.
    pub(crate) fn simulate(&self) {
        for pod in self.list("pods") {
            let name = pod.name().to_owned();
            let bound = pod.field("/spec/nodeName").is_some();
            let gated =
                pod.field("/spec/schedulingGates").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
            let ready = pod.field("/status/conditions/0/type").is_some_and(|it| it == "Ready");
            if pod.field("/metadata/deletionTimestamp").is_some() {
                let now = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
                let _ = self.write("pods", NAMESPACE, &name, None, Action::Delete(now));
            } else if !bound && !gated && self.nodes {
                let body = json!({ "target": { "kind": "Node", "name": "node" } });
                self.write("pods", NAMESPACE, &name, Some(Subresource::Binding), Action::Create(body))
                    .unwrap();
            } else if bound && !ready && self.nodes && self.may_start(&pod) {
                let ready = json!({ "type": "Ready", "status": "True" });
                self.patch_status("pods", &name, json!({ "phase": "Running", "conditions": [ready] }));
            }
        }
    }

    /// Whether a pod's init container has ended, as far as there is one, and it becomes ready then.
    fn may_start(&self, pod: &Object) -> bool {
        let names = [pod.field("/metadata/labels/grove.io~1podclique"), pod.field("/spec/hostname")];
        let unready = names.iter().flatten().any(|it| self.unready.iter().any(|name| *it == name));
        !unready && (pod.field("/spec/initContainers").is_none() || is_told(pod))
    }

    /// Performs a write as an administrator.
    pub(crate) fn write(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        subresource: Option<Subresource>,
        action: Action,
    ) -> Result<Answer, Failure> {
        let resource = Arc::clone(self.server.resources().by_id(resource).expect("a known resource"));
        self.server.write(WriteRequest {
            resource,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            subresource,
            manager: "world".to_owned(),
            dry_run: false,
            action,
        })
    }

    pub(crate) fn create(&self, resource: &str, object: Value) {
        self.write(resource, NAMESPACE, "", None, Action::Create(object)).unwrap();
    }

    pub(crate) fn patch(&self, resource: &str, name: &str, patch: Value) {
        let patch = Action::Patch(PatchBody::Merge(patch));
        self.write(resource, NAMESPACE, name, None, patch).unwrap();
    }

    pub(crate) fn patch_status(&self, resource: &str, name: &str, status: Value) {
        let patch = Action::Patch(PatchBody::Merge(json!({ "status": status })));
        self.write(resource, NAMESPACE, name, Some(Subresource::Status), patch).unwrap();
    }

    pub(crate) fn delete(&self, resource: &str, name: &str) {
        let action = Action::Delete(DeleteOptions::default());
        self.write(resource, NAMESPACE, name, None, action).unwrap();
    }

    pub(crate) fn get(&self, resource: &str, name: &str) -> Arc<Object> {
        self.server
            .store()
            .get(resource, NAMESPACE, name)
            .unwrap_or_else(|| panic!("there is no {resource} {name}"))
    }

    pub(crate) fn list(&self, resource: &str) -> Vec<Arc<Object>> {
        self.server.store().list(resource, Some(NAMESPACE))
    }

    pub(crate) fn names(&self, resource: &str) -> Vec<String> {
        self.list(resource).iter().map(|it| it.name().to_owned()).collect()
    }
}

/// Whether a pod was told that the cliques before it are ready.
pub(crate) fn is_told(pod: &Object) -> bool {
    pod.field("/metadata/annotations/grove.io~1parents-ready").is_some()
}

/// The worked example: a frontend, and a group of prefill and decode of which one replica is in the base gang.
pub(crate) fn example(replicas: u32) -> Value {
    let clique = |name: &str, replicas: u32, minimum: u32| {
        json!({
            "name": name,
            "spec": {
                "roleName": name,
                "replicas": replicas,
                "minAvailable": minimum,
                "podSpec": { "containers": [{ "name": "main", "image": "engine:1" }] },
            },
        })
    };
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": "inf", "namespace": NAMESPACE },
        "spec": {
            "replicas": replicas,
            "template": {
                "cliques": [clique("fe", 2, 1), clique("pre", 1, 1), clique("dec", 2, 2)],
                "podCliqueScalingGroups": [
                    { "name": "pd", "cliqueNames": ["pre", "dec"], "replicas": 3, "minAvailable": 1 },
                ],
            },
        },
    })
}
