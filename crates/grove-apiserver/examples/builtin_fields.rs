//! Makes `src/kinds/fields.txt` from the OpenAPI documents of a Kubernetes release:
//!
//! ```text
//! cargo run -p grove-apiserver --example builtin_fields -- KUBERNETES/api/openapi-spec/v3 > fields.txt
//! ```
// A tool for us: what is wrong with its input may end it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

/// The kinds that are served, by group and version.
const KINDS: [(&str, &str); 17] = [
    (
        "/v1",
        "Binding ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod PodTemplate \
         ReplicationController ResourceQuota Secret Service ServiceAccount",
    ),
    (
        "admissionregistration.k8s.io/v1",
        "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding MutatingWebhookConfiguration ValidatingAdmissionPolicy \
         ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration",
    ),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apps/v1", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet"),
    ("autoscaling/v2", "HorizontalPodAutoscaler"),
    ("batch/v1", "CronJob Job"),
    ("coordination.k8s.io/v1", "Lease"),
    ("discovery.k8s.io/v1", "EndpointSlice"),
    ("events.k8s.io/v1", "Event"),
    ("networking.k8s.io/v1", "Ingress IngressClass NetworkPolicy"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("policy/v1", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole ClusterRoleBinding Role RoleBinding"),
    ("resource.k8s.io/v1", "DeviceClass DeviceTaintRule ResourceClaim ResourceClaimTemplate ResourceSlice"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
    ("scheduling.k8s.io/v1alpha3", "CompositePodGroup PodGroup Workload"),
    ("scheduling.k8s.io/v1beta1", "PodGroup Workload"),
];
const STORAGE: (&str, &str) = (
    "storage.k8s.io/v1",
    "CSIDriver CSINode CSIStorageCapacity StorageClass VolumeAttachment VolumeAttributesClass",
);

/// Times that are no pointers in Go, and so are null where they are not given. The documents do not say it.
const TIMES: [&str; 12] = [
    "deprecatedFirstTimestamp",
    "deprecatedLastTimestamp",
    "eventTime",
    "finishedAt",
    "firstTimestamp",
    "lastHeartbeatTime",
    "lastObservedTime",
    "lastProbeTime",
    "lastTimestamp",
    "lastTransitionTime",
    "lastUpdateTime",
    "startedAt",
];

/// Objects of any content.
const FREE: [&str; 3] = ["FieldsV1", "RawExtension", "Patch"];

fn main() {
    let folder = std::env::args().nth(1).expect("the folder of the documents");
    let mut out = BTreeMap::new();
    for (group_version, kinds) in KINDS.iter().chain([&STORAGE]) {
        let file = match group_version.strip_prefix('/') {
            Some(version) => format!("api__{version}_openapi.json"),
            None => format!("apis__{}_openapi.json", group_version.replace('/', "__")),
        };
        let text = std::fs::read_to_string(Path::new(&folder).join(file)).unwrap();
        let document: Value = serde_json::from_str(&text).unwrap();
        let schemas = &document["components"]["schemas"];
        for kind in kinds.split(' ') {
            let is_it = |(name, schema): &(&String, &Value)| {
                let says = |it: &Value| {
                    let version = it["version"].as_str().unwrap();
                    it["kind"] == kind
                        && *group_version == format!("{}/{version}", it["group"].as_str().unwrap())
                };
                let kinds = schema["x-kubernetes-group-version-kind"].as_array().into_iter().flatten();
                name.ends_with(&format!(".{kind}")) && kinds.clone().any(says)
            };
            let (name, _) = schemas.as_object().unwrap().iter().find(is_it).expect(kind);
            emit(schemas, name, &format!(" {group_version} {kind}"), &mut out);
        }
    }
    println!(
        "# What the built-in kinds of Kubernetes 1.37 are made of. Made from its OpenAPI documents by examples/builtin_fields.rs."
    );
    for lines in out.values() {
        println!("{}", lines.join("\n"));
    }
}

fn short(name: &str) -> String {
    ["io.k8s.api.", "io.k8s.apimachinery.pkg.apis.", "io.k8s.apiextensions-apiserver.pkg.apis."]
        .iter()
        .find_map(|it| name.strip_prefix(it))
        .unwrap_or(name)
        .to_owned()
}

/// The lines of a type, and of all types in it.
fn emit(schemas: &Value, name: &str, kind: &str, out: &mut BTreeMap<String, Vec<String>>) {
    let schema = &schemas[name];
    let atomic = if schema["x-kubernetes-map-type"] == "atomic" { " atomic" } else { "" };
    let mut lines = vec![format!("{}{kind}{atomic}", short(name))];
    let mut inside = Vec::new();
    let fields: BTreeMap<&String, &Value> = schema["properties"].as_object().into_iter().flatten().collect();
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (field, schema) in fields {
        let is_required = required.iter().any(|it| it == field);
        let is_time = TIMES.contains(&field.as_str()) && type_of(schemas, schema, &mut Vec::new()) == "t";
        let always = if is_time || is_always(schema, is_required) { " always" } else { "" };
        lines.push(format!(" {field} {}{}{always}", type_of(schemas, schema, &mut inside), rest(schema)));
    }
    out.insert(short(name), lines);
    for name in inside {
        if !out.contains_key(&short(&name)) {
            emit(schemas, &name, "", out);
        }
    }
}

fn type_of(schemas: &Value, schema: &Value, inside: &mut Vec<String>) -> String {
    if let Some(first) = schema["allOf"].get(0) {
        return type_of(schemas, first, inside);
    }
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        let last = name.rsplit('.').next().unwrap();
        let known = [("Quantity", "q"), ("IntOrString", "x"), ("Time", "t"), ("MicroTime", "t")];
        if let Some((_, it)) = known.iter().find(|(it, _)| *it == last) {
            return (*it).to_owned();
        }
        let referred = &schemas[name];
        let has_fields = referred["properties"].is_object() || referred["additionalProperties"].is_object();
        if !has_fields && (referred["type"] != "object" || FREE.contains(&last)) {
            return "*".to_owned();
        }
        inside.push(name.to_owned());
        return short(name);
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("array"), _) => format!("[{}]", type_of(schemas, &schema["items"], inside)),
        (Some("object"), _) if schema["additionalProperties"].is_object() => {
            format!("{{{}}}", type_of(schemas, &schema["additionalProperties"], inside))
        }
        (Some("string"), Some("byte")) => "y".to_owned(),
        (Some("string"), Some("date-time")) => "t".to_owned(),
        (Some("string"), _) => "s".to_owned(),
        (Some("integer"), _) => "i".to_owned(),
        (Some("number"), _) => "n".to_owned(),
        (Some("boolean"), _) => "b".to_owned(),
        _ => "*".to_owned(),
    }
}

/// Whether Go has no way to leave a field out. Only such fields stand for nothing where they are not given; lists say so less
/// plainly, by being required.
fn is_always(schema: &Value, is_required: bool) -> bool {
    let default = &schema["default"];
    let is_list = schema["type"] == "array" || schema["additionalProperties"].is_object();
    *default == json!({}) || *default == "" || *default == 0 || *default == false || (is_list && is_required)
}

/// How a field is owned and merged.
fn rest(schema: &Value) -> String {
    let mut out = Vec::new();
    match schema["x-kubernetes-list-type"].as_str() {
        Some("map") => {
            let keys = schema["x-kubernetes-list-map-keys"].as_array().unwrap();
            let keys: Vec<&str> = keys.iter().map(|it| it.as_str().unwrap()).collect();
            out.push(format!("keys={}", keys.join(",")));
        }
        Some(kind) => out.push(kind.to_owned()),
        None => {}
    }
    if schema["x-kubernetes-map-type"] == "atomic" {
        out.push("atomic".to_owned());
    }
    let strategies: Vec<&str> =
        schema["x-kubernetes-patch-strategy"].as_str().unwrap_or_default().split(',').collect();
    if strategies.contains(&"merge") {
        let key = schema["x-kubernetes-patch-merge-key"].as_str().map(|it| format!("={it}"));
        out.push(format!("merge{}", key.unwrap_or_default()));
    }
    for (strategy, word) in [("retainKeys", "retain"), ("replace", "replace")] {
        if strategies.contains(&strategy) {
            out.push(word.to_owned());
        }
    }
    let default = &schema["default"];
    let says = !matches!(default, Value::Null | Value::Object(_) | Value::Array(_));
    if says && *default != "" && *default != 0 && *default != false {
        out.push(format!("default={default}"));
    }
    if out.is_empty() { String::new() } else { format!(" {}", out.join(" ")) }
}
