//! Paused updates: a changed template reaches no pod, whatever is deleted, scaled or restarted meanwhile.

use std::cell::Cell;

use grove_apiserver::Fault;
use serde_json::{Value, json};

use crate::{
    updates::{condition, image, serving, status},
    world::{World, example},
};

const SETS: &str = "podcliquesets.grove.io";
const CLIQUES: &str = "podcliques.grove.io";
const GROUPS: &str = "podcliquescalinggroups.grove.io";
const REVISIONS: &str = "controllerrevisions.apps";
const ALL: &[usize] = &[0, 1, 2];

/// One replica of the set, whose updates are paused, and a new image for these roles.
async fn paused(seed: u64, roles: &[usize]) -> World {
    let world = World::started(seed);
    world.create(SETS, example(1));
    world.settle().await;
    pause(&world, true);
    image(&world, roles, "engine:2");
    settle_held(&world).await;
    assert_eq!(condition(&world, "UpdatePending"), "True/UpdatePaused");
    world
}

fn pause(world: &World, paused: bool) {
    world.patch(SETS, "inf", json!({ "spec": { "updateStrategy": { "paused": paused } } }));
}

/// Everybody works, and no pod of the new template appears on the way.
async fn settle_held(world: &World) {
    let leaked = Cell::new(false);
    world
        .settle_unless(|| {
            leaked.set(leaked.get() || !pods_with(world, "engine:2").is_empty());
            leaked.get()
        })
        .await;
    assert_eq!(pods_with(world, "engine:2"), Vec::<String>::new());
}

fn pods_with(world: &World, image: &str) -> Vec<String> {
    let has = |it: &Value| it.as_str() == Some(image);
    let pods = world.list("pods");
    let pods = pods.iter().filter(|it| it.field("/spec/containers/0/image").is_some_and(has));
    pods.map(|it| it.name().to_owned()).collect()
}

fn words(world: &World) -> String {
    let all = status(world, "/conditions");
    let found = all.as_array().into_iter().flatten().find(|it| it["type"] == "UpdatePending");
    found.map_or(String::new(), |it| it["message"].as_str().unwrap_or_default().to_owned())
}

async fn resumed(world: &World) {
    pause(world, false);
    world.settle().await;
    assert_eq!(pods_with(world, "engine:2").len(), world.list("pods").len());
    assert_eq!(condition(world, "UpdatePending"), "False/AllPodsCurrent");
    assert_eq!(status(world, "/availableReplicas"), 1);
}

/// The one PodClique of a role is deleted: nothing in the cluster but its revision says what it was.
#[tokio::test(start_paused = true)]
async fn deleted_podclique_comes_back_with_the_template_in_force() {
    for roles in [&[0][..], ALL] {
        let world = paused(101, roles).await;
        world.delete(CLIQUES, "inf-0-fe");
        settle_held(&world).await;
        assert_eq!(serving(&world)["inf-0-fe"], ["engine:1", "engine:1"], "{roles:?}");
        assert_eq!(condition(&world, "UpdatePending"), "True/UpdatePaused");
        // It knows which template it has, so that it is not taken for one of an update.
        let hash = status(&world, "/currentGenerationHash");
        let noted = "/status/currentPodCliqueSetGenerationHash";
        assert_eq!(world.get(CLIQUES, "inf-0-fe").field(noted), Some(&hash));
    }
}

#[tokio::test(start_paused = true)]
async fn everything_deleted_comes_back_with_the_template_in_force() {
    let world = paused(102, ALL).await;
    for name in world.names(CLIQUES) {
        world.delete(CLIQUES, &name);
    }
    settle_held(&world).await;
    assert_eq!(pods_with(&world, "engine:1").len(), 11);
    world.delete(GROUPS, "inf-0-pd");
    settle_held(&world).await;
    assert_eq!(pods_with(&world, "engine:1").len(), 11);
    // All of one replica of a group, and what scale-out makes.
    world.delete(CLIQUES, "inf-0-pd-1-pre");
    world.delete(CLIQUES, "inf-0-pd-1-dec");
    world.patch(GROUPS, "inf-0-pd", json!({ "spec": { "replicas": 4 } }));
    world.patch(SETS, "inf", json!({ "spec": { "replicas": 2 } }));
    settle_held(&world).await;
    assert_eq!(pods_with(&world, "engine:1").len(), 25);
    pause(&world, false);
    world.settle().await;
    assert_eq!(pods_with(&world, "engine:2").len(), 25);
}

/// The next operator knows nothing but what is in the cluster.
#[tokio::test(start_paused = true)]
async fn operator_restart_keeps_the_template_in_force() {
    let mut world = paused(103, ALL).await;
    world.kill();
    for name in world.names(CLIQUES) {
        world.delete(CLIQUES, &name);
    }
    world.start();
    settle_held(&world).await;
    assert_eq!(pods_with(&world, "engine:1").len(), 11);
    resumed(&world).await;
}

/// Nobody knows the template in force any more: nothing is created, and the set says so.
#[tokio::test(start_paused = true)]
async fn unknown_template_holds_creation() {
    let mut world = paused(104, ALL).await;
    world.kill();
    let kept = world.list(REVISIONS);
    let [revision] = kept.as_slice() else { panic!("one template was in force") };
    let revision = revision.value().clone();
    for name in world.names(REVISIONS) {
        world.delete(REVISIONS, &name);
    }
    // One that is on its way out would still show what is in force.
    world.delete(CLIQUES, "inf-0-fe");
    world.patch(CLIQUES, "inf-0-fe", json!({ "metadata": { "finalizers": null } }));
    world.settle().await;
    world.start();
    settle_held(&world).await;
    assert!(!world.names(CLIQUES).contains(&"inf-0-fe".to_owned()));
    assert_eq!(condition(&world, "UpdatePending"), "True/TemplateInUseUnknown");
    assert!(words(&world).contains("No PodClique is created from fe:"), "{}", words(&world));
    assert!(condition(&world, "Available").starts_with("False/"));
    // What is still there of other roles shows what is in force.
    world.patch(GROUPS, "inf-0-pd", json!({ "spec": { "replicas": 4 } }));
    settle_held(&world).await;
    let image = "/spec/podSpec/containers/0/image";
    assert_eq!(world.get(CLIQUES, "inf-0-pd-3-dec").field(image), Some(&json!("engine:1")));
    world.patch(GROUPS, "inf-0-pd", json!({ "spec": { "replicas": 3 } }));
    settle_held(&world).await;

    // Somebody puts the revision back.
    let mut back = revision.clone();
    for field in ["resourceVersion", "uid", "creationTimestamp"] {
        back["metadata"].as_object_mut().unwrap().remove(field);
    }
    world.create(REVISIONS, back);
    settle_held(&world).await;
    assert_eq!(serving(&world)["inf-0-fe"], ["engine:1", "engine:1"]);
    assert_eq!(condition(&world, "UpdatePending"), "True/UpdatePaused");
    resumed(&world).await;
}

/// Templates that are too large are kept nowhere. Both ways out work: the new template, or the old one set back.
#[tokio::test(start_paused = true)]
async fn template_kept_nowhere_has_two_ways_out() {
    for set_back in [false, true] {
        let world = World::started(105);
        world.server.before_write(|write| {
            if write.resource.id() == REVISIONS {
                return Fault::refuse(413, "RequestEntityTooLarge", "the revision is too large");
            }
            Fault::None
        });
        world.create(SETS, example(1));
        world.settle().await;
        pause(&world, true);
        image(&world, ALL, "engine:2");
        settle_held(&world).await;
        // PodCliques that are there show it.
        assert_eq!(condition(&world, "UpdatePending"), "True/UpdatePaused");
        world.delete(CLIQUES, "inf-0-pd-2-dec");
        settle_held(&world).await;
        assert_eq!(serving(&world)["inf-0-pd-2-dec"], ["engine:1", "engine:1"]);
        world.delete(CLIQUES, "inf-0-fe");
        settle_held(&world).await;
        assert_eq!(condition(&world, "UpdatePending"), "True/TemplateInUseUnknown");
        assert_eq!(pods_with(&world, "engine:1").len(), 9);
        if !set_back {
            resumed(&world).await;
            continue;
        }
        image(&world, ALL, "engine:1");
        world.settle().await;
        assert_eq!(pods_with(&world, "engine:1").len(), 11);
        assert_eq!(condition(&world, "UpdatePending"), "False/AllPodsCurrent");
    }
}

/// Hashes of upstream Grove cannot be compared with ours; the revision can.
#[tokio::test(start_paused = true)]
async fn adopted_set_that_is_paused_holds_only_what_changed() {
    let mut world = World::started(106);
    world.create(SETS, example(1));
    world.settle().await;
    world.kill();
    for name in world.names(REVISIONS) {
        world.delete(REVISIONS, &name);
    }
    let theirs = json!({ "currentPodCliqueSetGenerationHash": "theirs" });
    for kind in [CLIQUES, GROUPS] {
        world.names(kind).iter().for_each(|name| world.patch_status(kind, name, theirs.clone()));
    }
    world.patch_status(SETS, "inf", json!({ "currentGenerationHash": "theirs" }));
    world.start();
    world.settle().await;
    pause(&world, true);
    world.settle().await;
    assert_eq!(condition(&world, "UpdatePending"), "", "nothing changed");
    world.delete(CLIQUES, "inf-0-fe");
    world.settle().await;
    assert_eq!((condition(&world, "UpdatePending"), serving(&world)["inf-0-fe"].len()), (String::new(), 2));
    image(&world, &[0], "engine:2");
    settle_held(&world).await;
    assert_eq!(condition(&world, "UpdatePending"), "True/UpdatePaused");
    world.delete(CLIQUES, "inf-0-fe");
    settle_held(&world).await;
    assert_eq!(serving(&world)["inf-0-fe"], ["engine:1", "engine:1"]);
}

/// At rest nothing is written and nothing is read again and again.
#[tokio::test(start_paused = true)]
async fn paused_set_is_quiet() {
    let world = paused(107, ALL).await;
    let before = world.server.store().write_count();
    tokio::time::sleep(std::time::Duration::from_hours(1)).await;
    assert_eq!(world.server.store().write_count(), before);
}
