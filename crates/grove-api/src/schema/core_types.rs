//! What Kubernetes' own types mean beyond what their Rust types say: list types, map types, defaults, patterns.
//!
//! The rows are those of the Kubernetes 1.37 OpenAPI document. Server-side apply merges by them, so a pod template
//! inside our resources merges like a pod.

use serde_json::{Map, Value, json};

use super::{definitions::Definitions, patterns};

/// How a list is merged.
enum List {
    /// Replaced as a whole.
    Atomic,
    /// Merged as a set of scalars.
    Set,
    /// Merged by these keys.
    Map(&'static [&'static str]),
}
use List::{Atomic, Map as ByKey, Set};

/// Lists by type and field.
#[rustfmt::skip]
const LISTS: &[(&str, &str, List)] = &[
    ("core.v1.Capabilities", "add", Atomic),
    ("core.v1.Capabilities", "drop", Atomic),
    ("core.v1.CephFSVolumeSource", "monitors", Atomic),
    ("core.v1.ConfigMapProjection", "items", Atomic),
    ("core.v1.ConfigMapVolumeSource", "items", Atomic),
    ("core.v1.Container", "args", Atomic),
    ("core.v1.Container", "command", Atomic),
    ("core.v1.Container", "env", ByKey(&["name"])),
    ("core.v1.Container", "envFrom", Atomic),
    ("core.v1.Container", "ports", ByKey(&["containerPort", "protocol"])),
    ("core.v1.Container", "resizePolicy", Atomic),
    ("core.v1.Container", "restartPolicyRules", Atomic),
    ("core.v1.Container", "volumeDevices", ByKey(&["devicePath"])),
    ("core.v1.Container", "volumeMounts", ByKey(&["mountPath"])),
    ("core.v1.ContainerRestartRuleOnExitCodes", "values", Set),
    ("core.v1.DownwardAPIProjection", "items", Atomic),
    ("core.v1.DownwardAPIVolumeSource", "items", Atomic),
    ("core.v1.EphemeralContainer", "args", Atomic),
    ("core.v1.EphemeralContainer", "command", Atomic),
    ("core.v1.EphemeralContainer", "env", ByKey(&["name"])),
    ("core.v1.EphemeralContainer", "envFrom", Atomic),
    ("core.v1.EphemeralContainer", "ports", ByKey(&["containerPort", "protocol"])),
    ("core.v1.EphemeralContainer", "resizePolicy", Atomic),
    ("core.v1.EphemeralContainer", "restartPolicyRules", Atomic),
    ("core.v1.EphemeralContainer", "volumeDevices", ByKey(&["devicePath"])),
    ("core.v1.EphemeralContainer", "volumeMounts", ByKey(&["mountPath"])),
    ("core.v1.ExecAction", "command", Atomic),
    ("core.v1.FCVolumeSource", "targetWWNs", Atomic),
    ("core.v1.FCVolumeSource", "wwids", Atomic),
    ("core.v1.HTTPGetAction", "httpHeaders", Atomic),
    ("core.v1.HostAlias", "hostnames", Atomic),
    ("core.v1.ISCSIVolumeSource", "portals", Atomic),
    ("core.v1.NodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution", Atomic),
    ("core.v1.NodeSelector", "nodeSelectorTerms", Atomic),
    ("core.v1.NodeSelectorRequirement", "values", Atomic),
    ("core.v1.NodeSelectorTerm", "matchExpressions", Atomic),
    ("core.v1.NodeSelectorTerm", "matchFields", Atomic),
    ("core.v1.PersistentVolumeClaimSpec", "accessModes", Atomic),
    ("core.v1.PodAffinity", "preferredDuringSchedulingIgnoredDuringExecution", Atomic),
    ("core.v1.PodAffinity", "requiredDuringSchedulingIgnoredDuringExecution", Atomic),
    ("core.v1.PodAffinityTerm", "matchLabelKeys", Atomic),
    ("core.v1.PodAffinityTerm", "mismatchLabelKeys", Atomic),
    ("core.v1.PodAffinityTerm", "namespaces", Atomic),
    ("core.v1.PodAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution", Atomic),
    ("core.v1.PodAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", Atomic),
    ("core.v1.PodDNSConfig", "nameservers", Atomic),
    ("core.v1.PodDNSConfig", "options", Atomic),
    ("core.v1.PodDNSConfig", "searches", Atomic),
    ("core.v1.PodSecurityContext", "supplementalGroups", Atomic),
    ("core.v1.PodSecurityContext", "sysctls", Atomic),
    ("core.v1.PodSpec", "containers", ByKey(&["name"])),
    ("core.v1.PodSpec", "ephemeralContainers", ByKey(&["name"])),
    ("core.v1.PodSpec", "evictionResponders", ByKey(&["name"])),
    ("core.v1.PodSpec", "hostAliases", ByKey(&["ip"])),
    ("core.v1.PodSpec", "imagePullSecrets", ByKey(&["name"])),
    ("core.v1.PodSpec", "initContainers", ByKey(&["name"])),
    ("core.v1.PodSpec", "readinessGates", Atomic),
    ("core.v1.PodSpec", "resourceClaims", ByKey(&["name"])),
    ("core.v1.PodSpec", "schedulingGates", ByKey(&["name"])),
    ("core.v1.PodSpec", "tolerations", Atomic),
    ("core.v1.PodSpec", "topologySpreadConstraints", ByKey(&["topologyKey", "whenUnsatisfiable"])),
    ("core.v1.PodSpec", "volumes", ByKey(&["name"])),
    ("core.v1.ProjectedVolumeSource", "sources", Atomic),
    ("core.v1.RBDVolumeSource", "monitors", Atomic),
    ("core.v1.ResourceRequirements", "claims", ByKey(&["name"])),
    ("core.v1.SecretProjection", "items", Atomic),
    ("core.v1.SecretVolumeSource", "items", Atomic),
    ("core.v1.TopologySpreadConstraint", "matchLabelKeys", Atomic),
    ("core.v1.VolumeMount", "bindMountOptions", Set),
    ("resource.v1.DeviceClaim", "config", Atomic),
    ("resource.v1.DeviceClaim", "constraints", Atomic),
    ("resource.v1.DeviceClaim", "requests", Atomic),
    ("resource.v1.DeviceClaimConfiguration", "requests", Atomic),
    ("resource.v1.DeviceConstraint", "requests", Atomic),
    ("resource.v1.DeviceRequest", "firstAvailable", Atomic),
    ("resource.v1.DeviceSubRequest", "derivedAttributes", Atomic),
    ("resource.v1.DeviceSubRequest", "selectors", Atomic),
    ("resource.v1.DeviceSubRequest", "tolerations", Atomic),
    ("resource.v1.ExactDeviceRequest", "derivedAttributes", Atomic),
    ("resource.v1.ExactDeviceRequest", "selectors", Atomic),
    ("resource.v1.ExactDeviceRequest", "tolerations", Atomic),
    ("meta.v1.LabelSelector", "matchExpressions", Atomic),
    ("meta.v1.LabelSelectorRequirement", "values", Atomic),
];

/// Types that are replaced as a whole.
const ATOMIC_TYPES: &[&str] = &[
    "core.v1.ConfigMapKeySelector",
    "core.v1.EvictionResponder",
    "core.v1.FileKeySelector",
    "core.v1.LocalObjectReference",
    "core.v1.NodeSelector",
    "core.v1.NodeSelectorTerm",
    "core.v1.ObjectFieldSelector",
    "core.v1.ResourceFieldSelector",
    "core.v1.SecretKeySelector",
    "core.v1.TypedLocalObjectReference",
    "meta.v1.LabelSelector",
];

/// Defaults by type and field: the API server fills them in for pods, and list keys depend on them.
#[rustfmt::skip]
const DEFAULTS: &[(&str, &str, &str)] = &[
    ("core.v1.AzureDiskVolumeSource", "fsType", r#""ext4""#),
    ("core.v1.AzureDiskVolumeSource", "readOnly", "false"),
    ("core.v1.ConfigMapEnvSource", "name", r#""""#),
    ("core.v1.ConfigMapKeySelector", "name", r#""""#),
    ("core.v1.ConfigMapProjection", "name", r#""""#),
    ("core.v1.ConfigMapVolumeSource", "name", r#""""#),
    ("core.v1.ContainerPort", "protocol", r#""TCP""#),
    ("core.v1.FileKeySelector", "optional", "false"),
    ("core.v1.GRPCAction", "service", r#""""#),
    ("core.v1.ISCSIVolumeSource", "iscsiInterface", r#""default""#),
    ("core.v1.LocalObjectReference", "name", r#""""#),
    ("core.v1.RBDVolumeSource", "keyring", r#""/etc/ceph/keyring""#),
    ("core.v1.RBDVolumeSource", "pool", r#""rbd""#),
    ("core.v1.RBDVolumeSource", "user", r#""admin""#),
    ("core.v1.ScaleIOVolumeSource", "fsType", r#""xfs""#),
    ("core.v1.ScaleIOVolumeSource", "storageMode", r#""ThinProvisioned""#),
    ("core.v1.SecretEnvSource", "name", r#""""#),
    ("core.v1.SecretKeySelector", "name", r#""""#),
    ("core.v1.SecretProjection", "name", r#""""#),
    ("resource.v1.DeviceToleration", "operator", r#""Equal""#),
];

/// Other keywords by type and field; an empty field means the type itself.
#[rustfmt::skip]
const KEYWORDS: &[(&str, &str, &str, &str)] = &[
    ("core.v1.PodSpec", "nodeSelector", "x-kubernetes-map-type", r#""atomic""#),
    // A cap of ours: without it the CEL rules that compare scheduler names have no bounded cost.
    ("core.v1.PodSpec", "schedulerName", "maxLength", "253"),
    ("meta.v1.Condition", "observedGeneration", "minimum", "0"),
    ("meta.v1.Condition", "message", "maxLength", "32768"),
    ("meta.v1.Condition", "reason", "minLength", "1"),
    ("meta.v1.Condition", "reason", "maxLength", "1024"),
    ("meta.v1.Condition", "status", "enum", r#"["True", "False", "Unknown"]"#),
    ("meta.v1.Condition", "type", "maxLength", "316"),
];

/// Adds what the tables say to `definitions`.
pub(super) fn annotate(definitions: &mut Definitions) {
    for (type_, field, list) in LISTS {
        let Some(field) = property(definitions, type_, field) else {
            continue;
        };
        match list {
            Atomic => set(field, "x-kubernetes-list-type", json!("atomic")),
            Set => set(field, "x-kubernetes-list-type", json!("set")),
            ByKey(keys) => {
                set(field, "x-kubernetes-list-type", json!("map"));
                set(field, "x-kubernetes-list-map-keys", json!(keys));
            }
        }
    }
    for type_ in ATOMIC_TYPES {
        if let Some(schema) = definition(definitions, type_) {
            set(schema, "x-kubernetes-map-type", json!("atomic"));
        }
    }
    for (type_, field, value) in DEFAULTS {
        if let (Some(field), Ok(value)) = (property(definitions, type_, field), serde_json::from_str(value)) {
            set(field, "default", value);
        }
        // The Rust types ask for names that Kubernetes fills in.
        if let Some(required) =
            definition(definitions, type_).and_then(|it| it.get_mut("required")?.as_array_mut())
        {
            required.retain(|name| name != field);
        }
    }
    for (type_, field, keyword, value) in KEYWORDS {
        if let (Some(field), Ok(value)) = (property(definitions, type_, field), serde_json::from_str(value)) {
            set(field, keyword, value);
        }
    }
    for (type_, field, pattern) in [
        ("meta.v1.Condition", "reason", patterns::CONDITION_REASON),
        ("meta.v1.Condition", "type", patterns::CONDITION_TYPE),
    ] {
        if let Some(field) = property(definitions, type_, field) {
            set(field, "pattern", json!(pattern));
        }
    }
    replace_scalars(definitions);
}

/// Types that are scalars on the wire, or that a CRD leaves open.
fn replace_scalars(definitions: &mut Definitions) {
    let int_or_string = |pattern: Option<&str>| {
        let mut schema = json!({
            "anyOf": [{ "type": "integer" }, { "type": "string" }],
            "x-kubernetes-int-or-string": true,
        });
        if let Some(pattern) = pattern {
            schema["pattern"] = json!(pattern);
        }
        schema
    };
    let replacements = [
        ("io.k8s.apimachinery.pkg.api.resource.Quantity", int_or_string(Some(patterns::QUANTITY))),
        ("io.k8s.apimachinery.pkg.util.intstr.IntOrString", int_or_string(None)),
        // Metadata of a template inside a resource: the API server takes any object there.
        ("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta", json!({ "type": "object" })),
        (
            "io.k8s.apimachinery.pkg.runtime.RawExtension",
            json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true }),
        ),
    ];
    for (name, schema) in replacements {
        if let Some(definition) = definitions.get_mut(name) {
            *definition = schema;
        }
    }
}

fn definition<'a>(definitions: &'a mut Definitions, type_: &str) -> Option<&'a mut Value> {
    let prefix = if type_.starts_with("meta.") { "io.k8s.apimachinery.pkg.apis." } else { "io.k8s.api." };
    definitions.get_mut(&format!("{prefix}{type_}"))
}

fn property<'a>(definitions: &'a mut Definitions, type_: &str, field: &str) -> Option<&'a mut Value> {
    definition(definitions, type_)?.get_mut("properties")?.get_mut(field)
}

fn set(schema: &mut Value, keyword: &str, value: Value) {
    if let Some(object) = schema.as_object_mut() {
        object.insert(keyword.to_owned(), value);
    } else {
        *schema = Value::Object(Map::from_iter([(keyword.to_owned(), value)]));
    }
}
