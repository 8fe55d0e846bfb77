//! Autoscalers, disruption budgets, priorities, and groups of pods.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::text::{NONE, UNKNOWN, UNSET, age, condition, list, number, or, shown, text};
use super::{AGE, Column, NAME, Printer, boolean, integer, string, wide};
use crate::object::Object;

pub(super) const AUTOSCALER: Printer = Printer {
    columns: &[
        NAME,
        string("Reference"),
        string("Targets"),
        string("MinPods"),
        string("MaxPods"),
        string("Replicas"),
        AGE,
    ],
    cells: autoscaler,
};
pub(super) const BUDGET: Printer = Printer {
    columns: &[NAME, string("Min Available"), string("Max Unavailable"), integer("Allowed Disruptions"), AGE],
    cells: budget,
};
pub(super) const PRIORITY_CLASS: Printer = Printer {
    columns: &[NAME, integer("Value"), boolean("Global-Default"), AGE, PREEMPTION],
    cells: priority_class,
};
pub(super) const POD_GROUP: Printer = Printer {
    columns: &[NAME, string("Policy"), string("Workload"), string("Status"), AGE],
    cells: pod_group,
};
pub(super) const COMPOSITE_POD_GROUP: Printer =
    Printer { columns: &[NAME, string("Policy"), string("Workload"), AGE], cells: composite };

const PREEMPTION: Column<'static> = wide("PreemptionPolicy");

/// As many metrics of an autoscaler as are shown.
const METRICS: usize = 2;

fn autoscaler(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let target = |field: &str| text(value, &format!("/spec/scaleTargetRef/{field}"));
    vec![
        object.name().into(),
        format!("{}/{}", target("kind"), target("name")).into(),
        metrics(value).into(),
        shown(value, "/spec/minReplicas").unwrap_or_else(|| UNSET.to_owned()).into(),
        number(value, "/spec/maxReplicas").into(),
        number(value, "/status/currentReplicas").into(),
        age(object, now),
    ]
}

fn metrics(value: &Value) -> String {
    let specs = list(value, "/spec/metrics");
    let current = list(value, "/status/currentMetrics");
    if specs.is_empty() {
        return NONE.to_owned();
    }
    let one = |(at, spec): (usize, &Value)| metric(spec, current.get(at).unwrap_or(&Value::Null));
    let shown: Vec<String> = specs.iter().enumerate().take(METRICS).map(one).collect();
    match specs.len().saturating_sub(METRICS) {
        0 => shown.join(", "),
        more => format!("{} + {more} more...", shown.join(", ")),
    }
}

/// One metric: what it is, and what it should be.
fn metric(spec: &Value, status: &Value) -> String {
    let field = match text(spec, "/type") {
        "External" => "external",
        "Pods" => "pods",
        "Object" => "object",
        "Resource" => "resource",
        "ContainerResource" => "containerResource",
        _ => return "<unknown type>".to_owned(),
    };
    let target = |it: &str| shown(spec, &format!("/{field}/target/{it}"));
    let current = |it: &str| shown(status, &format!("/{field}/current/{it}"));
    let or_unknown = |it: Option<String>| it.unwrap_or_else(|| UNKNOWN.to_owned());
    let average = target("averageValue");
    let name = text(spec, &format!("/{field}/name"));
    match (field, average) {
        ("pods", average) => {
            format!("{}/{}", or_unknown(current("averageValue")), average.unwrap_or_default())
        }
        ("external" | "object", Some(average)) => {
            format!("{}/{average} (avg)", or_unknown(current("averageValue")))
        }
        ("external" | "object", None) => {
            format!("{}/{}", or_unknown(current("value")), target("value").unwrap_or_default())
        }
        (_, Some(average)) => format!("{name}: {}/{average}", or_unknown(current("averageValue"))),
        (_, None) => {
            let percent = |it: Option<String>| it.map(|it| format!("{it}%"));
            let wanted = percent(target("averageUtilization")).unwrap_or_else(|| "<auto>".to_owned());
            format!("{name}: {}/{wanted}", or_unknown(percent(current("averageUtilization"))))
        }
    }
}

fn budget(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let or_none = |field: &str| Value::from(shown(value, field).unwrap_or_else(|| "N/A".to_owned()));
    vec![
        object.name().into(),
        or_none("/spec/minAvailable"),
        or_none("/spec/maxUnavailable"),
        number(value, "/status/disruptionsAllowed").into(),
        age(object, now),
    ]
}

fn priority_class(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    vec![
        object.name().into(),
        number(value, "/value").into(),
        (value.get("globalDefault") == Some(&Value::Bool(true))).into(),
        age(object, now),
        text(value, "/preemptionPolicy").into(),
    ]
}

fn policy(value: &Value) -> Value {
    let is_gang = value.pointer("/spec/schedulingPolicy/gang").is_some_and(Value::is_object);
    if is_gang { "Gang" } else { "Basic" }.into()
}

fn workload(value: &Value) -> Value {
    or(text(value, "/spec/workloadRef/workloadName"), NONE).into()
}

fn pod_group(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let mut status = match condition(value, "PodGroupInitiallyScheduled") {
        None => "Pending",
        Some(it) if it["status"] == "True" => "Scheduled",
        Some(_) => "Unschedulable",
    };
    if let Some(disrupted) = condition(value, "DisruptionTarget") {
        status = text(disrupted, "/reason");
    }
    vec![object.name().into(), policy(value), workload(value), status.into(), age(object, now)]
}

fn composite(object: &Object, now: Timestamp) -> Vec<Value> {
    vec![object.name().into(), policy(object.value()), workload(object.value()), age(object, now)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-01-02T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn autoscalers() {
        let cpu =
            json!({"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}});
        let queue = json!({"type": "External", "external": {"target": {"averageValue": "10"}}});
        let pods = json!({"type": "Pods", "pods": {"target": {"averageValue": "5"}}});
        let current = json!([{"resource": {"current": {"averageUtilization": 35}}}]);
        let row = |metrics: Value| {
            let spec = json!({"scaleTargetRef": {"kind": "PodClique", "name": "c"}, "maxReplicas": 4, "metrics": metrics});
            autoscaler(&Object::new(json!({"spec": spec, "status": {"currentMetrics": current}})), now())
        };
        assert_eq!(
            row(json!([cpu, queue]))[1..4],
            ["PodClique/c", "cpu: 35%/80%, <unknown>/10 (avg)", "<unset>"]
        );
        assert_eq!(row(json!([cpu, queue, pods]))[2], "cpu: 35%/80%, <unknown>/10 (avg) + 1 more...");
        assert_eq!(row(json!([]))[2], "<none>");
    }

    #[test]
    fn groups() {
        let row = |conditions: Value| {
            let spec =
                json!({"schedulingPolicy": {"gang": {"minCount": 2}}, "workloadRef": {"workloadName": "w"}});
            pod_group(&Object::new(json!({"spec": spec, "status": {"conditions": conditions}})), now())
        };
        let scheduled = |status: &str| json!([{"type": "PodGroupInitiallyScheduled", "status": status}]);
        assert_eq!(row(json!([]))[1..4], ["Gang", "w", "Pending"]);
        assert_eq!(row(scheduled("True"))[3], "Scheduled");
        assert_eq!(row(scheduled("False"))[3], "Unschedulable");
        assert_eq!(row(json!([{"type": "DisruptionTarget", "reason": "Preempted"}]))[3], "Preempted");
    }
}
