//! Nodes, namespaces, and what is configured in them.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::text::{NONE, UNKNOWN, age, condition, list, or, text};
use super::{AGE, Column, NAME, Printer, integer, string, wide};
use crate::object::Object;

const DATA: &str = "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.";

pub(super) const NODE: Printer = Printer {
    columns: &[
        NAME,
        string("Status"),
        string("Roles"),
        AGE,
        string("Version"),
        wide("Internal-IP"),
        wide("External-IP"),
        wide("OS-Image"),
        wide("Kernel-Version"),
        wide("Container-Runtime"),
    ],
    cells: node,
};
pub(super) const NAMESPACE: Printer = Printer { columns: &[NAME, string("Status"), AGE], cells: namespace };
pub(super) const CONFIG_MAP: Printer =
    Printer { columns: &[NAME, string("Data").about(DATA), AGE], cells: config_map };
pub(super) const SECRET: Printer =
    Printer { columns: &[NAME, string("Type"), string("Data"), AGE], cells: secret };
pub(super) const QUOTA: Printer =
    Printer { columns: &[NAME, string("Request"), string("Limit"), AGE], cells: quota };
pub(super) const LEASE: Printer = Printer { columns: &[NAME, string("Holder"), AGE], cells: lease };
pub(super) const ROLE: Printer = Printer { columns: &[NAME, CREATED_AT], cells: role };
pub(super) const ROLE_BINDING: Printer = Printer {
    columns: &[NAME, string("Role"), AGE, wide("Users"), wide("Groups"), wide("ServiceAccounts")],
    cells: role_binding,
};
pub(super) const WEBHOOKS: Printer = Printer { columns: &[NAME, integer("Webhooks"), AGE], cells: webhooks };
pub(super) const DEFINITION: Printer = Printer { columns: &[NAME, CREATED_AT], cells: role };

/// Kinds that the real server has no columns for show a time, not an age.
const CREATED_AT: Column<'static> =
    Column { name: "Created At", kind: "date", format: "", description: "", priority: 0 };

const ROLE_LABEL: &str = "node-role.kubernetes.io/";

fn node(object: &Object, now: Timestamp) -> Vec<Value> {
    let node = object.value();
    let mut status = match condition(node, "Ready") {
        Some(ready) if ready["status"] == "True" => "Ready".to_owned(),
        Some(_) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if node.pointer("/spec/unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let address = |kind: &str| {
        let found = list(node, "/status/addresses").iter().find(|it| it["type"] == kind);
        or(found.map_or("", |it| text(it, "/address")), NONE).to_owned()
    };
    let info = |field: &str| text(node, &format!("/status/nodeInfo/{field}")).to_owned();
    let mut kernel = or(&info("kernelVersion"), UNKNOWN).to_owned();
    let architecture = info("architecture");
    if !architecture.is_empty() {
        kernel = format!("{kernel} ({architecture})");
    }
    vec![
        object.name().into(),
        status.into(),
        or(&roles(node).join(","), NONE).into(),
        age(object, now),
        info("kubeletVersion").into(),
        address("InternalIP").into(),
        address("ExternalIP").into(),
        or(&info("osImage"), UNKNOWN).into(),
        kernel.into(),
        or(&info("containerRuntimeVersion"), UNKNOWN).into(),
    ]
}

fn roles(node: &Value) -> Vec<String> {
    let labels = node.pointer("/metadata/labels").and_then(Value::as_object).into_iter().flatten();
    let role = |(key, value): (&String, &Value)| match key.strip_prefix(ROLE_LABEL) {
        Some(role) => Some(role.to_owned()),
        None if key == "kubernetes.io/role" => value.as_str().map(str::to_owned),
        None => None,
    };
    let mut roles: Vec<String> = labels.filter_map(role).filter(|it| !it.is_empty()).collect();
    roles.sort();
    roles.dedup();
    roles
}

fn namespace(object: &Object, now: Timestamp) -> Vec<Value> {
    vec![object.name().into(), text(object.value(), "/status/phase").into(), age(object, now)]
}

fn config_map(object: &Object, now: Timestamp) -> Vec<Value> {
    vec![object.name().into(), (size(object, "/data") + size(object, "/binaryData")).into(), age(object, now)]
}

fn secret(object: &Object, now: Timestamp) -> Vec<Value> {
    let kind = text(object.value(), "/type").into();
    vec![object.name().into(), kind, size(object, "/data").into(), age(object, now)]
}

fn size(object: &Object, pointer: &str) -> usize {
    object.field(pointer).and_then(Value::as_object).map_or(0, serde_json::Map::len)
}

fn quota(object: &Object, now: Timestamp) -> Vec<Value> {
    let map = |pointer: &str| object.field(pointer).and_then(Value::as_object);
    let used = |name: &str| map("/status/used").and_then(|it| it.get(name)?.as_str()).unwrap_or("0");
    let mut hard: Vec<(&String, &Value)> = map("/status/hard").into_iter().flatten().collect();
    hard.sort_by_key(|(name, _)| *name);
    let (limits, requests): (Vec<_>, Vec<_>) =
        hard.into_iter().partition(|(name, _)| name.starts_with("limits."));
    let shown = |rows: Vec<(&String, &Value)>| {
        let row = |(name, hard): (&String, &Value)| {
            format!("{name}: {}/{}", used(name), hard.as_str().unwrap_or_default())
        };
        Value::from(rows.into_iter().map(row).collect::<Vec<_>>().join(", "))
    };
    vec![object.name().into(), shown(requests), shown(limits), age(object, now)]
}

fn lease(object: &Object, now: Timestamp) -> Vec<Value> {
    vec![object.name().into(), text(object.value(), "/spec/holderIdentity").into(), age(object, now)]
}

fn role(object: &Object, _: Timestamp) -> Vec<Value> {
    vec![object.name().into(), text(object.value(), "/metadata/creationTimestamp").into()]
}

fn role_binding(object: &Object, now: Timestamp) -> Vec<Value> {
    let binding = object.value();
    let role = format!("{}/{}", text(binding, "/roleRef/kind"), text(binding, "/roleRef/name"));
    let subjects = |kind: &str| {
        let found = list(binding, "/subjects").iter().filter(|it| it["kind"] == kind);
        let name = |it: &Value| match (kind, text(it, "/namespace")) {
            ("ServiceAccount", namespace) if !namespace.is_empty() => {
                format!("{namespace}/{}", text(it, "/name"))
            }
            _ => text(it, "/name").to_owned(),
        };
        Value::from(found.map(name).collect::<Vec<_>>().join(", "))
    };
    vec![
        object.name().into(),
        role.into(),
        age(object, now),
        subjects("User"),
        subjects("Group"),
        subjects("ServiceAccount"),
    ]
}

fn webhooks(object: &Object, now: Timestamp) -> Vec<Value> {
    vec![object.name().into(), list(object.value(), "/webhooks").len().into(), age(object, now)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn now() -> Timestamp {
        "2026-01-02T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn nodes() {
        let made = |labels: Value, spec: Value, ready: &str| {
            Object::new(json!({
                "metadata": {"name": "n", "labels": labels, "creationTimestamp": "2026-01-01T12:00:00Z"}, "spec": spec,
                "status": {"conditions": [{"type": "Ready", "status": ready}],
                    "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                    "nodeInfo": {"kubeletVersion": "v1.37.0", "kernelVersion": "6.1", "architecture": "amd64"}},
            }))
        };
        let worker = json!({"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/gpu": ""});
        let cells = node(&made(worker, json!({"unschedulable": true}), "True"), now());
        let expected = [
            "n",
            "Ready,SchedulingDisabled",
            "gpu,worker",
            "24h",
            "v1.37.0",
            "10.0.0.1",
            "<none>",
            "<unknown>",
            "6.1 (amd64)",
            "<unknown>",
        ];
        assert_eq!(cells, expected);
        assert_eq!(node(&made(json!({}), json!({}), "Unknown"), now())[1..3], ["NotReady", "<none>"]);
        assert_eq!(node(&Object::new(json!({})), now())[1], "Unknown");
    }

    #[test]
    fn quotas() {
        let status = json!({"hard": {"pods": "5", "limits.cpu": "2", "cpu": "1"}, "used": {"pods": "3"}});
        let cells = quota(&Object::new(json!({"status": status})), now());
        assert_eq!(cells[1..3], ["cpu: 0/1, pods: 3/5", "limits.cpu: 0/2"]);
    }

    #[test]
    fn bindings() {
        let binding = json!({
            "roleRef": {"kind": "ClusterRole", "name": "admin"},
            "subjects": [{"kind": "User", "name": "u"}, {"kind": "ServiceAccount", "name": "s", "namespace": "n"}],
        });
        let cells = role_binding(&Object::new(binding), now());
        assert_eq!(cells[1], "ClusterRole/admin");
        assert_eq!(cells[3..], ["u", "", "n/s"]);
    }
}
