//! What happens to a set, from its creation to its end.

use serde_json::json;

use crate::world::{World, example};

#[tokio::test(start_paused = true)]
async fn a_set_runs_to_ready() {
    let world = World::started(1);
    world.create("podcliquesets.grove.io", example(1));
    world.settle().await;

    assert_eq!(world.names("podgangs.scheduler.grove.io"), ["inf-0", "inf-0-pd-0", "inf-0-pd-1"]);
    assert_eq!(world.names("services"), ["inf-0"]);
    assert_eq!(world.names("podcliquescalinggroups.grove.io"), ["inf-0-pd"]);
    assert_eq!(
        world.names("podcliques.grove.io"),
        [
            "inf-0-fe",
            "inf-0-pd-0-dec",
            "inf-0-pd-0-pre",
            "inf-0-pd-1-dec",
            "inf-0-pd-1-pre",
            "inf-0-pd-2-dec",
            "inf-0-pd-2-pre"
        ]
    );
    assert_eq!(world.list("pods").len(), 2 + 3 * 3);
    for pod in world.list("pods") {
        assert_eq!(pod.field("/spec/nodeName"), Some(&json!("node")), "{}", pod.name());
    }
    let set = world.get("podcliquesets.grove.io", "inf");
    let status = set.field("/status").unwrap();
    assert_eq!(status["availableReplicas"], 1);
    assert_eq!(status["updatedReplicas"], 1);
    assert_eq!(status["observedGeneration"], 1);
    for gang in world.list("podgangs.scheduler.grove.io") {
        assert_eq!(gang.field("/status/phase"), Some(&json!("Running")), "{}", gang.name());
    }
}

#[tokio::test(start_paused = true)]
async fn deletion_leaves_nothing_behind() {
    let world = World::started(2);
    world.create("podcliquesets.grove.io", example(2));
    world.settle().await;
    world.delete("podcliquesets.grove.io", "inf");
    world.settle().await;
    for kind in ["podcliquesets.grove.io", "podcliques.grove.io", "pods", "services", "podgangs.scheduler.grove.io"] {
        assert_eq!(world.names(kind), Vec::<String>::new(), "{kind}");
    }
}
