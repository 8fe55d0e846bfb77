//! Environment variables of a container.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, EnvVar, EnvVarSource};

use super::kubernetes;
use crate::field::{Error, Errors, Path};

pub(super) fn check(container: &Container, path: &Path, errors: &mut Errors) {
    let list = path.child("env");
    let mut seen = BTreeSet::new();
    for (index, variable) in container.env.iter().flatten().enumerate() {
        let path = list.index(index);
        if !kubernetes::is_env_name(&variable.name) {
            let detail = "must be printable ASCII characters other than '='";
            errors.push(Error::invalid(path.child("name"), &variable.name, detail));
        } else if !seen.insert(&variable.name) {
            errors.push(Error::duplicate(path.child("name"), &variable.name));
        }
        if let Some(source) = &variable.value_from {
            value_from(variable, source, &path.child("valueFrom"), errors);
        }
    }
    let list = path.child("envFrom");
    for source in container.env_from.iter().flatten() {
        let detail = match u8::from(source.config_map_ref.is_some()) + u8::from(source.secret_ref.is_some()) {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.push(Error::invalid(list.clone(), "", detail));
    }
}

fn value_from(variable: &EnvVar, source: &EnvVarSource, path: &Path, errors: &mut Errors) {
    // Types of sources that this version does not know are counted, too.
    let sources = serde_json::to_value(source).ok().and_then(|it| it.as_object().map(serde_json::Map::len));
    let detail = match sources.unwrap_or(1) {
        0 => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        }
        _ if variable.value.as_ref().is_some_and(|it| !it.is_empty()) => {
            "may not be specified when `value` is not empty"
        }
        1 => "",
        _ => "may not have more than one field specified at a time",
    };
    if !detail.is_empty() {
        errors.push(Error::invalid(path.clone(), "", detail));
    }
    let keys = [
        ("configMapKeyRef", source.config_map_key_ref.as_ref().map(|it| it.key.as_str())),
        ("secretKeyRef", source.secret_key_ref.as_ref().map(|it| it.key.as_str())),
    ];
    for (field, _) in keys.iter().filter(|it| it.1 == Some("")) {
        errors.push(Error::required(path.child(field).child("key"), ""));
    }
    if source.field_ref.as_ref().is_some_and(|it| it.field_path.is_empty()) {
        errors.push(Error::required(path.child("fieldRef").child("fieldPath"), ""));
    }
}
