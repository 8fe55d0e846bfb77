//! Workloads that are not Grove's: the pod grouper of `grove up` makes gangs of them.

use std::time::Duration;

use futures::{StreamExt as _, pin_mut};
use grove_api::manifest;
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{WatchStreamExt as _, watcher},
};
use serde_json::{Value, json};

use crate::{Folder, grove, text, up};

const PAGE: &str = include_str!("../../../../docs/up.md");
/// It takes a second or two; this only ends the wait if something is broken.
const TIMEOUT: Duration = Duration::from_mins(2);

struct Cluster {
    folder: Folder,
    client: Client,
}

impl Cluster {
    async fn start(name: &str, topology: &str) -> Self {
        let folder = Folder::new(name);
        let output = up(&folder, &["--empty", "--detach", "--topology", topology]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let kubeconfig = Kubeconfig::read_from(folder.kubeconfig()).unwrap();
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap();
        Self { folder, client: Client::try_from(config).unwrap() }
    }

    async fn create<K>(&self, object: Value)
    where
        K: kube::Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
        K: Clone + std::fmt::Debug + serde::Serialize + serde::de::DeserializeOwned,
    {
        let api: Api<K> = Api::default_namespaced(self.client.clone());
        api.create(&PostParams::default(), &serde_json::from_value(object).unwrap()).await.unwrap();
    }

    /// Waits until the pods of a Job are as wanted.
    async fn until(&self, job: &str, what: &str, wanted: impl Fn(&[Pod]) -> bool) {
        let api: Api<Pod> = Api::default_namespaced(self.client.clone());
        let params = ListParams::default().labels(&format!("batch.kubernetes.io/job-name={job}"));
        let config = watcher::Config::default().labels(params.label_selector.as_deref().unwrap());
        let changes = watcher(api.clone(), config).touched_objects();
        pin_mut!(changes);
        let waiting = async {
            loop {
                let pods = api.list(&params).await.unwrap().items;
                if wanted(&pods) {
                    return;
                }
                changes.next().await;
            }
        };
        if tokio::time::timeout(TIMEOUT, waiting).await.is_err() {
            let pods = api.list(&params).await.unwrap().items;
            panic!("not {what} after {TIMEOUT:?}: {}", serde_json::to_string_pretty(&pods).unwrap());
        }
    }

    fn why(&self, what: &str) -> String {
        let kubeconfig = self.folder.kubeconfig().display().to_string();
        text(&grove(&["why", what, "--kubeconfig", &kubeconfig]))
    }
}

/// A pod that takes all eight GPUs of a node.
fn template() -> Value {
    json!({
        "metadata": { "annotations": { "sandbox.grove.io/complete-after": "1h" } },
        "spec": {
            "restartPolicy": "Never",
            "containers": [{ "name": "c", "image": "i:1", "resources": { "limits": { "nvidia.com/gpu": "8" } } }],
        },
    })
}

fn job(name: &str, pods: u32) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": name },
        "spec": { "parallelism": pods, "completions": pods, "template": template() },
    })
}

/// The Job of the documentation: twelve pods that are needed together.
fn documented() -> Value {
    let (_, block) = PAGE.split_once("kubectl apply -f - <<EOF\n").unwrap();
    let (text, _) = block.split_once("\nEOF\n").unwrap();
    manifest::parse(text).unwrap().remove(0).value
}

fn is_bound(pod: &Pod) -> bool {
    pod.spec.as_ref().is_some_and(|it| it.node_name.is_some())
}

/// Whether the scheduler looked at the pod and found no place for it.
fn is_refused(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|it| it.conditions.as_ref());
    conditions.into_iter().flatten().any(|it| {
        it.type_ == "PodScheduled" && it.status == "False" && it.reason.as_deref() == Some("Unschedulable")
    })
}

#[tokio::test]
async fn a_job_waits_as_a_whole_and_is_bound_as_a_whole() {
    let cluster = Cluster::start("job", "racks=1,hosts=12,gpus=8").await;
    // Its pods need no others: those that fit are bound.
    cluster.create::<Job>(job("small", 13)).await;
    let are_bound = |count: usize| move |pods: &[Pod]| pods.iter().filter(|it| is_bound(it)).count() == count;
    cluster.until("small", "bound one by one", are_bound(12)).await;
    let jobs: Api<Job> = Api::default_namespaced(cluster.client.clone());
    let less = json!({ "spec": { "parallelism": 1 } });
    jobs.patch("small", &PatchParams::default(), &Patch::Merge(less)).await.unwrap();
    cluster.until("small", "less", |pods| pods.len() == 1).await;

    // Eleven of its twelve pods would fit.
    cluster.create::<Job>(documented()).await;
    cluster.until("train", "refused", |pods| pods.len() == 12 && pods.iter().all(is_refused)).await;
    let why = cluster.why("job/train");
    assert!(why.contains("12 pods: 12 waiting"), "{why}");
    assert!(why.contains("podgroups.scheduling.k8s.io, default-scheduler): minimum 12 pods"), "{why}");
    assert!(why.contains("default-scheduler cannot place it"), "{why}");
    let pods: Api<Pod> = Api::default_namespaced(cluster.client.clone());
    let all = pods.list(&ListParams::default()).await.unwrap().items;
    let bound: Vec<String> = all.iter().filter(|it| is_bound(it)).map(ResourceExt::name_any).collect();
    assert!(bound.len() == 1 && bound[0].starts_with("small-"), "{bound:?}");

    jobs.delete("small", &DeleteParams::background()).await.unwrap();
    cluster.until("train", "bound", are_bound(12)).await;
    let why = cluster.why("job/train");
    assert!(why.contains("all of its 12 pods are scheduled"), "{why}");
}

#[tokio::test]
async fn pods_that_another_owner_controls_are_a_gang_too() {
    let cluster = Cluster::start("owner", "racks=1,hosts=1,gpus=8").await;
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": { "name": "ring", "annotations": { "kai.scheduler/batch-min-member": "2" } },
        "spec": {
            "serviceName": "ring", "selector": { "matchLabels": { "app": "ring" } },
            "template": { "metadata": { "labels": { "app": "ring" } }, "spec": { "containers": [{ "name": "c", "image": "i:1" }] } },
        },
    });
    cluster.create::<k8s_openapi::api::apps::v1::StatefulSet>(set).await;
    let sets: Api<k8s_openapi::api::apps::v1::StatefulSet> = Api::default_namespaced(cluster.client.clone());
    let uid = sets.get("ring").await.unwrap().uid().unwrap();
    let mut pod = template();
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    // The label by which the pods of a Job are waited for here.
    pod["metadata"]["labels"] = json!({ "batch.kubernetes.io/job-name": "ring" });
    pod["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "ring", "uid": uid, "controller": true }]);
    for name in ["ring-0", "ring-1"] {
        pod["metadata"]["name"] = name.into();
        cluster.create::<Pod>(pod.clone()).await;
    }
    cluster.until("ring", "refused", |pods| pods.len() == 2 && pods.iter().all(is_refused)).await;
    let why = cluster.why("sts/ring");
    assert!(why.contains("minimum 2 pods"), "{why}");
}
