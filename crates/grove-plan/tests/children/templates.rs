//! What a change of the template reaches.

use grove_api::wire::{AutoScalingConfig, PodClique, PodCliqueSet, UpdateStrategy, UpdateStrategyType};
use grove_plan::{children::Child, facts::template_hash};
use serde_json::json;

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

/// A group whose pods run, and an update of it that has its turn.
fn rolling() -> World {
    let mut world = settled(INF);
    world.make_pods();
    for pod in &mut world.pods {
        let spec = pod.spec.as_mut().unwrap();
        (spec.node_name, spec.scheduling_gates) = (Some("node".to_owned()), None);
    }
    world.set.spec.template.cliques[2].spec.pod_spec.containers[0].image = Some("model:2".to_owned());
    world.set.status = Some(
        serde_json::from_value(json!({
            "currentGenerationHash": "new",
            "updateProgress": { "currentlyUpdating": [{ "replicaIndex": 0 }] },
        }))
        .unwrap(),
    );
    let progress = json!({ "status": { "updateProgress": {
        "updateStartedAt": "2026-01-01T00:00:00Z", "podCliqueSetGenerationHash": "new", "availableAtStart": 3,
    } } });
    world.note_group("inf-0-pd", &progress);
    world
}

#[test]
fn a_template_reaches_a_replica_of_a_group_in_its_turn() {
    let mut world = rolling();
    // Its clique first, and then its pods.
    assert_eq!(lines(&world.plan_group("inf-0-pd")), ["patch PodClique inf-0-pd-0-dec"]);
    let plan = world.plan_group("inf-0-pd");
    world.apply(plan);
    let plan = lines(&world.plan_group("inf-0-pd"));
    assert!(!plan.is_empty() && plan.iter().all(|it| it.starts_with("outdated inf-0-pd-0-dec-")), "{plan:?}");
    // The next one waits until they are back.
    world.pods.retain(|it| !it.metadata.name.as_deref().unwrap().starts_with("inf-0-pd-0-dec-"));
    assert_eq!(lines(&world.plan_group("inf-0-pd")), [""; 0]);
}

/// Before anything changes, it is said which pods are going to be made: the API server is asked about those.
#[test]
fn cliques_whose_pods_are_replaced_are_named() {
    let mut world = rolling();
    let named = |world: &World| -> Vec<(String, String)> {
        let text = |it: &Option<String>| it.clone().unwrap_or_default();
        let plan = world.plan_group("inf-0-pd");
        let image = |it: &PodClique| text(&it.spec.pod_spec.containers[0].image);
        assert!(plan.replaced.iter().all(|it| it.metadata.uid.is_some()));
        plan.replaced.iter().map(|it| (text(&it.metadata.name), image(it))).collect()
    };
    let next = [("inf-0-pd-0-dec".to_owned(), "model:2".to_owned())];
    assert_eq!(named(&world), next);
    let plan = world.plan_group("inf-0-pd");
    world.apply(plan);
    assert_eq!(named(&world), next, "also when only its pods are left");
    world.held = [0, 1, 2].into();
    assert_eq!(named(&world), []);
    let type_ = UpdateStrategyType::OnDelete;
    world.held.clear();
    world.set.spec.update_strategy = Some(UpdateStrategy { type_, ..UpdateStrategy::default() });
    assert_eq!(named(&world), []);
}

/// What cannot be made again is not taken away, also where the replica has begun.
#[test]
fn a_replica_whose_pods_cannot_be_made_stays() {
    let mut world = rolling();
    world.held = [0, 1, 2].into();
    assert_eq!(lines(&world.plan_group("inf-0-pd")), [""; 0]);
    // Another one need not wait for it.
    world.held = [0].into();
    assert_eq!(lines(&world.plan_group("inf-0-pd")), ["patch PodClique inf-0-pd-1-dec"]);
    world.held.clear();
    let plan = world.plan_group("inf-0-pd");
    world.apply(plan);
    world.held = [0, 1, 2].into();
    assert_eq!(lines(&world.plan_group("inf-0-pd")), [""; 0]);
}

#[test]
fn a_template_waits_for_the_turn_and_for_those_who_pause() {
    let mut world = rolling();
    world.set.status.as_mut().unwrap().update_progress.as_mut().unwrap().currently_updating.clear();
    assert_eq!(lines(&world.plan_group("inf-0-pd")), [""; 0]);
    let mut world = rolling();
    world.set.spec.update_strategy = Some(UpdateStrategy { paused: true, ..UpdateStrategy::default() });
    assert_eq!(lines(&world.plan_group("inf-0-pd")), [""; 0]);
    world.set.spec.template.cliques[0].spec.pod_spec.containers[0].image = Some("model:2".to_owned());
    assert_eq!(lines(&world.plan_set()), [""; 0]);
    world.set.spec.update_strategy = None;
    assert_eq!(lines(&world.plan_set()), ["patch PodClique inf-0-fe"]);
}

/// A PodClique keeps its template, of which lost pods can be made again, until the API server takes pods of the new one.
#[test]
fn a_refused_template_reaches_no_standalone_clique() {
    let mut world = settled(INF);
    let clique = || "patch PodClique inf-0-fe".to_owned();
    world.set.spec.template.cliques[0].spec.pod_spec.containers[0].image = Some("model:2".to_owned());
    let plan = world.plan_set();
    assert_eq!(lines(&plan), [clique()]);
    let [next] = plan.replaced.as_slice() else { panic!("one template is asked about: {:?}", plan.replaced) };
    assert_eq!(next.metadata.uid.as_deref(), Some("uid-inf-0-fe"));
    assert_eq!(next.spec.pod_spec.containers[0].image.as_deref(), Some("model:2"));

    world.refused_templates = [template_hash(&next.metadata).to_owned()].into();
    let plan = world.plan_set();
    assert_eq!(lines(&plan), [""; 0]);
    assert_eq!(plan.replaced.len(), 1, "it is asked about again");
    // What is new has nothing to keep.
    world.set.spec.replicas = 2;
    let plan = world.plan_set();
    assert!(lines(&plan).contains(&"create PodClique inf-1-fe".to_owned()), "{:?}", lines(&plan));
    world.set.spec.replicas = 1;

    let type_ = UpdateStrategyType::OnDelete;
    world.set.spec.update_strategy = Some(UpdateStrategy { type_, ..UpdateStrategy::default() });
    let plan = world.plan_set();
    assert_eq!(
        (lines(&plan), plan.replaced.len()),
        (vec![clique()], 0),
        "who deletes pods by hand asks nobody"
    );
}

/// Nothing is made from a template when nobody knows which version of it is in force; what is there stays.
#[test]
fn unknown_templates_make_no_cliques() {
    let mut world = settled(INF);
    world.set.spec.update_strategy = Some(UpdateStrategy { paused: true, ..UpdateStrategy::default() });
    world.unknown = ["fe", "dec"].into();
    assert_eq!(lines(&world.plan_set()), [""; 0]);
    assert_eq!(lines(&world.plan_group("inf-0-pd")), [""; 0]);
    let is_named = |it: &Child, name: &str| it.metadata().name.as_deref() == Some(name);
    world
        .objects
        .retain(|it| !["inf-0-fe", "inf-0-pd-1-pre", "inf-0-pd-1-dec"].iter().any(|name| is_named(it, name)));
    assert_eq!(lines(&world.plan_set()), [""; 0]);
    assert_eq!(lines(&world.plan_group("inf-0-pd")), ["create PodClique inf-0-pd-1-pre"]);
    world.unknown.clear();
    assert_eq!(lines(&world.plan_set()), ["create PodClique inf-0-fe"]);
}

#[test]
fn on_delete_changes_cliques_and_no_pods() {
    let mut world = rolling();
    let type_ = UpdateStrategyType::OnDelete;
    world.set.spec.update_strategy = Some(UpdateStrategy { type_, ..UpdateStrategy::default() });
    let plan = world.plan_group("inf-0-pd");
    let want = [0, 1, 2].map(|it| format!("patch PodClique inf-0-pd-{it}-dec"));
    assert_lines(lines(&plan), &want.each_ref().map(String::as_str));
    world.apply(plan);
    assert_eq!(lines(&world.plan_group("inf-0-pd")), [""; 0]);
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
