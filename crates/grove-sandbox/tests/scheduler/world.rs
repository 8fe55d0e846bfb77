//! A cluster of nodes without kubelets, and a scheduler.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_apiserver::{
    Action, ApiServer, DeleteOptions, Object, PatchBody, Resource, Resources, Subresource, WriteRequest,
};
use grove_placement::topology;
use grove_sandbox::scheduler::{Scheduler, SchedulerOptions, SchedulerWork};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

pub(crate) const NS: &str = "ns";
pub(crate) const SCHEDULER: &str = "grove-sandbox-scheduler";
pub(crate) const RACK: &str = topology::RACK;
pub(crate) const BLOCK: &str = topology::BLOCK;
const POD_GROUPS: &str = "podgroups.scheduling.k8s.io";
const COMPOSITES: &str = "compositepodgroups.scheduling.k8s.io";
/// Without a write for so long, nothing is going on. Retries of a binding may take ten seconds.
const QUIET: Duration = Duration::from_secs(21);

pub(crate) struct World {
    pub(crate) server: ApiServer,
    scheduler: Arc<Scheduler>,
    running: Option<(JoinHandle<()>, CancellationToken)>,
}

fn resources() -> Resources {
    let group = |version: &str, kind: &str, plural: &str| {
        let mut group = Resource::built_in("scheduling.k8s.io", version, kind, plural);
        group.status = true;
        group
    };
    Resources::kubernetes().with(group("v1beta1", "PodGroup", "podgroups")).with(group(
        "v1alpha3",
        "CompositePodGroup",
        "compositepodgroups",
    ))
}

fn scheduler(server: &ApiServer) -> Arc<Scheduler> {
    let options =
        SchedulerOptions { clock: Arc::new(|| Timestamp::UNIX_EPOCH), ..SchedulerOptions::default() };
    Arc::new(Scheduler::new(Client::new(server.service(), NS), options))
}

impl World {
    /// A cluster with these nodes, and a scheduler.
    pub(crate) fn new(shape: &str) -> Self {
        let mut world = Self::stopped(shape);
        world.start();
        world
    }

    /// Likewise, with a scheduler that does not run yet.
    pub(crate) fn stopped(shape: &str) -> Self {
        let server = ApiServer::new(resources(), || Timestamp::UNIX_EPOCH, 1);
        let world = Self { scheduler: scheduler(&server), server, running: None };
        world.create(
            "namespaces",
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NS } }),
        );
        for node in topology::parse(shape).unwrap().nodes() {
            world.node(&node.name, &node.labels, node.allocatable.get("nvidia.com/gpu"));
        }
        world
    }

    pub(crate) fn start(&mut self) {
        let (scheduler, stop) = (Arc::clone(&self.scheduler), CancellationToken::new());
        let token = stop.clone();
        self.running = Some((tokio::spawn(async move { scheduler.run(token).await }), stop));
    }

    /// Ends the scheduler in the middle of whatever it does, and starts another that knows nothing.
    pub(crate) async fn restart(&mut self) {
        if let Some((task, _)) = self.running.take() {
            task.abort();
            task.await.unwrap_err();
        }
        self.scheduler = scheduler(&self.server);
        self.start();
    }

    /// Lets it work until nothing happens any more.
    pub(crate) async fn settle(&self) {
        let mut quiet = Duration::ZERO;
        while quiet < QUIET {
            let pause = Duration::from_millis(if quiet < Duration::from_millis(200) { 20 } else { 1_000 });
            let before = self.server.store().revision();
            tokio::time::sleep(pause).await;
            quiet = if self.server.store().revision() == before { quiet + pause } else { Duration::ZERO };
        }
    }

    pub(crate) fn work(&self) -> SchedulerWork {
        self.scheduler.work()
    }

    fn write(&self, resource: &str, name: &str, subresource: Option<Subresource>, action: Action) {
        let resource = Arc::clone(self.server.resources().by_id(resource).expect("a known resource"));
        let request = WriteRequest {
            namespace: if resource.namespaced { NS.to_owned() } else { String::new() },
            resource,
            name: name.to_owned(),
            subresource,
            manager: "test".to_owned(),
            dry_run: false,
            action,
        };
        self.server.write(request).unwrap();
    }

    pub(crate) fn create(&self, resource: &str, object: Value) {
        self.write(resource, "", None, Action::Create(object));
    }

    pub(crate) fn patch(&self, resource: &str, name: &str, patch: Value) {
        self.write(resource, name, None, Action::Patch(PatchBody::Merge(patch)));
    }

    /// Deletes it at once.
    pub(crate) fn delete(&self, resource: &str, name: &str) {
        let now = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
        self.write(resource, name, None, Action::Delete(now));
    }

    /// Deletes a pod, which goes on until [`Self::end_pods`].
    pub(crate) fn delete_slowly(&self, name: &str) {
        self.write("pods", name, None, Action::Delete(DeleteOptions::default()));
    }

    pub(crate) fn node(&self, name: &str, labels: &BTreeMap<String, String>, gpus: i64) {
        self.create(
            "nodes",
            json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name, "labels": labels }, "spec": {} }),
        );
        let amounts =
            json!({ "cpu": "64", "memory": "256Gi", "pods": "110", "nvidia.com/gpu": gpus.to_string() });
        let status = json!({ "status": { "allocatable": amounts, "capacity": amounts } });
        self.write("nodes", name, Some(Subresource::Status), Action::Patch(PatchBody::Merge(status)));
    }

    /// A pod that wants so many GPUs.
    pub(crate) fn pod(&self, name: &str, gpus: u32) {
        self.pod_with(name, gpus, json!({}));
    }

    /// Likewise, with more in its spec.
    pub(crate) fn pod_with(&self, name: &str, gpus: u32, spec: Value) {
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": name, "namespace": NS, "labels": { "name": name } },
            "spec": {
                "schedulerName": "default-scheduler",
                "containers": [{
                    "name": "c", "image": "i",
                    "resources": { "requests": { "nvidia.com/gpu": gpus.to_string() }, "limits": { "nvidia.com/gpu": gpus.to_string() } },
                }],
            },
        });
        for (field, value) in spec.as_object().unwrap() {
            pod["spec"][field.as_str()] = value.clone();
        }
        self.create("pods", pod);
    }

    /// A pod of a PodGroup.
    pub(crate) fn member(&self, group: &str, name: &str, gpus: u32) {
        self.member_with(group, name, gpus, json!({}));
    }

    pub(crate) fn member_with(&self, group: &str, name: &str, gpus: u32, mut spec: Value) {
        spec["schedulingGroup"] = json!({ "podGroupName": group });
        self.pod_with(name, gpus, spec);
    }

    /// Pods `GROUP-0` and so on.
    pub(crate) fn members(&self, group: &str, count: u32, gpus: u32) {
        (0..count).for_each(|it| self.member(group, &format!("{group}-{it}"), gpus));
    }

    /// A PodGroup. `spec` is added to its spec.
    pub(crate) fn group(&self, name: &str, min: u32, spec: Value) {
        let policy = json!({ "gang": { "minCount": min } });
        self.any_group(POD_GROUPS, "v1beta1", "PodGroup", name, policy, spec);
    }

    /// A CompositePodGroup.
    pub(crate) fn composite(&self, name: &str, min: u32, spec: Value) {
        let policy = json!({ "gang": { "minGroupCount": min } });
        self.any_group(COMPOSITES, "v1alpha3", "CompositePodGroup", name, policy, spec);
    }

    fn any_group(&self, resource: &str, version: &str, kind: &str, name: &str, policy: Value, spec: Value) {
        let mut object = json!({
            "apiVersion": format!("scheduling.k8s.io/{version}"), "kind": kind,
            "metadata": { "name": name, "namespace": NS },
            "spec": {
                "schedulingPolicy": policy, "disruptionMode": { "all": {} },
                "workloadRef": { "workloadName": "w", "templateName": "t" },
            },
        });
        for (field, value) in spec.as_object().unwrap() {
            object["spec"][field.as_str()] = value.clone();
        }
        self.create(resource, object);
    }

    /// A PodGroup with all of its pods, which are all needed.
    pub(crate) fn gang(&self, name: &str, count: u32, gpus: u32, spec: Value) {
        let priority = spec["priority"].clone();
        self.group(name, count, spec);
        for number in 0..count {
            let mut pod = json!({});
            if priority.is_number() {
                pod["priority"] = priority.clone();
            }
            self.member_with(name, &format!("{name}-{number}"), gpus, pod);
        }
    }

    pub(crate) fn get(&self, resource: &str, name: &str) -> Arc<Object> {
        self.server.store().get(resource, NS, name).unwrap_or_else(|| panic!("there is no {name}"))
    }

    /// The node of a pod.
    pub(crate) fn node_of(&self, pod: &str) -> Option<String> {
        self.get("pods", pod).field("/spec/nodeName").and_then(Value::as_str).map(str::to_owned)
    }

    /// The bound pods of a PodGroup with their nodes.
    pub(crate) fn bound(&self, group: &str) -> BTreeMap<String, String> {
        let pods = self.server.store().list("pods", Some(NS));
        let of_group = pods
            .iter()
            .filter(|it| it.field("/spec/schedulingGroup/podGroupName").is_some_and(|it| it == group));
        of_group
            .filter_map(|it| Some((it.name().to_owned(), it.field("/spec/nodeName")?.as_str()?.to_owned())))
            .collect()
    }

    /// Values of a node label that the bound pods of a PodGroup use, each once.
    pub(crate) fn domains(&self, group: &str, key: &str) -> Vec<String> {
        let label = |node: &String| {
            let node = self.server.store().get("nodes", "", node).unwrap();
            node.value()["metadata"]["labels"][key].as_str().unwrap().to_owned()
        };
        let mut values: Vec<String> = self.bound(group).values().map(label).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    fn condition(object: &Object, kind: &str) -> Option<(String, String, String)> {
        let conditions = object.field("/status/conditions")?.as_array()?;
        let condition = conditions.iter().find(|it| it["type"] == kind)?;
        let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
        Some((text("status"), text("reason"), text("message")))
    }

    /// Status, reason and message of a condition of a pod.
    pub(crate) fn pod_condition(&self, pod: &str, kind: &str) -> Option<(String, String, String)> {
        Self::condition(&self.get("pods", pod), kind)
    }

    /// Why a pod has no node.
    pub(crate) fn why(&self, pod: &str) -> String {
        let (status, reason, message) = self.pod_condition(pod, "PodScheduled").expect("a condition");
        assert_eq!((status.as_str(), reason.as_str()), ("False", "Unschedulable"));
        message
    }

    /// What is said of a PodGroup.
    pub(crate) fn said_of(&self, group: &str) -> Option<(String, String, String)> {
        Self::condition(&self.get(POD_GROUPS, group), "PodGroupInitiallyScheduled")
    }

    /// Reason and note of the Events about an object.
    pub(crate) fn events(&self, kind: &str, name: &str) -> Vec<(String, String)> {
        let events = self.server.store().list("events.events.k8s.io", Some(NS));
        let is_it = |it: &&Arc<Object>| {
            it.field("/regarding/kind").is_some_and(|it| it == kind)
                && it.field("/regarding/name").is_some_and(|it| it == name)
        };
        let text = |it: &Arc<Object>, field: &str| it.field(field).unwrap().as_str().unwrap().to_owned();
        events.iter().filter(is_it).map(|it| (text(it, "/reason"), text(it, "/note"))).collect()
    }

    /// How often the scheduler wrote to resources with this id.
    pub(crate) fn writes(&self, resource: &str) -> usize {
        let writes = self.server.store().writes();
        writes.iter().filter(|it| it.manager == SCHEDULER && it.resource == resource).count()
    }

    /// Ends pods that are being deleted, as kubelets do. Returns how many there were.
    pub(crate) fn end_pods(&self) -> usize {
        let pods = self.server.store().list("pods", Some(NS));
        let going: Vec<_> = pods.iter().filter(|it| it.is_terminating()).collect();
        for pod in &going {
            self.delete("pods", pod.name());
        }
        going.len()
    }

    /// A node and its pods vanish.
    pub(crate) fn lose_node(&self, name: &str) {
        self.write("nodes", name, None, Action::Delete(DeleteOptions::default()));
        for pod in self.server.store().list("pods", Some(NS)) {
            if pod.field("/spec/nodeName").is_some_and(|it| it == name) {
                self.delete("pods", pod.name());
            }
        }
    }
}
