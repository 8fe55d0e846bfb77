//! Resources from CustomResourceDefinitions.

use std::sync::Arc;

use serde_json::Value;

use super::{Resource, Scale};
use crate::ownership::Shape;
use crate::table;

/// Why a CustomResourceDefinition defines nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDefinition {
    /// A field that must be there is not, or is not a text.
    #[error("a CustomResourceDefinition needs {0}")]
    Missing(&'static str),
    /// No version is both served and stored.
    #[error("a CustomResourceDefinition needs a version that is served and stored")]
    NoVersion,
}

impl Resource {
    /// What a CustomResourceDefinition defines, in its storage version. Of its schema only what tells fields apart counts.
    pub fn from_crd(definition: &Value) -> Result<Self, BadDefinition> {
        let stored = definition
            .pointer("/spec/versions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .find(|it| it["served"] == true && it["storage"] == true)
            .ok_or(BadDefinition::NoVersion)?;
        Self::from_crd_version(definition, stored)
    }

    /// What a CustomResourceDefinition defines, in one of its versions.
    pub(crate) fn from_crd_version(definition: &Value, stored: &Value) -> Result<Self, BadDefinition> {
        let text = |pointer: &'static str| {
            definition.pointer(pointer).and_then(Value::as_str).ok_or(BadDefinition::Missing(pointer))
        };
        let version = stored["name"].as_str().ok_or(BadDefinition::Missing("/spec/versions/name"))?;

        let mut resource = Self::custom(
            text("/spec/group")?,
            version,
            text("/spec/names/kind")?,
            text("/spec/names/plural")?,
        );
        resource.namespaced = text("/spec/scope")? == "Namespaced";
        if let Ok(singular) = text("/spec/names/singular") {
            singular.clone_into(&mut resource.singular);
        }
        resource.short_names = texts(definition.pointer("/spec/names/shortNames"));
        resource.categories = texts(definition.pointer("/spec/names/categories"));
        resource.status = stored.pointer("/subresources/status").is_some();
        resource.scale = stored.pointer("/subresources/scale").map(scale).transpose()?;
        let selectable = stored["selectableFields"].as_array().into_iter().flatten();
        resource.fields = selectable
            .filter_map(|it| it["jsonPath"].as_str())
            .map(|path| path.trim_start_matches('.').to_owned())
            .collect();
        resource.shape = Arc::new(Shape::of_objects(&stored["schema"]["openAPIV3Schema"]));
        resource.open_api = stored.pointer("/schema/openAPIV3Schema").cloned().map(Arc::new);
        resource.columns = table::printer_columns(stored).into();
        Ok(resource)
    }
}

fn scale(scale: &Value) -> Result<Scale, BadDefinition> {
    let text = |name: &'static str| scale[name].as_str().map(str::to_owned);
    Ok(Scale {
        spec_path: text("specReplicasPath").ok_or(BadDefinition::Missing("specReplicasPath"))?,
        status_path: text("statusReplicasPath").ok_or(BadDefinition::Missing("statusReplicasPath"))?,
        selector_path: text("labelSelectorPath"),
    })
}

fn texts(list: Option<&Value>) -> Vec<String> {
    list.and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_what_it_serves() {
        let definition = json!({"spec": {
        "group": "grove.io", "scope": "Cluster",
        "names": {"kind": "Widget", "plural": "widgets", "singular": "widget", "shortNames": ["w"]},
        "versions": [
            {"name": "v1", "served": true, "storage": false},
            {"name": "v2", "served": true, "storage": true, "selectableFields": [{"jsonPath": ".spec.color"}],
             "subresources": {"status": {}, "scale": {
                "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}},
        ]}});
        let resource = Resource::from_crd(&definition).unwrap();
        assert_eq!((resource.id(), resource.version.as_str()), ("widgets.grove.io", "v2"));
        assert!(!resource.namespaced && resource.status && resource.custom);
        assert_eq!(resource.fields, ["spec.color"]);
        assert_eq!(resource.scale.unwrap().selector_path, None);
    }

    #[test]
    fn says_what_is_missing() {
        assert_eq!(Resource::from_crd(&json!({})).unwrap_err(), BadDefinition::NoVersion);
        let nameless = json!({"spec": {"versions": [{"name": "v1", "served": true, "storage": true}]}});
        assert_eq!(Resource::from_crd(&nameless).unwrap_err(), BadDefinition::Missing("/spec/group"));
    }
}
