//! What the real server fills in where a built-in object says nothing, as far as people see it.

use serde_json::{Map, Value, json};

use crate::metadata::{self, map_mut};
use crate::resource::Resource;
use crate::{definitions, kinds};

/// Fills in what is left out.
pub(super) fn fill(resource: &Resource, object: &mut Value) {
    match resource.id() {
        "pods" => pod(object),
        "services" => service(object),
        "priorityclasses.scheduling.k8s.io" => {
            default(map_mut(object), "preemptionPolicy", "PreemptLowerPriority".into());
        }
        "podgroups.scheduling.k8s.io" | "compositepodgroups.scheduling.k8s.io" => {
            default(map_mut(field(object, "spec")), "disruptionMode", json!({"single": {}}));
        }
        "persistentvolumeclaims" => {
            default(map_mut(field(object, "spec")), "volumeMode", "Filesystem".into());
        }
        "storageclasses.storage.k8s.io" => {
            default(map_mut(object), "reclaimPolicy", "Delete".into());
            default(map_mut(object), "volumeBindingMode", "Immediate".into());
        }
        "secrets" => default(map_mut(object), "type", "Opaque".into()),
        "jobs.batch" => job(object),
        "namespaces" => namespace(object),
        _ if resource.defines => definitions::fill(object),
        _ => {}
    }
    if let Some(definition) = resource.definition {
        kinds::complete(definition, object);
    }
}

fn field<'a>(object: &'a mut Value, name: &str) -> &'a mut Value {
    map_mut(object).entry(name).or_insert_with(|| json!({}))
}

/// A text that is empty counts as left out.
fn default(fields: &mut Map<String, Value>, name: &str, value: Value) {
    let is_left_out = |it: &Value| it.is_null() || it == "";
    if fields.get(name).is_some_and(|it| !is_left_out(it)) {
        return;
    }
    fields.insert(name.to_owned(), value);
}

fn items<'a>(object: &'a mut Value, pointer: &str) -> impl Iterator<Item = &'a mut Value> {
    object.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten()
}

fn pod(pod: &mut Value) {
    let spec = map_mut(field(pod, "spec"));
    for (name, value) in [
        ("restartPolicy", json!("Always")),
        ("terminationGracePeriodSeconds", json!(30)),
        ("dnsPolicy", json!("ClusterFirst")),
        ("securityContext", json!({})),
        ("schedulerName", json!("default-scheduler")),
        ("enableServiceLinks", json!(true)),
    ] {
        default(spec, name, value);
    }
    if spec["terminationGracePeriodSeconds"].as_i64().is_some_and(|it| it < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), 1.into());
    }
    let uses_host = spec.get("hostNetwork") == Some(&Value::Bool(true));
    for list in ["/spec/containers", "/spec/initContainers"] {
        for it in items(pod, list).filter(|it| it.is_object()) {
            container(it, uses_host);
        }
    }
    for it in items(pod, "/spec/volumes").filter(|it| it.is_object()) {
        volume(it);
    }
}

fn container(container: &mut Value, uses_host: bool) {
    let image = container["image"].as_str().unwrap_or_default();
    // The part after the last slash: a registry may have a port.
    let name = image.rsplit('/').next().unwrap_or_default();
    let is_moving = !name.contains(':') || name.ends_with(":latest");
    let pull = if is_moving && !name.contains('@') { "Always" } else { "IfNotPresent" };
    let fields = map_mut(container);
    default(fields, "resources", json!({}));
    default(fields, "terminationMessagePath", "/dev/termination-log".into());
    default(fields, "terminationMessagePolicy", "File".into());
    default(fields, "imagePullPolicy", pull.into());
    for it in items(container, "/ports").filter(|it| it.is_object()) {
        let port = it["containerPort"].clone();
        default(map_mut(it), "protocol", "TCP".into());
        if uses_host {
            default(map_mut(it), "hostPort", port);
        }
    }
    if let Some(limits) = container.pointer("/resources/limits").and_then(Value::as_object).cloned() {
        let requests = map_mut(field(field(container, "resources"), "requests"));
        for (name, limit) in limits {
            default(requests, &name, limit);
        }
    }
    for it in items(container, "/env") {
        if let Some(Value::Object(reference)) = it.pointer_mut("/valueFrom/fieldRef") {
            default(reference, "apiVersion", "v1".into());
        }
    }
    for name in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(Value::Object(probe)) = container.get_mut(name) {
            for (name, value) in [
                ("timeoutSeconds", 1),
                ("periodSeconds", 10),
                ("successThreshold", 1),
                ("failureThreshold", 3),
            ] {
                default(probe, name, value.into());
            }
            if let Some(Value::Object(get)) = probe.get_mut("httpGet") {
                default(get, "path", "/".into());
                default(get, "scheme", "HTTP".into());
            }
        }
    }
}

fn volume(volume: &mut Value) {
    let fields = map_mut(volume);
    if fields.keys().all(|it| it == "name") {
        fields.insert("emptyDir".to_owned(), json!({}));
    }
    for source in ["configMap", "secret", "projected", "downwardAPI"] {
        if let Some(Value::Object(source)) = fields.get_mut(source) {
            default(source, "defaultMode", 0o644.into());
        }
    }
}

/// Selectors of namespaces find it by its name.
fn namespace(namespace: &mut Value) {
    let name = metadata::text(namespace, "name").unwrap_or_default().to_owned();
    let labels = map_mut(metadata::of_mut(namespace).entry("labels").or_insert(Value::Null));
    labels.insert("kubernetes.io/metadata.name".to_owned(), name.into());
}

fn service(service: &mut Value) {
    let spec = map_mut(field(service, "spec"));
    default(spec, "type", "ClusterIP".into());
    default(spec, "sessionAffinity", "None".into());
    if spec["type"] != "ExternalName" {
        default(spec, "internalTrafficPolicy", "Cluster".into());
    }
    if let Some(Value::String(address)) = spec.get("clusterIP").cloned() {
        default(spec, "clusterIPs", json!([address]));
    }
    for it in items(service, "/spec/ports").filter(|it| it.is_object()) {
        let port = it["port"].clone();
        default(map_mut(it), "protocol", "TCP".into());
        default(map_mut(it), "targetPort", port);
    }
}

fn job(job: &mut Value) {
    let spec = map_mut(field(job, "spec"));
    if !spec.contains_key("parallelism") {
        default(spec, "completions", 1.into());
    }
    let backoff = if spec.contains_key("backoffLimitPerIndex") { i32::MAX } else { 6 };
    let replace = if spec.contains_key("podFailurePolicy") { "Failed" } else { "TerminatingOrFailed" };
    for (name, value) in [
        ("parallelism", json!(1)),
        ("backoffLimit", json!(backoff)),
        ("completionMode", json!("NonIndexed")),
        ("suspend", json!(false)),
        ("podReplacementPolicy", json!(replace)),
        ("manualSelector", json!(false)),
    ] {
        default(spec, name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(plural: &str, mut object: Value) -> Value {
        fill(&Resource::built_in("", "v1", "X", plural), &mut object);
        let once = object.clone();
        fill(&Resource::built_in("", "v1", "X", plural), &mut object);
        assert_eq!(once, object, "defaults are filled in once");
        object
    }

    #[test]
    fn containers() {
        for (image, expected) in [
            ("none", "Always"),
            ("a:latest", "Always"),
            ("a:1", "IfNotPresent"),
            ("host:5000/a", "Always"),
            ("host:5000/a:1", "IfNotPresent"),
            ("a@sha256:00", "IfNotPresent"),
        ] {
            let pod = filled("pods", json!({"spec": {"containers": [{"name": "a", "image": image}]}}));
            assert_eq!(pod["spec"]["containers"][0]["imagePullPolicy"], expected, "{image}");
        }
        let pod = filled(
            "pods",
            json!({"spec": {"hostNetwork": true, "containers": [{
            "ports": [{"containerPort": 80}], "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
            "readinessProbe": {"httpGet": {"port": 80}}, "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]}]}}),
        );
        let container = &pod["spec"]["containers"][0];
        assert_eq!(container["ports"], json!([{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]));
        assert_eq!(container["resources"]["requests"], json!({"cpu": "500m", "memory": "1Gi"}));
        assert_eq!(container["readinessProbe"]["failureThreshold"], 3);
        assert_eq!(
            container["readinessProbe"]["httpGet"],
            json!({"port": 80, "path": "/", "scheme": "HTTP"})
        );
        assert_eq!(container.pointer("/env/0/valueFrom/fieldRef/apiVersion"), Some(&json!("v1")));
    }

    #[test]
    fn what_is_said_stays() {
        let said = json!({"restartPolicy": "Never", "terminationGracePeriodSeconds": 0, "schedulerName": "mine", "enableServiceLinks": false});
        let pod = filled("pods", json!({"spec": said}));
        for (field, value) in said.as_object().unwrap() {
            assert_eq!(&pod["spec"][field], value);
        }
        assert_eq!(pod["spec"]["dnsPolicy"], "ClusterFirst");
        let volumes = json!([{"name": "a"}, {"name": "b", "secret": {}}, {"name": "c", "configMap": {"defaultMode": 1}}]);
        let pod = filled("pods", json!({"spec": {"volumes": volumes}}));
        let expected = json!([{"name": "a", "emptyDir": {}}, {"name": "b", "secret": {"defaultMode": 420}}, {"name": "c", "configMap": {"defaultMode": 1}}]);
        assert_eq!(pod["spec"]["volumes"], expected);
    }

    #[test]
    fn services() {
        let service = filled("services", json!({"spec": {"clusterIP": "None", "ports": [{"port": 80}]}}));
        let expected = json!({"clusterIP": "None", "clusterIPs": ["None"], "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
            "type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"});
        assert_eq!(service["spec"], expected);
    }

    #[test]
    fn jobs() {
        let job = |spec: Value| {
            let mut job = json!({"spec": spec});
            fill(&Resource::built_in("batch", "v1", "Job", "jobs"), &mut job);
            let read = |name: &str| job["spec"][name].as_i64();
            (read("parallelism"), read("completions"), read("backoffLimit"))
        };
        assert_eq!(job(json!({})), (Some(1), Some(1), Some(6)));
        assert_eq!(job(json!({"parallelism": 3})), (Some(3), None, Some(6)), "a queue of work");
        assert_eq!(job(json!({"completions": 3, "backoffLimit": 0})), (Some(1), Some(3), Some(0)));
    }
}
