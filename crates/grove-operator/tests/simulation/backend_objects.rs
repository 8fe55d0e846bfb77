//! What SchedulerBackend objects say, and what is told of them.

use std::{sync::Arc, time::Duration};

use grove_apiserver::{Action, Answer, DeleteOptions, Object, PatchBody, Subresource};
use grove_scheduler::Feature;
use serde_json::{Value, json};

use crate::{
    herds::{TOY, Toy},
    world::{World, example, profiles},
};

const BACKENDS: &str = "schedulerbackends.grove.io";
const KUBE: &str = "default-scheduler";
const KAI: &str = "kai-scheduler";
const EVENTS: &str = "events.events.k8s.io";

const INITIALIZED_KUBE: &str = "Scheduler backend 'default-scheduler' initialized successfully";
const INITIALIZED_TOY: &str = "Scheduler backend 'toy-scheduler' initialized successfully";
const FAILED_TOY: &str = "Failed to initialize scheduler backend 'toy-scheduler': the Herd CRD is missing";

fn object(world: &World, name: &str) -> Arc<Object> {
    world.server.store().get(BACKENDS, "", name).unwrap_or_else(|| panic!("there is no backend {name}"))
}

/// Status and reason of the condition, and whether it is the default.
fn said(world: &World, name: &str) -> (String, String, bool) {
    let object = object(world, name);
    let text = |pointer: &str| object.field(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    assert_eq!(text("/status/conditions/0/type"), "SchedulerBackendReady");
    (
        text("/status/conditions/0/status"),
        text("/status/conditions/0/reason"),
        object.field("/status/default") == Some(&json!(true)),
    )
}

fn verdict(status: &str, reason: &str, default: bool) -> (String, String, bool) {
    (status.to_owned(), reason.to_owned(), default)
}

/// An Event: object, type, reason, note.
type Told = (String, String, String, String);

fn event(name: &str, kind: &str, reason: &str, note: &str) -> Told {
    (name.to_owned(), kind.to_owned(), reason.to_owned(), note.to_owned())
}

fn switched(from: &str, to: &str) -> String {
    format!("Switched from backend '{from}' to '{to}'")
}

/// Events of backends that were posted since the last call.
fn told(world: &World) -> Vec<Told> {
    let mut all = Vec::new();
    for object in world.server.store().list(EVENTS, None) {
        let text = |pointer: &str| object.field(pointer).and_then(Value::as_str).unwrap_or_default();
        if text("/regarding/kind") == "SchedulerBackend" {
            all.push(event(text("/regarding/name"), text("/type"), text("/reason"), text("/note")));
        }
        let delete = Action::Delete(DeleteOptions::default());
        world.write(EVENTS, "default", object.name(), None, delete).unwrap();
    }
    all.sort();
    all
}

async fn restart(world: &mut World) {
    world.kill();
    world.start();
    world.settle().await;
}

fn write(world: &World, name: &str, subresource: Option<Subresource>, action: Action) -> Answer {
    world.write(BACKENDS, "", name, subresource, action).unwrap()
}

#[tokio::test(start_paused = true)]
async fn each_backend_that_is_compiled_in_has_an_object() {
    let world = World::started(1);
    world.settle().await;
    let all = world.server.store().list(BACKENDS, None);
    assert_eq!(all.iter().map(|it| it.name()).collect::<Vec<_>>(), [KUBE, KAI, "volcano"]);
    assert_eq!(said(&world, KUBE), verdict("True", "BackendInitialized", true));
    for other in [KAI, "volcano"] {
        assert_eq!(said(&world, other), verdict("Unknown", "BackendNotConfigured", false));
    }
    let kube = object(&world, KUBE);
    assert_eq!(kube.field("/status/schedulerName"), Some(&json!(KUBE)));
    assert_eq!(kube.field("/status/observedGeneration"), Some(&json!(1)));
    let features: Vec<_> = kube.field("/status/capabilities").unwrap().as_array().unwrap().clone();
    let features: Vec<_> = features.iter().map(|it| it["feature"].as_str().unwrap()).collect();
    assert_eq!(features, Feature::ALL.iter().map(|it| it.name()).collect::<Vec<_>>());
    // One create and one status each.
    let of_backends = |it: &&grove_apiserver::WriteRecord| it.resource == BACKENDS;
    assert_eq!(world.server.store().writes().iter().filter(of_backends).count(), 6);
}

#[tokio::test(start_paused = true)]
async fn what_somebody_changes_is_mended() {
    let world = World::started(2);
    world.settle().await;
    write(&world, KAI, None, Action::Delete(DeleteOptions::default()));
    let wrong = json!({ "status": { "default": false, "capabilities": [] } });
    write(&world, KUBE, Some(Subresource::Status), Action::Patch(PatchBody::Merge(wrong)));
    world.settle().await;
    assert_eq!(said(&world, KAI), verdict("Unknown", "BackendNotConfigured", false));
    assert_eq!(said(&world, KUBE), verdict("True", "BackendInitialized", true));
    let capabilities = object(&world, KUBE).field("/status/capabilities").unwrap().as_array().unwrap().len();
    assert_eq!(capabilities, Feature::ALL.len());
}

/// A restart is no news; a backend that cannot be used is, and so is another default.
#[tokio::test(start_paused = true)]
async fn events_tell_what_is_new_and_who_was_the_default() {
    let toy = Toy::default();
    toy.order(|it| it.missing = Some("the Herd CRD is missing"));
    let mut world = World::with_toy(3, &toy);
    world.tells = true;
    world.start();
    world.settle().await;
    assert_eq!(
        told(&world),
        [
            event(KUBE, "Normal", "BackendInitialized", INITIALIZED_KUBE),
            event(TOY, "Warning", "BackendInitializationFailed", FAILED_TOY),
        ]
    );
    assert_eq!(said(&world, TOY), verdict("False", "BackendInitializationFailed", false));

    restart(&mut world).await;
    assert_eq!(told(&world), []);

    // Another default, although it cannot be used yet.
    world.scheduler = profiles(&[KUBE, TOY], TOY);
    restart(&mut world).await;
    assert_eq!(told(&world), [event(TOY, "Normal", "BackendSwitched", &switched(KUBE, TOY))]);
    assert_eq!(said(&world, TOY), verdict("False", "BackendInitializationFailed", true));
    assert_eq!(said(&world, KUBE), verdict("True", "BackendInitialized", false));

    // It comes, and is found without a restart.
    toy.order(|it| it.missing = None);
    tokio::time::sleep(Duration::from_secs(31)).await;
    world.settle().await;
    assert_eq!(told(&world), [event(TOY, "Normal", "BackendInitialized", INITIALIZED_TOY)]);
    assert_eq!(said(&world, TOY), verdict("True", "BackendInitialized", true));
    assert_eq!(object(&world, TOY).field("/status/schedulerVersion"), Some(&json!("1")));

    world.scheduler = profiles(&[KUBE], KUBE);
    restart(&mut world).await;
    assert_eq!(told(&world), [event(KUBE, "Normal", "BackendSwitched", &switched(TOY, KUBE))]);
    assert_eq!(said(&world, TOY), verdict("Unknown", "BackendNotConfigured", false));
    assert_eq!(object(&world, TOY).field("/status/schedulerVersion"), None);
}

/// Objects that an operator with another backend left.
#[tokio::test(start_paused = true)]
async fn what_another_build_left_is_marked_and_kept() {
    let mut world = World::new(4);
    world.tells = true;
    for (name, labels) in
        [("former", json!({ "app.kubernetes.io/managed-by": "grove-operator" })), ("theirs", json!({}))]
    {
        let object = json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "SchedulerBackend", "spec": {},
            "metadata": { "name": name, "labels": labels },
        });
        write(&world, "", None, Action::Create(object));
    }
    let default = json!({ "status": { "default": true, "schedulerVersion": "7" } });
    write(&world, "former", Some(Subresource::Status), Action::Patch(PatchBody::Merge(default)));
    world.start();
    world.settle().await;
    assert_eq!(said(&world, "former"), verdict("Unknown", "BackendNotConfigured", false));
    assert_eq!(object(&world, "former").field("/status/schedulerVersion"), None);
    assert_eq!(object(&world, "theirs").field("/status"), None);
    assert_eq!(
        told(&world),
        [
            event(KUBE, "Normal", "BackendInitialized", INITIALIZED_KUBE),
            event(KUBE, "Normal", "BackendSwitched", &switched("former", KUBE)),
        ]
    );
}

/// A cluster with upstream's kinds only.
#[tokio::test(start_paused = true)]
async fn without_the_kind_everything_else_works() {
    let mut world = World::without(5, BACKENDS);
    world.start();
    world.create("podcliquesets.grove.io", example(1));
    world.settle().await;
    let set = world.get("podcliquesets.grove.io", "inf");
    assert_eq!(set.field("/status/availableReplicas"), Some(&json!(1)));
}
