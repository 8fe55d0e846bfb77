//! Recovery goes by what is recorded of a unit, however young it is, and needs no status to be written but its own notes.

use std::time::Duration;

use grove_apiserver::{Action, Fault, PatchBody, Subresource, WriteRequest};
use http::Method;
use serde_json::json;

use crate::{
    workload::{
        ALL, CLIQUES, GROUPS, Minima, SETS, WHOLE, an_hour_without_writes, comes_back, created, full, lose,
        pods, restarted, set,
    },
    world::World,
};

const GANGS: &str = "podgangs.scheduler.grove.io";

/// Writes of statuses are refused, but for the notes of restarts on PodCliques.
fn refuse_reports(world: &World) {
    world.server.before_write(|write: &WriteRequest| {
        let is_note = match &write.action {
            Action::Patch(PatchBody::Merge(patch)) => patch.pointer("/status/restart/before").is_some(),
            _ => false,
        };
        let is_status = [SETS, GROUPS, GANGS, CLIQUES].contains(&write.resource.id())
            && write.subresource == Some(Subresource::Status);
        if is_status && !is_note {
            return Fault::refuse(500, "InternalError", "etcd is full");
        }
        Fault::None
    });
}

/// A set that was made a moment ago. What the nodes have taken they lose now, and take no more.
async fn young(seed: u64, age: Duration) -> World {
    let mut world = World::started(seed);
    world.create(SETS, set(Minima { x: 1, ..ALL }, 1));
    let step = Duration::from_millis(5);
    for _ in 0..age.as_millis() / step.as_millis() {
        tokio::time::sleep(step).await;
        world.simulate();
    }
    let all = world.list("pods");
    assert!(all.len() == 10 && all.iter().all(|it| it.field("/spec/nodeName").is_some()), "all are bound");
    world.nodes = false;
    world
}

/// Pods are scheduled within milliseconds. Whatever a unit loses after that it has lost, also before anything of it was written.
#[tokio::test(start_paused = true)]
async fn what_breaks_within_seconds_is_restarted_after_the_delay() {
    for (seed, age) in (0..).zip([300, 900, 1_500, 4_900]) {
        for (clique, count, want) in [("w-0-x-1-c", 1, "w-0-x-1-b w-0-x-1-c"), ("w-0-a", 1, WHOLE)] {
            let world = young(seed, Duration::from_millis(age)).await;
            let before = pods(&world);
            lose(&world, clique, count);
            tokio::time::sleep(Duration::from_secs(8)).await;
            world.simulate();
            assert_eq!(
                restarted(&before, &world),
                "",
                "{clique} after {age} ms: not before the delay is over"
            );
            world.settle().await;
            assert_eq!(restarted(&before, &world), want, "{clique} after {age} ms");
            let record = world.get(CLIQUES, clique).field("/status/wasScheduled").cloned();
            assert_eq!(record, Some(json!(true)));
            an_hour_without_writes(&world).await;
            comes_back(world).await;
        }
    }
}

/// The first status of a clique is still being written when its pods are bound and one is lost. Nobody looks at the clique in between, and
/// by the next look its minimum is not bound any more.
#[tokio::test(start_paused = true)]
async fn what_breaks_while_its_status_is_being_written_is_restarted() {
    let mut world = World::new(8);
    world.delay = |method, path| {
        let is_status = *method == Method::PATCH && path.contains("/podcliques/w-0-a/status");
        if is_status { Duration::from_secs(10) } else { Duration::ZERO }
    };
    world.nodes = false;
    world.start();
    world.create(SETS, set(Minima { x: 1, ..ALL }, 1));
    let step = Duration::from_millis(5);
    for _ in 0..400 {
        tokio::time::sleep(step).await;
        world.simulate();
    }
    let is_bound = |world: &World| {
        let pods = world.list("pods").into_iter().filter(|it| it.name().starts_with("w-0-a-"));
        pods.map(|it| it.field("/spec/nodeName").is_some()).collect::<Vec<_>>()
    };
    assert_eq!(is_bound(&world), [false; 2], "nothing is bound when the first status is computed");
    world.nodes = true;
    world.simulate();
    world.nodes = false;
    assert_eq!(is_bound(&world), [true; 2]);
    tokio::time::sleep(step).await;
    let before = pods(&world);
    lose(&world, "w-0-a", 1);
    assert_eq!(world.get(CLIQUES, "w-0-a").field("/status/wasScheduled"), None, "nothing is written yet");
    world.settle().await;
    assert_eq!(restarted(&before, &world), WHOLE);
    comes_back(world).await;
}

/// A set whose status cannot be written, for whatever reason, is restarted all the same.
#[tokio::test(start_paused = true)]
async fn a_unit_is_restarted_while_no_report_can_be_written() {
    let rows = [("w-0-a", 1, ALL, WHOLE), ("w-0-x-0-c", 1, ALL, WHOLE)];
    let alone = ("w-0-x-1-c", 1, Minima { x: 1, ..ALL }, "w-0-x-1-b w-0-x-1-c");
    for (seed, (clique, count, minima, want)) in (0..).zip(rows.into_iter().chain([alone])) {
        let world = full(seed, set(minima, 1)).await;
        let (before, made) = (pods(&world), created(&world));
        let said = world.get(SETS, "w").field("/status").cloned();
        refuse_reports(&world);
        lose(&world, clique, count);
        tokio::time::sleep(Duration::from_secs(8)).await;
        world.simulate();
        assert_eq!(restarted(&before, &world), "", "{clique}: not before the delay is over");
        world.settle().await;
        assert_eq!(restarted(&before, &world), want, "{clique}");
        assert_eq!(world.get(SETS, "w").field("/status").cloned(), said, "nothing could be said");
        // Once: what was lost was made again, and then every pod of the unit.
        let of_unit: usize = want.split(' ').map(|it| before[it].len()).sum();
        assert_eq!(created(&world), made + count + of_unit, "{clique}");
        world.server.before_write(|_| Fault::None);
        // The pause of what was refused grows to minutes.
        tokio::time::sleep(Duration::from_mins(20)).await;
        world.settle().await;
        comes_back(world).await;
    }
}

/// A changed template, whose update comes first, is waited for no longer than a minute where it cannot be noted.
#[tokio::test(start_paused = true)]
async fn a_unit_is_restarted_while_a_changed_template_cannot_be_noted() {
    let world = full(9, set(ALL, 1)).await;
    let before = pods(&world);
    refuse_reports(&world);
    let mut template = world.get(SETS, "w").field("/spec/template").unwrap().clone();
    template["cliques"][0]["spec"]["podSpec"]["containers"][0]["image"] = json!("engine:2");
    world.patch(SETS, "w", json!({ "spec": { "template": template } }));
    lose(&world, "w-0-a", 1);
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(restarted(&before, &world), "", "its update may be the cure");
    tokio::time::sleep(Duration::from_mins(1)).await;
    world.settle().await;
    assert_eq!(restarted(&before, &world), WHOLE);
    for (clique, old) in &before {
        assert_eq!(
            pods(&world).get(clique).map(std::collections::BTreeSet::len),
            Some(old.len()),
            "{clique} has its pods again"
        );
    }
    world.server.before_write(|_| Fault::None);
    tokio::time::sleep(Duration::from_mins(20)).await;
    world.settle().await;
    comes_back(world).await;
}

/// A scale-in that takes the only healthy replica of a group begins the delay of the group, also while its status cannot be written.
#[tokio::test(start_paused = true)]
async fn a_group_that_was_scaled_in_is_restarted_while_no_report_can_be_written() {
    let world = full(10, set(Minima { x: 1, ..ALL }, 1)).await;
    lose(&world, "w-0-x-0-c", 1);
    world.settle().await;
    refuse_reports(&world);
    world.patch(GROUPS, "w-0-x", json!({ "spec": { "replicas": 1 } }));
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.simulate();
    let before = pods(&world);
    assert_eq!(before.keys().collect::<Vec<_>>(), ["w-0-a", "w-0-x-0-b", "w-0-x-0-c"]);
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(restarted(&before, &world), "", "not before the delay is over");
    world.settle().await;
    assert_eq!(restarted(&before, &world), "w-0-a w-0-x-0-b w-0-x-0-c");
    world.server.before_write(|_| Fault::None);
    tokio::time::sleep(Duration::from_mins(20)).await;
    world.settle().await;
    comes_back(world).await;
}

/// Likewise by the restart policy, and with an operator that never wrote a word on the set.
#[tokio::test(start_paused = true)]
async fn a_failure_is_recovered_by_an_operator_that_cannot_report() {
    let mut wanted = set(ALL, 1);
    wanted["spec"]["template"]["restartPolicy"] = json!({ "scope": "GroupReplica" });
    let mut world = full(7, wanted).await;
    world.nodes = true;
    let before = pods(&world);
    world.kill();
    refuse_reports(&world);
    world.start();
    // What it looks at because it starts is over before anything fails.
    world.settle().await;
    for pod in world.list("pods").iter().filter(|it| it.name().starts_with("w-0-x-1-c-")) {
        let error = json!({ "terminated": { "exitCode": 1 } });
        let container = json!({ "name": "main", "ready": false, "lastState": error });
        let unready = json!({ "type": "Ready", "status": "False" });
        let status = json!({ "phase": "Running", "conditions": [unready], "containerStatuses": [container] });
        world.patch_status("pods", pod.name(), status);
    }
    world.settle().await;
    assert_eq!(restarted(&before, &world), "w-0-x-1-b w-0-x-1-c");
}
