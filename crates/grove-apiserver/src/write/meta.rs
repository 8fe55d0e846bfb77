//! What metadata may be: names, labels, annotations, finalizers, owners. In the real server's words.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::failure::{Cause, Failure};
use crate::metadata;
use crate::resource::Resource;

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const SERVICE: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// Annotations have this many bytes in all.
const ANNOTATIONS: usize = 256 * 1024;

/// Finalizers that Kubernetes itself uses without a domain.
const STANDARD_FINALIZERS: [&str; 3] = ["orphan", "foregroundDeletion", "kubernetes"];

/// Refuses metadata that cannot be.
pub(super) fn check(resource: &Resource, object: &Value) -> Result<(), Failure> {
    let name = metadata::text(object, "name").unwrap_or_default();
    let mut causes = Vec::new();
    if let Some(why) = wrong_name(resource, name) {
        causes.push(Cause::invalid("metadata.name", &format!("{name:?}"), why));
    }
    labels(object, &mut causes);
    annotations(object, &mut causes);
    finalizers(object, &mut causes);
    owners(object, &mut causes);
    if causes.is_empty() { Ok(()) } else { Err(Failure::invalid(resource, name, causes)) }
}

/// What is wrong with a name, which is how a kind is named in DNS, or in paths.
fn wrong_name(resource: &Resource, name: &str) -> Option<&'static str> {
    let is_dns = |it: &str| it.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-');
    let has_ends = |it: &str| !it.is_empty() && !it.starts_with('-') && !it.ends_with('-');
    let is_label = |it: &str| is_dns(it) && has_ends(it);
    match resource.id() {
        id if id.ends_with(".rbac.authorization.k8s.io") => match name {
            "." | ".." => Some("may not be '.' or '..'"),
            name if name.contains('/') => Some("may not contain '/'"),
            name if name.contains('%') => Some("may not contain '%'"),
            _ => None,
        },
        "services" | "namespaces" if name.len() > 63 => Some("must be no more than 63 characters"),
        "services" if !is_label(name) || name.starts_with(|it: char| it.is_ascii_digit()) => Some(SERVICE),
        "namespaces" if !is_label(name) => Some(LABEL),
        "services" | "namespaces" => None,
        _ if name.len() > 253 => Some("must be no more than 253 characters"),
        _ => (!name.split('.').all(is_label)).then_some(SUBDOMAIN),
    }
}

fn is_qualified_part(part: &str) -> bool {
    let ends = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    part.len() <= 63
        && ends(part.chars().next())
        && ends(part.chars().last())
        && part.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.".contains(&it))
}

/// What is wrong with a key such as `example.com/name`.
pub(super) fn wrong_key(key: &str) -> Option<&'static str> {
    let name = match key.split_once('/') {
        Some((_, name)) if name.contains('/') => {
            return Some(
                "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            );
        }
        Some((prefix, name)) => {
            let lower = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"-.".contains(&it);
            if prefix.is_empty() {
                return Some("prefix part must be non-empty");
            }
            if prefix.len() > 253 || !prefix.bytes().all(lower) || !prefix.split('.').all(is_qualified_part) {
                return Some(SUBDOMAIN);
            }
            name
        }
        None => key,
    };
    if name.is_empty() {
        return Some("name part must be non-empty");
    }
    if name.len() > 63 {
        return Some("name part must be no more than 63 characters");
    }
    (!is_qualified_part(name)).then_some(QUALIFIED)
}

fn map<'a>(object: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a str)> {
    let map = metadata::of(object).and_then(|it| it.get(field)?.as_object()).into_iter().flatten();
    map.map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}

fn labels(object: &Value, causes: &mut Vec<Cause>) {
    for (key, value) in map(object, "labels") {
        if let Some(why) = wrong_key(key) {
            causes.push(Cause::invalid("metadata.labels", &format!("{key:?}"), why));
        }
        if value.len() > 63 {
            let why = "must be no more than 63 characters";
            causes.push(Cause::invalid("metadata.labels", &format!("{value:?}"), why));
        }
        if !value.is_empty() && value.len() <= 63 && !is_qualified_part(value) {
            causes.push(Cause::invalid("metadata.labels", &format!("{value:?}"), VALUE));
        }
    }
}

fn annotations(object: &Value, causes: &mut Vec<Cause>) {
    let mut size = 0;
    for (key, value) in map(object, "annotations") {
        size += key.len() + value.len();
        if let Some(why) = wrong_key(&key.to_lowercase()) {
            causes.push(Cause::invalid("metadata.annotations", &format!("{key:?}"), why));
        }
    }
    if size > ANNOTATIONS {
        causes.push(Cause::too_long("metadata.annotations", ANNOTATIONS));
    }
}

fn finalizers(object: &Value, causes: &mut Vec<Cause>) {
    for (at, finalizer) in metadata::list(object, "finalizers").iter().filter_map(Value::as_str).enumerate() {
        let field = format!("metadata.finalizers[{at}]");
        if let Some(why) = wrong_key(finalizer) {
            causes.push(Cause::invalid(&field, &format!("{finalizer:?}"), why));
        } else if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            causes.push(Cause::invalid(&field, &format!("{finalizer:?}"), why));
        }
    }
}

fn owners(object: &Value, causes: &mut Vec<Cause>) {
    let references = metadata::list(object, "ownerReferences");
    for (at, reference) in references.iter().enumerate() {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if reference[field].as_str().unwrap_or_default().is_empty() {
                let path = format!("metadata.ownerReferences[{at}].{field}");
                causes.push(Cause::required(&path, "must not be empty"));
            }
        }
    }
    let controllers: Vec<&Value> = references.iter().filter(|it| it["controller"] == true).collect();
    let different: BTreeSet<String> = controllers.iter().map(|it| it["uid"].to_string()).collect();
    if different.len() > 1 {
        let shown = Value::from(references.to_vec()).to_string();
        let text = |of: &Value, field: &str| of[field].as_str().unwrap_or_default().to_owned();
        let name = |it: &&Value| format!("{}/{}", text(it, "kind"), text(it, "name"));
        let names: Vec<String> = controllers.iter().map(name).collect();
        let why = format!(
            "Only one reference can have Controller set to true. Found \"true\" in references for {}",
            names.join(" and ")
        );
        causes.push(Cause::invalid("metadata.ownerReferences", &shown, &why));
    }
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(id: &str, metadata: Value) -> Vec<String> {
        let (group, plural) = id.split_once('/').unwrap_or(("", id));
        let resource = Resource::built_in(group, "v1", "X", plural);
        match check(&resource, &json!({"metadata": metadata})) {
            Ok(()) => Vec::new(),
            Err(failure) => failure.details.unwrap().causes.into_iter().map(|it| it.field).collect(),
        }
    }

    #[test]
    fn names() {
        for (id, name, is_fine) in [
            ("configmaps", "a-b.c1", true),
            ("configmaps", "kube-root-ca.crt", true),
            ("configmaps", "Not_A_Name", false),
            ("configmaps", "-a", false),
            ("configmaps", "a..b", false),
            ("configmaps", "", false),
            ("configmaps", &"a".repeat(254), false),
            ("namespaces", "a.b", false),
            ("namespaces", &"a".repeat(64), false),
            ("services", "1a", false),
            ("services", "a1", true),
            ("rbac.authorization.k8s.io/roles", "system:Node_x", true),
            ("rbac.authorization.k8s.io/roles", "a/b", false),
        ] {
            let expected: &[&str] = if is_fine { &[] } else { &["metadata.name"] };
            assert_eq!(fields(id, json!({"name": name})), expected, "{id} {name}");
        }
    }

    #[test]
    fn the_rest() {
        let long = "x".repeat(64);
        let uid =
            |uid: &str| json!({"apiVersion": "v1", "kind": "X", "name": "x", "uid": uid, "controller": true});
        for (metadata, expected) in [
            (json!({"labels": {"a": "b", "example.com/a": ""}}), vec![]),
            (json!({"labels": {"a": "not a value"}}), vec!["metadata.labels"]),
            (json!({"labels": {"a": long}}), vec!["metadata.labels"]),
            (json!({"labels": {"a b": ""}}), vec!["metadata.labels"]),
            (json!({"labels": {"a/b/c": "", "/c": "", "Upper/c": ""}}), vec!["metadata.labels"; 3]),
            (json!({"annotations": {"Any/Case": "any thing"}}), vec![]),
            (json!({"annotations": {"a": "x".repeat(ANNOTATIONS)}}), vec!["metadata.annotations"]),
            (json!({"finalizers": ["orphan", "example.com/x"]}), vec![]),
            (json!({"finalizers": ["mine"]}), vec!["metadata.finalizers[0]"]),
            (json!({"ownerReferences": [uid("1"), uid("1")]}), vec![]),
            (json!({"ownerReferences": [uid("1"), uid("2")]}), vec!["metadata.ownerReferences"]),
            (json!({"ownerReferences": [uid("")]}), vec!["metadata.ownerReferences[0].uid"]),
        ] {
            let mut metadata = metadata;
            metadata["name"] = "a".into();
            assert_eq!(fields("configmaps", metadata.clone()), expected, "{metadata}");
        }
    }
}
