//! Random writes, and what must be so whatever they are: replaying the events of a watch over an earlier list gives
//! every later list, and the store is what a simple model says.

use std::collections::BTreeMap;

use grove_apiserver::ApiServer;
use serde_json::{Value, json};

use crate::support::{delete, get, merge, noon, post, resources, watch};

/// A generator of its own, so that a failing seed can be run again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[usize::try_from(self.roll(from.len() as u64)).unwrap()]
    }
}

const NAMESPACES: [&str; 2] = ["default", "kube-system"];
const SELECTIONS: [&str; 4] =
    ["", "labelSelector=color=red", "labelSelector=color!=red", "fieldSelector=metadata.name=a"];

fn path(namespace: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/configmaps")
}

/// One random write.
async fn step(server: &ApiServer, dice: &mut Dice) {
    let (path, name) = (path(dice.pick(&NAMESPACES)), dice.pick(&["a", "b", "c", "d"]));
    let color = dice.pick(&["red", "blue"]);
    let one = format!("{path}/{name}");
    // Whether it is done or refused does not matter here.
    let _ = match dice.roll(10) {
        0..3 => post(server, &path, json!({"metadata": {"name": name, "labels": {"color": color}}})).await,
        3..5 => merge(server, &one, json!({"metadata": {"labels": {"color": color}}})).await,
        5 => merge(server, &one, json!({"data": {"x": dice.roll(3).to_string()}})).await,
        6 => merge(server, &one, json!({"metadata": {"finalizers": ["example.com/hold"]}})).await,
        7 => merge(server, &one, json!({"metadata": {"finalizers": null}})).await,
        8 => delete(server, &one, Value::Null).await,
        _ => delete(server, &format!("{path}?labelSelector=color={color}"), Value::Null).await,
    };
}

type Objects = BTreeMap<(String, String), Value>;

fn key(object: &Value) -> (String, String) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap().to_owned();
    (text("namespace"), text("name"))
}

/// A list by key, without what only single objects have.
async fn listed(server: &ApiServer, query: &str) -> (u64, Objects) {
    let (code, list) = get(server, &format!("/api/v1/configmaps?{query}")).await;
    assert_eq!(code, 200, "{list}");
    let revision = list["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
    (revision, list["items"].as_array().unwrap().iter().map(|it| (key(it), it.clone())).collect())
}

/// Replays what happened in `(from, until]`; the order of revisions is checked on the way.
async fn replay(server: &ApiServer, selection: &str, from: u64, mut objects: Objects, until: u64) -> Objects {
    let query = format!(
        "/api/v1/configmaps?{selection}&resourceVersion={from}&allowWatchBookmarks=true&timeoutSeconds=1"
    );
    let mut lines = watch(server, &query).await;
    let mut last = from;
    while let Some(mut event) = lines.next().await {
        let object = event["object"].take();
        let revision: u64 = object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap();
        let kind = event["type"].as_str().unwrap();
        assert!(revision > last || kind == "BOOKMARK", "{revision} after {last}");
        last = revision;
        if revision > until {
            break;
        }
        let bare = |mut object: Value| {
            object.as_object_mut().unwrap().retain(|field, _| field != "kind" && field != "apiVersion");
            object
        };
        match kind {
            "ADDED" => assert!(objects.insert(key(&object), bare(object)).is_none()),
            "MODIFIED" => assert!(objects.insert(key(&object), bare(object)).is_some()),
            "DELETED" => assert!(objects.remove(&key(&object)).is_some()),
            other => assert_eq!(other, "BOOKMARK"),
        }
    }
    objects
}

#[tokio::test(start_paused = true)]
async fn a_list_and_its_events_make_every_later_list() {
    for seed in 1..=8 {
        let server = ApiServer::new(resources(), noon, seed);
        let mut dice = Dice(seed);
        let mut lists: Vec<Vec<(u64, Objects)>> = vec![Vec::new(); SELECTIONS.len()];
        for _ in 0..12 {
            for _ in 0..dice.roll(20) {
                step(&server, &mut dice).await;
            }
            for (lists, selection) in lists.iter_mut().zip(SELECTIONS) {
                lists.push(listed(&server, selection).await);
            }
        }
        for (lists, selection) in lists.iter().zip(SELECTIONS) {
            for (index, (from, objects)) in lists.iter().enumerate() {
                for (until, expected) in &lists[index..] {
                    let got = replay(&server, selection, *from, objects.clone(), *until).await;
                    assert_eq!(&got, expected, "seed {seed}, {selection}, {from} to {until}");
                }
                let exactly = format!("{selection}&resourceVersion={from}&resourceVersionMatch=Exact");
                assert_eq!(&listed(&server, &exactly).await.1, objects, "seed {seed}, {exactly}");
            }
        }
    }
}

#[tokio::test]
async fn the_indexes_are_what_a_scan_would_find() {
    for seed in 1..=4 {
        let server = ApiServer::new(resources(), noon, seed);
        let mut dice = Dice(seed);
        for _ in 0..300 {
            step(&server, &mut dice).await;
            let (path, name) = (path("default"), dice.pick(&["a", "b", "c", "d"]));
            let owner = dice.pick(&["x", "y"]);
            let owners = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": owner, "uid": owner}]);
            let owners = if dice.roll(3) == 0 { Value::Null } else { owners };
            merge(&server, &format!("{path}/{name}"), json!({"metadata": {"ownerReferences": owners}})).await;
        }
        let store = server.store();
        let objects = store.objects();
        for (key, object) in &objects {
            assert_eq!(store.by_uid(object.uid()).as_ref(), Some(key));
        }
        for owner in ["x", "y"] {
            let owned =
                objects.iter().filter(|(_, it)| it.owner_references().iter().any(|it| it["uid"] == owner));
            assert_eq!(store.dependents(owner), owned.map(|(key, _)| key.clone()).collect::<Vec<_>>());
        }
        for namespace in NAMESPACES {
            let inside = objects.iter().filter(|(key, _)| key.namespace == namespace);
            assert_eq!(store.in_namespace(namespace), inside.map(|(key, _)| key.clone()).collect::<Vec<_>>());
        }
    }
}
