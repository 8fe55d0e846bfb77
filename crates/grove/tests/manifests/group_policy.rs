//! The policy that gives pods of kube-scheduler a group, in force on the embedded API server. What a real one makes of it is tested there
//! (`grouper_job`).

use grove_apiserver::{ApiServer, Resources};
use k8s_openapi::{
    api::{
        admissionregistration::v1::{MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding},
        core::v1::{Namespace, Pod},
    },
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::objects;

/// The group of the Job below.
const OF_JOB: &str = "pg-train-u1";

async fn cluster() -> Client {
    let server = ApiServer::new(Resources::cluster(), Timestamp::now, 1);
    server.call_webhooks(|_, _, _| None);
    let client = Client::new(server.service(), "default");
    let printed = objects(&["--pod-grouper", "--scheduler-name", "default-scheduler"]);
    for object in printed {
        let parameters = PostParams::default();
        match object["kind"].as_str().unwrap() {
            "MutatingAdmissionPolicy" => {
                let api: Api<MutatingAdmissionPolicy> = Api::all(client.clone());
                api.create(&parameters, &serde_json::from_value(object).unwrap()).await.map(drop).unwrap();
            }
            "MutatingAdmissionPolicyBinding" => {
                let api: Api<MutatingAdmissionPolicyBinding> = Api::all(client.clone());
                api.create(&parameters, &serde_json::from_value(object).unwrap()).await.map(drop).unwrap();
            }
            _ => {}
        }
    }
    client
}

/// The group of a pod of a Job, with other metadata and spec.
async fn group(client: &Client, metadata: Value, spec: Value) -> Option<String> {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "generateName": "train-",
            "ownerReferences": [owner("batch/v1", "Job", true)],
        },
        "spec": { "containers": [{ "name": "c", "image": "i:1" }] },
    });
    for (part, more) in [("metadata", metadata), ("spec", spec)] {
        pod[part].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    }
    let api: Api<Pod> = Api::default_namespaced(client.clone());
    let made = api.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    let group = made.spec.unwrap().scheduling_group?.pod_group_name;
    if group.as_deref() == Some(OF_JOB) {
        // The pod grouper finds it by that.
        assert_eq!(made.metadata.labels.unwrap()["grove.io/pod-grouper"], "enabled");
    }
    group
}

fn owner(api_version: &str, kind: &str, controls: bool) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "name": "train", "uid": "u1", "controller": controls })
}

#[tokio::test]
async fn pods_that_ask_for_it_get_the_group_of_their_owner() {
    let client = cluster().await;
    let asks = || json!({ "grove.io/pod-grouper": "enabled" });
    let owned = |owner: Value| json!({ "labels": asks(), "ownerReferences": [owner] });
    let of_job = Some(OF_JOB.to_owned());
    for (metadata, spec, expected) in [
        (json!({}), json!({}), None),
        (json!({ "labels": asks() }), json!({}), of_job.clone()),
        (json!({ "labels": asks() }), json!({ "schedulerName": "default-scheduler" }), of_job.clone()),
        (owned(owner("example.com/v1", "Training", true)), json!({}), of_job.clone()),
        (json!({ "labels": asks() }), json!({ "schedulerName": "other" }), None),
        (json!({ "labels": { "grove.io/pod-grouper": "no" } }), json!({}), None),
        (
            json!({ "labels": asks(), "annotations": { "kai.scheduler/skip-podgrouper": "true" } }),
            json!({}),
            None,
        ),
        (json!({ "labels": asks() }), json!({ "priorityClassName": "system-node-critical" }), None),
        (owned(owner("batch/v1", "Job", false)), json!({}), None),
        (owned(owner("apps/v1", "DaemonSet", true)), json!({}), None),
        (owned(owner("grove.io/v1alpha1", "PodClique", true)), json!({}), None),
        (
            json!({ "labels": asks() }),
            json!({ "schedulingGroup": { "podGroupName": "mine" } }),
            Some("mine".to_owned()),
        ),
    ] {
        let what = format!("{metadata} {spec}");
        assert_eq!(group(&client, metadata, spec).await, expected, "{what}");
    }
}

#[tokio::test]
async fn a_namespace_asks_for_all_of_its_pods() {
    let client = cluster().await;
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let label = json!({ "metadata": { "labels": { "grove.io/pod-grouper": "enabled" } } });
    namespaces.patch("default", &PatchParams::default(), &Patch::Merge(label)).await.unwrap();
    assert_eq!(group(&client, json!({}), json!({})).await.as_deref(), Some(OF_JOB));
    let declines = json!({ "labels": { "grove.io/pod-grouper": "no" } });
    assert_eq!(group(&client, declines, json!({})).await, None);
}
