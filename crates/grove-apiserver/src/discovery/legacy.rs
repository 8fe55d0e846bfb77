//! Discovery group by group, which every client understands.

use serde_json::{Value, json};

use super::catalog::{Catalog, GroupEntry, ResourceEntry};
use crate::metadata;

/// `/apis`
pub(super) fn groups(catalog: &Catalog) -> Value {
    let groups: Vec<Value> = catalog.0.iter().filter(|it| !it.name.is_empty()).map(group).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/grove.io`
pub(crate) fn one_group(catalog: &Catalog, name: &str) -> Option<Value> {
    let mut out = json!({"kind": "APIGroup", "apiVersion": "v1"});
    if let (Value::Object(out), Value::Object(group)) = (&mut out, group(catalog.group(name)?)) {
        out.extend(group);
    }
    Some(out)
}

/// `/apis/grove.io/v1alpha1`
pub(crate) fn group_version(catalog: &Catalog, group: &str, version: &str) -> Option<Value> {
    let entry = catalog.group(group)?.versions.iter().find(|it| it.name == version)?;
    let name = group_version_name(group, version);
    let rows: Vec<Value> = entry.resources.iter().flat_map(rows).collect();
    let mut out =
        json!({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": name, "resources": rows});
    if group.is_empty() {
        // The oldest of these lists does not say its own version.
        metadata::map_mut(&mut out).shift_remove("apiVersion");
    }
    Some(out)
}

fn group(group: &GroupEntry) -> Value {
    let name = &group.name;
    let version = |it: &str| json!({"groupVersion": group_version_name(name, it), "version": it});
    let versions: Vec<Value> = group.versions.iter().map(|it| version(&it.name)).collect();
    json!({"name": name, "versions": versions, "preferredVersion": versions.first()})
}

fn group_version_name(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

/// A resource and its subresources.
fn rows(entry: &ResourceEntry) -> Vec<Value> {
    let (plural, namespaced) = (&entry.plural, entry.namespaced);
    let mut whole = json!({
        "name": plural, "singularName": entry.singular, "namespaced": namespaced, "kind": entry.kind,
        "verbs": entry.verbs,
    });
    if !entry.short_names.is_empty() {
        whole["shortNames"] = json!(entry.short_names);
    }
    if !entry.categories.is_empty() {
        whole["categories"] = json!(entry.categories);
    }
    if let Some(storage) = &entry.storage {
        whole["storageVersionHash"] = storage.as_str().into();
    }
    let mut rows = vec![whole];
    for part in &entry.parts {
        let mut row = json!({
            "name": format!("{plural}/{}", part.name), "singularName": "", "namespaced": namespaced,
            "kind": part.kind, "verbs": part.verbs,
        });
        if let Some((group, version)) = part.group_version {
            row["group"] = group.into();
            row["version"] = version.into();
        }
        rows.push(row);
    }
    rows
}
