//! The server under a real client: kube's `Api` and `watcher`.

use std::time::Duration;

use futures::{StreamExt, pin_mut};
use grove_apiserver::{collect, run_collector};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::api::{
    ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams, WatchEvent,
    WatchParams,
};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, ResourceExt};
use serde_json::json;

use crate::support::{self, client, server};

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": {"app": "test"}}, "data": {"a": "1"}}))
        .unwrap()
}

fn widgets(client: kube::Client) -> Api<DynamicObject> {
    let resource = ApiResource {
        group: "example.com".into(),
        version: "v1".into(),
        api_version: "example.com/v1".into(),
        kind: "Widget".into(),
        plural: "widgets".into(),
    };
    Api::default_namespaced_with(client, &resource)
}

fn widget(value: serde_json::Value) -> DynamicObject {
    serde_json::from_value(value).unwrap()
}

#[tokio::test]
async fn the_life_of_an_object() {
    let server = server();
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let made = api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    assert!(made.uid().is_some());
    assert_eq!(api.get("a").await.unwrap(), made);

    let exists = api.create(&PostParams::default(), &config_map("a")).await.unwrap_err();
    assert!(matches!(exists, kube::Error::Api(status) if status.is_already_exists()));

    let mut changed = made.clone();
    changed.data.get_or_insert_default().insert("b".into(), "2".into());
    let changed = api.replace("a", &PostParams::default(), &changed).await.unwrap();
    let stale = api.replace("a", &PostParams::default(), &made).await.unwrap_err();
    assert!(matches!(stale, kube::Error::Api(status) if status.is_conflict()));

    let patch = Patch::Merge(json!({"data": {"a": null}}));
    let patched = api.patch("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(patched.data.unwrap().len(), 1);
    assert_ne!(patched.metadata.resource_version, changed.metadata.resource_version);

    let gone = api.delete("a", &DeleteParams::default()).await.unwrap();
    assert!(gone.is_right(), "a Status");
    assert!(api.get_opt("a").await.unwrap().is_none());
    let missing = api.delete("a", &DeleteParams::default()).await.unwrap_err();
    assert!(matches!(missing, kube::Error::Api(status) if status.is_not_found()));
}

#[tokio::test]
async fn status_and_scale() {
    let server = server();
    let api = widgets(client(&server));
    let made = widget(support::widget("a", json!({"replicas": 2})));
    api.create(&PostParams::default(), &made).await.unwrap();
    let status = Patch::Merge(json!({"status": {"replicas": 1, "selector": "app=a"}}));
    let after = api.patch_status("a", &PatchParams::default(), &status).await.unwrap();
    assert_eq!(after.data["status"]["replicas"], 1);

    let scale = api.get_scale("a").await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(2));
    assert_eq!(scale.status.unwrap().selector.as_deref(), Some("app=a"));
    let patch = Patch::Merge(json!({"spec": {"replicas": 5}}));
    let scaled = api.patch_scale("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(scaled.spec.unwrap().replicas, Some(5));
    let after = api.get("a").await.unwrap();
    assert_eq!((after.metadata.generation, &after.data["spec"]["replicas"]), (Some(2), &json!(5)));
}

#[tokio::test]
async fn collections() {
    let server = server();
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server));
    for name in ["a", "b", "c"] {
        api.create(&PostParams::default(), &config_map(name)).await.unwrap();
    }
    let page = api.list(&ListParams::default().limit(2)).await.unwrap();
    assert_eq!(page.items.len(), 2);
    let token = page.metadata.continue_.unwrap();
    let page = api.list(&ListParams::default().limit(2).continue_token(&token)).await.unwrap();
    assert_eq!(page.items.iter().map(ResourceExt::name_any).collect::<Vec<_>>(), ["c"]);

    let selected = ListParams::default().labels("app=test").fields("metadata.name!=b");
    let deleted = api.delete_collection(&DeleteParams::default(), &selected).await.unwrap();
    assert_eq!(deleted.left().unwrap().items.len(), 2);
    assert_eq!(api.list(&ListParams::default()).await.unwrap().items.len(), 1);
}

#[tokio::test]
async fn a_watch_of_one_object() {
    let server = server();
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let version = api.list(&ListParams::default()).await.unwrap().metadata.resource_version.unwrap();
    let stream = api.watch(&WatchParams::default().timeout(1), &version).await.unwrap();
    api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    api.delete("a", &DeleteParams::default()).await.unwrap();
    let events: Vec<WatchEvent<ConfigMap>> = stream.map(Result::unwrap).collect().await;
    assert!(matches!(&events[..2], [WatchEvent::Added(_), WatchEvent::Deleted(_)]), "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn watchers_survive_cuts_and_forgotten_revisions() {
    for streaming in [false, true] {
        let server = server();
        let api: Api<ConfigMap> = Api::default_namespaced(client(&server));
        let config =
            if streaming { watcher::Config::default().streaming_lists() } else { watcher::Config::default() };
        let events = watcher(api.clone(), config);
        pin_mut!(events);
        let mut names = Vec::new();
        let mut next = async || match events.next().await.unwrap() {
            Ok(Event::Init) => "init".to_owned(),
            Ok(Event::InitApply(it)) => format!("+{}", it.name_any()),
            Ok(Event::InitDone) => "done".to_owned(),
            Ok(Event::Apply(it)) => it.name_any(),
            Ok(Event::Delete(it)) => format!("-{}", it.name_any()),
            Err(error) => format!("error {error:?}").chars().take(24).collect(),
        };
        api.create(&PostParams::default(), &config_map("a")).await.unwrap();
        for _ in 0..3 {
            names.push(next().await);
        }
        server.cut_watches();
        api.create(&PostParams::default(), &config_map("b")).await.unwrap();
        names.push(next().await);
        server.cut_watches();
        api.create(&PostParams::default(), &config_map("c")).await.unwrap();
        api.delete("a", &DeleteParams::default()).await.unwrap();
        server.compact();
        loop {
            let name = next().await;
            if name == "done" {
                break;
            }
            names.push(name);
        }
        names.retain(|it| !it.starts_with("error"));
        assert_eq!(names, ["init", "+a", "done", "b", "init", "+b", "+c"], "streaming: {streaming}");
        api.delete("b", &DeleteParams::default()).await.unwrap();
        assert_eq!(next().await, "-b");
    }
}

#[tokio::test]
async fn owners_and_namespaces() {
    let server = server();
    let client = client(&server);
    let api: Api<ConfigMap> = Api::default_namespaced(client.clone());
    let owner = api.create(&PostParams::default(), &config_map("owner")).await.unwrap();
    let mut child = config_map("child");
    child.metadata.owner_references = Some(vec![
        serde_json::from_value(
            json!({"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner.uid()}),
        )
        .unwrap(),
    ]);
    api.create(&PostParams::default(), &child).await.unwrap();
    assert_eq!(collect(&server), 0);
    api.delete("owner", &DeleteParams::default()).await.unwrap();
    assert!(api.get_opt("child").await.unwrap().is_some(), "not at once");
    assert_eq!(collect(&server), 1);
    assert!(api.get_opt("child").await.unwrap().is_none());

    let namespaces: Api<Namespace> = Api::all(client.clone());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let collector = tokio::spawn(run_collector(server.clone(), async { drop(stopped.await) }));
    let namespace = serde_json::from_value(json!({"metadata": {"name": "ends"}})).unwrap();
    namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    let pods: Api<Pod> = Api::namespaced(client, "ends");
    let pod = serde_json::from_value(json!({"metadata": {"name": "a"}, "spec": {"containers": []}})).unwrap();
    pods.create(&PostParams::default(), &pod).await.unwrap();
    namespaces.delete("ends", &DeleteParams::default()).await.unwrap();
    for _ in 0..1000 {
        if namespaces.get_opt("ends").await.unwrap().is_none() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert!(namespaces.get_opt("ends").await.unwrap().is_none());
    stop.send(()).unwrap();
    collector.await.unwrap();
}

#[tokio::test]
async fn the_finalizer_helper() {
    use kube::runtime::controller::Action;
    use kube::runtime::finalizer::{Event, finalizer};

    let server = server();
    let api: Api<ConfigMap> = Api::default_namespaced(client(&server));
    let name = "example.com/hold";
    api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    let reconcile = async |expected: Option<&str>| {
        let object = std::sync::Arc::new(api.get("a").await.unwrap());
        let mut seen = None;
        let note = |event: Event<ConfigMap>| {
            seen = Some(if matches!(event, Event::Apply(_)) { "apply" } else { "cleanup" });
            std::future::ready(Ok::<_, std::convert::Infallible>(Action::await_change()))
        };
        finalizer(&api, name, object, note).await.unwrap();
        assert_eq!(seen, expected);
    };
    reconcile(None).await;
    assert_eq!(api.get("a").await.unwrap().finalizers(), [name]);
    reconcile(Some("apply")).await;
    api.delete("a", &DeleteParams::default()).await.unwrap();
    reconcile(Some("cleanup")).await;
    assert!(api.get_opt("a").await.unwrap().is_none());
}
