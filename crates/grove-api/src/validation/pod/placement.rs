//! Where a pod may run, and when: node labels, tolerations, gates.

use k8s_openapi::api::core::v1::{PodSpec, Toleration};

use super::kubernetes;
use crate::field::{Error, Errors, Path};

pub(super) fn check(pod: &PodSpec, path: &Path, errors: &mut Errors) {
    if let Some(selector) = &pod.node_selector {
        kubernetes::labels(selector, &path.child("nodeSelector"), errors);
    }
    for (index, it) in pod.tolerations.iter().flatten().enumerate() {
        toleration(it, &path.child("tolerations").index(index), errors);
    }
    for (index, gate) in pod.scheduling_gates.iter().flatten().enumerate() {
        if !kubernetes::is_qualified_name(&gate.name) {
            let path = path.child("schedulingGates").index(index);
            errors.push(Error::invalid(path, &gate.name, QUALIFIED));
        }
    }
}

const EFFECTS: &[&str] = &["NoSchedule", "PreferNoSchedule", "NoExecute"];

fn toleration(toleration: &Toleration, path: &Path, errors: &mut Errors) {
    let key = toleration.key.as_deref().unwrap_or_default();
    let operator = toleration.operator.as_deref().unwrap_or_default();
    let value = toleration.value.as_deref().unwrap_or_default();
    let effect = toleration.effect.as_deref().unwrap_or_default();
    if !key.is_empty() && !kubernetes::is_qualified_name(key) {
        errors.push(Error::invalid(path.child("key"), key, QUALIFIED));
    }
    match operator {
        // The others, newer ones, are left to the API server.
        "Equal" | "" if !kubernetes::is_label_value(value) => {
            let detail = "a valid label value must be an empty string or consist of alphanumeric characters, '-', '_' or \
                          '.', and must start and end with an alphanumeric character";
            errors.push(Error::invalid(path.child("operator"), value, detail));
        }
        "Exists" if !value.is_empty() => {
            let detail = "value must be empty when `operator` is 'Exists'";
            errors.push(Error::invalid(path.child("operator"), value, detail));
        }
        "Equal" | "" | "Exists" | "Lt" | "Gt" => {}
        _ => errors.push(Error::not_supported(path.child("operator"), operator, &["Equal", "Exists"])),
    }
    if key.is_empty() && matches!(operator, "Equal" | "") {
        let detail =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.push(Error::invalid(path.child("operator"), operator, detail));
    }
    if !effect.is_empty() && !EFFECTS.contains(&effect) {
        errors.push(Error::not_supported(path.child("effect"), effect, EFFECTS));
    } else if toleration.toleration_seconds.is_some() && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.push(Error::invalid(path.child("effect"), effect, detail));
    }
}

const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
     alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc')";
