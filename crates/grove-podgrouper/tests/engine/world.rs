//! A cluster with a pod grouper in it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_api::schema::CRDS;
use grove_apiserver::{Action, ApiServer, DeleteOptions, PatchBody, Resource, Resources, WriteRequest};
use grove_podgrouper::{
    Hub, Settings,
    engine::{ConfigMapName, Counting, Grouper, GrouperOptions},
};
use grove_runtime::{Events, Term, Writer};
use grove_scheduler::builtin::builtin;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::gate::Gate;

pub(crate) const NS: &str = "ns";
pub(crate) const GROUPS: &str = "podgroups.scheduling.run.ai";
pub(crate) const VOLCANO_GROUPS: &str = "podgroups.scheduling.volcano.sh";
const KAI: &str = "kai-scheduler";
/// Kinds that no plugin is for: `Many0` and so on, of the group `many.example.com`.
pub(crate) const MANY: usize = 40;
/// Without a write for so long, nothing is going on. Retries may take a minute.
const QUIET: Duration = Duration::from_secs(130);

/// A cluster and its pod grouper.
pub(crate) struct World {
    pub(crate) server: ApiServer,
    pub(crate) gate: Gate,
    grouper: Option<(Arc<Grouper>, JoinSet<()>)>,
    options: GrouperOptions,
}

/// KAI's PodGroup, of the newest form.
fn pod_groups() -> Value {
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let part = json!({ "type": "object", "properties": {
        "name": text, "parent": text, "minMember": number, "minSubGroup": number, "topologyConstraint": { "type": "object" },
    } });
    let spec = json!({
        "minMember": number, "minSubGroup": number, "queue": text, "preemptionDelay": text, "stalenessGracePeriod": text,
        "subGroups": { "type": "array", "items": part },
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": GROUPS },
        "spec": {
            "group": "scheduling.run.ai", "scope": "Namespaced",
            "names": { "kind": "PodGroup", "plural": "podgroups", "singular": "podgroup", "listKind": "PodGroupList" },
            "versions": [{ "name": "v2alpha2", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": { "spec": { "type": "object", "properties": spec } },
            } } }],
        },
        "status": { "conditions": [{ "type": "Established", "status": "True" }] },
    })
}

/// Volcano's PodGroup, of the newest form.
fn volcano_groups() -> Value {
    let (text, number) = (json!({ "type": "string" }), json!({ "type": "integer" }));
    let network = json!({ "type": "object", "properties": { "mode": text, "highestTierName": text } });
    let policy = json!({ "type": "object", "properties": { "name": text, "minSubGroups": number } });
    let spec = json!({
        "minMember": number, "queue": text, "networkTopology": network,
        "subGroupPolicy": { "type": "array", "items": policy },
    });
    let mut definition = pod_groups();
    definition["metadata"]["name"] = VOLCANO_GROUPS.into();
    definition["spec"]["group"] = "scheduling.volcano.sh".into();
    definition["spec"]["versions"][0]["name"] = "v1beta1".into();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"] = spec;
    definition
}

fn resources() -> Resources {
    let cluster = |group: &str, kind: &str, plural: &str| {
        let mut resource = Resource::custom(group, "v1", kind, plural);
        resource.namespaced = false;
        resource
    };
    let kinds = [
        ("apps", "v1", "Deployment", "deployments"),
        ("apps", "v1", "ReplicaSet", "replicasets"),
        ("apps", "v1", "StatefulSet", "statefulsets"),
        ("argoproj.io", "v1alpha1", "Workflow", "workflows"),
        ("batch", "v1", "Job", "jobs"),
        ("example.com", "v1", "Thing", "things"),
        ("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"),
        ("grove.io", "v1alpha1", "PodCliqueSet", "podcliquesets"),
        ("grove.io", "v1alpha1", "PodClique", "podcliques"),
        ("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs"),
        ("ray.io", "v1", "RayCluster", "rayclusters"),
        ("ray.io", "v1", "RayJob", "rayjobs"),
        ("scheduler.grove.io", "v1alpha1", "PodGang", "podgangs"),
    ];
    let mut resources = Resources::kubernetes()
        .with(cluster("example.com", "Zone", "zones"))
        .with(cluster("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions"))
        .with(cluster("scheduling.k8s.io", "PriorityClass", "priorityclasses"))
        .with_crd(&pod_groups())
        .unwrap()
        .with_crd(&volcano_groups())
        .unwrap();
    for crd in CRDS.iter().filter(|it| it.name().starts_with("groupingrules.")) {
        resources = resources.with_crd(&crd.to_value()).unwrap();
    }
    for (group, version, kind, plural) in kinds {
        resources = resources.with(Resource::custom(group, version, kind, plural));
    }
    for number in 0..MANY {
        let (kind, plural) = (format!("Many{number}"), format!("many{number}s"));
        resources = resources.with(Resource::custom("many.example.com", "v1", &kind, &plural));
    }
    resources
}

impl World {
    /// A cluster without a grouper.
    pub(crate) fn new() -> Self {
        let server = ApiServer::new(resources(), || Timestamp::UNIX_EPOCH, 1);
        let gate = Gate::new(server.service());
        let options = GrouperOptions {
            schedulers: vec![KAI.to_owned()],
            pod_labels: String::new(),
            namespace_labels: BTreeMap::new(),
            settings: Settings::default(),
            kind_defaults: Some(ConfigMapName { namespace: NS.to_owned(), name: "defaults".to_owned() }),
            concurrency: 10,
            namespace: NS.to_owned(),
        };
        let world = Self { server, gate, grouper: None, options };
        world.create(
            "namespaces",
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": NS } }),
        );
        for definition in [pod_groups(), volcano_groups()] {
            world.create("customresourcedefinitions.apiextensions.k8s.io", definition);
        }
        world
    }

    /// A cluster with a grouper.
    pub(crate) fn started() -> Self {
        let mut world = Self::new();
        world.start();
        world
    }

    /// With options that differ.
    pub(crate) fn with(change: impl FnOnce(&mut GrouperOptions)) -> Self {
        let mut world = Self::new();
        change(&mut world.options);
        world.start();
        world
    }

    /// Starts a grouper that knows nothing, and leads.
    pub(crate) fn start(&mut self) {
        self.follow();
        self.lead(Term::default());
    }

    /// Has the grouper lead for a term.
    pub(crate) fn lead(&mut self, term: Term) {
        let (grouper, tasks) = self.grouper.as_mut().expect("a grouper");
        let grouper = Arc::clone(grouper);
        tasks.spawn(async move {
            grouper.work(term).await;
        });
    }

    /// Starts a grouper that does not lead.
    pub(crate) fn follow(&mut self) {
        let client = Client::new(self.gate.clone(), NS);
        let writer = Writer::new(client.clone(), "grove-podgrouper");
        let events =
            Events::start(&writer, "pod-grouper".to_owned(), "world".to_owned(), CancellationToken::new());
        let (options, counting) = (self.options.clone(), Counting::default());
        let grouper = Grouper::new(client, events, &builtin(), Hub::builtin(), options, counting).unwrap();
        let mut tasks = JoinSet::new();
        let watching = Arc::clone(&grouper);
        tasks.spawn(async move { watching.watch(CancellationToken::new()).await });
        self.grouper = Some((grouper, tasks));
    }

    /// Ends it in the middle of whatever it does.
    pub(crate) fn kill(&mut self) {
        self.grouper = None;
    }

    /// Lets it work until nothing happens any more.
    pub(crate) async fn settle(&self) {
        let mut quiet = Duration::ZERO;
        while quiet < QUIET {
            let pause = Duration::from_millis(if quiet < Duration::from_secs(1) { 20 } else { 1_000 });
            let before = self.server.store().revision();
            tokio::time::sleep(pause).await;
            quiet = if self.server.store().revision() == before { quiet + pause } else { Duration::ZERO };
        }
    }

    fn write(&self, namespace: &str, resource: &str, name: &str, action: Action) {
        let resource = Arc::clone(self.server.resources().by_id(resource).expect("a known resource"));
        let request = WriteRequest {
            namespace: if resource.namespaced { namespace.to_owned() } else { String::new() },
            resource,
            name: name.to_owned(),
            subresource: None,
            manager: "world".to_owned(),
            dry_run: false,
            action,
        };
        self.server.write(request).unwrap();
    }

    /// Creates an object, and returns its UID.
    pub(crate) fn create(&self, resource: &str, object: Value) -> String {
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or(NS).to_owned();
        self.write(&namespace, resource, "", Action::Create(object));
        let is_namespaced = self.server.resources().by_id(resource).unwrap().namespaced;
        let namespace = if is_namespaced { namespace.as_str() } else { "" };
        self.server.store().get(resource, namespace, &name).unwrap().uid().to_owned()
    }

    /// A pod of KAI's, below an owner.
    pub(crate) fn pod(&self, name: &str, owner: Option<Value>) -> String {
        self.pod_with(name, owner, json!({}))
    }

    /// Likewise, with more metadata.
    pub(crate) fn pod_with(&self, name: &str, owner: Option<Value>, metadata: Value) -> String {
        let mut pod = json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": name, "namespace": NS },
            "spec": { "schedulerName": KAI, "containers": [{ "name": "c", "image": "i" }] },
        });
        json_patch::merge(&mut pod["metadata"], &metadata);
        if let Some(owner) = owner {
            pod["metadata"]["ownerReferences"] = json!([owner]);
        }
        self.create("pods", pod)
    }

    /// An object, and a reference to it.
    pub(crate) fn owner(&self, resource: &str, mut object: Value) -> Value {
        object["metadata"]["namespace"] = NS.into();
        let mut reference = json!({
            "apiVersion": object["apiVersion"], "kind": object["kind"], "name": object["metadata"]["name"],
        });
        reference["uid"] = self.create(resource, object).into();
        reference
    }

    /// A Job.
    pub(crate) fn job(&self, name: &str) -> Value {
        self.owner(
            "jobs.batch",
            json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name }, "spec": {} }),
        )
    }

    pub(crate) fn patch(&self, resource: &str, name: &str, patch: Value) {
        self.write(NS, resource, name, Action::Patch(PatchBody::Merge(patch)));
    }

    pub(crate) fn delete(&self, resource: &str, name: &str) {
        let now = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
        self.write(NS, resource, name, Action::Delete(now));
    }

    pub(crate) fn get(&self, resource: &str, name: &str) -> Option<Value> {
        self.server.store().get(resource, NS, name).map(|it| it.value().clone())
    }

    /// The group that a pod says it is in, and its part.
    pub(crate) fn group_of(&self, pod: &str) -> (Option<String>, Option<String>) {
        let pod = self.get("pods", pod).unwrap();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        (
            text(&pod["metadata"]["annotations"]["pod-group-name"]),
            text(&pod["metadata"]["labels"]["kai.scheduler/subgroup-name"]),
        )
    }

    pub(crate) fn group(&self, name: &str) -> Value {
        self.get(GROUPS, name).unwrap_or_else(|| panic!("there is no group {name}"))
    }

    /// Names of all groups.
    pub(crate) fn groups(&self) -> Vec<String> {
        self.server.store().list(GROUPS, Some(NS)).iter().map(|it| it.name().to_owned()).collect()
    }

    /// What was told of an object.
    pub(crate) fn told_of(&self, name: &str) -> Vec<String> {
        let events = self.server.store().list("events.events.k8s.io", Some(NS));
        let of_it = events.iter().filter(|it| it.field("/regarding/name").is_some_and(|it| it == name));
        of_it
            .map(|it| {
                assert_eq!(it.field("/reason").unwrap(), "PodGrouperWarning");
                it.field("/note").unwrap().as_str().unwrap().to_owned()
            })
            .collect()
    }

    /// How often the grouper wrote: groups, and pods.
    pub(crate) fn writes(&self) -> (usize, usize) {
        let writes = self.server.store().writes();
        let count = |resource: &str| {
            writes.iter().filter(|it| it.manager == "grove-podgrouper" && it.resource == resource).count()
        };
        (count(GROUPS), count("pods"))
    }
}
