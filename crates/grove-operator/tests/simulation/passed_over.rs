//! A set says what its scheduler passes over.

use serde_json::{Value, json};

use crate::{
    herds::{TOY, Toy},
    world::{World, example},
};

const SETS: &str = "podcliquesets.grove.io";

/// Reason and words of the set's condition; `None` where it has none.
fn gap(world: &World, set: &str) -> Option<(String, String)> {
    let set = world.get(SETS, set);
    let conditions = set.field("/status/conditions")?.as_array()?;
    let gap = conditions.iter().find(|it| it["type"] == "SchedulerCapabilityGap")?;
    assert_eq!(gap["status"], "True");
    let text = |field: &str| gap[field].as_str().map(str::to_owned);
    Some((text("reason")?, text("message")?))
}

/// The example for a scheduler, with a PriorityClass.
fn prior(scheduler: &str) -> Value {
    let mut set = example(1);
    set["spec"]["template"]["priorityClassName"] = "high".into();
    for clique in set["spec"]["template"]["cliques"].as_array_mut().unwrap() {
        clique["spec"]["podSpec"]["schedulerName"] = scheduler.into();
    }
    set
}

/// This API server has no PodGroups.
#[tokio::test(start_paused = true)]
async fn plain_pods_of_the_stock_scheduler_are_told() {
    let world = World::started(1);
    world.create(SETS, example(1));
    world.settle().await;
    let (reason, words) = gap(&world, "inf").unwrap();
    assert_eq!(reason, "FeaturesPassedOver");
    let start = "default-scheduler ignores MultiGroupGang: the API server does not serve PodGroups";
    assert!(words.starts_with(start) && words.ends_with('.'), "{words}");
}

#[tokio::test(start_paused = true)]
async fn it_is_said_for_as_long_as_it_is_so() {
    let toy = Toy::default();
    let mut world = World::with_toy(2, &toy);
    world.start();
    world.create(SETS, prior(TOY));
    world.settle().await;
    let said = "toy-scheduler ignores PriorityClass: all herds are equal.";
    let want = Some(("FeaturesPassedOver".to_owned(), said.to_owned()));
    assert_eq!(gap(&world, "inf"), want);

    // While the backend is missing nobody knows, and what was said stands.
    world.kill();
    toy.order(|it| it.missing = Some("the Herd CRD is missing"));
    world.start();
    world.patch(SETS, "inf", json!({ "spec": { "replicas": 2 } }));
    world.settle().await;
    assert_eq!(gap(&world, "inf"), want);

    toy.order(|it| it.missing = None);
    world.patch(SETS, "inf", json!({ "spec": { "template": { "priorityClassName": null } } }));
    tokio::time::sleep(std::time::Duration::from_secs(31)).await;
    world.settle().await;
    assert_eq!(gap(&world, "inf"), None);
}
