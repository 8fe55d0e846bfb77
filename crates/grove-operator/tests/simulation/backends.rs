//! Schedulers and their backends: ready, missing, failing, exchanged.

use grove_apiserver::{Action, Fault, Object};
use serde_json::{Value, json};

use crate::{
    herds::{HERDS, TOY, Toy, note_of},
    world::{DEFAULT, NAMESPACE, World, example, profiles},
};

const SETS: &str = "podcliquesets.grove.io";
const GROUPS: &str = "podcliquescalinggroups.grove.io";
const GANGS: &str = "podgangs.scheduler.grove.io";

/// A set of one role with two pods, for a scheduler; an empty one means the default.
fn small(name: &str, scheduler: &str) -> Value {
    let mut set = example(1);
    set["metadata"]["name"] = name.into();
    let mut clique = set["spec"]["template"]["cliques"][0].clone();
    if !scheduler.is_empty() {
        clique["spec"]["podSpec"]["schedulerName"] = scheduler.into();
    }
    set["spec"]["template"] = json!({ "cliques": [clique] });
    set
}

fn world(seed: u64, toy: &Toy) -> World {
    let mut world = World::with_toy(seed, toy);
    world.start();
    world
}

fn pods_of<'a>(world: &World, set: &'a str) -> impl Iterator<Item = std::sync::Arc<Object>> + use<'a> {
    let pods = world.list("pods");
    pods.into_iter()
        .filter(move |it| it.field("/metadata/labels/app.kubernetes.io~1part-of").is_some_and(|it| it == set))
}

fn bound(world: &World, set: &str) -> usize {
    pods_of(world, set).filter(|it| it.field("/spec/nodeName").is_some()).count()
}

/// Reason and words of a gang's condition `Scheduled`.
fn scheduled(world: &World, gang: &str) -> (String, String) {
    let gang = world.get(GANGS, gang);
    let conditions = gang.field("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let found = conditions.into_iter().find(|it| it["type"] == "Scheduled").unwrap_or_default();
    let text = |field: &str| found[field].as_str().unwrap_or_default().to_owned();
    (text("reason"), text("message"))
}

fn uids(world: &World) -> Vec<String> {
    world.list("pods").iter().map(|it| it.uid().to_owned()).collect()
}

/// The scheduler is told of a gang before any of its pods can be placed; what a pod needs it is created with.
#[tokio::test(start_paused = true)]
async fn a_gang_is_told_before_its_gates_are_lifted() {
    let toy = Toy::default();
    let world = world(1, &toy);
    let server = world.server.clone();
    world.server.before_write(move |write| {
        let lifts = write.resource.id() == "pods" && write.verb() == "patch";
        if lifts && server.store().get(HERDS, NAMESPACE, "a-0").is_none() {
            return Fault::refuse(500, "Internal", "a gate is lifted before the scheduler knows the gang");
        }
        Fault::None
    });
    world.create(SETS, small("a", TOY));
    world.settle().await;
    assert_eq!(bound(&world, "a"), 2);
    let herd = world.get(HERDS, "a-0");
    assert_eq!(herd.field("/spec"), Some(&json!({ "heads": 1, "pasture": "any" })));
    assert_eq!(herd.field("/metadata/ownerReferences/0/kind"), Some(&json!("PodGang")));
    for pod in pods_of(&world, "a") {
        assert_eq!(pod.field("/spec/schedulerName"), Some(&json!(TOY)));
        assert_eq!(pod.field("/metadata/annotations/toy.example.com~1herd"), Some(&json!("a-0")));
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_when_nothing_changed() {
    let toy = Toy::default();
    let mut world = world(2, &toy);
    world.create(SETS, small("a", TOY));
    world.settle().await;
    let before = world.server.store().write_count();
    world.server.compact();
    world.server.cut_watches();
    world.settle().await;
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(world.server.store().write_count(), before);
}

/// What somebody changed is mended, what the scheduler owns is not, and what is gone is made again.
#[tokio::test(start_paused = true)]
async fn objects_are_kept_as_they_were_rendered() {
    let toy = Toy::default();
    let world = world(3, &toy);
    world.create(SETS, small("a", TOY));
    world.settle().await;
    world.patch(HERDS, "a-0", json!({ "spec": { "heads": 7, "pasture": "south" } }));
    world.settle().await;
    assert_eq!(world.get(HERDS, "a-0").field("/spec"), Some(&json!({ "heads": 1, "pasture": "south" })));
    world.delete(HERDS, "a-0");
    world.settle().await;
    assert_eq!(world.get(HERDS, "a-0").field("/spec"), Some(&json!({ "heads": 1, "pasture": "any" })));
}

/// Where a PodGang is deleted, what its scheduler knows of it goes, comes again for the next one, and nothing else changes.
#[tokio::test(start_paused = true)]
async fn a_gang_that_comes_again_is_told_again() {
    let toy = Toy::default();
    let world = world(15, &toy);
    world.create(SETS, small("a", TOY));
    world.settle().await;
    let before = uids(&world);
    let herd = world.get(HERDS, "a-0").uid().to_owned();
    world.delete(GANGS, "a-0");
    world.settle().await;
    assert_eq!(uids(&world), before);
    assert_ne!(world.get(HERDS, "a-0").uid(), herd);
    // Its group has another name, by which the scheduler looks for the pods that there are.
    let group = json!(world.get(GANGS, "a-0").uid());
    for pod in pods_of(&world, "a") {
        assert_eq!(pod.field("/metadata/annotations/pod-group-name"), Some(&group));
    }
    world.patch("podcliques.grove.io", "a-0-fe", json!({ "spec": { "replicas": 3 } }));
    world.settle().await;
    assert_eq!(bound(&world, "a"), 3);
}

/// A backend that is missing concerns only those that need it, and is found when it comes.
#[tokio::test(start_paused = true)]
async fn a_missing_backend_keeps_its_own_sets_waiting() {
    let toy = Toy::default();
    toy.order(|it| it.missing = Some("the Herd CRD is missing"));
    let world = world(4, &toy);
    world.create(SETS, small("a", TOY));
    world.create(SETS, small("b", ""));
    world.settle().await;
    assert_eq!((pods_of(&world, "a").count(), bound(&world, "b")), (0, 2));
    let (reason, words) = scheduled(&world, "a-0");
    assert_eq!(reason, "SchedulerBackendNotReady");
    assert!(words.contains("toy-scheduler") && words.contains("the Herd CRD is missing"), "{words}");

    toy.order(|it| it.missing = None);
    tokio::time::sleep(std::time::Duration::from_secs(31)).await;
    world.settle().await;
    assert_eq!(bound(&world, "a"), 2);
    assert_eq!(scheduled(&world, "a-0").0, "MinimumBound");
}

/// What cannot be told keeps the gates on, and is tried again when something changes.
#[tokio::test(start_paused = true)]
async fn a_gang_that_cannot_be_rendered_stays_gated() {
    let toy = Toy::default();
    toy.order(|it| it.no_render = Some("herds of two are not possible"));
    let world = world(5, &toy);
    world.create(SETS, small("a", TOY));
    world.settle().await;
    assert_eq!((pods_of(&world, "a").count(), bound(&world, "a")), (2, 0));
    let told = ("SchedulerBackendFailed".to_owned(), "herds of two are not possible".to_owned());
    assert_eq!(scheduled(&world, "a-0"), told);

    toy.order(|it| it.no_render = None);
    world.patch(SETS, "a", json!({ "metadata": { "labels": { "team": "blue" } } }));
    world.settle().await;
    assert_eq!(bound(&world, "a"), 2);
}

/// A server that refuses an object is asked again, less and less often, without anybody's help.
#[tokio::test(start_paused = true)]
async fn a_refused_object_keeps_the_gates_on() {
    let toy = Toy::default();
    let world = world(6, &toy);
    let refuse = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let refusing = std::sync::Arc::clone(&refuse);
    world.server.before_write(move |write| {
        if write.resource.id() == HERDS && refusing.load(std::sync::atomic::Ordering::SeqCst) {
            return Fault::refuse(403, "Forbidden", "no herds on Sundays");
        }
        Fault::None
    });
    world.create(SETS, small("a", TOY));
    world.settle().await;
    assert_eq!((pods_of(&world, "a").count(), bound(&world, "a")), (2, 0));
    let (reason, words) = scheduled(&world, "a-0");
    assert_eq!(reason, "SchedulerBackendFailed");
    assert!(words.contains("no herds on Sundays"), "{words}");

    refuse.store(false, std::sync::atomic::Ordering::SeqCst);
    tokio::time::sleep(std::time::Duration::from_mins(20)).await;
    world.settle().await;
    assert_eq!(bound(&world, "a"), 2);
}

#[tokio::test(start_paused = true)]
async fn pods_that_cannot_be_prepared_are_told() {
    for (seed, renames, want) in
        [(7, false, "herds take no such pods"), (8, true, "the scheduler backend changed the pod's name")]
    {
        let toy = Toy::default();
        toy.order(|it| {
            it.renames = renames;
            it.no_prepare = (!renames).then_some("herds take no such pods");
        });
        let world = world(seed, &toy);
        world.create(SETS, small("a", TOY));
        world.settle().await;
        assert_eq!(pods_of(&world, "a").count(), 0);
        let set = world.get(SETS, "a");
        let conditions = set.field("/status/conditions").unwrap().as_array().unwrap();
        let failure = conditions.iter().find(|it| it["type"] == "ReplicaFailure").unwrap();
        assert!(failure["message"].as_str().unwrap().contains(want), "{failure}");

        toy.order(|it| (it.renames, it.no_prepare) = (false, None));
        tokio::time::sleep(std::time::Duration::from_secs(31)).await;
        world.settle().await;
        assert_eq!(bound(&world, "a"), 2);
    }
}

/// The scheduler's own words are in the gang's condition, and in that of the set.
#[tokio::test(start_paused = true)]
async fn the_scheduler_is_quoted() {
    let toy = Toy::default();
    let mut world = world(9, &toy);
    world.nodes = false;
    world.create(SETS, small("a", TOY));
    world.settle().await;
    assert_eq!(scheduled(&world, "a-0").0, "WaitingForScheduler");
    // Of a pod, as long as there is nothing better: one line of it.
    let pod = world.names("pods").remove(0);
    let condition = json!({ "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no\n  room." });
    world.patch_status("pods", &pod, json!({ "conditions": [condition] }));
    world.settle().await;
    assert_eq!(scheduled(&world, "a-0"), ("Unschedulable".to_owned(), format!("{pod}: no room")));
    world.patch(HERDS, "a-0", json!({ "status": { "why": "no pasture has room for 1 head" } }));
    tokio::time::sleep(std::time::Duration::from_mins(1)).await;
    world.settle().await;
    let told = ("Unschedulable".to_owned(), "no pasture has room for 1 head".to_owned());
    assert_eq!(scheduled(&world, "a-0"), told);
    // Another wording of the same waits for a minute, so that a scheduler that tries often costs nothing.
    let before = world.server.store().write_count();
    for number in 0..10 {
        let why = format!("no pasture has room for 1 head, attempt {number}");
        world.patch(HERDS, "a-0", json!({ "status": { "why": why } }));
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    assert_eq!(world.server.store().write_count(), before + 10, "only ours");
    tokio::time::sleep(std::time::Duration::from_mins(1)).await;
    world.settle().await;
    assert_eq!(scheduled(&world, "a-0").1, "no pasture has room for 1 head, attempt 9");
    // An operator that starts anew asks the scheduler before it says anything else.
    let before = world.server.store().write_count();
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(world.server.store().write_count(), before);
    let set = world.get(SETS, "a").field("/status/conditions").unwrap().to_string();
    assert!(set.contains("a-0: no pasture has room for 1 head, attempt 9"), "{set}");
}

/// After a restart with another default, what runs stays with its scheduler, whatever happens to it.
#[tokio::test(start_paused = true)]
async fn a_running_set_keeps_its_scheduler() {
    let toy = Toy::default();
    let mut world = World::with_toy(10, &toy);
    world.scheduler = profiles(&[DEFAULT, TOY], TOY);
    world.start();
    world.create(SETS, example(1));
    world.settle().await;
    let before = uids(&world);
    world.kill();
    world.scheduler = profiles(&[DEFAULT, TOY], DEFAULT);
    world.start();
    world.settle().await;
    assert_eq!(uids(&world), before, "nothing is replaced");

    // A replaced pod, a new scaled gang, a new replica.
    let victim = world.names("pods").remove(0);
    world.delete("pods", &victim);
    world.patch(GROUPS, "inf-0-pd", json!({ "spec": { "replicas": 4 } }));
    world.patch(SETS, "inf", json!({ "spec": { "replicas": 2 } }));
    world.create(SETS, small("new", ""));
    world.settle().await;
    assert_eq!(world.list("pods").len(), 11 + 3 + 11 + 2);
    for pod in world.list("pods") {
        let is_new = pods_of(&world, "new").any(|it| it.uid() == pod.uid());
        let want = if is_new { "default-scheduler" } else { TOY };
        assert_eq!(pod.field("/spec/schedulerName"), Some(&json!(want)), "{}", pod.name());
    }
    for gang in world.list(GANGS) {
        let want = if gang.name().starts_with("new") { "default-scheduler" } else { TOY };
        assert_eq!(gang.field("/metadata/labels/grove.io~1scheduler-name"), Some(&json!(want)));
    }
    assert_eq!(world.names(HERDS).len(), world.list(GANGS).len() - 1);
}

/// Where the profile of its scheduler is gone, a set runs on and gets no new pods; it says which profile is missing.
#[tokio::test(start_paused = true)]
async fn a_set_whose_profile_is_gone_runs_on() {
    let toy = Toy::default();
    let mut world = world(11, &toy);
    world.create(SETS, small("a", TOY));
    world.settle().await;
    let before = uids(&world);
    world.kill();
    world.scheduler = profiles(&[DEFAULT], DEFAULT);
    world.start();
    world.settle().await;
    assert_eq!(uids(&world), before);
    world.patch("podcliques.grove.io", "a-0-fe", json!({ "spec": { "replicas": 4 } }));
    world.settle().await;
    assert_eq!(uids(&world), before);

    world.kill();
    world.scheduler = profiles(&[DEFAULT, TOY], DEFAULT);
    world.start();
    world.settle().await;
    assert_eq!(bound(&world, "a"), 4);

    // One that is not placed says so.
    world.nodes = false;
    world.create(SETS, small("b", TOY));
    world.settle().await;
    world.kill();
    world.scheduler = profiles(&[DEFAULT], DEFAULT);
    world.start();
    world.settle().await;
    let (reason, words) = scheduled(&world, "b-0");
    assert_eq!(reason, "SchedulerBackendNotReady");
    assert!(words.contains("no profile") && words.contains(TOY), "{words}");
}

/// What a gang leaves behind is deleted by hand; what it owns goes by itself.
#[tokio::test(start_paused = true)]
async fn a_deleted_gang_leaves_nothing() {
    let toy = Toy::default();
    toy.order(|it| it.leaves_a_note = true);
    let world = world(12, &toy);
    world.create(SETS, small("a", TOY));
    let note = json!({ "apiVersion": "toy.example.com/v1", "kind": "Herd", "metadata": { "name": note_of("a-0"), "namespace": NAMESPACE } });
    world.create(HERDS, note);
    world.settle().await;
    assert_eq!(world.names(HERDS), ["a-0", "a-0-note"]);
    world.delete(SETS, "a");
    world.settle().await;
    assert_eq!(world.names(HERDS), Vec::<String>::new());
}

/// Many sets of two schedulers at once.
#[tokio::test(start_paused = true)]
async fn many_sets_of_two_schedulers_run_side_by_side() {
    let toy = Toy::default();
    let world = world(13, &toy);
    for number in 0..20 {
        world.create(SETS, small(&format!("a{number}"), if number % 2 == 0 { TOY } else { "" }));
    }
    world.settle().await;
    assert_eq!(world.list("pods").iter().filter(|it| it.field("/spec/nodeName").is_some()).count(), 40);
    assert_eq!(world.names(HERDS).len(), 10);
}

/// Pods that are bound one by one, and not all that belong together, are noticed when that lasts.
#[tokio::test(start_paused = true)]
async fn a_scheduler_that_ignores_gangs_is_noticed() {
    let toy = Toy::default();
    let mut world = world(14, &toy);
    world.nodes = false;
    let mut set = small("a", TOY);
    set["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = json!(2);
    world.create(SETS, set);
    world.settle().await;
    let first = world.names("pods").remove(0);
    let binding = json!({ "target": { "kind": "Node", "name": "node" } });
    let place = Some(grove_apiserver::Subresource::Binding);
    world.write("pods", NAMESPACE, &first, place, Action::Create(binding)).unwrap();
    tokio::time::sleep(std::time::Duration::from_secs(30)).await;
    assert_eq!(scheduled(&world, "a-0").0, "WaitingForScheduler", "it may only take its time");
    tokio::time::sleep(std::time::Duration::from_secs(31)).await;
    world.settle().await;
    let (reason, words) = scheduled(&world, "a-0");
    assert_eq!(reason, "GangNotHonoured");
    assert!(words.starts_with("1 pods are bound although the 2 that belong together are not"), "{words}");
}
