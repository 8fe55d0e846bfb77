//! Gang termination: what stays below its minimum is restarted as a whole, once, and keeps its objects. The cases of
//! upstream's own tests, and what they leave out.

use std::time::Duration;

use serde_json::json;

use crate::{
    workload::{
        ALL, CLIQUES, GROUPS, Minima, ONE, SETS, WHOLE, an_hour_without_writes, comes_back, created, flagged,
        full, lose, pods, restarted, set,
    },
    world::World,
};

const EVENTS: &str = "events.events.k8s.io";

#[tokio::test(start_paused = true)]
async fn gt1_a_clique_below_its_minimum_ends_its_set_replica() {
    let world = full(1, set(ALL, 2)).await;
    let before = pods(&world);
    let objects = [CLIQUES, GROUPS, "podgangs.scheduler.grove.io", "services"];
    let uids = |world: &World| {
        objects.map(|kind| world.list(kind).iter().map(|it| it.uid().to_owned()).collect::<Vec<_>>())
    };
    let kept = uids(&world);
    let made = created(&world);
    lose(&world, "w-0-a", 1);
    tokio::time::sleep(Duration::from_secs(8)).await;
    world.simulate();
    assert_eq!(restarted(&before, &world), "", "not before the delay is over");
    world.settle().await;
    assert_eq!(restarted(&before, &world), WHOLE, "the other replica of the set is left alone");
    assert_eq!(uids(&world), kept, "only pods are made anew");
    assert!(flagged(&world.get(GROUPS, "w-0-x")) && !flagged(&world.get(GROUPS, "w-1-x")));
    let note = world.get(CLIQUES, "w-0-x-1-b").field("/status/restart").unwrap().clone();
    assert_eq!((&note["reason"], &note["scope"]), (&json!("GangTermination"), &json!("SetReplica")));
    assert_eq!(created(&world), made + 1 + 10, "the one that was lost, and then each pod once");
    // Without a place nothing is restarted again.
    an_hour_without_writes(&world).await;
    comes_back(world).await;
}

#[tokio::test(start_paused = true)]
async fn gt2_a_group_below_its_minimum_ends_its_set_replica() {
    let world = full(2, set(ALL, 1)).await;
    let before = pods(&world);
    lose(&world, "w-0-x-0-c", 1);
    world.settle().await;
    assert_eq!(restarted(&before, &world), WHOLE);
    comes_back(world).await;
}

#[tokio::test(start_paused = true)]
async fn gt3_what_may_be_missing_is_tolerated() {
    let world = full(3, set(ONE, 1)).await;
    let before = pods(&world);
    lose(&world, "w-0-a", 1);
    world.settle().await;
    assert_eq!(restarted(&before, &world), "");
    lose(&world, "w-0-a", 1);
    world.settle().await;
    assert_eq!(restarted(&before, &world), WHOLE);
    comes_back(world).await;
}

#[tokio::test(start_paused = true)]
async fn gt4_tolerated_then_one_group_replica_then_all() {
    let world = full(4, set(ONE, 1)).await;
    let before = pods(&world);
    lose(&world, "w-0-x-0-c", 2);
    world.settle().await;
    assert_eq!(restarted(&before, &world), "");
    lose(&world, "w-0-x-0-c", 1);
    world.settle().await;
    assert_eq!(restarted(&before, &world), "w-0-x-0-b w-0-x-0-c");
    assert!(!flagged(&world.get(GROUPS, "w-0-x")));
    let second = pods(&world);
    lose(&world, "w-0-x-1-c", 3);
    world.settle().await;
    assert_eq!(restarted(&second, &world), WHOLE);
    comes_back(world).await;
}

#[tokio::test(start_paused = true)]
async fn gt5_a_group_replica_goes_alone_where_another_is_left() {
    let mut world = full(5, set(Minima { x: 1, ..ALL }, 1)).await;
    world.kill();
    world.tells = true;
    world.start();
    world.settle().await;
    let before = pods(&world);
    lose(&world, "w-0-x-1-c", 3);
    world.settle().await;
    assert_eq!(restarted(&before, &world), "w-0-x-1-b w-0-x-1-c");
    let told = |reason: &str| -> Vec<String> {
        let events = world.list(EVENTS);
        let of_reason = events.iter().filter(|it| it.field("/reason") == Some(&json!(reason)));
        of_reason.map(|it| it.field("/note").unwrap().as_str().unwrap().to_owned()).collect()
    };
    let words = "replica 1 of scaling group w-0-x is restarted (GangTermination): below minAvailable for 10s";
    assert_eq!(told("PodCliqueScalingGroupReplicaDeleteSuccessful"), [words]);
    assert_eq!(told("PodCliqueSetReplicaDeleteSuccessful"), Vec::<String>::new());
    lose(&world, "w-0-a", 1);
    world.settle().await;
    let words = "replica 0 of the set is restarted (GangTermination): below minAvailable for 10s";
    assert_eq!(told("PodCliqueSetReplicaDeleteSuccessful"), [words]);
    comes_back(world).await;
}

#[tokio::test(start_paused = true)]
async fn gt6_a_pod_of_a_scaled_gang_is_replaced_and_that_is_all() {
    let mut world = full(6, set(ONE, 1)).await;
    world.nodes = true;
    let before = pods(&world);
    let made = created(&world);
    lose(&world, "w-0-x-1-c", 1);
    world.settle().await;
    assert_eq!((restarted(&before, &world).as_str(), created(&world)), ("", made + 1));
    comes_back(world).await;
}

/// Pods that fail, run without getting ready, or whose nodes are gone: it is all the same.
#[tokio::test(start_paused = true)]
async fn failing_pods_count_like_missing_ones_and_get_the_delay_again() {
    let mut world = full(7, set(ALL, 1)).await;
    world.nodes = true;
    world.unready = vec!["w-0-a"];
    let crash = |world: &World| {
        for pod in world.list("pods").iter().filter(|it| it.name().starts_with("w-0-a-")) {
            let error = json!({ "terminated": { "exitCode": 1 } });
            let container = json!({ "name": "main", "ready": false, "lastState": error });
            let unready = json!({ "type": "Ready", "status": "False" });
            let status = json!({
                "phase": "Running", "conditions": [unready], "containerStatuses": [container],
            });
            world.patch_status("pods", pod.name(), status);
        }
    };
    let before = pods(&world);
    crash(&world);
    world.settle().await;
    assert_eq!(restarted(&before, &world), WHOLE);
    // The new pods are bound and start: that is fine for as long as they do.
    let second = pods(&world);
    world.settle().await;
    assert_eq!(restarted(&second, &world), "");
    crash(&world);
    tokio::time::sleep(Duration::from_secs(8)).await;
    world.simulate();
    assert_eq!(restarted(&second, &world), "");
    world.settle().await;
    assert_eq!(restarted(&second, &world), WHOLE);
    world.unready.clear();
    comes_back(world).await;
}

#[tokio::test(start_paused = true)]
async fn a_gang_that_never_had_a_place_waits_in_peace() {
    let mut world = World::started(8);
    world.nodes = false;
    world.create(SETS, set(ALL, 2));
    world.settle().await;
    let before = pods(&world);
    an_hour_without_writes(&world).await;
    // An operator that comes later knows no more of it.
    world.kill();
    world.start();
    world.settle().await;
    an_hour_without_writes(&world).await;
    assert_eq!(pods(&world), before);
    comes_back(world).await;
}

/// grove#826: upstream makes the cliques anew from the template.
#[tokio::test(start_paused = true)]
async fn what_was_scaled_stays_scaled() {
    let mut world = full(9, set(ALL, 1)).await;
    world.nodes = true;
    world.patch(CLIQUES, "w-0-a", json!({ "spec": { "replicas": 5 } }));
    world.patch(GROUPS, "w-0-x", json!({ "spec": { "replicas": 4 } }));
    world.settle().await;
    world.nodes = false;
    let before = pods(&world);
    lose(&world, "w-0-a", 4);
    world.settle().await;
    assert_eq!(restarted(&before, &world).split(' ').count(), 1 + 4 * 2);
    assert_eq!(world.get(CLIQUES, "w-0-a").field("/spec/replicas"), Some(&json!(5)));
    assert_eq!(world.get(GROUPS, "w-0-x").field("/spec/replicas"), Some(&json!(4)));
    world.nodes = true;
    world.simulate();
    world.settle().await;
    assert_eq!(pods(&world)["w-0-a"].len(), 5);
    assert_eq!(world.list("pods").len(), 5 + 4 * 4);
    comes_back(world).await;
}

#[tokio::test(start_paused = true)]
async fn it_can_be_switched_off_and_on() {
    let mut wanted = set(ALL, 1);
    wanted["spec"]["template"]["gangTermination"] = json!("Disabled");
    let world = full(10, wanted).await;
    let before = pods(&world);
    lose(&world, "w-0-a", 1);
    world.settle().await;
    an_hour_without_writes(&world).await;
    assert_eq!(restarted(&before, &world), "");
    world.patch(SETS, "w", json!({ "spec": { "template": { "gangTermination": "Enabled" } } }));
    world.settle().await;
    assert_eq!(restarted(&before, &world), WHOLE);
    comes_back(world).await;
}

/// The delay goes on while no operator runs.
#[tokio::test(start_paused = true)]
async fn an_operator_that_starts_anew_knows_since_when() {
    let mut wanted = set(ALL, 1);
    wanted["spec"]["template"]["terminationDelay"] = json!("4h");
    let mut world = full(11, wanted).await;
    let before = pods(&world);
    lose(&world, "w-0-a", 1);
    world.settle().await;
    world.kill();
    tokio::time::sleep(Duration::from_mins(4 * 60 - 1)).await;
    world.start();
    world.settle().await;
    assert_eq!(restarted(&before, &world), "");
    tokio::time::sleep(Duration::from_mins(1)).await;
    world.settle().await;
    assert_eq!(restarted(&before, &world), WHOLE);
    comes_back(world).await;
}
