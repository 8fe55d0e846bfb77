//! What there is: groups, versions, resources.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::resource::{Resource, Resources};

const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
const PART_VERBS: [&str; 3] = ["get", "patch", "update"];

/// `/version`: the release whose behaviour this server has.
pub(crate) fn version() -> Value {
    json!({
        "major": "1", "minor": "37", "gitVersion": "v1.37.0+grove", "gitCommit": "", "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "rustc", "platform": std::env::consts::OS,
    })
}

/// `/api`
pub(crate) fn core_versions() -> Value {
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})
}

/// `/apis`
pub(crate) fn groups(resources: &Resources) -> Value {
    let groups: Vec<Value> =
        by_group(resources).into_iter().map(|(name, versions)| group(name, &versions)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/grove.io`
pub(crate) fn one_group(resources: &Resources, name: &str) -> Option<Value> {
    let versions = by_group(resources).remove(name)?;
    let mut group = group(name, &versions);
    group["kind"] = "APIGroup".into();
    group["apiVersion"] = "v1".into();
    Some(group)
}

/// `/apis/grove.io/v1alpha1`
pub(crate) fn group_version(resources: &Resources, group: &str, version: &str) -> Option<Value> {
    let rows: Vec<&Resource> =
        resources.iter().map(AsRef::as_ref).filter(|it| it.group == group && it.version == version).collect();
    let name = rows.first()?.api_version();
    let rows: Vec<Value> = rows.into_iter().flat_map(parts).collect();
    Some(json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": rows}))
}

fn by_group(resources: &Resources) -> BTreeMap<&str, Vec<&str>> {
    let mut groups: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for resource in resources.iter().filter(|it| !it.group.is_empty()) {
        let versions = groups.entry(&resource.group).or_default();
        if !versions.contains(&resource.version.as_str()) {
            versions.push(&resource.version);
        }
    }
    groups
}

fn group(name: &str, versions: &[&str]) -> Value {
    let versions: Vec<Value> =
        versions.iter().map(|it| json!({"groupVersion": format!("{name}/{it}"), "version": it})).collect();
    json!({"name": name, "preferredVersion": versions.first(), "versions": versions})
}

/// A resource and its subresources.
fn parts(resource: &Resource) -> Vec<Value> {
    let (plural, namespaced, kind) = (&resource.plural, resource.namespaced, &resource.kind);
    let mut whole = json!({
        "name": plural, "singularName": resource.singular, "namespaced": namespaced, "kind": kind, "verbs": VERBS,
    });
    if !resource.short_names.is_empty() {
        whole["shortNames"] = json!(resource.short_names);
    }
    if !resource.categories.is_empty() {
        whole["categories"] = json!(resource.categories);
    }
    let part = |name: &str, kind: &str, verbs: &[&str]| json!({"name": format!("{plural}/{name}"), "singularName": "", "namespaced": namespaced, "kind": kind, "verbs": verbs});
    let mut rows = vec![whole];
    if resource.status {
        rows.push(part("status", kind, &PART_VERBS));
    }
    if resource.scale.is_some() {
        let mut scale = part("scale", "Scale", &PART_VERBS);
        scale["group"] = "autoscaling".into();
        scale["version"] = "v1".into();
        rows.push(scale);
    }
    match resource.id() {
        "pods" => rows.push(part("binding", "Binding", &["create"])),
        "namespaces" => rows.push(part("finalize", kind, &["update"])),
        _ => {}
    }
    rows
}
