//! Gangs that share a ResourceQuota.

use std::{collections::BTreeMap, time::Duration};

use grove_apiserver::{Object, WriteRecord};
use serde_json::{Value, json};

use crate::world::{NAMESPACE, World, example};

const SETS: &str = "podcliquesets.grove.io";
const GANGS: &str = "podgangs.scheduler.grove.io";
const QUOTAS: &str = "resourcequotas";

/// Lets so many pods into the namespace.
pub(crate) fn limit(world: &World, pods: u32) {
    let spec = json!({ "hard": { "pods": pods.to_string() } });
    if world.list(QUOTAS).is_empty() {
        let metadata = json!({ "name": "pods", "namespace": NAMESPACE });
        let quota =
            json!({ "apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": spec });
        world.create(QUOTAS, quota);
    } else {
        world.patch(QUOTAS, "pods", json!({ "spec": spec }));
    }
}

/// A set of one clique.
fn set(name: &str, replicas: u32, minimum: u32) -> Value {
    let mut set = example(1);
    set["metadata"]["name"] = name.into();
    let clique = &mut set["spec"]["template"]["cliques"][0];
    clique["spec"]["replicas"] = replicas.into();
    clique["spec"]["minAvailable"] = minimum.into();
    let clique = clique.take();
    set["spec"]["template"] = json!({ "cliques": [clique] });
    set
}

fn gang_of(pod: &Object) -> String {
    pod.field("/metadata/labels/grove.io~1podgang").and_then(Value::as_str).unwrap().to_owned()
}

/// Pods by gang: how many there are, and how many of them have a node.
fn gangs(world: &World) -> BTreeMap<String, (usize, usize)> {
    let mut gangs: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for pod in world.list("pods") {
        let (there, bound) = gangs.entry(gang_of(&pod)).or_default();
        *there += 1;
        *bound += usize::from(pod.field("/spec/nodeName").is_some());
    }
    gangs
}

fn are(world: &World, expected: &[(&str, usize)]) {
    let expected = expected.iter().map(|(name, pods)| ((*name).to_owned(), (*pods, *pods))).collect();
    assert_eq!(gangs(world), expected);
}

/// The message of a condition of a gang.
fn says(world: &World, gang: &str, type_: &str) -> String {
    let gang = world.get(GANGS, gang);
    let mut conditions = gang.field("/status/conditions").unwrap().as_array().unwrap().iter();
    let found = conditions.find(|it| it["type"] == type_).cloned().unwrap_or_default();
    found["message"].as_str().unwrap_or_default().to_owned()
}

/// Attempts to create pods since a write, and how many of them succeeded.
fn attempts(world: &World, since: u64) -> (usize, usize) {
    let is_create =
        |it: &WriteRecord| it.verb == "create" && it.resource == "pods" && it.subresource.is_none();
    let writes = world.server.store().writes_since(since);
    let creates: Vec<&WriteRecord> = writes.iter().filter(|it| is_create(it)).collect();
    (creates.len(), creates.iter().filter(|it| it.code < 300).count())
}

async fn pass(world: &World, time: Duration) {
    let end = tokio::time::Instant::now() + time;
    let step = Duration::from_secs(if time < Duration::from_mins(30) { 1 } else { 30 });
    while tokio::time::Instant::now() < end {
        tokio::time::sleep(step).await;
        world.simulate();
    }
}

/// Room for the base gang and one of the two scaled gangs.
#[tokio::test(start_paused = true)]
async fn with_room_for_one_of_two_scaled_gangs_one_runs() {
    for seed in 0..8 {
        let world = World::started(seed);
        limit(&world, 8);
        world.create(SETS, example(1));
        pass(&world, Duration::from_mins(2)).await;
        are(&world, &[("inf-0", 5), ("inf-0-pd-0", 3)]);
        limit(&world, 11);
        world.settle().await;
        are(&world, &[("inf-0", 5), ("inf-0-pd-0", 3), ("inf-0-pd-1", 3)]);
    }
}

#[tokio::test(start_paused = true)]
async fn who_waits_says_for_whom() {
    let world = World::started(1);
    limit(&world, 2);
    for name in ["a", "b", "c"] {
        world.create(SETS, set(name, 3, 3));
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    pass(&world, Duration::from_secs(30)).await;
    for gang in ["b-0", "c-0"] {
        for type_ in ["ReplicaFailure", "Initialized"] {
            let words = says(&world, gang, type_);
            assert!(words.contains("waiting for quota: gang a-0 is older"), "{gang} {type_}: {words}");
        }
    }
    assert!(says(&world, "a-0", "ReplicaFailure").contains("exceeded quota: pods, requested: pods=1"));
    limit(&world, 9);
    world.settle().await;
    are(&world, &[("a-0", 3), ("b-0", 3), ("c-0", 3)]);
    assert_eq!(says(&world, "c-0", "ReplicaFailure"), "");
}

/// What the first holds is free when it is deleted.
#[tokio::test(start_paused = true)]
async fn the_next_goes_when_the_first_is_deleted() {
    let world = World::started(2);
    limit(&world, 3);
    for name in ["a", "b", "c"] {
        world.create(SETS, set(name, 3, 3));
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    pass(&world, Duration::from_secs(30)).await;
    are(&world, &[("a-0", 3)]);
    world.delete(SETS, "a");
    pass(&world, Duration::from_secs(30)).await;
    are(&world, &[("b-0", 3)]);
}

/// Nobody ever fits: who waits creates nothing, and turns become rare.
#[tokio::test(start_paused = true)]
async fn a_quota_that_never_suffices_costs_few_writes() {
    let world = World::started(3);
    limit(&world, 2);
    for name in ["a", "b", "c"] {
        world.create(SETS, set(name, 3, 3));
    }
    pass(&world, Duration::from_hours(1)).await;
    let hour = world.server.store().write_count();
    pass(&world, Duration::from_hours(12)).await;
    let half = world.server.store().write_count();
    let (asked, created) = attempts(&world, hour);
    // One clique asks every two minutes at most; each turn begins with a few tries more.
    assert!(asked <= 12 * 30 + 200, "asked for {asked} pods in twelve hours");
    assert!(created <= 40, "created {created} pods in twelve hours");
    pass(&world, Duration::from_hours(12)).await;
    let (_, later) = attempts(&world, half);
    assert!(later <= created, "created {later} pods in the next twelve hours, after {created}");
}

/// With one set nobody waits for what it holds: its pods stay.
#[tokio::test(start_paused = true)]
async fn a_gang_that_waits_alone_keeps_its_pods() {
    let world = World::started(4);
    limit(&world, 2);
    world.create(SETS, set("a", 3, 3));
    pass(&world, Duration::from_mins(1)).await;
    let pods =
        |world: &World| -> Vec<String> { world.list("pods").iter().map(|it| it.uid().to_owned()).collect() };
    let before = pods(&world);
    assert_eq!(before.len(), 2);
    pass(&world, Duration::from_hours(3)).await;
    assert_eq!(pods(&world), before);
}

/// The first is too large for the quota: the second has its turn. When there is room, what the second has above its minimum
/// does not come before the first.
#[tokio::test(start_paused = true)]
async fn who_does_not_fit_lets_others_go_and_comes_first_later() {
    let world = World::started(5);
    limit(&world, 1);
    world.create(SETS, set("a", 3, 3));
    tokio::time::sleep(Duration::from_secs(2)).await;
    world.create(SETS, set("b", 4, 1));
    pass(&world, Duration::from_mins(7)).await;
    are(&world, &[("b-0", 1)]);
    limit(&world, 5);
    pass(&world, Duration::from_mins(1)).await;
    are(&world, &[("a-0", 3), ("b-0", 2)]);
}

/// The quota has room for exactly the minimum, and one clique wants more than its own: when all pods are lost, those above
/// the minimum do not take the place of the other clique's.
#[tokio::test(start_paused = true)]
async fn the_minimum_of_every_clique_comes_before_pods_above_it() {
    for seed in 0..8 {
        let world = World::started(seed);
        limit(&world, 4);
        let mut both = set("a", 1, 1);
        let cliques = both["spec"]["template"]["cliques"].as_array_mut().unwrap();
        let mut second = cliques[0].clone();
        second["name"] = "second".into();
        (second["spec"]["replicas"], second["spec"]["minAvailable"]) = (3.into(), 3.into());
        let first = format!("a-0-{}", cliques[0]["name"].as_str().unwrap());
        cliques.push(second);
        world.create(SETS, both);
        pass(&world, Duration::from_secs(10)).await;
        are(&world, &[("a-0", 4)]);
        world.patch("podcliques.grove.io", &first, json!({ "spec": { "replicas": 4 } }));
        pass(&world, Duration::from_secs(10)).await;
        // Each of them leaves room for one, which the operator fills before the scheduler looks again. The clock is virtual.
        for pod in world.list("pods") {
            world.delete("pods", pod.name());
            tokio::time::sleep(Duration::from_millis(700)).await;
        }
        pass(&world, Duration::from_mins(5)).await;
        are(&world, &[("a-0", 4)]);
        let words = says(&world, "a-0", "ReplicaFailure");
        assert!(words.contains("exceeded quota"), "seed {seed}: {words}");
    }
}

/// Pods that an update takes away come back before anybody who waits has their place.
#[tokio::test(start_paused = true)]
async fn an_update_keeps_its_place() {
    let world = World::started(6);
    limit(&world, 3);
    for name in ["a", "b"] {
        world.create(SETS, set(name, 3, 3));
        tokio::time::sleep(Duration::from_secs(2)).await;
    }
    pass(&world, Duration::from_secs(30)).await;
    are(&world, &[("a-0", 3)]);
    let mut cliques = world.get(SETS, "a").field("/spec/template/cliques").cloned().unwrap();
    cliques[0]["spec"]["podSpec"]["containers"][0]["image"] = "engine:2".into();
    world.patch(SETS, "a", json!({ "spec": { "template": { "cliques": cliques } } }));
    pass(&world, Duration::from_mins(5)).await;
    are(&world, &[("a-0", 3)]);
    for pod in world.list("pods") {
        assert_eq!(pod.field("/spec/containers/0/image"), Some(&json!("engine:2")));
    }
}

/// Whose turn it was is in no object. Nothing that runs is lost for it.
#[tokio::test(start_paused = true)]
async fn an_operator_that_starts_anew_finds_out_again() {
    let mut world = World::started(7);
    limit(&world, 8);
    world.create(SETS, example(1));
    pass(&world, Duration::from_secs(5)).await;
    for _ in 0..5 {
        let bound = |world: &World| -> Vec<String> {
            let pods = world.list("pods");
            let bound = pods.iter().filter(|it| it.field("/spec/nodeName").is_some());
            bound.map(|it| it.uid().to_owned()).collect()
        };
        let before = bound(&world);
        world.kill();
        world.start();
        pass(&world, Duration::from_secs(40)).await;
        let after = bound(&world);
        assert!(before.iter().all(|it| after.contains(it)), "a pod that ran was deleted");
    }
    are(&world, &[("inf-0", 5), ("inf-0-pd-0", 3)]);
}
