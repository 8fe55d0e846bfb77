//! What a definition must be like, and what it is where it says nothing.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::object::Object;
use crate::resource::Resource;
use crate::schema;

/// As many versions as a definition may have.
const MOST_VERSIONS: usize = 64;

/// Fills in what a definition leaves out, and refuses one that makes no sense.
pub(crate) fn prepare(
    resource: &Resource,
    old: Option<&Object>,
    definition: &mut Value,
) -> Result<(), Failure> {
    fill(definition);
    let spec_is_old = old.is_some_and(|old| old.field("/spec") == definition.get("spec"));
    // What is stored was checked when it came, and schemas take time to compile.
    if !spec_is_old {
        let causes = check(definition, old);
        if !causes.is_empty() {
            let name = metadata::text(definition, "name").unwrap_or_default();
            return Err(Failure::invalid(resource, name, causes));
        }
    }
    note_stored_versions(definition, old);
    Ok(())
}

/// Names and a conversion where a definition says none.
pub(crate) fn fill(definition: &mut Value) {
    let spec = metadata::map_mut(metadata::map_mut(definition).entry("spec").or_insert(Value::Null));
    spec.entry("conversion").or_insert_with(|| json!({"strategy": "None"}));
    let names = metadata::map_mut(spec.entry("names").or_insert(Value::Null));
    let kind = names.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !kind.is_empty() {
        names.entry("singular").or_insert_with(|| kind.to_lowercase().into());
        names.entry("listKind").or_insert_with(|| format!("{kind}List").into());
    }
}

/// All versions in which objects may be stored, also from before.
fn note_stored_versions(definition: &mut Value, old: Option<&Object>) {
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array).into_iter().flatten();
    let stored = versions.filter(|it| it["storage"] == true).filter_map(|it| it["name"].as_str());
    let stored: Vec<Value> = stored.map(Value::from).collect();
    let said = definition.pointer("/status/storedVersions").and_then(Value::as_array).cloned();
    let before = old.and_then(|it| it.field("/status/storedVersions")).and_then(Value::as_array).cloned();
    let mut all = said.or(before).unwrap_or_default();
    for version in stored {
        if !all.contains(&version) {
            all.push(version);
        }
    }
    let status = metadata::map_mut(metadata::map_mut(definition).entry("status").or_insert(Value::Null));
    status.insert("storedVersions".to_owned(), all.into());
    status.entry("acceptedNames").or_insert_with(|| json!({"kind": "", "plural": ""}));
    status.entry("conditions").or_insert(Value::Null);
}

fn check(definition: &Value, old: Option<&Object>) -> Vec<Cause> {
    let mut causes = Vec::new();
    let text = |pointer: &str| definition.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let shown = |text: &str| Value::from(text).to_string();
    let (group, plural) = (text("/spec/group"), text("/spec/names/plural"));
    let name = metadata::text(definition, "name").unwrap_or_default();
    if name != format!("{plural}.{group}") {
        let detail = "must be spec.names.plural+\".\"+spec.group";
        causes.push(Cause::invalid("metadata.name", &shown(name), detail));
    }
    if !is_subdomain(group) || !group.contains('.') {
        let detail = "should be a domain with at least one dot";
        causes.push(Cause::invalid("spec.group", &shown(group), detail));
    }
    match text("/spec/scope") {
        "Namespaced" | "Cluster" => {}
        "" => causes.push(Cause::required("spec.scope", "")),
        other => causes.push(Cause::not_supported("spec.scope", other, &["Cluster", "Namespaced"])),
    }
    if definition.pointer("/spec/preserveUnknownFields") == Some(&Value::Bool(true)) {
        let detail = "must be false in order to use defaults in the schema";
        causes.push(Cause::invalid("spec.preserveUnknownFields", "true", detail));
    }
    match text("/spec/conversion/strategy") {
        "None" => {}
        other => causes.push(Cause::not_supported("spec.conversion.strategy", other, &["None"])),
    }
    check_names(definition, &mut causes);
    check_versions(definition, &mut causes);
    if let Some(old) = old {
        check_unchanged(definition, old, &mut causes);
    }
    causes
}

/// What objects and clients rely on once it is there.
fn check_unchanged(definition: &Value, old: &Object, causes: &mut Vec<Cause>) {
    for (pointer, field) in [
        ("/spec/group", "spec.group"),
        ("/spec/names/plural", "spec.names.plural"),
        ("/spec/scope", "spec.scope"),
    ] {
        let (new, before) = (definition.pointer(pointer), old.field(pointer));
        if new != before && super::is_established(old) {
            let shown = new.unwrap_or(&Value::Null).to_string();
            causes.push(Cause::invalid(field, &shown, "field is immutable"));
        }
    }
    let names: BTreeSet<&str> = versions(definition).iter().filter_map(|it| it["name"].as_str()).collect();
    let stored = old.field("/status/storedVersions").and_then(Value::as_array).into_iter().flatten();
    for (at, stored) in stored.enumerate() {
        if stored.as_str().is_some_and(|it| !names.contains(it)) {
            let detail = "must appear in spec.versions";
            causes.push(Cause::invalid(&format!("status.storedVersions[{at}]"), &stored.to_string(), detail));
        }
    }
}

fn check_names(definition: &Value, causes: &mut Vec<Cause>) {
    let names = definition.pointer("/spec/names").and_then(Value::as_object);
    let names = names.cloned().unwrap_or_default();
    let mut check = |field: String, value: &Value, lower: bool| {
        let Some(text) = value.as_str().filter(|it| !it.is_empty()) else {
            causes.push(Cause::required(&field, ""));
            return;
        };
        let plain = if lower { text.to_owned() } else { text.to_lowercase() };
        if !is_label(&plain) {
            let detail = if lower {
                "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            } else {
                "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
            };
            causes.push(Cause::invalid(&field, &value.to_string(), detail));
        }
    };
    for (field, lower) in [("plural", true), ("singular", true), ("kind", false), ("listKind", false)] {
        check(format!("spec.names.{field}"), &names.get(field).cloned().unwrap_or_default(), lower);
    }
    for list in ["shortNames", "categories"] {
        for (at, value) in names.get(list).and_then(Value::as_array).into_iter().flatten().enumerate() {
            check(format!("spec.names.{list}[{at}]"), value, true);
        }
    }
    if names.get("kind").is_some() && names.get("kind") == names.get("listKind") {
        let shown = names.get("listKind").unwrap_or(&Value::Null).to_string();
        causes.push(Cause::invalid("spec.names.listKind", &shown, "kind and listKind may not be the same"));
    }
}

fn check_versions(definition: &Value, causes: &mut Vec<Cause>) {
    let all = versions(definition);
    if all.is_empty() {
        causes.push(Cause::required(
            "spec.versions",
            "must have exactly one version marked as storage version",
        ));
        return;
    }
    if all.len() > MOST_VERSIONS {
        let detail = format!("must have at most {MOST_VERSIONS} items");
        causes.push(Cause::new(
            "FieldValueTooMany",
            "spec.versions",
            &format!("Too many: {}", all.len()),
            &detail,
        ));
        return;
    }
    let mut known = BTreeSet::new();
    // Where all versions have one schema, it is checked once, and the path is that of the API of old.
    let is_shared = all.iter().all(|it| it["schema"] == all[0]["schema"]);
    for (at, version) in all.iter().enumerate() {
        let path = format!("spec.versions[{at}]");
        let name = version["name"].as_str().unwrap_or_default();
        if !is_label(name) {
            let detail = "a DNS-1035 label must consist of lower case alphanumeric characters or '-'";
            causes.push(Cause::invalid(&format!("{path}.name"), &version["name"].to_string(), detail));
        }
        if !known.insert(name) {
            let detail = "must contain unique version names";
            causes.push(Cause::invalid("spec.versions", &Value::from(name).to_string(), detail));
        }
        for field in ["served", "storage"] {
            if !version[field].is_boolean() {
                causes.push(Cause::required(&format!("{path}.{field}"), ""));
            }
        }
        let schema = &version["schema"]["openAPIV3Schema"];
        let place = format!("{path}.schema.openAPIV3Schema");
        if schema.is_null() {
            causes.push(Cause::required(&place, "schemas are required"));
        } else if !is_shared || at == 0 {
            let place = if is_shared { "spec.validation.openAPIV3Schema" } else { &place };
            causes.extend(schema::compile(schema, place).err().unwrap_or_default());
        }
        check_subresources(version.get("subresources").and_then(Value::as_object), &path, causes);
    }
    let storage = all.iter().filter(|it| it["storage"] == true).count();
    if storage != 1 {
        let detail = "must have exactly one version marked as storage version";
        causes.push(Cause::invalid("spec.versions", &json!(known).to_string(), detail));
    }
}

fn check_subresources(subresources: Option<&Map<String, Value>>, path: &str, causes: &mut Vec<Cause>) {
    let Some(scale) = subresources.and_then(|it| it.get("scale")).filter(|it| !it.is_null()) else { return };
    for (field, begins) in [("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")] {
        let place = format!("{path}.subresources.scale.{field}");
        match scale[field].as_str().unwrap_or_default() {
            "" => causes.push(Cause::required(&place, "")),
            text if !text.starts_with(begins) || text.contains('[') => {
                let detail = format!("should be a json path under {}", begins.trim_end_matches('.'));
                causes.push(Cause::invalid(&place, &Value::from(text).to_string(), &detail));
            }
            _ => {}
        }
    }
}

fn versions(definition: &Value) -> &[Value] {
    definition.pointer("/spec/versions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn is_label(text: &str) -> bool {
    let fits = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(fits)
        && text.starts_with(|it: char| it.is_ascii_lowercase())
        && !text.ends_with('-')
}

fn is_subdomain(text: &str) -> bool {
    let is_part = |part: &str| {
        let fits = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
        !part.is_empty() && part.bytes().all(fits) && !part.starts_with('-') && !part.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_part)
}
