//! Field selectors: `a.b=c`, `a.b==c`, `a.b!=c`, separated by commas. Only fields that a resource names can be used.

use serde_json::Value;

use crate::failure::Failure;
use crate::object::Object;
use crate::resource::Resource;

/// A field selector.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<Requirement>);

#[derive(Clone, Debug)]
struct Requirement {
    path: Vec<String>,
    equal: bool,
    value: String,
}

impl Fields {
    pub(crate) fn parse(resource: &Resource, text: &str) -> Result<Self, Failure> {
        let requirements = text.split(',').filter(|it| !it.is_empty());
        requirements.map(|it| Requirement::parse(resource, text, it)).collect::<Result<_, _>>().map(Self)
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.0.iter().all(|it| it.matches(object.value()))
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.0.is_empty()
    }
}

impl Requirement {
    fn parse(resource: &Resource, whole: &str, text: &str) -> Result<Self, Failure> {
        let bad = || {
            let message = format!("invalid selector: '{whole}'; can't understand '{text}'");
            Failure::bad_request(message)
        };
        let (field, value) = text.split_once('=').ok_or_else(bad)?;
        let (field, equal) = field.strip_suffix('!').map_or((field, true), |field| (field, false));
        let value = value.strip_prefix('=').unwrap_or(value);
        if !is_selectable(resource, field) {
            return Err(unknown(resource, field));
        }
        Ok(Self { path: field.split('.').map(str::to_owned).collect(), equal, value: value.to_owned() })
    }

    fn matches(&self, object: &Value) -> bool {
        let found = self.path.iter().try_fold(object, |value, field| value.get(field));
        let is_it = match found {
            None | Some(Value::Null) => self.value.is_empty(),
            Some(Value::String(text)) => *text == self.value,
            Some(Value::Bool(it)) => self.value == if *it { "true" } else { "false" },
            Some(other) => self.value == format!("{other}"),
        };
        is_it == self.equal
    }
}

fn is_selectable(resource: &Resource, field: &str) -> bool {
    field == "metadata.name"
        || (field == "metadata.namespace" && resource.namespaced)
        || resource.fields.iter().any(|it| it == field)
}

/// Custom resources say it in other words.
fn unknown(resource: &Resource, field: &str) -> Failure {
    Failure::bad_request(if resource.custom {
        format!("field label not supported: {field}")
    } else {
        let known = r#""metadata.name", "metadata.namespace""#;
        format!("{field:?} is not a known field selector: only {known}")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn matching() {
        let mut pods = Resource::built_in("", "v1", "Pod", "pods");
        pods.fields = vec!["spec.nodeName".to_owned(), "spec.hostNetwork".to_owned()];
        let pod =
            Object::new(json!({"metadata": {"name": "a", "namespace": "b"}, "spec": {"hostNetwork": true}}));
        for (selector, expected) in [
            ("", true),
            ("metadata.name=a", true),
            ("metadata.name==a,metadata.namespace!=c", true),
            ("metadata.name!=a", false),
            ("spec.nodeName=", true),
            ("spec.nodeName!=", false),
            ("spec.hostNetwork=true", true),
        ] {
            assert_eq!(Fields::parse(&pods, selector).unwrap().matches(&pod), expected, "{selector}");
        }
        for selector in ["spec.color=red", "metadata.name", "metadata.uid=1"] {
            assert_eq!(Fields::parse(&pods, selector).unwrap_err().code, 400, "{selector}");
        }
    }
}
