//! A cluster in memory, and an operator in it.

use std::{cell::Cell, sync::Arc, time::Duration};

use grove_api::{config, schema::CRDS};
use grove_apiserver::{
    Action, Answer, ApiServer, DeleteOptions, Failure, Object, PatchBody, Resources, Subresource,
    WriteRequest, run_collector,
};
use grove_operator::{Caps, Concurrency, Operator, OperatorMetrics, Settings};
use grove_plan::node_loss::Patience;
use grove_runtime::{Events, Metrics, Term, Writer};
use grove_scheduler::{Registry, builtin::builtin};
use http::Method;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::{task::JoinSet, time::Instant};
use tokio_util::sync::CancellationToken;

use crate::{
    forbidden,
    herds::{self, TOY, Toy},
    hosts::Hosts,
    hyper_nodes,
    slow::Slow,
    topologies,
};

/// The stock scheduler.
pub(crate) const DEFAULT: &str = "default-scheduler";
/// Namespace of everything here.
pub(crate) const NAMESPACE: &str = "ml";

/// Nothing happens for this long: then nothing will. It is longer than every pause of the operator but those that
/// wait for a cure.
const QUIET: Duration = Duration::from_secs(15);

thread_local! {
    /// When the cluster of this test began. All of a test is on one thread.
    static BEGAN: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// The time in the cluster, for everybody in it: it goes as tokio's does.
pub(crate) fn now() -> Timestamp {
    let since = BEGAN.get().map(|it| it.elapsed()).unwrap_or_default();
    Timestamp::from_second(1_800_000_000).unwrap() + since
}

/// A cluster with or without an operator.
pub(crate) struct World {
    pub(crate) server: ApiServer,
    operator: Option<Running>,
    /// The garbage collector; it ends with the cluster.
    _collector: JoinSet<()>,
    /// `scheduler` of the configuration of operators that are started.
    pub(crate) scheduler: Value,
    /// Whether they publish Events.
    pub(crate) tells: bool,
    /// Whether pods are bound and become ready.
    pub(crate) nodes: bool,
    /// Cliques and hosts whose pods do not become ready.
    pub(crate) unready: Vec<&'static str>,
    /// The nodes.
    pub(crate) hosts: Hosts,
    /// How long they may be in trouble, as operators are told that are started; else they do not look at nodes.
    pub(crate) node_loss: Option<Patience>,
    /// How much a set may have, as operators are told that are started.
    pub(crate) caps: Caps,
    /// Whether operators place by topology.
    pub(crate) topology_aware: bool,
    /// How long requests of operators take until they reach the server, by method and path with query.
    pub(crate) delay: fn(&Method, &str) -> Duration,
    /// The path that operators may not read.
    pub(crate) forbidden: Option<&'static str>,
    /// The backends that operators know.
    registry: Registry,
}

struct Running {
    operator: Arc<Operator>,
    metrics: Metrics,
    tasks: JoinSet<()>,
}

impl World {
    /// An empty cluster.
    pub(crate) fn new(seed: u64) -> Self {
        Self::without(seed, "")
    }

    /// An empty cluster that knows all of our kinds but this one.
    pub(crate) fn without(seed: u64, crd: &str) -> Self {
        Self::with(seed, builtin(), Resources::kubernetes(), crd)
    }

    /// A cluster that knows one more kind, which is not ours.
    pub(crate) fn with_kind(seed: u64, definition: &Value) -> Self {
        Self::with(seed, builtin(), Resources::kubernetes().with_crd(definition).unwrap(), "")
    }

    /// A cluster with one more scheduler, which operators use.
    pub(crate) fn with_toy(seed: u64, toy: &Toy) -> Self {
        let mut registry = builtin();
        registry.register(toy.clone()).unwrap();
        let resources = Resources::kubernetes().with_crd(&herds::definition()).unwrap();
        let resources = resources.with_crd(&herds::pasture_definition()).unwrap();
        let resources = resources.with_crd(&topologies::definition()).unwrap();
        let scheduler = profiles(&[DEFAULT, TOY], DEFAULT);
        Self { scheduler, ..Self::with(seed, registry, resources, "") }
    }

    /// A cluster with Volcano's kinds, which operators use.
    pub(crate) fn with_volcano(seed: u64) -> Self {
        let (definitions, mut resources) = (hyper_nodes::definitions(), Resources::kubernetes());
        for definition in &definitions {
            resources = resources.with_crd(definition).unwrap();
        }
        let resources = resources.with(hyper_nodes::definition_kind());
        let scheduler = profiles(&[DEFAULT, "volcano"], DEFAULT);
        let world = Self { scheduler, ..Self::with(seed, builtin(), resources, "") };
        for definition in definitions {
            let kind = "customresourcedefinitions.apiextensions.k8s.io";
            world.write(kind, "", "", None, Action::Create(definition)).unwrap();
        }
        world
    }

    fn with(seed: u64, registry: Registry, mut resources: Resources, without: &str) -> Self {
        for crd in CRDS.iter().filter(|it| it.name() != without) {
            resources = resources.with_crd(&crd.to_value()).unwrap();
        }
        BEGAN.set(Some(Instant::now()));
        let server = ApiServer::new(resources, now, seed);
        let mut collector = JoinSet::new();
        collector.spawn(run_collector(server.clone(), std::future::pending()));
        let world = Self {
            server,
            operator: None,
            registry,
            scheduler: json!({}),
            tells: false,
            nodes: true,
            unready: Vec::new(),
            hosts: Hosts::default(),
            caps: Caps::default(),
            node_loss: None,
            topology_aware: false,
            delay: |_, _| Duration::ZERO,
            forbidden: None,
            _collector: collector,
        };
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

    /// Starts an operator that knows nothing, and leads.
    pub(crate) fn start(&mut self) {
        self.follow();
        self.lead(Term::default());
    }

    /// Has the operator lead for a term.
    pub(crate) fn lead(&mut self, term: Term) {
        let running = self.operator.as_mut().expect("an operator");
        let operator = Arc::clone(&running.operator);
        running.tasks.spawn(async move {
            operator.work(term).await;
        });
    }

    /// The operator's metrics, as text.
    pub(crate) fn metrics(&self) -> String {
        self.operator.as_ref().expect("an operator").metrics.encode().unwrap()
    }

    /// Starts an operator that does not lead.
    pub(crate) fn follow(&mut self) {
        let metrics = Metrics::new();
        let operator = self.operator(self.client(), &metrics);
        let mut tasks = JoinSet::new();
        let watching = Arc::clone(&operator);
        tasks.spawn(async move { watching.watch(CancellationToken::new()).await });
        self.operator = Some(Running { operator, metrics, tasks });
    }

    /// A client of this cluster, as slow as the world is.
    pub(crate) fn client(&self) -> Client {
        match self.forbidden {
            None => Client::new(Slow { service: self.server.service(), delay: self.delay }, NAMESPACE),
            Some(path) => forbidden::client(&self.server, path),
        }
    }

    /// An operator that knows nothing.
    pub(crate) fn operator(&self, client: Client, metrics: &Metrics) -> Arc<Operator> {
        let registry = self.registry.clone();
        let config = json!({
            "apiVersion": config::API_VERSION, "kind": config::KIND, "scheduler": self.scheduler,
        });
        let loaded = registry.with_known(|known| config::load(&config, known)).unwrap();
        let settings = Settings {
            concurrency: Concurrency { sets: 2, groups: 2, cliques: 4, gangs: 4 },
            registry,
            profiles: loaded.profiles,
            namespace: NAMESPACE.to_owned(),
            init_image: "grove-initc:1".to_owned(),
            topology_aware: self.topology_aware,
            caps: self.caps,
            node_loss: self.node_loss,
            clock: now,
        };
        let writer = Writer::new(client.clone(), "grove-operator");
        let events = if self.tells {
            Events::start(&writer, "grove-operator".to_owned(), "world".to_owned(), CancellationToken::new())
        } else {
            Events::none()
        };
        let own = metrics.register(OperatorMetrics::register);
        Arc::new(Operator::new(client, events, settings, &metrics.informers, &metrics.queues, own))
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
        let mut waiting = Vec::new();
        for pod in self.list("pods") {
            let name = pod.name().to_owned();
            let bound = pod.field("/spec/nodeName").is_some();
            let gated =
                pod.field("/spec/schedulingGates").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
            let ready = pod.field("/status/conditions/0/type").is_some_and(|it| it == "Ready");
            if self.hosts.is_silent(&pod) {
                continue;
            }
            if pod.field("/metadata/deletionTimestamp").is_some() {
                let now = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
                let _ = self.write("pods", NAMESPACE, &name, None, Action::Delete(now));
            } else if !bound && !gated && self.nodes {
                waiting.push(pod);
            } else if bound && !ready && self.nodes && self.may_start(&pod) {
                let ready = json!({ "type": "Ready", "status": "True" });
                self.patch_status("pods", &name, json!({ "phase": "Running", "conditions": [ready] }));
            }
        }
        self.schedule(&waiting);
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

/// Configuration of these schedulers.
pub(crate) fn profiles(names: &[&str], default: &str) -> Value {
    let profiles: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
    json!({ "profiles": profiles, "defaultProfileName": default })
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
