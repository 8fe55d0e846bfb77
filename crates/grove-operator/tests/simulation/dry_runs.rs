//! Templates that the API server refuses: an update asks before it deletes the first pod.

use std::{cell::Cell, time::Duration};

use grove_apiserver::{Action, Fault, WriteRequest};
use serde_json::{Value, json};

use crate::{
    updates::{condition, image, ready, serving, status},
    workload::{SETS, lose, pods, restarted},
    world::{World, example},
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
        // All PodCliques keep the template that works.
        for clique in world.list("podcliques.grove.io") {
            assert_eq!(clique.field("/spec/podSpec/containers/0/image"), Some(&json!("engine:1")));
        }

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

/// Pods with this image are refused, dry or not.
fn refuse_pods(world: &World, image: &'static str) {
    world.server.before_write(move |write| {
        let Action::Create(pod) = &write.action else { return Fault::None };
        let is_new = pod.pointer("/spec/containers/0/image") == Some(&json!(image));
        let is_pod = write.resource.id() == "pods";
        if is_pod && is_new { Fault::refuse(403, "Forbidden", REFUSAL) } else { Fault::None }
    });
}

/// A set of two replicas that run and need all pods of `fe`, in the middle of an update that the API server refuses.
async fn refused(seed: u64, restart_policy: Value) -> World {
    let world = World::started(seed);
    let mut set = example(2);
    set["spec"]["template"]["terminationDelay"] = "10s".into();
    set["spec"]["template"]["restartPolicy"] = restart_policy;
    set["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 2.into();
    world.create(SETS, set);
    world.settle().await;
    refuse_pods(&world, "engine:2");
    image(&world, ALL, "engine:2");
    world.settle().await;
    assert_eq!(condition(&world, "UpdateInProgress"), "True/PodTemplateRefused");
    assert!(all_have(&world, "engine:1"));
    world
}

/// When the template is accepted, the update goes on by itself.
async fn goes_on(world: &World) {
    world.server.before_write(|_| Fault::None);
    tokio::time::sleep(Duration::from_mins(2)).await;
    world.settle().await;
    assert!(all_have(world, "engine:2"), "{:?}", serving(world));
    assert_eq!(condition(world, "UpdateInProgress"), "False/UpdateEnded");
}

/// A pod that is lost in the middle of that comes back as it was, whether or not its replica has its turn: nothing is
/// terminated because of a template that nobody can use.
#[tokio::test(start_paused = true)]
async fn lost_pod_comes_back_while_the_new_template_is_refused() {
    for (seed, clique) in [(117, "inf-0-fe"), (118, "inf-1-fe")] {
        let world = refused(seed, Value::Null).await;
        let (before, served) = (uids(&world), serving(&world));
        lose(&world, clique, 1);
        world.settle().await;
        tokio::time::sleep(Duration::from_mins(5)).await;
        world.settle().await;
        assert_eq!(serving(&world), served, "{clique}");
        let kept = uids(&world).iter().filter(|it| before.contains(it)).count();
        assert_eq!(kept, before.len() - 1, "{clique}: all others are the same");
        goes_on(&world).await;
    }
}

/// A restart policy that restarts the whole replica gets pods that can be made.
#[tokio::test(start_paused = true)]
async fn restarted_replica_comes_back_while_the_new_template_is_refused() {
    let world = refused(119, json!({ "scope": "SetReplica" })).await;
    let (before, served) = (pods(&world), serving(&world));
    let pod = world.names("pods").into_iter().find(|it| it.starts_with("inf-1-fe-")).unwrap();
    let error = json!({ "terminated": { "exitCode": 1 } });
    let container = json!({ "name": "main", "ready": false, "lastState": error });
    let unready = json!({ "type": "Ready", "status": "False" });
    let status = json!({ "phase": "Running", "conditions": [unready], "containerStatuses": [container] });
    world.patch_status("pods", &pod, status);
    world.settle().await;
    let replica: Vec<&str> =
        before.keys().map(String::as_str).filter(|it| it.starts_with("inf-1-")).collect();
    assert_eq!(restarted(&before, &world), replica.join(" "));
    assert_eq!(serving(&world), served);
    goes_on(&world).await;
}

/// An operator that starts in the middle of it asks first, too.
#[tokio::test(start_paused = true)]
async fn lost_pod_comes_back_under_another_operator() {
    let mut world = refused(120, Value::Null).await;
    let served = serving(&world);
    world.kill();
    lose(&world, "inf-1-fe", 1);
    world.start();
    world.settle().await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    world.settle().await;
    assert_eq!(serving(&world), served);
    goes_on(&world).await;
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

thread_local! {
    /// Whether dry runs get no answer. All of a test is on one thread.
    static STALLED: Cell<bool> = const { Cell::new(false) };
}

/// A dry run without an answer ends with the reconcile that waits for it, at its deadline; then another one asks.
#[tokio::test(start_paused = true)]
async fn dry_run_without_an_answer_is_repeated() {
    let mut world = World::new(121);
    world.delay = |_, path| {
        let is_stalled = path.contains("dryRun=All") && STALLED.get();
        if is_stalled { Duration::from_hours(10) } else { Duration::ZERO }
    };
    world.start();
    world.create(SETS, example(1));
    world.settle().await;
    STALLED.set(true);
    image(&world, ALL, "engine:2");
    tokio::time::sleep(Duration::from_secs(100)).await;
    assert!(all_have(&world, "engine:1"), "nothing is replaced before there is an answer");
    STALLED.set(false);
    tokio::time::sleep(Duration::from_mins(1)).await;
    world.settle().await;
    assert!(all_have(&world, "engine:2"), "{:?}", serving(&world));
    assert_eq!(condition(&world, "UpdateInProgress"), "False/UpdateEnded");
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

/// A template that PodCliques have already, because nobody was asked, is tried before their pods are replaced.
#[tokio::test(start_paused = true)]
async fn template_that_came_with_on_delete_is_tried_before_pods_are_replaced() {
    let world = ready(122, 1).await;
    let before = uids(&world);
    let strategy = |type_: &str| {
        world.patch(SETS, "inf", json!({ "spec": { "updateStrategy": { "type": type_ } } }));
    };
    strategy("OnDelete");
    image(&world, &[0], "engine:2");
    world.settle().await;
    let clique = world.get("podcliques.grove.io", "inf-0-fe");
    assert_eq!(clique.field("/spec/podSpec/containers/0/image"), Some(&json!("engine:2")));
    refuse_pods(&world, "engine:2");
    strategy("RollingRecreate");
    world.settle().await;
    assert_eq!(uids(&world), before);
    assert_eq!(condition(&world, "UpdateInProgress"), "True/PodTemplateRefused");
    world.server.before_write(|_| Fault::None);
    tokio::time::sleep(Duration::from_mins(2)).await;
    world.settle().await;
    assert_eq!(serving(&world)["inf-0-fe"], ["engine:2", "engine:2"]);
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
