//! What one template has otherwise than another, in short lines.
//!
//! Only what makes other pods: the labels, annotations and pods of every clique.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

/// Keys by which items of a list are told apart; without any it is their place. Several mounts may be of one volume.
const KEYS: [&str; 6] = ["mountPath", "devicePath", "name", "containerPort", "key", "ip"];

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Change {
    /// Where: the clique, and the field.
    pub(super) field: String,
    /// What it was; absent where it is new.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<String>,
    /// What it is; absent where it is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<String>,
}

/// All differences, images first.
pub(super) fn changes(from: &Value, to: &Value) -> Vec<Change> {
    let (before, after) = (fields(from), fields(to));
    let mut names: Vec<&String> =
        before.keys().chain(after.keys().filter(|it| !before.contains_key(*it))).collect();
    names.sort_by_key(|it| (it.rsplit('.').next() != Some("image"), *it));
    let changed = names.into_iter().filter(|it| before.get(*it) != after.get(*it));
    changed
        .map(|it| Change { field: it.clone(), from: before.get(it).cloned(), to: after.get(it).cloned() })
        .collect()
}

/// All that a template says of its pods: where, and what.
fn fields(template: &Value) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    for clique in template["cliques"].as_array().into_iter().flatten() {
        let name = clique["name"].as_str().unwrap_or_default();
        for part in ["labels", "annotations"] {
            flatten(&mut fields, &format!("{name}.{part}"), &clique[part]);
        }
        if let Some(pod) = clique["spec"]["podSpec"].as_object() {
            pod.iter().for_each(|(field, value)| flatten(&mut fields, &format!("{name}.{field}"), value));
        }
    }
    fields
}

fn flatten(fields: &mut BTreeMap<String, String>, path: &str, value: &Value) {
    match value {
        Value::Null => {}
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| flatten(fields, &format!("{path}.{key}"), value));
        }
        // Arguments are read as a whole.
        Value::Array(items) if !items.iter().any(Value::is_object) => {
            let items: Vec<String> = items.iter().map(scalar).collect();
            fields.insert(path.to_owned(), items.join(" "));
        }
        Value::Array(items) => {
            let mut seen = BTreeSet::new();
            for (place, item) in items.iter().enumerate() {
                let key = KEYS.into_iter().find(|it| item.get(it).is_some_and(|it| !it.is_null()));
                let mut id = key.map_or_else(|| place.to_string(), |it| scalar(&item[it]));
                if !seen.insert(id.clone()) {
                    id = format!("{id}, {place}");
                }
                let mut rest = item.clone();
                // The path says it already, unless there is nothing else to say.
                if let (Some(key), Some(rest)) = (key, rest.as_object_mut())
                    && rest.len() > 1
                {
                    rest.remove(key);
                }
                flatten(fields, &format!("{path}[{id}]"), &rest);
            }
        }
        other => _ = fields.insert(path.to_owned(), scalar(other)),
    }
}

fn scalar(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn template(pod: &Value, labels: &Value) -> Value {
        json!({ "cliques": [{ "name": "a", "labels": labels, "spec": { "replicas": 2, "podSpec": pod } }] })
    }

    fn words(from: &Value, to: &Value) -> Vec<String> {
        let word = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
        changes(from, to)
            .into_iter()
            .map(|it| format!("{} {} {}", it.field, word(it.from), word(it.to)))
            .collect()
    }

    #[test]
    fn images_come_first_and_lists_are_told_apart_by_name() {
        let from = template(
            &json!({ "containers": [
                { "name": "main", "image": "x:1", "args": ["--a", "1"], "env": [{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }] },
            ], "volumes": [{ "name": "v", "emptyDir": {} }] }),
            &json!({ "team": "a" }),
        );
        let to = template(
            &json!({ "containers": [
                { "name": "side", "image": "y:1" },
                { "name": "main", "image": "x:2", "args": ["--a", "2"], "env": [{ "name": "B", "value": "2" }, { "name": "C", "value": "3" }] },
            ], "hostNetwork": true, "volumes": [{ "name": "v", "emptyDir": {} }] }),
            &json!({ "team": "b" }),
        );
        assert_eq!(
            words(&from, &to),
            [
                "a.containers[main].image x:1 x:2",
                "a.containers[side].image - y:1",
                "a.containers[main].args --a 1 --a 2",
                "a.containers[main].env[A].value 1 -",
                "a.containers[main].env[C].value - 3",
                "a.hostNetwork - true",
                "a.labels.team a b",
            ]
        );
        assert_eq!(words(&from, &from), Vec::<String>::new());
    }

    #[test]
    fn what_makes_no_other_pods_is_left_out() {
        let mut to = template(&json!({ "containers": [] }), &Value::Null);
        let from = to.clone();
        to["cliques"][0]["spec"]["replicas"] = json!(9);
        to["terminationDelay"] = json!("1h");
        to["priorityClassName"] = json!("high");
        assert_eq!(words(&from, &to), Vec::<String>::new());
    }

    /// Of one volume, of one key, of one port: what changed of the first is not hidden by the second.
    #[test]
    fn items_of_one_name_are_told_apart() {
        let of_main = |field: &str, items: &Value| {
            template(&json!({ "containers": [{ "name": "m", field: items }] }), &Value::Null)
        };
        let mounts = |path: &str| {
            let of = |path: &str, sub: &str| json!({ "name": "v", "mountPath": path, "subPath": sub });
            of_main("volumeMounts", &json!([of("/x", path), of("/y", "b")]))
        };
        assert_eq!(words(&mounts("a"), &mounts("c")), ["a.containers[m].volumeMounts[/x].subPath a c"]);
        let ports = |protocol: &str| {
            let of = |protocol: &str| json!({ "containerPort": 80, "protocol": protocol });
            of_main("ports", &json!([of(protocol), of("UDP")]))
        };
        assert_eq!(words(&ports("TCP"), &ports("SCTP")), ["a.containers[m].ports[80].protocol TCP SCTP"]);
        let tolerations = |effect: &str| {
            let of = |effect: &str| json!({ "key": "gpu", "effect": effect });
            template(&json!({ "tolerations": [of(effect), of("NoSchedule")] }), &Value::Null)
        };
        assert_eq!(
            words(&tolerations("NoExecute"), &tolerations("PreferNoSchedule")),
            ["a.tolerations[gpu].effect NoExecute PreferNoSchedule"]
        );
    }

    #[test]
    fn an_item_that_has_nothing_but_its_name_is_seen() {
        let env = |names: &[&str]| {
            let env: Vec<Value> = names.iter().map(|it| json!({ "name": it })).collect();
            template(&json!({ "containers": [{ "name": "m", "env": env }] }), &Value::Null)
        };
        assert_eq!(words(&env(&["A"]), &env(&["A", "B"])), ["a.containers[m].env[B].name - B"]);
    }
}
