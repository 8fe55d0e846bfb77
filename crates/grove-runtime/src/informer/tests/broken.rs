//! Objects that cannot be decoded.

use std::fmt::Write as _;

use parking_lot::Mutex;

use super::*;

#[tokio::test(start_paused = true)]
async fn one_broken_object_fails_alone() {
    let mut world = World::start(true);
    world.lists(5, &[object("x", "a", 3), broken("y", "b", 4)]).await;
    let events = world.watches(5).await;
    world.hears(">a@3").await;
    assert!(world.cache.is_synced());
    // Broken, repaired, broken again: absent, there, absent.
    events.send(event("MODIFIED", &broken("x", "a", 6))).unwrap();
    events.send(event("MODIFIED", &object("y", "b", 7))).unwrap();
    events.send(event("MODIFIED", &object("x", "a", 8))).unwrap();
    events.send(event("DELETED", &broken("y", "b", 9))).unwrap();
    for step in ["a@3>", ">b@7", ">a@8", "b@7>"] {
        world.hears(step).await;
    }
}

/// Nothing but their metadata is known, for as long as they are there and cannot be decoded.
#[tokio::test(start_paused = true)]
async fn the_metadata_of_broken_objects_is_known() {
    let mut world = World::start(true);
    let (told, mut heard) = mpsc::unbounded_channel();
    world.cache.listen_undecodable(move |it| {
        assert!(it.metadata.managed_fields.is_none());
        let version = it.metadata.resource_version.clone().unwrap_or_default();
        told.send(format!("{}@{version}", it.metadata.uid.clone().unwrap_or_default())).ok();
    });
    let known = |cache: &Cache<ConfigMap>, name: &str| {
        cache.undecodable("ns", name).map(|it| it.metadata.resource_version.clone().unwrap_or_default())
    };
    world.lists(5, &[broken("x", "a", 3), broken("y", "b", 4)]).await;
    let events = world.watches(5).await;
    assert_eq!(heard.recv().await.as_deref(), Some("a@3"));
    assert_eq!(heard.recv().await.as_deref(), Some("b@4"));
    assert!(world.cache.undecodable("ns", "x").unwrap().error.contains("expected a map"));
    assert!(world.cache.is_empty());

    events.send(event("MODIFIED", &broken("x", "a", 6))).unwrap();
    events.send(event("MODIFIED", &object("y", "b", 7))).unwrap();
    assert_eq!(heard.recv().await.as_deref(), Some("a@6"));
    world.hears(">b@7").await;
    assert_eq!((known(&world.cache, "x").as_deref(), known(&world.cache, "y")), (Some("6"), None));

    // Those that a list does not have are gone.
    events.send(event("ERROR", &json!({"code": 410, "reason": "Expired", "message": "too old"}))).unwrap();
    world.lists(9, &[object("y", "b", 7), broken("z", "c", 8)]).await;
    let events = world.watches(9).await;
    assert_eq!(heard.recv().await.as_deref(), Some("c@8"));
    assert_eq!((known(&world.cache, "x"), known(&world.cache, "z").as_deref()), (None, Some("8")));
    events.send(event("DELETED", &broken("z", "c", 10))).unwrap();
    events.send(event("MODIFIED", &object("y", "b", 11))).unwrap();
    world.hears("b@7>b@11").await;
    assert_eq!(known(&world.cache, "z"), None);
}

#[test]
fn a_broken_object_is_logged_once_per_version() {
    let (client, _) = {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _guard = runtime.enter();
        mock::server()
    };
    let api = Guarded::api(Api::<ConfigMap>::all(client));
    let mut informer = Informer::new(api, watcher::Config::default(), Cache::new(), Guarded::open);
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        for version in [4, 4, 5, 5] {
            informer.show(serde_json::from_value(broken("y", "b", version)).unwrap());
        }
        informer.show(serde_json::from_value(object("y", "b", 6)).unwrap());
        assert!(informer.logged.is_empty(), "nothing is remembered of what can be decoded");
    });
    assert_eq!(log.0.lock().len(), 2);
}

/// Neither the log nor whoever hears of the object gets what is in it.
#[test]
fn what_is_in_a_broken_object_is_not_logged() {
    let (client, _) = {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let _guard = runtime.enter();
        mock::server()
    };
    let api = Guarded::api(Api::<ConfigMap>::all(client));
    let mut informer = Informer::new(api, watcher::Config::default(), Cache::new(), Guarded::open);
    let log = Log::default();
    tracing::subscriber::with_default(log.clone(), || {
        let mut secret = object("y", "b", 4);
        secret["data"] = "hunter2".into();
        informer.show(serde_json::from_value(secret).unwrap());
        let undecodable = serde_json::from_str::<ConfigMap>(r#"{"data": "hunter2"}"#).unwrap_err();
        informer.failed(&ListWatchError::List(kube::Error::SerdeError(undecodable)));
    });
    let text = log.0.lock().join("\n");
    assert!(!text.contains("hunter2"), "{text}");
    for said in ["ConfigMap", "ns", "name=\"y\"", "invalid type, expected a map"] {
        assert!(text.contains(said), "{said} is not in {text}");
    }
    let known = informer.cache.undecodable("ns", "y").unwrap();
    assert_eq!(known.error, "invalid type, expected a map");
}

/// Keeps warnings.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::Id {
        tracing::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::Id, _: &tracing::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        self.0.lock().push(line.0);
    }

    fn enter(&self, _: &tracing::Id) {}
    fn exit(&self, _: &tracing::Id) {}
}

#[derive(Default)]
struct Line(String);

impl tracing::field::Visit for Line {
    fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}
