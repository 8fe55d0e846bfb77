//! The state of a cluster in words that are the same for the same state: pods by index instead of by made-up name,
//! without UIDs, versions and times.

use std::collections::BTreeMap;

use grove_api::constants::labels;
use serde_json::Value;

use crate::world::World;

const KINDS: [&str; 8] = [
    "podcliquesets.grove.io",
    "podcliquescalinggroups.grove.io",
    "podcliques.grove.io",
    "podgangs.scheduler.grove.io",
    "services",
    "horizontalpodautoscalers.autoscaling",
    "controllerrevisions.apps",
    "pods",
];

/// Everything of Grove's in the cluster.
pub(crate) fn snapshot(world: &World) -> Vec<String> {
    let aliases: BTreeMap<String, String> = world
        .list("pods")
        .iter()
        .map(|pod| {
            let label =
                |key| pod.field("/metadata/labels").and_then(|it| it.get(key)).and_then(Value::as_str);
            let clique = label(labels::POD_CLIQUE).unwrap_or("?");
            let index = label(labels::POD_INDEX).unwrap_or("?");
            (pod.name().to_owned(), format!("{clique}#{index}"))
        })
        .collect();
    let mut lines = Vec::new();
    for kind in KINDS {
        for object in world.list(kind) {
            let mut value = object.value().clone();
            clean(&mut value, &aliases);
            lines.push(format!("{kind} {value}"));
        }
    }
    lines.sort();
    lines
}

fn clean(value: &mut Value, aliases: &BTreeMap<String, String>) {
    const DROPPED: [&str; 10] = [
        "uid",
        "resourceVersion",
        "creationTimestamp",
        "managedFields",
        "generation",
        "observedGeneration",
        "lastTransitionTime",
        "lastScheduled",
        "lastReady",
        "generateName",
    ];
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !DROPPED.contains(&key.as_str()));
            map.values_mut().for_each(|it| clean(it, aliases));
            map.sort_keys();
        }
        Value::Array(items) => {
            for item in items.iter_mut() {
                clean(item, aliases);
            }
            // References are sorted by name, which is made up.
            if items.iter().all(|it| it.get("namespace").is_some()) {
                items.sort_by_key(Value::to_string);
            }
        }
        Value::String(text) => {
            if let Some(alias) = aliases.get(text) {
                text.clone_from(alias);
            }
        }
        _ => {}
    }
}
