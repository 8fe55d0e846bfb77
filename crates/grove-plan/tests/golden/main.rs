//! The worked examples of the facts: every object that Grove makes for them, field by field.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

#[path = "../common/mod.rs"]
mod common;
mod examples;
mod expected;
mod ordered;
mod user;

use common::{World, is_gated, name_of, set};
use examples::{LEADERS, SERVING};
use expected::Example;
use grove_api::wire::AutoScalingConfig;
use grove_plan::children::{Child, Kind};
use serde_json::{Value, json};

/// An object as JSON, without what only a server adds.
fn as_created<T: serde::Serialize>(object: &T) -> Value {
    let mut value = serde_json::to_value(object).unwrap();
    let metadata = value["metadata"].as_object_mut().unwrap();
    if metadata.contains_key("generateName") {
        metadata.remove("name");
    }
    metadata.remove("uid");
    metadata.remove("generation");
    value
}

fn child(world: &World, kind: Kind, name: &str) -> Value {
    match world.get(kind, name).unwrap_or_else(|| panic!("no {} {name}", kind.as_str())) {
        Child::Service(it) => as_created(it),
        Child::Autoscaler(it) => as_created(it),
        Child::Clique(it) => as_created(it),
        Child::Group(it) => as_created(it),
        Child::Gang(it) => as_created(it),
    }
}

fn settled(example: &Example) -> World {
    let mut world = World::new(set(example.text));
    world.settle();
    world
}

/// Names of all objects of a kind.
fn names(world: &World, kind: Kind) -> Vec<&str> {
    let mut names: Vec<&str> =
        world.objects.iter().filter(|it| it.kind() == kind).map(|it| name_of(it.metadata())).collect();
    names.sort_unstable();
    names
}

#[test]
fn children_are_these_and_no_others() {
    for example in [SERVING, LEADERS] {
        let world = settled(&example);
        let hash = |role: &str| {
            let template = world.set.spec.template.clique(role).unwrap();
            let hash = grove_plan::hash::pod_template(template);
            // Any value is good that has the form of upstream's.
            assert!(hash.len() <= 20 && hash.chars().all(|it| "456789bcdf".contains(it)), "{hash}");
            hash
        };
        assert_eq!(names(&world, Kind::Service), ["inf-0"]);
        assert_eq!(child(&world, Kind::Service, "inf-0"), expected::service());
        let group = format!("inf-0-{}", example.group);
        assert_eq!(names(&world, Kind::Group), [group.as_str()]);
        assert_eq!(child(&world, Kind::Group, &group), expected::group(&example));
        assert_eq!(names(&world, Kind::Autoscaler), [""; 0]);

        let mut cliques: Vec<&str> = example.cliques.iter().map(|it| it.name).collect();
        cliques.sort_unstable();
        assert_eq!(names(&world, Kind::Clique), cliques);
        for clique in example.cliques {
            let got = child(&world, Kind::Clique, clique.name);
            assert_eq!(got, expected::clique(&example, clique, &hash(clique.role)), "{}", clique.name);
        }
        let mut gangs: Vec<&str> = example.gangs.iter().map(|it| it.name).collect();
        gangs.sort_unstable();
        assert_eq!(names(&world, Kind::Gang), gangs);
        for gang in example.gangs {
            assert_eq!(
                child(&world, Kind::Gang, gang.name),
                expected::gang(&example, gang, false),
                "{}",
                gang.name
            );
        }
    }
}

#[test]
fn pods_are_these_and_no_others() {
    for example in [SERVING, LEADERS] {
        let mut world = settled(&example);
        world.make_pods();
        let mut left: Vec<_> = world.pods.iter().collect();
        for clique in example.cliques {
            let Some(Child::Clique(object)) = world.get(Kind::Clique, clique.name) else {
                panic!("{}", clique.name)
            };
            let hash = &object.metadata.labels.as_ref().unwrap()["grove.io/pod-template-hash"];
            for index in 0..clique.pods {
                let at = left
                    .iter()
                    .position(|it| name_of(&it.metadata) == format!("{}-{index}", clique.name))
                    .unwrap();
                let got = as_created(left.remove(at));
                assert_eq!(got, expected::pod(&example, clique, index, hash), "{} {index}", clique.name);
            }
        }
        assert_eq!(left, Vec::<&k8s_openapi::api::core::v1::Pod>::new());
    }
}

/// Listed when all are there, then let go: the base gang first, the others when it has its place.
#[test]
fn gangs_list_their_pods_and_let_them_go() {
    for example in [SERVING, LEADERS] {
        let mut world = settled(&example);
        assert!(!world.step_gangs(false), "there is nothing to list yet");
        world.make_pods();
        assert!(world.step_gangs(false));
        for gang in example.gangs {
            assert_eq!(
                child(&world, Kind::Gang, gang.name),
                expected::gang(&example, gang, true),
                "{}",
                gang.name
            );
        }
        assert!(world.step_gangs(false), "initialised");
        assert!(world.pods.iter().all(is_gated));
        assert!(world.step_gangs(false), "the base gang goes");
        let gated = |world: &World| -> Vec<String> {
            world.pods.iter().filter(|it| is_gated(it)).map(|it| name_of(&it.metadata).to_owned()).collect()
        };
        let scaled: Vec<String> = example
            .cliques
            .iter()
            .filter(|it| it.base.is_some())
            .flat_map(|it| (0..it.pods).map(|index| format!("{}-{index}", it.name)))
            .collect();
        let held = gated(&world);
        assert!(held.len() == scaled.len() && scaled.iter().all(|it| held.contains(it)), "{held:?}");
        assert!(!world.step_gangs(false), "and the others wait");
        assert!(world.step_gangs(true));
        assert_eq!(gated(&world), [""; 0]);
        assert!(!world.step_gangs(true), "rest");
        world.settle();
    }
}

/// KAI's minMember of the base gang.
#[test]
fn the_base_gang_needs_four_pods() {
    let world = settled(&SERVING);
    assert_eq!(world.gang("inf-0").spec.pod_groups.iter().map(|it| it.min_replicas).sum::<i32>(), 4);
}

/// The pods that the facts spell out.
#[test]
fn labels_of_two_pods() {
    let rows = [
        (
            &SERVING,
            "inf-0-pd-1-dec-0",
            "inf-0-pd-1-dec-0",
            json!({
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "inf",
                "app.kubernetes.io/name": "inf-0-pd-1-dec",
                "app.kubernetes.io/component": "pcsg-podclique",
                "grove.io/podgang": "inf-0-pd-0",
                "grove.io/base-podgang": "inf-0",
                "grove.io/podclique": "inf-0-pd-1-dec",
                "grove.io/podcliquescalinggroup": "inf-0-pd",
                "grove.io/podcliquescalinggroup-replica-index": "1",
                "grove.io/podcliqueset-replica-index": "0",
                "grove.io/podclique-pod-index": "0",
            }),
        ),
        (
            &LEADERS,
            "inf-0-pre-2-work-1",
            "inf-0-pre-2-work-1",
            json!({
                "app.kubernetes.io/managed-by": "grove-operator",
                "app.kubernetes.io/part-of": "inf",
                "app.kubernetes.io/name": "inf-0-pre-2-work",
                "app.kubernetes.io/component": "pcsg-podclique",
                "grove.io/podgang": "inf-0-pre-0",
                "grove.io/base-podgang": "inf-0",
                "grove.io/podclique": "inf-0-pre-2-work",
                "grove.io/podcliquescalinggroup": "inf-0-pre",
                "grove.io/podcliquescalinggroup-replica-index": "2",
                "grove.io/podcliqueset-replica-index": "0",
                "grove.io/podclique-pod-index": "1",
            }),
        ),
    ];
    for (example, name, hostname, want) in rows {
        let mut world = settled(example);
        world.make_pods();
        let pod = world.pods.iter().find(|it| name_of(&it.metadata) == name).unwrap();
        let mut labels = serde_json::to_value(&pod.metadata.labels).unwrap();
        labels.as_object_mut().unwrap().remove("grove.io/pod-template-hash").unwrap();
        assert_eq!(labels, want);
        let spec = pod.spec.as_ref().unwrap();
        assert_eq!((spec.hostname.as_deref(), spec.subdomain.as_deref()), (Some(hostname), Some("inf-0")));
    }
}

#[test]
fn a_group_with_bounds_has_an_autoscaler() {
    let mut set = set(LEADERS.text);
    set.spec.template.scaling_groups[0].scale_config =
        Some(AutoScalingConfig { min_replicas: Some(2), max_replicas: 6, metrics: Vec::new() });
    set.spec.template.cliques[0].spec.auto_scaling_config =
        Some(AutoScalingConfig { min_replicas: Some(2), max_replicas: 4, metrics: Vec::new() });
    let mut world = World::new(set);
    world.settle();
    assert_eq!(names(&world, Kind::Autoscaler), ["inf-0-front", "inf-0-pre"]);
    assert_eq!(
        child(&world, Kind::Autoscaler, "inf-0-pre"),
        expected::autoscaler("PodCliqueScalingGroup", "inf-0-pre", 2, 6)
    );
    assert_eq!(
        child(&world, Kind::Autoscaler, "inf-0-front"),
        expected::autoscaler("PodClique", "inf-0-front", 2, 4)
    );
}
