//! What a change of the template reaches.

use grove_api::wire::{AutoScalingConfig, PodCliqueSet};

use crate::{
    INF, assert_lines,
    common::{World, lines, set},
    settled,
};

#[test]
fn a_template_reaches_every_clique_of_its_role() {
    let mut world = settled(INF);
    world.set.spec.template.cliques[2].spec.pod_spec.containers[0].image = Some("model:2".to_owned());
    let want = [0, 1, 2].map(|it| format!("patch PodClique inf-0-pd-{it}-dec"));
    assert_lines(lines(&world.plan_group("inf-0-pd")), &want.each_ref().map(String::as_str));
    assert_eq!(lines(&world.plan_set()), [""; 0]);
    world.settle();
}

#[test]
fn autoscalers_come_and_go_with_their_configuration() {
    let config =
        |max_replicas| Some(AutoScalingConfig { min_replicas: Some(2), max_replicas, metrics: Vec::new() });
    let mut world = settled(INF);
    world.set.spec.template.cliques[0].spec.auto_scaling_config = config(5);
    world.set.spec.template.scaling_groups[0].scale_config = config(4);
    let want = [
        "create HorizontalPodAutoscaler inf-0-fe",
        "create HorizontalPodAutoscaler inf-0-pd",
        "patch PodClique inf-0-fe",
    ];
    assert_lines(lines(&world.plan_set()), &want);
    world.settle();
    world.set.spec.template.scaling_groups[0].scale_config = config(9);
    assert_eq!(lines(&world.plan_set()), ["patch HorizontalPodAutoscaler inf-0-pd"]);
    world.settle();
    world.set.spec.template.cliques[0].spec.auto_scaling_config = None;
    world.set.spec.template.scaling_groups[0].scale_config = None;
    let want = [
        "delete HorizontalPodAutoscaler inf-0-fe",
        "delete HorizontalPodAutoscaler inf-0-pd",
        "patch PodClique inf-0-fe",
    ];
    assert_lines(lines(&world.plan_set()), &want);
    world.settle();
}

#[test]
fn annotations_of_a_group_follow_the_template() {
    let mut world = settled(INF);
    world.set.spec.template.scaling_groups[0].annotations = [("note".to_owned(), "n".to_owned())].into();
    assert_eq!(lines(&world.plan_set()), ["patch PodCliqueScalingGroup inf-0-pd"]);
    world.settle();
    let annotations =
        |world: &World| world.groups().next().unwrap().metadata.annotations.clone().unwrap_or_default();
    assert_eq!(annotations(&world).get("note").map(String::as_str), Some("n"));
    world.set.spec.template.scaling_groups[0].annotations.clear();
    world.settle();
    assert!(annotations(&world).is_empty());
}

/// The one annotation of a set that its groups get, unless they have their own.
#[test]
fn the_nvlink_group_of_a_set_is_that_of_its_groups() {
    let mut set = set(INF);
    set.metadata.annotations = Some(
        [("grove.io/mnnvl-group".to_owned(), "train".to_owned()), ("x".to_owned(), "y".to_owned())].into(),
    );
    let of_group = |set: &PodCliqueSet| {
        let mut world = World::new(set.clone());
        world.settle();
        let notes = world.groups().next().unwrap().metadata.annotations.clone().unwrap();
        assert_eq!(notes.get("x"), None);
        notes["grove.io/mnnvl-group"].clone()
    };
    assert_eq!(of_group(&set), "train");
    set.spec.template.scaling_groups[0].annotations =
        [("grove.io/mnnvl-group".to_owned(), "none".to_owned())].into();
    assert_eq!(of_group(&set), "none");
}
