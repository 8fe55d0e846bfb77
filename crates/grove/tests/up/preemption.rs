//! A set of higher priority takes the room of another one, which says so when its pods are gone.

use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use grove_api::wire::{PodCliqueSet, PodGang};
use k8s_openapi::api::{core::v1::Event, scheduling::v1::PriorityClass};
use kube::{
    Api, Client,
    api::PostParams,
    runtime::{WatchStreamExt as _, wait::await_condition, watcher},
};
use serde_json::json;

use crate::{Folder, grove, options::client, text, up};

/// It takes a second or two; this only ends the wait if something is broken.
const TIMEOUT: Duration = Duration::from_mins(2);

/// Two pods that take a node each.
async fn create(client: &Client, name: &str, priority: i32) {
    let class = json!({ "metadata": { "name": name }, "value": priority });
    let class: PriorityClass = serde_json::from_value(class).unwrap();
    Api::all(client.clone()).create(&PostParams::default(), &class).await.unwrap();
    let gpus = json!({ "limits": { "nvidia.com/gpu": "8" } });
    let containers = json!([{ "name": "c", "image": "i:1", "resources": gpus }]);
    let role = json!({ "roleName": "w", "replicas": 2, "podSpec": { "containers": containers } });
    let set = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": name },
        "spec": {
            "replicas": 1,
            "template": { "priorityClassName": name, "cliques": [{ "name": "w", "spec": role }] },
        },
    });
    let set: PodCliqueSet = serde_json::from_value(set).unwrap();
    Api::default_namespaced(client.clone()).create(&PostParams::default(), &set).await.unwrap();
}

/// Waits until the gang of a set has a place, or has none.
async fn until_scheduled(client: &Client, gang: &str, status: &str) {
    let gangs: Api<PodGang> = Api::default_namespaced(client.clone());
    let is_so = |it: Option<&PodGang>| {
        let conditions = it.and_then(|it| it.status.as_ref()).into_iter().flat_map(|it| &it.conditions);
        conditions.into_iter().any(|it| it.type_ == "Scheduled" && it.status == status)
    };
    let waiting = tokio::time::timeout(TIMEOUT, await_condition(gangs, gang, is_so)).await;
    waiting.unwrap_or_else(|_| panic!("Scheduled of {gang} is never {status}")).unwrap();
}

#[tokio::test]
async fn who_preempted_a_gang_is_said_when_its_pods_are_gone() {
    let folder = Folder::new("preempted");
    let output = up(&folder, &["--empty", "--detach", "--topology", "hosts=2,gpus=8"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    let client = client(&folder.kubeconfig()).await;
    create(&client, "low", 1).await;
    until_scheduled(&client, "low-0", "True").await;
    create(&client, "high", 9).await;
    until_scheduled(&client, "high-0", "True").await;
    until_scheduled(&client, "low-0", "False").await;

    // What `grove why` reads.
    let events: Api<Event> = Api::default_namespaced(client.clone());
    let preempted = watcher(events, watcher::Config::default().fields("reason=Preempted")).applied_objects();
    let of_group = preempted.try_filter(|it| {
        std::future::ready(it.involved_object.kind.as_deref().is_some_and(|it| it.ends_with("PodGroup")))
    });
    let mut of_group = std::pin::pin!(of_group);
    tokio::time::timeout(TIMEOUT, of_group.next()).await.expect("there is no Event").unwrap().unwrap();

    let kubeconfig = folder.kubeconfig().display().to_string();
    for command in ["why", "status"] {
        let said = text(&grove(&[command, "low", "--kubeconfig", &kubeconfig]));
        assert!(said.contains("; it was preempted by default/high-0"), "{command}: {said}");
    }
}
