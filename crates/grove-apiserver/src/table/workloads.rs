//! Deployments and the like.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::text::{NONE, age, condition, containers, labels, number, or, selector, text};
use super::{AGE, NAME, Printer, age as time, integer, string, wide};
use crate::object::Object;

pub(super) const DEPLOYMENT: Printer = Printer {
    columns: &[
        NAME,
        string("Ready"),
        string("Up-to-date"),
        string("Available"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: deployment,
};
pub(super) const REPLICA_SET: Printer = Printer {
    columns: &[
        NAME,
        integer("Desired"),
        integer("Current"),
        integer("Ready"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: replica_set,
};
pub(super) const STATEFUL_SET: Printer = Printer {
    columns: &[NAME, string("Ready"), AGE, wide("Containers"), wide("Images")],
    cells: stateful_set,
};
pub(super) const DAEMON_SET: Printer = Printer {
    columns: &[
        NAME,
        integer("Desired"),
        integer("Current"),
        integer("Ready"),
        integer("Up-to-date"),
        integer("Available"),
        string("Node Selector"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: daemon_set,
};
pub(super) const JOB: Printer = Printer {
    columns: &[
        NAME,
        string("Status"),
        string("Completions"),
        string("Duration"),
        AGE,
        wide("Containers"),
        wide("Images"),
        wide("Selector"),
    ],
    cells: job,
};
pub(super) const REVISION: Printer =
    Printer { columns: &[NAME, string("Controller"), string("Revision"), AGE], cells: revision };

const CONTAINERS: &str = "/spec/template/spec/containers";

/// How many of the wanted are ready. Who says nothing wants one.
fn ready(value: &Value) -> Value {
    let wanted = value.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    format!("{}/{wanted}", number(value, "/status/readyReplicas")).into()
}

fn deployment(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let [names, images] = containers(value, CONTAINERS);
    vec![
        object.name().into(),
        ready(value),
        number(value, "/status/updatedReplicas").into(),
        number(value, "/status/availableReplicas").into(),
        age(object, now),
        names,
        images,
        selector(value.pointer("/spec/selector")).into(),
    ]
}

fn replica_set(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let [names, images] = containers(value, CONTAINERS);
    // A ReplicationController has labels where others have a selector.
    let selector = match value.pointer("/spec/selector") {
        it @ Some(Value::Object(map)) if map.values().all(Value::is_string) => labels(it),
        other => selector(other),
    };
    vec![
        object.name().into(),
        value.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1).into(),
        number(value, "/status/replicas").into(),
        number(value, "/status/readyReplicas").into(),
        age(object, now),
        names,
        images,
        selector.into(),
    ]
}

fn stateful_set(object: &Object, now: Timestamp) -> Vec<Value> {
    let [names, images] = containers(object.value(), CONTAINERS);
    vec![object.name().into(), ready(object.value()), age(object, now), names, images]
}

fn daemon_set(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let status = |field: &str| Value::from(number(value, &format!("/status/{field}")));
    let [names, images] = containers(value, CONTAINERS);
    vec![
        object.name().into(),
        status("desiredNumberScheduled"),
        status("currentNumberScheduled"),
        status("numberReady"),
        status("updatedNumberScheduled"),
        status("numberAvailable"),
        labels(value.pointer("/spec/template/spec/nodeSelector")).into(),
        age(object, now),
        names,
        images,
        selector(value.pointer("/spec/selector")).into(),
    ]
}

fn job(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let succeeded = number(value, "/status/succeeded");
    let completions = match value.pointer("/spec/completions").and_then(Value::as_i64) {
        Some(wanted) => format!("{succeeded}/{wanted}"),
        None => match number(value, "/spec/parallelism") {
            ..=1 => format!("{succeeded}/1"),
            parallelism => format!("{succeeded}/1 of {parallelism}"),
        },
    };
    let at = |field: &str| text(value, &format!("/status/{field}")).parse::<Timestamp>().ok();
    let duration = at("startTime").map_or_else(String::new, |start| {
        time::duration(at("completionTime").unwrap_or(now).as_second() - start.as_second())
    });
    let is = |kind: &str| condition(value, kind).is_some_and(|it| it["status"] == "True");
    let status = if is("Complete") {
        "Complete"
    } else if is("Failed") {
        "Failed"
    } else if object.is_terminating() {
        "Terminating"
    } else if is("Suspended") {
        "Suspended"
    } else if is("FailureTarget") {
        "FailureTarget"
    } else if is("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    let [names, images] = containers(value, CONTAINERS);
    vec![
        object.name().into(),
        status.into(),
        completions.into(),
        duration.into(),
        age(object, now),
        names,
        images,
        selector(value.pointer("/spec/selector")).into(),
    ]
}

fn revision(object: &Object, now: Timestamp) -> Vec<Value> {
    let controller = object.owner_references().iter().find(|it| it["controller"] == true);
    let controller = controller.map_or_else(String::new, |it| {
        let group = text(it, "/apiVersion").split_once('/').map_or("", |it| it.0);
        let dot = if group.is_empty() { "" } else { "." };
        format!("{}{dot}{group}/{}", text(it, "/kind"), text(it, "/name")).to_lowercase()
    });
    vec![
        object.name().into(),
        or(&controller, NONE).into(),
        number(object.value(), "/revision").into(),
        age(object, now),
    ]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-01-02T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn jobs() {
        let row = |spec: Value, status: Value| {
            let cells = job(&Object::new(json!({"spec": spec, "status": status})), now());
            cells[1..4].iter().map(|it| it.as_str().unwrap()).collect::<Vec<_>>().join(" ")
        };
        let started = "2026-01-02T11:50:00Z";
        for (spec, status, expected) in [
            (json!({"completions": 3}), json!({"startTime": started, "succeeded": 1}), "Running 1/3 10m"),
            (json!({"parallelism": 4}), json!({}), "Running 0/1 of 4 "),
            (
                json!({}),
                json!({"startTime": started, "completionTime": "2026-01-02T11:50:05Z", "conditions": [{"type": "Complete", "status": "True"}]}),
                "Complete 0/1 5s",
            ),
            (json!({}), json!({"conditions": [{"type": "Failed", "status": "True"}]}), "Failed 0/1 "),
        ] {
            assert_eq!(row(spec, status), expected);
        }
    }

    #[test]
    fn sets() {
        let template =
            json!({"spec": {"containers": [{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]}});
        let value = json!({
            "spec": {"replicas": 3, "template": template, "selector": {"matchLabels": {"app": "a"}}},
            "status": {"replicas": 2, "readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1},
        });
        let object = Object::new(value);
        assert_eq!(deployment(&object, now())[1..4], [json!("1/3"), json!(2), json!(1)]);
        assert_eq!(deployment(&object, now())[5..], ["a,b", "x,y", "app=a"]);
        assert_eq!(replica_set(&object, now())[1..4], [3, 2, 1]);
        let controller = Object::new(json!({"spec": {"selector": {"app": "a"}}}));
        assert_eq!(replica_set(&controller, now())[7], "app=a");
    }

    #[test]
    fn revisions() {
        let owner = json!([{"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "s", "controller": true}]);
        let object = Object::new(json!({"metadata": {"ownerReferences": owner}, "revision": 4}));
        assert_eq!(revision(&object, now())[1..3], [json!("podcliqueset.grove.io/s"), json!(4)]);
    }
}
