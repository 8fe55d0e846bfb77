//! Lists, watches, their failures, and objects that only we have seen or nobody understands.

mod asking;
mod broken;
mod freshness;
mod history;

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::backoff::PAUSE;
use super::*;
use crate::metrics::InformerMetrics;
use crate::mock::{self, Call};

struct World {
    cache: Cache<ConfigMap>,
    calls: mpsc::UnboundedReceiver<Call>,
    heard: mpsc::UnboundedReceiver<String>,
    metrics: InformerMetrics,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

fn object(name: &str, uid: &str, version: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": "ns", "name": name, "uid": uid, "resourceVersion": version.to_string(),
            "managedFields": [{"manager": "somebody"}]},
    })
}

/// An object that is no ConfigMap.
fn broken(name: &str, uid: &str, version: u32) -> Value {
    let mut object = object(name, uid, version);
    object["data"] = json!(7);
    object
}

fn list(version: u32, items: &[Value]) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMapList",
        "metadata": {"resourceVersion": version.to_string()}, "items": items})
}

impl World {
    fn start(guarded: bool) -> Self {
        let (client, calls) = mock::server();
        let metrics = InformerMetrics::default();
        let cache = Cache::with_metrics(&metrics);
        let (told, heard) = mpsc::unbounded_channel();
        cache.listen(move |change| {
            let text = |side: Option<&Arc<ConfigMap>>| {
                side.map(|o| {
                    let meta = &o.metadata;
                    let (uid, version) = (meta.uid.as_deref(), meta.resource_version.as_deref());
                    format!("{}@{}", uid.unwrap_or_default(), version.unwrap_or_default())
                })
                .unwrap_or_default()
            };
            told.send(format!("{}>{}", text(change.old), text(change.new))).ok();
        });
        let (stop, config) = (CancellationToken::new(), watcher::Config::default().labels("a=b"));
        let (api, prune) = (Api::all(client), prune as fn(&mut ConfigMap));
        let task = if guarded {
            tokio::spawn(inform_guarded(api, config, cache.clone(), prune, stop.clone()))
        } else {
            tokio::spawn(inform(api, config, cache.clone(), prune, stop.clone()))
        };
        Self { cache, calls, heard, metrics, stop, task }
    }

    /// Answers the list that must come next.
    async fn lists(&mut self, version: u32, items: &[Value]) {
        let call = self.calls.recv().await.unwrap();
        assert!(call.target.starts_with("/api/v1/configmaps?") && !call.target.contains("watch="));
        assert!(call.target.contains("labelSelector=a%3Db"), "{}", call.target);
        call.answer(&list(version, items));
    }

    /// Answers the watch that must come next.
    async fn watches(&mut self, version: u32) -> mpsc::UnboundedSender<Value> {
        let call = self.calls.recv().await.unwrap();
        assert!(call.target.contains("watch=true"), "{}", call.target);
        assert!(call.target.contains(&format!("resourceVersion={version}")), "{}", call.target);
        call.stream()
    }

    async fn hears(&mut self, want: &str) {
        assert_eq!(self.heard.recv().await.unwrap(), want);
    }

    fn restarts(&self) -> u64 {
        self.metrics.of_kind("ConfigMap").count_of_restarts()
    }
}

fn prune(object: &mut ConfigMap) {
    object.metadata.managed_fields = None;
}

fn event(kind: &str, object: &Value) -> Value {
    json!({"type": kind, "object": object})
}

fn bookmark(version: u32) -> Value {
    let metadata = json!({"resourceVersion": version.to_string()});
    event("BOOKMARK", &json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}))
}

#[tokio::test(start_paused = true)]
async fn follows_the_watch() {
    for guarded in [false, true] {
        let mut world = World::start(guarded);
        world.lists(5, &[object("x", "a", 3), object("y", "b", 4)]).await;
        world.hears(">a@3").await;
        world.hears(">b@4").await;
        world.cache.synced().await;
        let events = world.watches(5).await;
        events.send(event("MODIFIED", &object("x", "a", 6))).unwrap();
        events.send(event("DELETED", &object("y", "b", 7))).unwrap();
        events.send(event("ADDED", &object("z", "c", 8))).unwrap();
        for step in ["a@3>a@6", "b@4>", ">c@8"] {
            world.hears(step).await;
        }
        assert!(world.cache.list().iter().all(|o| o.metadata.managed_fields.is_none()));
        assert_eq!(world.metrics.of_kind("ConfigMap").count_of_objects(), 2);
        assert_eq!(world.restarts(), 0);
        world.stop.cancel();
        world.task.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_watch_continues_and_an_expired_one_lists_and_finds_deletions() {
    let mut world = World::start(false);
    world.lists(5, &[object("x", "a", 3), object("y", "b", 4)]).await;
    let events = world.watches(5).await;
    events.send(event("MODIFIED", &object("x", "a", 6))).unwrap();
    drop(events);
    let events = world.watches(6).await;
    events.send(event("ERROR", &json!({"code": 410, "reason": "Expired", "message": "too old"}))).unwrap();
    world.lists(9, &[object("x", "a", 6)]).await;
    for step in [">a@3", ">b@4", "a@3>a@6", "b@4>"] {
        world.hears(step).await;
    }
    world.watches(9).await;
    assert_eq!(world.restarts(), 1, "a watch that ends in order is none");
}

/// kube's watcher alone would repeat the watch for ever.
#[tokio::test(start_paused = true)]
async fn a_watch_refused_as_too_old_lists_again_and_not_in_a_tight_loop() {
    let mut world = World::start(false);
    let mut lists = Vec::new();
    for version in [5, 6, 7, 8] {
        world.lists(version, &[]).await;
        lists.push(Instant::now());
        let call = world.calls.recv().await.unwrap();
        assert!(call.target.contains("watch=true"));
        call.refuse(410, "Expired", "too old resource version");
    }
    for pair in lists.windows(2) {
        assert!(pair[1].duration_since(pair[0]) >= PAUSE, "{lists:?}");
    }
    assert!(lists[3].duration_since(lists[2]) >= PAUSE * 4, "{lists:?}");
}

#[tokio::test(start_paused = true)]
async fn failures_are_retried_with_pauses_for_ever() {
    let mut world = World::start(false);
    let started = Instant::now();
    for _ in 0..5 {
        world.calls.recv().await.unwrap().refuse(403, "Forbidden", "no");
    }
    assert!(started.elapsed() > Duration::from_secs(3), "{:?}", started.elapsed());
    assert!(!world.cache.is_synced());
    world.lists(5, &[object("x", "a", 3)]).await;
    world.cache.synced().await;
    assert_eq!(world.restarts(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_panics_does_not_end_it() {
    let mut world = World::start(false);
    world.cache.listen(|change| assert!(change.old.is_some(), "not yet"));
    world.lists(5, &[object("x", "a", 3)]).await;
    world.hears(">a@3").await;
    world.lists(6, &[object("x", "a", 6)]).await;
    world.hears("a@3>a@6").await;
    world.cache.synced().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_written_during_a_list_is_asked_about() {
    for (answer, want) in [
        (list(9, &[]), "b@4>"),
        (list(9, &[object("y", "b", 8)]), "b@4>b@8"),
        (list(9, &[object("y", "c", 8)]), "b@4>"),
    ] {
        let mut world = World::start(false);
        let call = world.calls.recv().await.unwrap();
        world.cache.written(serde_json::from_value(object("y", "b", 4)).unwrap());
        world.hears(">b@4").await;
        call.answer(&list(5, &[]));
        let call = world.calls.recv().await.unwrap();
        assert!(call.target.contains("labelSelector=a%3Db"), "{}", call.target);
        let fields = "fieldSelector=metadata.name%3Dy%2Cmetadata.namespace%3Dns";
        assert!(call.target.contains(fields), "{}", call.target);
        call.answer(&answer);
        world.hears(want).await;
        world.watches(5).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_watch_never_shows_is_asked_about_in_the_end() {
    let mut world = World::start(false);
    world.lists(5, &[]).await;
    let events = world.watches(5).await;
    world.cache.written(serde_json::from_value(object("x", "a", 6)).unwrap());
    world.cache.written(serde_json::from_value(object("y", "b", 7)).unwrap());
    events.send(event("ADDED", &object("x", "a", 6))).unwrap();
    let started = Instant::now();
    let call = world.calls.recv().await.unwrap();
    assert!(call.target.contains("metadata.name%3Dy"), "{}", call.target);
    assert!(started.elapsed() >= DOUBT_AFTER);
    // The server fails, so it is asked again later.
    call.refuse(500, "InternalError", "no");
    let call = world.calls.recv().await.unwrap();
    assert!(started.elapsed() >= DOUBT_AFTER * 2);
    call.answer(&list(9, &[]));
    for step in [">a@6", ">b@7", "b@7>"] {
        world.hears(step).await;
    }
    assert_eq!(world.cache.len(), 1);
}

#[tokio::test]
async fn a_guarded_api_keeps_its_namespace() {
    let (client, _calls) = mock::server();
    let all = Guarded::api(Api::<ConfigMap>::all(client.clone()));
    assert_eq!(all.resource_url(), "/api/v1/configmaps");
    let one = Guarded::api(Api::<ConfigMap>::namespaced(client, "ns"));
    assert_eq!(one.resource_url(), "/api/v1/namespaces/ns/configmaps");
}

/// Whoever can do without a kind need not wait for a right to list it; when it is given, all is as ever.
#[tokio::test(start_paused = true)]
async fn a_list_that_is_forbidden_is_told_and_tried_again() {
    let mut world = World::start(false);
    world.calls.recv().await.unwrap().refuse(403, "Forbidden", "no right to list");
    world.cache.synced_or_denied().await;
    assert!(world.cache.is_denied() && !world.cache.is_synced());
    world.lists(5, &[object("x", "a", 3)]).await;
    world.cache.synced().await;
    assert!(!world.cache.is_denied());
    // Later refusals change nothing of what is known.
    world.cache.list_denied();
    assert!(world.cache.is_synced() && !world.cache.is_denied());
}
