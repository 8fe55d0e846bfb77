//! Which webhooks are asked about a write, and which policies apply to it: by rules and by labels.

use serde_json::Value;

use super::CONFIGURATIONS;
use super::attributes::Attributes;
use crate::metadata;
use crate::selector::Labels;

/// Which operations on which resources a webhook or a policy is about.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    operations: Vec<String>,
    groups: Vec<String>,
    versions: Vec<String>,
    resources: Vec<String>,
    scope: String,
}

impl Rule {
    pub(super) fn of(rule: &Value) -> Self {
        Self {
            operations: texts(&rule["operations"]),
            groups: texts(&rule["apiGroups"]),
            versions: texts(&rule["apiVersions"]),
            resources: texts(&rule["resources"]),
            scope: rule["scope"].as_str().unwrap_or("*").to_owned(),
        }
    }

    pub(super) fn matches(&self, write: &Attributes) -> bool {
        let resource = &write.resource;
        let says = |list: &[String], what: &str| list.iter().any(|it| it == "*" || it == what);
        let is_namespaced = resource.namespaced;
        let in_scope = match self.scope.as_str() {
            "Namespaced" => is_namespaced,
            "Cluster" => !is_namespaced,
            _ => true,
        };
        in_scope
            && says(&self.operations, write.operation.name())
            && says(&self.groups, &resource.group)
            && says(&self.versions, &resource.version)
            && self.resources.iter().any(|it| names(it, &resource.plural, write.subresource))
    }
}

/// Whether `pods`, `pods/status`, `pods/*`, `*/scale`, `*` or `*/*` names a resource or a part of one.
fn names(pattern: &str, plural: &str, subresource: Option<&str>) -> bool {
    let (resource, part) = match pattern.split_once('/') {
        Some((resource, part)) => (resource, Some(part)),
        None => (pattern, None),
    };
    (resource == "*" || resource == plural)
        && match (part, subresource) {
            (None, None) | (Some("*"), _) => true,
            (Some(part), Some(subresource)) => part == subresource,
            _ => false,
        }
}

/// Whether webhooks and policies have nothing to do with objects of a resource: one that refuses could never be removed.
pub(crate) fn is_exempt(resource: &str) -> bool {
    CONFIGURATIONS.contains(&resource)
}

/// The labels that namespaces and objects must have. A selector that cannot be read selects nothing.
#[derive(Debug)]
pub(super) struct Selectors {
    namespaces: Option<Labels>,
    objects: Option<Labels>,
}

impl Selectors {
    /// The fields `namespaceSelector` and `objectSelector`; without them everything is selected.
    pub(super) fn of(fields: &Value) -> Self {
        let select = |field: &str| match &fields[field] {
            Value::Null => Labels::parse("").ok(),
            said => selector(said),
        };
        Self { namespaces: select("namespaceSelector"), objects: select("objectSelector") }
    }

    pub(super) fn match_all(&self, write: &Attributes) -> bool {
        self.namespaces.as_ref().is_some_and(|it| in_namespace(it, write))
            && self.objects.as_ref().is_some_and(|it| {
                let new = Some(&write.object).filter(|it| !it.is_null());
                let old = write.old.as_ref().map(|it| it.value());
                [new, old].into_iter().flatten().any(|object| fits(it, object))
            })
    }
}

/// Objects of the whole cluster are in any namespace, and a namespace is in itself.
fn in_namespace(selector: &Labels, write: &Attributes) -> bool {
    if write.resource.is("namespaces") {
        let old = write.old.as_ref().map(|it| it.value());
        let labelled = Some(&write.object).filter(|it| !it.is_null()).or(old);
        return labelled.is_some_and(|it| fits(selector, it));
    }
    !write.resource.namespaced || selector.matches(|key| write.namespace_labels.get(key).map(String::as_str))
}

/// Whether an object has the labels.
fn fits(selector: &Labels, object: &Value) -> bool {
    let labels = metadata::of(object).and_then(|it| it.get("labels"));
    selector.matches(|key| labels.and_then(|it| it.get(key)?.as_str()))
}

/// A label selector in JSON. One that cannot be read selects nothing.
fn selector(selector: &Value) -> Option<Labels> {
    let mut parts = Vec::new();
    for (key, value) in selector["matchLabels"].as_object().into_iter().flatten() {
        parts.push(format!("{key}={}", value.as_str()?));
    }
    for requirement in selector["matchExpressions"].as_array().into_iter().flatten() {
        let (key, values) = (requirement["key"].as_str()?, texts(&requirement["values"]).join(","));
        parts.push(match requirement["operator"].as_str()? {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "Exists" => key.to_owned(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        });
    }
    Labels::parse(&parts.join(",")).ok()
}

pub(super) fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn configurations_are_exempt() {
        assert!(is_exempt("mutatingwebhookconfigurations.admissionregistration.k8s.io"));
        assert!(is_exempt("mutatingadmissionpolicybindings.admissionregistration.k8s.io"));
        assert!(!is_exempt("pods"));
    }

    #[test]
    fn resources_and_their_parts() {
        for (pattern, plural, part, expected) in [
            ("pods", "pods", None, true),
            ("pods", "pods", Some("status"), false),
            ("pods/status", "pods", Some("status"), true),
            ("pods/status", "pods", None, false),
            ("pods/*", "pods", Some("binding"), true),
            ("*/scale", "widgets", Some("scale"), true),
            ("*", "pods", None, true),
            ("*", "pods", Some("status"), false),
            ("*/*", "pods", None, true),
            ("nodes", "pods", None, false),
        ] {
            assert_eq!(names(pattern, plural, part), expected, "{pattern} {plural} {part:?}");
        }
    }

    #[test]
    fn label_selectors() {
        let selector = selector(&json!({
            "matchLabels": {"a": "1"},
            "matchExpressions": [
                {"key": "b", "operator": "In", "values": ["x", "y"]},
                {"key": "c", "operator": "DoesNotExist"},
                {"key": "d", "operator": "NotIn", "values": ["z"]},
            ],
        }));
        let selector = selector.unwrap();
        let fits = |labels: &[(&str, &'static str)]| {
            selector.matches(|key| labels.iter().find(|(it, _)| *it == key).map(|(_, value)| *value))
        };
        assert!(fits(&[("a", "1"), ("b", "x")]));
        assert!(!fits(&[("a", "1"), ("b", "z")]) && !fits(&[("a", "1"), ("b", "x"), ("c", "1")]));
        assert!(!fits(&[("a", "1"), ("b", "x"), ("d", "z")]));
        assert!(
            super::selector(&json!({"matchExpressions": [{"key": "a", "operator": "Sideways"}]})).is_none()
        );
    }
}
