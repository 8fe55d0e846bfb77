//! What it costs: reads and writes, counted.

use serde_json::json;

use crate::world::World;

const JOBS: usize = 1_000;
const PODS: usize = 10;

/// Ten thousand pods of a thousand owners: one write for each group, one for each pod, and owners that are listed once.
#[tokio::test(start_paused = true)]
async fn ten_thousand_pods() {
    let mut world = World::new();
    for number in 0..JOBS {
        let job = world.job(&format!("j{number}"));
        for pod in 0..PODS {
            world.pod(&format!("j{number}-{pod}"), Some(job.clone()));
        }
    }
    world.start();
    world.settle().await;
    assert_eq!(world.groups().len(), JOBS);
    assert_eq!(world.writes(), (JOBS, JOBS * PODS));
    let (objects, lists) = world.gate.reads("jobs");
    assert!(objects == 0 && lists <= 4, "{objects} Jobs were read one by one, and all of them {lists} times");
    assert_eq!(world.gate.reads("pods").0, 0);
    // Nobody's business any more.
    world.patch("jobs.batch", "j0", json!({ "metadata": { "labels": { "a": "b" } } }));
    world.settle().await;
    assert_eq!(world.writes(), (JOBS + 1, JOBS * PODS));
}
