//! Users may put any owner references on their pods. Whatever they write, the pods of others are grouped.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::world::{MANY, NS, World};

/// More than there are workers.
const HOSTILE: usize = 15;
/// Longer than an honest pod takes, and far shorter than the deadlines of what is stuck.
const SOON: Duration = Duration::from_secs(1);

fn reference(api_version: &str, kind: &str, name: &str) -> Value {
    json!({ "apiVersion": api_version, "kind": kind, "name": name, "uid": "uid-1" })
}

fn thing(name: &str) -> Value {
    json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": name } })
}

/// A name that makes a watch of a read, which never ends.
#[tokio::test(start_paused = true)]
async fn names_that_change_the_request_hold_no_worker() {
    let world = World::started();
    for number in 0..HOSTILE {
        let owner = reference("example.com/v1", "Thing", "?watch=true&x=/");
        world.pod(&format!("hostile{number}"), Some(owner));
    }
    sleep(SOON).await;
    let job = world.job("train");
    world.pod("honest", Some(job));
    sleep(SOON).await;
    assert!(world.group_of("honest").0.is_some());
    let told = world.told_of("hostile0");
    assert_eq!(
        told,
        [
            "the pod has an owner that cannot exist: its name \"?watch=true&x=/\" must be a DNS name: at most 253 lower case \
          letters, digits, dashes and dots"
        ]
    );
    assert_eq!(world.gate.reads("things"), (0, 0));
    assert_eq!(world.group_of("hostile0").0, None);
}

/// No part of a reference leads anywhere else.
#[tokio::test(start_paused = true)]
async fn references_that_cannot_be_are_never_asked_for() {
    let world = World::started();
    world.settle().await;
    let before = world.gate.discoveries();
    let hostile = [
        ("v1", "Pod", "../../secrets/x"),
        ("v1", "Pod", "?watch=true&x="),
        ("example.com/v1", "Thing", "a%2fb"),
        ("example.com/v1", "Thing", ".."),
        ("../api/v1", "Thing", "a"),
        ("example.com/v1?watch=true", "Thing", "a"),
        ("v1/../../apis", "Thing", "a"),
        ("example.com/v1", "Thi/ng", "a"),
    ];
    for (number, (api_version, kind, name)) in hostile.into_iter().enumerate() {
        world.pod(&format!("p{number}"), Some(reference(api_version, kind, name)));
    }
    world.settle().await;
    for number in 0..hostile.len() {
        let told = world.told_of(&format!("p{number}"));
        assert!(
            told.len() == 1 && told[0].starts_with("the pod has an owner that cannot exist: its "),
            "{told:?}"
        );
    }
    assert_eq!(
        (world.gate.discoveries(), world.gate.reads("secrets"), world.gate.reads("pods").0),
        (before, (0, 0), 0)
    );
    assert_eq!(world.writes(), (0, 0));
}

/// The owner of an owner is a user's, too.
#[tokio::test(start_paused = true)]
async fn hostile_references_above_an_owner() {
    let world = World::started();
    let mut job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "j" } });
    job["metadata"]["ownerReferences"] = json!([reference("example.com/v1", "Thing", "?watch=true&x=/")]);
    let job = world.owner("jobs.batch", job);
    world.pod("p", Some(job));
    world.settle().await;
    assert_eq!((world.told_of("p").len(), world.gate.reads("things")), (1, (0, 0)));
}

/// What does not answer holds up its own pods, and each for a few seconds only.
#[tokio::test(start_paused = true)]
async fn a_kind_that_stalls_does_not_block_another() {
    for path in ["/apis/example.com/v1", "/apis/example.com/v1/things"] {
        let world = World::started();
        world.gate.stall(path);
        // Fewer than there are workers: the others go on at once.
        let top = world.owner("things.example.com", thing("t"));
        for number in 0..3 {
            world.pod(&format!("stalled{number}"), Some(top.clone()));
        }
        sleep(SOON).await;
        let job = world.job("train");
        world.pod("honest", Some(job.clone()));
        sleep(SOON).await;
        assert!(world.group_of("honest").0.is_some(), "{path}");
        // More than there are workers: they are held once, and not again and again.
        for number in 0..200 {
            world.pod(&format!("more{number}"), Some(top.clone()));
        }
        sleep(Duration::from_secs(20)).await;
        world.pod("late", Some(job));
        sleep(SOON).await;
        assert!(world.group_of("late").0.is_some(), "{path}");
        // When it answers again, nothing was forgotten.
        world.gate.answer_all();
        world.settle().await;
        assert!(world.group_of("stalled0").0.is_some() && world.group_of("more199").0.is_some(), "{path}");
    }
}

/// A pod of another scheduler owns pods, and is asked for by itself.
#[tokio::test(start_paused = true)]
async fn an_owner_that_stalls_does_not_block_others() {
    let world = World::started();
    world.gate.stall("/api/v1/namespaces/ns/pods/driver");
    let driver = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "driver", "namespace": NS },
        "spec": { "schedulerName": "default-scheduler", "containers": [] },
    });
    let owner =
        json!({ "apiVersion": "v1", "kind": "Pod", "name": "driver", "uid": world.create("pods", driver) });
    for number in 0..HOSTILE {
        world.pod(&format!("p{number}"), Some(owner.clone()));
    }
    sleep(Duration::from_secs(8)).await;
    let job = world.job("train");
    world.pod("honest", Some(job));
    sleep(SOON).await;
    assert!(world.group_of("honest").0.is_some());
    world.gate.answer_all();
    world.settle().await;
    assert!(world.group_of("p0").0.is_some());
}

/// A thousand kinds that are not served cost a few questions, and not one for each.
#[tokio::test(start_paused = true)]
async fn kinds_that_do_not_exist_cost_nothing() {
    let world = World::started();
    world.settle().await;
    let before = world.gate.discoveries();
    for number in 0..500 {
        let (group, kind) = (format!("g{number}.example.com/v1"), format!("Kind{number}"));
        world.pod(&format!("a{number}"), Some(reference(&group, "Thing", "t")));
        world.pod(&format!("b{number}"), Some(reference("example.com/v1", &kind, "t")));
    }
    sleep(Duration::from_secs(30)).await;
    let asked = world.gate.discoveries() - before;
    assert!(asked <= 8, "it was asked {asked} times which kinds there are");
    let job = world.job("train");
    world.pod("honest", Some(job));
    sleep(SOON).await;
    assert!(world.group_of("honest").0.is_some());
}

/// The owners of one namespace make the grouper watch a few kinds; those of the rest are read one by one, and count alike.
#[tokio::test(start_paused = true)]
async fn one_namespace_begins_a_few_watches() {
    let world = World::started();
    for number in 0..MANY {
        let object = json!({
            "apiVersion": "many.example.com/v1", "kind": format!("Many{number}"), "metadata": { "name": "m" },
        });
        let owner = world.owner(&format!("many{number}s.many.example.com"), object);
        world.pod(&format!("p{number}"), Some(owner));
    }
    world.settle().await;
    let watched = world.gate.watched().into_iter().filter(|it| it.starts_with("many")).count();
    assert_eq!(watched, 4);
    assert!(
        (0..MANY).all(|it| world.group_of(&format!("p{it}")).0.is_some_and(|it| it.starts_with("pg-m-")))
    );
}

/// An owner in another namespace does not exist here, whatever its UID; and nothing is written elsewhere.
#[tokio::test(start_paused = true)]
async fn owners_of_other_namespaces_are_not_followed() {
    let world = World::started();
    world.create(
        "namespaces",
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "other" } }),
    );
    let mut job = json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "theirs", "namespace": "other" } });
    job["metadata"]["labels"] = json!({ "secret": "yes" });
    let uid = world.create("jobs.batch", job);
    let mut owner = reference("batch/v1", "Job", "theirs");
    owner["uid"] = uid.as_str().into();
    owner["namespace"] = "other".into();
    world.pod("p", Some(owner));
    world.settle().await;
    assert_eq!(
        world.told_of("p"),
        [format!("the owner Job ns/theirs (batch/v1) with UID {uid} does not exist")]
    );
    let writes = world.server.store().writes();
    let elsewhere: Vec<_> =
        writes.iter().filter(|it| it.manager == "grove-podgrouper" && it.namespace != NS).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:?}");
}

/// What is in no namespace is no workload of a user, unless an admin has a plugin or a rule for it: its labels stay where they are.
#[tokio::test(start_paused = true)]
async fn owners_of_the_whole_cluster_are_not_followed() {
    let world = World::started();
    let zone = json!({
        "apiVersion": "example.com/v1", "kind": "Zone",
        "metadata": { "name": "z", "labels": { "secret": "yes" }, "annotations": { "secret": "yes" } },
    });
    let uid = world.create("zones.example.com", zone);
    let mut owner = reference("example.com/v1", "Zone", "z");
    owner["uid"] = uid.into();
    let pod = world.pod("p", Some(owner));
    world.settle().await;
    assert_eq!(world.group_of("p").0, Some(format!("pg-p-{pod}")));
    let group = world.group(&format!("pg-p-{pod}"));
    assert!(!group.to_string().contains("secret"), "{group}");
    assert_eq!(world.gate.reads("zones"), (0, 0));
}
