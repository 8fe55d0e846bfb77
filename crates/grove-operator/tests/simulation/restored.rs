//! etcd is restored from a backup while the operator runs.

use serde_json::{Value, json};

use crate::world::{World, example};

const GROUPS: &str = "podcliquescalinggroups.grove.io";
const SETS: &str = "podcliquesets.grove.io";

/// Takes back everything from the last change of an object of this kind on.
fn take_back_to_the_last_change(world: &World, resource: &str) {
    let store = world.server.store();
    // Some of the first are forgotten.
    let events = (1..store.revision()).find_map(|it| store.events_since(it).ok()).unwrap();
    let last = events.iter().rfind(|it| &*it.key.resource == resource).unwrap();
    world.server.restore(store.revision() - last.revision + 1, true);
}

/// Nobody else writes a status: that it changes is news only where it went back.
#[tokio::test(start_paused = true)]
async fn a_status_that_was_taken_back_is_written_again() {
    for (resource, name) in [(GROUPS, "inf-0-pd"), (SETS, "inf")] {
        let world = World::started(1);
        world.create(SETS, example(1));
        world.settle().await;
        world.patch(GROUPS, "inf-0-pd", json!({ "spec": { "replicas": 4 } }));
        world.settle().await;
        let status = |world: &World| world.get(resource, name).field("/status").cloned().unwrap();
        let before = status(&world);
        take_back_to_the_last_change(&world, resource);
        assert_ne!(status(&world), before, "{resource}");
        world.settle().await;
        assert_eq!(without_times(status(&world)), without_times(before), "{resource}");
    }
}

fn without_times(mut status: Value) -> Value {
    for condition in status["conditions"].as_array_mut().unwrap() {
        condition["lastTransitionTime"].take();
    }
    status
}
