//! Gangs of higher priority have others make room, whole gangs at a time.

use serde_json::{Value, json};

use crate::world::World;

fn priority(value: i32) -> Value {
    json!({ "priority": value })
}

/// Three gangs of two pods, of which the first one has a higher priority, on seven nodes.
async fn full() -> World {
    let world = World::new("racks=1,hosts=7,gpus=4");
    for (gang, value) in [("important", 5), ("a", 1), ("b", 1)] {
        world.gang(gang, 2, 4, priority(value));
        world.settle().await;
        assert_eq!(world.bound(gang).len(), 2);
    }
    world
}

fn terminating(world: &World) -> Vec<String> {
    let pods = world.server.store().list("pods", Some("ns"));
    pods.iter().filter(|it| it.is_terminating()).map(|it| it.name().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn whole_gangs_make_room_and_no_more_than_needed() {
    let world = full().await;
    world.gang("high", 3, 4, priority(9));
    world.settle().await;
    let victims = terminating(&world);
    assert!(victims == ["a-0", "a-1"] || victims == ["b-0", "b-1"], "{victims:?}");
    let gang = &victims[0][..1];
    let told = ("True".to_owned(), "PreemptionByScheduler".to_owned(), "preempted by ns/high".to_owned());
    for pod in &victims {
        assert_eq!(world.pod_condition(pod, "DisruptionTarget"), Some(told.clone()));
    }
    assert!(
        world.events("PodGroup", gang).contains(&("Preempted".to_owned(), "preempted by ns/high".to_owned()))
    );
    assert!(
        world
            .events("Pod", &victims[0])
            .contains(&("Preempted".to_owned(), "preempted by ns/high".to_owned()))
    );
    let (_, _, message) = world.said_of("high").unwrap();
    assert!(
        message.ends_with(", pod group preemption: found a placement for podgroup, preempting 2 victims"),
        "{message}"
    );
    assert_eq!(world.bound("high").len(), 0, "it waits until they are gone");
    let nominated = world.get("pods", "high-0").field("/status/nominatedNodeName").cloned();
    assert!(nominated.is_some_and(|it| it.is_string()));
    assert_eq!(world.end_pods(), 2);
    world.settle().await;
    assert_eq!(world.bound("high").len(), 3);
    assert_eq!(world.bound("important").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn the_room_is_kept_for_whom_it_was_made() {
    let world = full().await;
    world.gang("high", 3, 4, priority(9));
    world.settle().await;
    // The seventh node is free, and is one of the three.
    world.pod_with("late", 4, json!({ "priority": 8, "preemptionPolicy": "Never" }));
    world.settle().await;
    assert_eq!(world.node_of("late"), None);
    assert_eq!(world.end_pods(), 2);
    world.settle().await;
    assert_eq!(world.bound("high").len(), 3);
    assert_eq!(world.node_of("late"), None);
    // What is kept for those who are gone is free again.
    world.delete("pods", "high-0");
    world.settle().await;
    assert!(world.node_of("late").is_some());
}

#[tokio::test(start_paused = true)]
async fn room_that_nobody_needs_any_more_is_given_back() {
    let world = full().await;
    world.gang("high", 3, 4, priority(9));
    world.settle().await;
    world.pod_with("late", 4, json!({ "priority": 8, "preemptionPolicy": "Never" }));
    world.settle().await;
    assert_eq!(world.node_of("late"), None);
    for number in 0..3 {
        world.delete("pods", &format!("high-{number}"));
    }
    world.settle().await;
    assert!(world.node_of("late").is_some());
}

#[tokio::test(start_paused = true)]
async fn nothing_is_preempted_in_vain_nor_by_equals() {
    let world = full().await;
    // More than all others of lower priority have.
    world.gang("huge", 8, 4, priority(9));
    // Equal to the lowest.
    world.gang("equal", 2, 4, priority(1));
    world.gang("meek", 2, 4, json!({ "priority": 9, "preemptionPolicy": "Never" }));
    for pod in ["meek-0", "meek-1"] {
        world.delete("pods", pod);
        world.member_with("meek", pod, 4, json!({ "priority": 9, "preemptionPolicy": "Never" }));
    }
    world.settle().await;
    assert_eq!(terminating(&world), Vec::<String>::new());
    assert_eq!(
        world.why("meek-0").split(". ").next().unwrap(),
        "0/7 nodes are available: 1 node(s) didn't have room for the whole pod group, 6 Insufficient nvidia.com/gpu"
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_goes_where_it_is_enough_to_wait() {
    let world = full().await;
    world.delete_slowly("a-0");
    world.settle().await;
    world.gang("high", 2, 4, priority(9));
    world.settle().await;
    assert_eq!(terminating(&world), ["a-0"]);
    world.end_pods();
    world.settle().await;
    assert_eq!(world.bound("high").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn single_pods_give_room_one_by_one() {
    let world = World::new("hosts=2,gpus=4");
    world.group("loose", 2, json!({ "disruptionMode": { "single": {} } }));
    world.members("loose", 2, 4);
    world.settle().await;
    world.pod_with("high", 4, priority(1));
    world.settle().await;
    assert_eq!(terminating(&world).len(), 1);
    world.end_pods();
    world.settle().await;
    assert!(world.node_of("high").is_some());
}

/// As with kube-scheduler.
#[tokio::test(start_paused = true)]
async fn pods_above_the_minimum_make_room_once_the_minimum_is_bound() {
    let world = World::new("hosts=4,gpus=4");
    for (pod, value) in [("low-0", 1), ("low-1", 1), ("equal", 9)] {
        world.pod_with(pod, 4, priority(value));
    }
    world.settle().await;
    for (group, policy) in [("meek", "Never"), ("high", "PreemptLowerPriority")] {
        let spec = json!({ "priority": 9, "preemptionPolicy": policy });
        world.group(group, 1, spec.clone());
        for number in 0..4 {
            world.member_with(group, &format!("{group}-{number}"), 4, spec.clone());
        }
        world.settle().await;
        if group == "meek" {
            assert_eq!((world.bound(group).len(), terminating(&world).len()), (1, 0));
            (0..4).for_each(|it| world.delete("pods", &format!("meek-{it}")));
        }
    }
    assert_eq!(world.bound("high").len(), 1);
    assert_eq!(terminating(&world), ["low-0", "low-1"]);
    assert_eq!(world.end_pods(), 2);
    world.settle().await;
    assert_eq!(world.bound("high").len(), 3, "one has no place, whoever goes");
    assert!(world.node_of("equal").is_some());
}

#[tokio::test(start_paused = true)]
async fn the_outermost_group_that_goes_as_a_whole_goes() {
    let world = World::new("racks=1,hosts=3,gpus=4");
    world.composite("root", 2, json!({}));
    for group in ["x", "y"] {
        world.group(group, 1, json!({ "parentCompositePodGroupName": "root" }));
        world.member(group, &format!("{group}-0"), 4);
    }
    world.settle().await;
    assert_eq!((world.bound("x").len(), world.bound("y").len()), (1, 1));
    world.gang("high", 2, 4, priority(3));
    world.settle().await;
    assert_eq!(terminating(&world), ["x-0", "y-0"]);
    assert!(world.events("CompositePodGroup", "root").iter().any(|it| it.0 == "Preempted"));
}
