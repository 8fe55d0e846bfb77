//! GroupingRules take effect, and say so.

use grove_apiserver::Fault;
use serde_json::{Value, json};

use crate::world::World;

const RULES: &str = "groupingrules.scheduler.grove.io";

fn rule(name: &str, path: &str) -> Value {
    json!({
        "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "GroupingRule", "metadata": { "name": name },
        "spec": {
            "match": { "group": "example.com", "version": "v1", "kind": "Thing" },
            "minMember": { "path": path, "default": 1 },
        },
    })
}

/// Status of conditions by type, and groups.
fn status(world: &World, name: &str) -> (Vec<(String, String)>, u64) {
    let rule = world.server.store().get(RULES, "", name).unwrap();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    let conditions = rule.field("/status/conditions").and_then(Value::as_array).cloned().unwrap_or_default();
    let conditions = conditions.iter().map(|it| (text(&it["type"]), text(&it["status"]))).collect();
    (conditions, rule.field("/status/groups").and_then(Value::as_u64).unwrap_or_default())
}

fn says(compiled: &str, active: &str) -> Vec<(String, String)> {
    [("Compiled", compiled), ("Active", active)].map(|(type_, it)| (type_.to_owned(), it.to_owned())).into()
}

#[tokio::test(start_paused = true)]
async fn a_rule_takes_effect_without_an_event_of_a_pod() {
    let world = World::started();
    let thing = json!({
        "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": "t" }, "spec": { "size": 3 },
    });
    let thing = world.owner("things.example.com", thing);
    world.pod("p", Some(thing));
    world.settle().await;
    let group = world.group_of("p").0.unwrap();
    let minimum = |world: &World| world.group(&group)["spec"]["minMember"].clone();
    assert_eq!(minimum(&world), 1);
    // Until now, nobody read more than the metadata of things.
    world.create(RULES, rule("things", ".spec.size"));
    world.settle().await;
    assert_eq!(minimum(&world), 3);
    assert_eq!(status(&world, "things"), (says("True", "True"), 1));
    world.patch("things.example.com", "t", json!({ "spec": { "size": 5 } }));
    world.settle().await;
    assert_eq!(minimum(&world), 5);
    world.delete(RULES, "things");
    world.settle().await;
    assert_eq!(minimum(&world), 1);
}

#[tokio::test(start_paused = true)]
async fn rules_that_are_not_used_say_so() {
    let world = World::started();
    world.create(RULES, rule("a", ".spec.size"));
    world.create(RULES, rule("b", ".spec.size"));
    let mut native = rule("c", ".spec.size");
    native["spec"]["match"] = json!({ "group": "batch", "version": "v1", "kind": "Job" });
    world.create(RULES, native);
    world.create(RULES, rule("d", "nonsense["));
    world.settle().await;
    assert_eq!(status(&world, "a"), (says("True", "True"), 0));
    assert_eq!(status(&world, "b"), (says("True", "False"), 0));
    assert_eq!(status(&world, "c"), (says("True", "False"), 0));
    assert_eq!(status(&world, "d"), (says("False", "False"), 0));
    let before = world.server.store().revision();
    world.settle().await;
    assert_eq!(world.server.store().revision(), before);
    // The first one goes, and the next one takes its place.
    world.delete(RULES, "a");
    world.settle().await;
    assert_eq!(status(&world, "b"), (says("True", "True"), 0));
}

#[tokio::test(start_paused = true)]
async fn a_status_that_was_refused_is_written_later() {
    let world = World::started();
    let mut refused = 0;
    world.server.before_write(move |request| {
        if request.resource.plural != "groupingrules" || refused == 2 {
            return Fault::None;
        }
        refused += 1;
        Fault::refuse(500, "InternalError", "not now")
    });
    world.create(RULES, rule("things", ".spec.size"));
    tokio::time::sleep(std::time::Duration::from_secs(30)).await;
    assert_eq!(status(&world, "things"), (vec![], 0));
    tokio::time::sleep(std::time::Duration::from_mins(3)).await;
    assert_eq!(status(&world, "things"), (says("True", "True"), 0));
}

#[tokio::test(start_paused = true)]
async fn groups_of_a_rule_are_counted() {
    let world = World::started();
    world.create(RULES, rule("things", ".spec.size"));
    for name in ["s", "t"] {
        let thing = json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": name } });
        let thing = world.owner("things.example.com", thing);
        world.pod(&format!("{name}-0"), Some(thing.clone()));
        world.pod(&format!("{name}-1"), Some(thing));
    }
    world.settle().await;
    assert_eq!(status(&world, "things").1, 2);
    let group = world.group_of("s-0").0.unwrap();
    for pod in ["s-0", "s-1"] {
        world.delete("pods", pod);
    }
    world.delete(crate::world::GROUPS, &group);
    world.settle().await;
    assert_eq!(status(&world, "things").1, 1);
}
