//! Templates that the API server refuses: an update asks before it deletes the first pod.

use std::time::Duration;

use grove_apiserver::{Action, Fault, WriteRequest};
use serde_json::json;

use crate::{
    updates::{condition, image, ready, serving, status},
    world::World,
};

const ALL: &[usize] = &[0, 1, 2];

/// Whether a write is a dry run of a pod with this image.
fn is_dry_run(write: &WriteRequest, image: &str) -> bool {
    let Action::Create(pod) = &write.action else { return false };
    write.dry_run
        && write.resource.id() == "pods"
        && pod.pointer("/spec/containers/0/image") == Some(&json!(image))
}

/// Dry runs of pods with this image are answered like this.
fn answer(world: &World, image: &'static str, code: u16, message: &'static str) {
    world.server.before_write(move |write| {
        if is_dry_run(write, image) { Fault::refuse(code, "", message) } else { Fault::None }
    });
}

fn uids(world: &World) -> Vec<String> {
    let mut uids: Vec<String> = world.list("pods").iter().map(|it| it.uid().to_owned()).collect();
    uids.sort();
    uids
}

fn dry_runs(world: &World) -> usize {
    world.server.store().dry_runs().iter().filter(|it| it.resource == "pods").count()
}

fn words(world: &World) -> String {
    let all = status(world, "/conditions");
    let found = all.as_array().into_iter().flatten().find(|it| it["type"] == "UpdateInProgress");
    found.map_or(String::new(), |it| it["message"].as_str().unwrap_or_default().to_owned())
}

fn all_have(world: &World, image: &str) -> bool {
    serving(world).values().flatten().all(|it| it == image)
}

const REFUSAL: &str = "pods are forbidden: no PriorityClass with name fast was found";

/// Nothing is deleted, the set says why, and it goes on when the reason is gone.
#[tokio::test(start_paused = true)]
async fn refused_template_costs_no_pod() {
    for (code, message) in [(403, REFUSAL), (422, "Pod is invalid: spec.x: Invalid value")] {
        let world = ready(111, 2).await;
        let before = (uids(&world), serving(&world));
        answer(&world, "engine:2", code, message);
        image(&world, ALL, "engine:2");
        world.settle().await;
        assert_eq!((uids(&world), serving(&world)), before, "{code}");
        assert_eq!(condition(&world, "UpdateInProgress"), "True/PodTemplateRefused");
        let said = words(&world);
        assert!(said.contains("No pod is deleted for it") && said.contains(message), "{said}");
        assert_eq!(condition(&world, "Available"), "True/AllReplicasAvailable");
        // Members of the group keep the template that works.
        let clique = world.get("podcliques.grove.io", "inf-0-pd-0-dec");
        assert_eq!(clique.field("/spec/podSpec/containers/0/image"), Some(&json!("engine:1")));

        // It is tried again, less and less often, and that writes nothing.
        let (tried, written) = (dry_runs(&world), world.server.store().write_count());
        tokio::time::sleep(Duration::from_mins(5)).await;
        let again = dry_runs(&world) - tried;
        assert!((4..=20).contains(&again), "{again} dry runs in five minutes");
        assert_eq!(world.server.store().write_count(), written);

        world.server.before_write(|_| Fault::None);
        tokio::time::sleep(Duration::from_mins(2)).await;
        world.settle().await;
        assert!(all_have(&world, "engine:2"), "{:?}", serving(&world));
        assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
    }
}

/// Another template is tried at once.
#[tokio::test(start_paused = true)]
async fn changed_template_is_tried_at_once() {
    let world = ready(112, 1).await;
    let before = uids(&world);
    answer(&world, "engine:2", 403, REFUSAL);
    image(&world, &[0], "engine:2");
    world.settle().await;
    assert_eq!(uids(&world), before);
    image(&world, &[0], "engine:3");
    world.settle().await;
    assert_eq!(serving(&world)["inf-0-fe"], ["engine:3", "engine:3"]);
    image(&world, &[1, 2], "engine:2");
    world.settle().await;
    image(&world, &[1, 2], "engine:1");
    world.settle().await;
    // Set back: nothing had been replaced.
    assert_eq!(uids(&world).iter().filter(|it| before.contains(it)).count(), 9);
    assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
}

/// What says nothing about the template does not hold up an update.
#[tokio::test(start_paused = true)]
async fn other_answers_do_not_block() {
    for (code, message) in [
        (403, r#"pods "inf-0-fe-x7k2p" is forbidden: exceeded quota: q, requested: pods=1"#),
        (400, r#"admission webhook "policy.example.com" does not support dry run"#),
        (429, "too many requests"),
        (500, "internal error"),
    ] {
        let world = ready(113, 1).await;
        answer(&world, "engine:2", code, message);
        image(&world, ALL, "engine:2");
        world.settle().await;
        assert!(all_have(&world, "engine:2"), "{code}: {:?}", serving(&world));
        assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
    }
    let world = ready(114, 1).await;
    world.server.before_write(|write| if is_dry_run(write, "engine:2") { Fault::Cut } else { Fault::None });
    image(&world, ALL, "engine:2");
    world.settle().await;
    assert!(all_have(&world, "engine:2"));
}

/// One for each changed template, however many replicas and pods there are; none without an update.
#[tokio::test(start_paused = true)]
async fn each_changed_template_is_tried_once() {
    let world = ready(115, 2).await;
    assert_eq!(dry_runs(&world), 0);
    image(&world, &[0], "engine:2");
    world.settle().await;
    assert_eq!(dry_runs(&world), 1);
    image(&world, ALL, "engine:3");
    world.settle().await;
    assert!(all_have(&world, "engine:3"));
    // The three roles have the same template.
    assert_eq!(dry_runs(&world), 2);
}

/// Who deletes pods by hand asks nobody.
#[tokio::test(start_paused = true)]
async fn on_delete_tries_nothing() {
    let world = ready(116, 1).await;
    let strategy = json!({ "spec": { "updateStrategy": { "type": "OnDelete" } } });
    world.patch("podcliquesets.grove.io", "inf", strategy);
    image(&world, ALL, "engine:2");
    world.settle().await;
    assert_eq!(dry_runs(&world), 0);
}
