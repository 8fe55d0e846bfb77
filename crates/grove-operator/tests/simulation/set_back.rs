//! Templates that change again before they have reached everything. What the operator cannot write for a while stands for
//! everything that makes it late.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use grove_apiserver::{Action, Fault, PatchBody, Subresource, WriteRequest};
use serde_json::{Value, json};

use crate::world::{World, example};

const SETS: &str = "podcliquesets.grove.io";
const CLIQUES: &str = "podcliques.grove.io";
const ALL: [usize; 3] = [0, 1, 2];

/// Templates of cliques.
fn templates(write: &WriteRequest) -> bool {
    write.resource.id() == CLIQUES && write.subresource.is_none()
}

/// What cliques say of themselves.
fn notes(write: &WriteRequest) -> bool {
    write.resource.id() == CLIQUES && write.subresource == Some(Subresource::Status)
}

/// What sets say of themselves.
fn news(write: &WriteRequest) -> bool {
    write.resource.id() == SETS && write.subresource == Some(Subresource::Status)
}

/// The note of a set that its template changed.
fn beginnings(write: &WriteRequest) -> bool {
    let is_note = |body: &PatchBody| matches!(body, PatchBody::Merge(it) if it.pointer("/status/currentGenerationHash").is_some());
    news(write) && matches!(&write.action, Action::Patch(body) if is_note(body))
}

/// The operator cannot write what any of these names.
fn hold(world: &World, held: &[fn(&WriteRequest) -> bool]) {
    let held = held.to_vec();
    world.server.before_write(move |write| {
        let is_held = write.manager != "world" && held.iter().any(|it| it(write));
        if is_held { Fault::Cut } else { Fault::None }
    });
}

/// Everybody works, for longer than the longest pause between two attempts.
async fn work(world: &World) {
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_secs(5)).await;
        world.simulate();
    }
    world.settle().await;
}

async fn ready(seed: u64, strategy: &str) -> World {
    let world = World::started(seed);
    let mut set = example(1);
    set["spec"]["updateStrategy"] = json!({ "type": strategy });
    world.create(SETS, set);
    world.settle().await;
    world
}

/// The set with this image everywhere, and whatever else changes with it.
fn change(world: &World, image: &str, strategy: Value) {
    let mut set = world.get(SETS, "inf").value().clone();
    for role in ALL {
        set["spec"]["template"]["cliques"][role]["spec"]["podSpec"]["containers"][0]["image"] = image.into();
    }
    let template = json!({ "cliques": set["spec"]["template"]["cliques"] });
    world.patch(SETS, "inf", json!({ "spec": { "template": template, "updateStrategy": strategy } }));
}

/// Images of an object's containers, without repetition.
fn images(world: &World, kind: &str, path: &str, prefix: &str) -> Vec<String> {
    let objects = world.list(kind).into_iter().filter(|it| it.name().starts_with(prefix));
    let mut images: Vec<String> =
        objects.map(|it| it.field(path).and_then(Value::as_str).unwrap_or_default().to_owned()).collect();
    images.sort();
    images.dedup();
    images
}

fn of_pods(world: &World, prefix: &str) -> Vec<String> {
    images(world, "pods", "/spec/containers/0/image", prefix)
}

fn of_cliques(world: &World) -> Vec<String> {
    images(world, CLIQUES, "/spec/podSpec/containers/0/image", "inf")
}

fn hash(world: &World) -> Value {
    world.get(SETS, "inf").field("/status/currentGenerationHash").cloned().unwrap_or_default()
}

/// A clique does not take the hash of a change that never reached it for its own: that change would pass it over.
#[tokio::test(start_paused = true)]
async fn a_change_that_was_taken_back_and_comes_again_reaches_everything() {
    for paused in [false, true] {
        let world = ready(81, "RollingRecreate").await;
        let first = hash(&world);
        hold(&world, &[templates]);
        change(&world, "engine:2", json!({}));
        work(&world).await;
        assert_ne!(hash(&world), first);
        hold(&world, &[templates, news]);
        change(&world, "engine:1", json!({ "paused": paused }));
        work(&world).await;
        change(&world, "engine:2", json!({ "paused": false }));
        work(&world).await;
        hold(&world, &[]);
        work(&world).await;
        assert_eq!(of_pods(&world, "inf"), ["engine:2"], "paused: {paused}");
    }
}

/// A hash that no clique has noted names no template that is there.
#[tokio::test(start_paused = true)]
async fn a_change_that_is_taken_back_right_away_is_not_kept_as_the_name_of_the_first() {
    let world = World::started(82);
    hold(&world, &[notes]);
    world.create(SETS, example(1));
    world.settle().await;
    let first = hash(&world);
    hold(&world, &[notes, templates]);
    change(&world, "engine:2", json!({}));
    work(&world).await;
    assert_ne!(hash(&world), first);
    change(&world, "engine:1", json!({}));
    work(&world).await;
    assert_eq!(hash(&world), first);
}

/// The change has reached pods, and no clique has said so yet.
#[tokio::test(start_paused = true)]
async fn a_change_that_is_taken_back_in_its_turn_is_undone() {
    let world = ready(83, "RollingRecreate").await;
    hold(&world, &[notes]);
    change(&world, "engine:2", json!({}));
    work(&world).await;
    assert_eq!(of_pods(&world, "inf-0-pd-0"), ["engine:2"]);
    change(&world, "engine:1", json!({}));
    hold(&world, &[]);
    work(&world).await;
    assert_eq!(of_pods(&world, "inf"), ["engine:1"]);
    assert!(world.get(SETS, "inf").field("/status/updateProgress/updateEndedAt").is_some());
}

/// Who deletes a pod after a change gets one of the new template, however late that reaches the clique.
#[tokio::test(start_paused = true)]
async fn no_pod_is_made_of_a_template_that_is_old_already() {
    for (pod, paused, expected) in [
        ("inf-0-fe", false, &["engine:1", "engine:2"][..]),
        ("inf-0-pd-1-dec", false, &["engine:1", "engine:2"]),
        // Whoever dies meanwhile comes back as it was.
        ("inf-0-fe", true, &["engine:1"]),
    ] {
        let world = ready(84, "OnDelete").await;
        hold(&world, &[templates]);
        change(&world, "engine:2", json!({ "paused": paused }));
        let victim = world.list("pods").into_iter().find(|it| it.name().starts_with(pod)).unwrap();
        world.delete("pods", victim.name());
        work(&world).await;
        hold(&world, &[]);
        work(&world).await;
        assert_eq!(of_pods(&world, pod), expected, "{pod}");
        assert_eq!(world.list("pods").len(), 11, "{pod}");
    }
}

/// It waits for a template that does not come: then it goes on with the one that it has.
#[tokio::test(start_paused = true)]
async fn nobody_waits_for_a_template_that_was_taken_back() {
    let world = ready(85, "OnDelete").await;
    hold(&world, &[templates]);
    change(&world, "engine:2", json!({}));
    let victim = world.list("pods").into_iter().find(|it| it.name().starts_with("inf-0-fe")).unwrap();
    world.delete("pods", victim.name());
    work(&world).await;
    assert_eq!(world.list("pods").len(), 10);
    change(&world, "engine:1", json!({}));
    work(&world).await;
    assert_eq!(world.list("pods").len(), 11);
}

/// No pod that serves is given for a template that is old already.
#[tokio::test(start_paused = true)]
async fn nothing_is_replaced_by_a_template_that_is_old_already() {
    let world = ready(86, "RollingRecreate").await;
    change(&world, "engine:2", json!({}));
    world.settle_unless(|| of_pods(&world, "inf-0-fe").len() == 2).await;
    hold(&world, &[templates]);
    change(&world, "engine:3", json!({}));
    work(&world).await;
    assert_eq!(of_pods(&world, "inf-0-fe"), ["engine:1", "engine:2"]);
    hold(&world, &[]);
    work(&world).await;
    assert_eq!(of_pods(&world, "inf"), ["engine:3"]);
}

/// From the children one could no longer tell that the template changed.
#[tokio::test(start_paused = true)]
async fn a_change_is_noted_before_any_clique_gets_it() {
    for strategy in ["OnDelete", "RollingRecreate"] {
        let world = ready(87, strategy).await;
        hold(&world, &[news]);
        change(&world, "engine:2", json!({}));
        work(&world).await;
        assert_eq!(of_cliques(&world), ["engine:1"], "{strategy}");
        hold(&world, &[]);
        work(&world).await;
        assert_eq!(of_cliques(&world), ["engine:2"], "{strategy}");
    }
}

/// Cliques that were made just before, and have said nothing yet, are of the template that is noted.
#[tokio::test(start_paused = true)]
async fn no_update_begins_or_ends_before_it_is_noted() {
    let world = ready(89, "RollingRecreate").await;
    let (first, progress) = (hash(&world), "/status/updateProgress");
    hold(&world, &[notes, beginnings]);
    world.patch("podcliquescalinggroups.grove.io", "inf-0-pd", json!({ "spec": { "replicas": 4 } }));
    work(&world).await;
    assert_eq!(of_pods(&world, "inf-0-pd-3"), ["engine:1"]);
    change(&world, "engine:2", json!({}));
    work(&world).await;
    let set = world.get(SETS, "inf");
    assert_eq!((hash(&world), set.field(progress)), (first, None));
    hold(&world, &[]);
    work(&world).await;
    assert_eq!(of_pods(&world, "inf"), ["engine:2"]);
    assert!(world.get(SETS, "inf").field(&format!("{progress}/updateEndedAt")).is_some());
}

/// Who waits for the last change would take the end of the one before for its own.
#[tokio::test(start_paused = true)]
async fn no_update_ends_while_the_next_is_not_noted() {
    let world = ready(90, "RollingRecreate").await;
    let ended = || world.get(SETS, "inf").field("/status/updateProgress/updateEndedAt").is_some();
    change(&world, "engine:2", json!({}));
    let turn = "/status/updateProgress/currentlyUpdating/0";
    world.settle_unless(|| world.get(SETS, "inf").field(turn).is_some()).await;
    hold(&world, &[news]);
    work(&world).await;
    assert_eq!((of_pods(&world, "inf"), ended()), (vec!["engine:2".to_owned()], false));
    change(&world, "engine:3", json!({}));
    hold(&world, &[beginnings]);
    work(&world).await;
    assert!(!ended(), "that of engine:2, and nobody waits for it any more");
    hold(&world, &[]);
    work(&world).await;
    assert_eq!((of_pods(&world, "inf"), ended()), (vec!["engine:3".to_owned()], true));
}

/// Others of the gang wait for its minimum, and nobody tells them that it is there but the pod itself.
#[tokio::test(start_paused = true)]
async fn a_pod_whose_creation_was_not_answered_completes_its_gang() {
    let world = World::started(88);
    let lost = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&lost);
    world.server.before_write(move |write| {
        let is_other = |body: &Value| {
            body.pointer("/metadata/generateName")
                .and_then(Value::as_str)
                .is_some_and(|it| it.contains("-pd-0-"))
        };
        match &write.action {
            Action::Create(body) if write.resource.id() == "pods" && is_other(body) => {
                told.store(true, Ordering::SeqCst);
                Fault::Lose
            }
            _ => Fault::None,
        }
    });
    world.create(SETS, example(1));
    work(&world).await;
    assert!(lost.load(Ordering::SeqCst));
    assert_eq!(world.list("pods").iter().filter(|it| it.name().starts_with("inf-0-fe")).count(), 2);
    assert_eq!(world.get(SETS, "inf").field("/status/availableReplicas"), Some(&json!(1)));
}
