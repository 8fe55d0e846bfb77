//! Restart policies: a unit of which a container failed is restarted once for each failure, in growing pauses, until its
//! budget is spent; and nobody forgets how often that was.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::Ordering,
    time::Duration,
};

use grove_apiserver::{Action, Fault, PatchBody, WriteRequest};
use serde_json::{Value, json};

use crate::{
    termination_kills::die_after,
    workload::{
        ALL, CLIQUES, Minima, ONE, SETS, WHOLE, an_hour_without_writes, comes_back, created, full, lose,
        pods, restarted, set,
    },
    world::World,
};

const GANGS: &str = "podgangs.scheduler.grove.io";
const EVENTS: &str = "events.events.k8s.io";

/// A set that runs, on nodes that take pods. Gang termination would come hours later.
async fn running(seed: u64, policy: Value) -> World {
    let mut wanted = set(ALL, 2);
    wanted["spec"]["template"]["terminationDelay"] = json!("4h");
    wanted["spec"]["template"]["restartPolicy"] = policy;
    let mut world = full(seed, wanted).await;
    world.nodes = true;
    world
}

/// A container of the first pod of a clique failed; the kubelet has started it again, or given up.
fn fail(world: &World, clique: &str, for_good: bool) {
    let pods = world.list("pods");
    let is_it = |it: &&std::sync::Arc<grove_apiserver::Object>| {
        it.field("/metadata/labels/grove.io~1podclique") == Some(&json!(clique))
            && it.field("/metadata/deletionTimestamp").is_none()
    };
    let pod = pods.iter().find(is_it).unwrap();
    let error = json!({ "terminated": { "exitCode": 1 } });
    let container = json!({ "name": "main", "ready": false, "restartCount": 1, "lastState": error });
    let status = json!({
        "phase": if for_good { "Failed" } else { "Running" },
        "conditions": [{ "type": "Ready", "status": "False" }],
        "containerStatuses": [container],
    });
    world.patch_status("pods", pod.name(), status);
}

/// The count that a clique has noted.
fn count(world: &World, clique: &str) -> Value {
    world.get(CLIQUES, clique).field("/status/restarts/count").cloned().unwrap_or_default()
}

/// Whether the set, and the clique, say that nothing is restarted any more.
fn say_so(world: &World, clique: &str) -> [bool; 2] {
    [world.get(SETS, "w"), world.get(CLIQUES, clique)].map(|it| {
        let conditions = it.field("/status/conditions").unwrap().as_array().unwrap().clone();
        conditions.iter().any(|it| it["type"] == "RestartBudgetExhausted" && it["status"] == "True")
    })
}

fn told(world: &World, reason: &str) -> Vec<String> {
    let events = world.list(EVENTS);
    let of_reason = events.iter().filter(|it| it.field("/reason") == Some(&json!(reason)));
    of_reason.map(|it| it.field("/note").unwrap().as_str().unwrap().to_owned()).collect()
}

fn reset(world: &World, value: &str) {
    world.patch(SETS, "w", json!({ "metadata": { "annotations": { "grove.io/reset-restarts": value } } }));
}

async fn pass(world: &World, seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    world.settle().await;
}

#[tokio::test(start_paused = true)]
async fn a_failure_restarts_its_unit_once() {
    let rows =
        [("Clique", "w-0-x-1-c", 3), ("GroupReplica", "w-0-x-1-b w-0-x-1-c", 4), ("SetReplica", WHOLE, 10)];
    for (seed, (scope, unit, size)) in (1..).zip(rows) {
        for for_good in [false, true] {
            let world = running(seed, json!({ "scope": scope })).await;
            let (before, made) = (pods(&world), created(&world));
            fail(&world, "w-0-x-1-c", for_good);
            world.settle().await;
            assert_eq!(restarted(&before, &world), unit, "{scope}");
            assert_eq!(created(&world), made + size, "{scope}: each pod once");
            for clique in unit.split(' ') {
                assert_eq!(count(&world, clique), 1, "{scope}: {clique}");
            }
            let note = world.get(CLIQUES, "w-0-x-1-c").field("/status/restart").unwrap().clone();
            assert_eq!((&note["reason"], &note["scope"]), (&json!("RestartPolicy"), &json!(scope)));
            comes_back(world).await;
        }
    }
}

/// Nothing asked for it: it is as it was before there were policies.
#[tokio::test(start_paused = true)]
async fn without_a_policy_containers_are_the_kubelets_business() {
    let world = running(4, Value::Null).await;
    let before = pods(&world);
    fail(&world, "w-0-x-1-c", false);
    world.settle().await;
    an_hour_without_writes(&world).await;
    assert_eq!(pods(&world), before);
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_the_budget_ends_and_somebody_resets_it() {
    let policy = json!({ "scope": "GroupReplica", "maxRestarts": 2, "backoff": { "initial": "60s" } });
    let mut world = running(5, policy).await;
    world.kill();
    world.tells = true;
    world.start();
    world.settle().await;
    let unit = "w-0-x-1-b w-0-x-1-c";
    let first = pods(&world);
    fail(&world, "w-0-x-1-c", false);
    world.settle().await;
    assert_eq!(restarted(&first, &world), unit);
    // The second waits, also where another operator comes.
    let second = pods(&world);
    fail(&world, "w-0-x-1-b", true);
    world.settle().await;
    assert_eq!(pods(&world), second, "the pause is not over");
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(pods(&world), second, "a new operator knows of it");
    pass(&world, 60).await;
    assert_eq!(restarted(&second, &world), unit);
    assert_eq!(told(&world, "RestartPolicyRestarted").len(), 2);
    assert_eq!(say_so(&world, "w-0-x-1-b"), [false, false]);
    // The third is one too many.
    let third = pods(&world);
    fail(&world, "w-0-x-1-c", false);
    world.settle().await;
    assert_eq!(say_so(&world, "w-0-x-1-b"), [true, true]);
    let words = told(&world, "RestartBudgetExhausted");
    assert_eq!(words.len(), 1);
    assert!(
        words[0].starts_with("replica 1 of scaling group w-0-x was restarted 2 times within 1h"),
        "{words:?}"
    );
    fail(&world, "w-0-x-1-b", true);
    world.settle().await;
    an_hour_without_writes(&world).await;
    world.kill();
    world.start();
    pass(&world, 5 * 3600).await;
    assert_eq!(pods(&world), third, "nobody restarts it, gang termination neither");
    // Somebody has seen to the cause.
    reset(&world, "1");
    world.settle().await;
    assert_eq!((restarted(&third, &world).as_str(), say_so(&world, "w-0-x-1-b")), (unit, [false, false]));
    assert_eq!(count(&world, "w-0-x-1-c"), 1);
    reset(&world, "1");
    world.settle().await;
    assert_eq!(count(&world, "w-0-x-1-c"), 1, "the same value is no news");
    comes_back(world).await;
}

/// One of two notes meets a clique that somebody changed meanwhile: the next look writes it, and the Event is not lost.
#[tokio::test(start_paused = true)]
async fn the_end_is_told_also_where_it_was_noted_in_two_goes() {
    let policy = json!({ "scope": "GroupReplica", "maxRestarts": 0 });
    let mut world = running(7, policy).await;
    world.kill();
    world.tells = true;
    world.start();
    world.settle().await;
    let mut notes = 0;
    world.server.before_write(move |write| {
        let is_note = matches!(&write.action, Action::Patch(PatchBody::Merge(patch))
            if patch.pointer("/status/restarts/exhaustedAt").is_some());
        notes += usize::from(is_note);
        if is_note && notes == 2 { Fault::refuse(409, "Conflict", "changed meanwhile") } else { Fault::None }
    });
    fail(&world, "w-0-x-1-c", false);
    world.settle().await;
    assert_eq!(say_so(&world, "w-0-x-1-b"), [true, true]);
    assert_eq!(told(&world, "RestartBudgetExhausted").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn pods_alone_have_a_budget_too() {
    let policy = json!({ "scope": "Pod", "maxRestarts": 2, "backoff": { "initial": "60s" } });
    let mut world = running(6, policy).await;
    let lost = |before: &BTreeMap<String, BTreeSet<String>>, world: &World| {
        let after = pods(world);
        before.iter().map(|(clique, old)| old.difference(&after[clique]).count()).sum::<usize>()
    };
    let first = pods(&world);
    fail(&world, "w-0-a", false);
    world.settle().await;
    assert_eq!(pods(&world), first, "the kubelet sees to that one");
    fail(&world, "w-0-a", true);
    world.settle().await;
    assert_eq!((lost(&first, &world), count(&world, "w-0-a")), (1, json!(1)));
    let second = pods(&world);
    fail(&world, "w-0-a", true);
    world.settle().await;
    world.kill();
    world.start();
    world.settle().await;
    assert_eq!(lost(&second, &world), 0, "the pause is not over");
    pass(&world, 60).await;
    assert_eq!((lost(&second, &world), count(&world, "w-0-a")), (1, json!(2)));
    let third = pods(&world);
    fail(&world, "w-0-a", true);
    world.settle().await;
    assert_eq!(say_so(&world, "w-0-a"), [true, true]);
    an_hour_without_writes(&world).await;
    assert_eq!(pods(&world), third);
    // Another clique is not concerned.
    fail(&world, "w-1-a", true);
    world.settle().await;
    assert_eq!(lost(&third, &world), 1);
    // Another template is another try.
    let image = json!([{ "name": "main", "image": "engine:2" }]);
    let mut cliques = world.get(SETS, "w").field("/spec/template/cliques").unwrap().clone();
    for clique in cliques.as_array_mut().unwrap() {
        clique["spec"]["podSpec"]["containers"] = image.clone();
    }
    world.patch(SETS, "w", json!({ "spec": { "template": { "cliques": cliques } } }));
    world.settle().await;
    assert_eq!((say_so(&world, "w-0-a"), count(&world, "w-0-a")), ([false, false], Value::Null));
    comes_back(world).await;
}

/// What failed once too often keeps its place; what is lost or scaled out beside it comes up all the same.
#[tokio::test(start_paused = true)]
async fn one_that_is_kept_holds_up_nobody() {
    let mut wanted = set(ONE, 1);
    wanted["spec"]["template"]["restartPolicy"] = json!({ "scope": "Pod", "maxRestarts": 0 });
    let mut world = full(8, wanted).await;
    world.nodes = true;
    let ready = |world: &World| world.get(CLIQUES, "w-0-a").field("/status/readyReplicas").cloned();
    fail(&world, "w-0-a", true);
    world.settle().await;
    assert_eq!((say_so(&world, "w-0-a"), ready(&world)), ([true, true], Some(json!(1))));
    world.patch(CLIQUES, "w-0-a", json!({ "spec": { "replicas": 4 } }));
    world.settle().await;
    assert_eq!(ready(&world), Some(json!(3)), "scaled out");
    let clique = world.get(CLIQUES, "w-0-a");
    assert_eq!(clique.field("/status/observedGeneration"), clique.field("/metadata/generation"));
    let of_clique = |it: &std::sync::Arc<grove_apiserver::Object>| {
        it.field("/metadata/labels/grove.io~1podclique") == Some(&json!("w-0-a"))
            && it.field("/status/phase") == Some(&json!("Running"))
    };
    let lost = world.list("pods").into_iter().find(of_clique).unwrap();
    world.delete("pods", lost.name());
    world.settle().await;
    assert_eq!(ready(&world), Some(json!(3)), "lost");
    an_hour_without_writes(&world).await;
    // When the budget is reset it is replaced, and all is as it was.
    reset(&world, "1");
    world.patch(
        SETS,
        "w",
        json!({ "spec": { "template": { "restartPolicy": { "scope": "Pod", "maxRestarts": 1 } } } }),
    );
    world.settle().await;
    assert_eq!(ready(&world), Some(json!(4)));
    comes_back(world).await;
}

/// Its gang is made anew and is not complete as long as one is kept; what other cliques lose, above their minimum too, comes again.
#[tokio::test(start_paused = true)]
async fn one_that_is_kept_keeps_no_other_clique_small() {
    let mut wanted = set(Minima { a: 1, ..ALL }, 1);
    wanted["spec"]["template"]["terminationDelay"] = json!("4h");
    wanted["spec"]["template"]["restartPolicy"] = json!({ "scope": "Pod", "maxRestarts": 0 });
    let mut world = full(9, wanted).await;
    world.nodes = true;
    fail(&world, "w-0-x-0-c", true);
    world.settle().await;
    assert_eq!(say_so(&world, "w-0-x-0-c"), [true, true]);
    world.delete(GANGS, "w-0");
    world.settle().await;
    lose(&world, "w-0-a", 1);
    world.settle().await;
    assert_eq!(pods(&world)["w-0-a"].len(), 2);
}

/// Who adds a policy to what has run for weeks asks for no restart because of what happened then.
#[tokio::test(start_paused = true)]
async fn a_new_policy_restarts_nothing_that_is_ready() {
    let mut world = running(9, Value::Null).await;
    let before = pods(&world);
    let ready = json!([{ "type": "Ready", "status": "True" }]);
    let first_of = |world: &World, clique: &str| {
        let is_it = |it: &&std::sync::Arc<grove_apiserver::Object>| {
            it.field("/metadata/labels/grove.io~1podclique") == Some(&json!(clique))
        };
        world.list("pods").iter().find(is_it).unwrap().name().to_owned()
    };
    let crash = |world: &World, clique: &str| {
        let error = json!({ "terminated": { "exitCode": 1, "finishedAt": crate::world::now().to_string() } });
        let container = json!({ "name": "main", "ready": true, "restartCount": 1, "lastState": error });
        let status = json!({ "phase": "Running", "conditions": ready, "containerStatuses": [container] });
        world.patch_status("pods", &first_of(world, clique), status);
    };
    for clique in ["w-0-a", "w-1-x-0-c"] {
        crash(&world, clique);
    }
    pass(&world, 3600).await;
    let writes = |world: &World| world.server.store().write_count();
    let quiet = writes(&world);
    let policy = json!({ "scope": "SetReplica" });
    world.patch(SETS, "w", json!({ "spec": { "template": { "restartPolicy": policy } } }));
    world.settle().await;
    assert_eq!(pods(&world), before, "all are ready");
    // The user's own, the note of it with the generation, and nothing else.
    assert!(writes(&world) - quiet <= 2, "{} writes", writes(&world) - quiet);
    an_hour_without_writes(&world).await;
    // Another operator knows since when it counts.
    world.kill();
    crash(&world, "w-1-x-0-c");
    world.start();
    world.settle().await;
    let restarted = restarted(&before, &world);
    assert_eq!(restarted, WHOLE.replace("w-0", "w-1"), "it crashed while the policy was in force");
    comes_back(world).await;
}

/// Killed after each of the notes and each of the deletes: the restart happens, and is counted, once.
#[tokio::test(start_paused = true)]
async fn an_operator_that_dies_in_between_counts_once() {
    let is_note: fn(&WriteRequest) -> bool = |it| {
        matches!(&it.action, Action::Patch(PatchBody::Merge(patch))
            if patch.pointer("/status/restarts/count").is_some())
    };
    let is_delete: fn(&WriteRequest) -> bool = |it| it.verb() == "delete" && it.resource.id() == "pods";
    for (k, counts) in (0..5).map(|k| (k, is_note)).chain((0..10).map(|k| (k, is_delete))) {
        let mut world = running(7, json!({ "scope": "SetReplica", "maxRestarts": 1 })).await;
        let (before, made) = (pods(&world), created(&world));
        fail(&world, "w-0-x-0-c", true);
        let dead = die_after(&world, k, counts);
        world.settle_unless(|| dead.load(Ordering::SeqCst)).await;
        assert!(dead.load(Ordering::SeqCst), "write {k} never comes");
        world.kill();
        world.server.before_write(|_| Fault::None);
        world.start();
        world.settle().await;
        assert_eq!(restarted(&before, &world), WHOLE, "after write {k}");
        assert_eq!(created(&world), made + 10, "after write {k}");
        for clique in WHOLE.split(' ') {
            assert_eq!(count(&world, clique), 1, "after write {k}: {clique}");
        }
        assert_eq!(say_so(&world, "w-0-a"), [false, false], "after write {k}");
        comes_back(world).await;
    }
}
