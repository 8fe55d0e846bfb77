//! A cluster with a sandbox in it.

use std::{sync::Arc, time::Duration};

use grove_apiserver::{
    Action, ApiServer, DeleteOptions, PatchBody, Resource, Resources, Subresource, WriteRequest,
};
use grove_placement::topology;
use grove_sandbox::{Clock, Sandbox, SandboxOptions};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};

pub(crate) const NS: &str = "default";

/// A server, and a sandbox that works on it.
pub(crate) struct World {
    pub(crate) server: ApiServer,
    pub(crate) client: Client,
    pub(crate) sandbox: Sandbox,
}

fn resources() -> Resources {
    let mut groups = Resource::built_in("scheduling.k8s.io", "v1beta1", "PodGroup", "podgroups");
    groups.status = true;
    let mut jobs = Resource::built_in("batch", "v1", "Job", "jobs");
    jobs.status = true;
    Resources::kubernetes().with(groups).with(jobs).with(Resource::custom(
        "example.com",
        "v1",
        "Thing",
        "things",
    ))
}

impl World {
    /// A cluster with these nodes, ready.
    pub(crate) async fn of(topology: &str) -> Self {
        Self::with(topology, |_| {}).await
    }

    /// With options that differ.
    pub(crate) async fn with(topology: &str, change: impl FnOnce(&mut SandboxOptions)) -> Self {
        // In the middle of a second, which timestamps do not show.
        let start: Timestamp = "2026-01-02T12:00:00.6Z".parse().unwrap();
        let clock = Clock::of_tokio(start);
        let telling = clock.clone();
        let server = ApiServer::new(resources(), move || telling.now(), 1);
        let client = Client::new(server.service(), "default");
        let nodes = Some(topology::parse(topology).unwrap());
        let mut options = SandboxOptions { nodes, clock, ..SandboxOptions::default() };
        change(&mut options);
        let sandbox = Sandbox::start(client.clone(), options);
        let world = Self { server, client, sandbox };
        world.sandbox.synced().await;
        world.pass(1.0).await;
        world
    }

    /// Lets time pass, and everybody do what is to be done by then.
    pub(crate) async fn pass(&self, seconds: f64) {
        tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
    }

    fn write(&self, namespace: &str, resource: &str, name: &str, part: Option<Subresource>, action: Action) {
        let resource = Arc::clone(self.server.resources().by_id(resource).expect("a known resource"));
        let request = WriteRequest {
            namespace: if resource.namespaced { namespace.to_owned() } else { String::new() },
            resource,
            name: name.to_owned(),
            subresource: part,
            manager: "world".to_owned(),
            dry_run: false,
            action,
        };
        self.server.write(request).unwrap();
    }

    pub(crate) fn create(&self, resource: &str, object: Value) {
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or(NS).to_owned();
        self.write(&namespace, resource, "", None, Action::Create(object));
    }

    /// A pod that is bound to a node.
    pub(crate) fn pod(&self, name: &str, node: &str, annotations: Value) {
        self.pod_with(name, node, json!({ "annotations": annotations }), json!({}));
    }

    /// Likewise, with more metadata and spec.
    pub(crate) fn pod_with(&self, name: &str, node: &str, metadata: Value, spec: Value) {
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": name },
            "spec": { "nodeName": node, "containers": [{ "name": "c", "image": "image:1" }] },
        });
        for (part, more) in [("metadata", metadata), ("spec", spec)] {
            for (field, value) in more.as_object().into_iter().flatten() {
                pod[part][field] = value.clone();
            }
        }
        self.create("pods", pod);
    }

    pub(crate) fn patch(&self, resource: &str, name: &str, patch: Value) {
        self.write(NS, resource, name, None, Action::Patch(PatchBody::Merge(patch)));
    }

    /// Sets an annotation of a pod; null removes it.
    pub(crate) fn annotate(&self, pod: &str, key: &str, value: Value) {
        self.patch("pods", pod, json!({ "metadata": { "annotations": { key: value } } }));
    }

    pub(crate) fn delete(&self, resource: &str, name: &str) {
        self.write(NS, resource, name, None, Action::Delete(DeleteOptions::default()));
    }

    pub(crate) fn get_in(&self, resource: &str, namespace: &str, name: &str) -> Option<Value> {
        self.server.store().get(resource, namespace, name).map(|it| it.value().clone())
    }

    pub(crate) fn get_pod(&self, name: &str) -> Value {
        self.get_in("pods", NS, name).unwrap_or_else(|| panic!("there is no pod {name}"))
    }

    pub(crate) fn has_pod(&self, name: &str) -> bool {
        self.get_in("pods", NS, name).is_some()
    }

    pub(crate) fn node(&self, name: &str) -> Value {
        self.get_in("nodes", "", name).unwrap_or_else(|| panic!("there is no node {name}"))
    }

    /// Keys and effects of a node's taints.
    pub(crate) fn taints(&self, node: &str) -> Vec<String> {
        let node = self.node(node);
        let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        let word = |it: &Value| it.as_str().unwrap().to_owned();
        taints.iter().map(|it| format!("{}:{}", word(&it["key"]), word(&it["effect"]))).collect()
    }

    /// The Events about an object: reason, message and count.
    pub(crate) fn events(&self, name: &str) -> Vec<(String, String, i64)> {
        let events = self.server.store().list("events", None);
        let about = events.iter().filter(|it| it.field("/involvedObject/name").is_some_and(|it| it == name));
        let text = |it: Option<&Value>| it.and_then(Value::as_str).unwrap_or_default().to_owned();
        let row = |it: &Arc<grove_apiserver::Object>| {
            let count = it.field("/count").and_then(Value::as_i64).unwrap_or_default();
            (text(it.field("/reason")), text(it.field("/message")), count)
        };
        about.map(row).collect()
    }

    /// How many writes there were so far, by all but the test.
    pub(crate) fn writes(&self) -> usize {
        self.server.store().writes().iter().filter(|it| it.manager != "world").count()
    }

    /// Writes to objects of a resource by the sandbox that succeeded: verb and name.
    pub(crate) fn writes_to(&self, resource: &str) -> Vec<String> {
        let writes = self.server.store().writes();
        let ours =
            writes.iter().filter(|it| it.resource == resource && it.manager != "world" && it.code < 300);
        ours.map(|it| format!("{} {}", it.verb, it.name)).collect()
    }
}

/// The status of a condition.
pub(crate) fn condition(object: &Value, type_: &str) -> String {
    let conditions = object["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let found = conditions.iter().find(|it| it["type"] == type_);
    found.and_then(|it| it["status"].as_str()).unwrap_or_default().to_owned()
}

pub(crate) fn is_ready(object: &Value) -> bool {
    condition(object, "Ready") == "True"
}
