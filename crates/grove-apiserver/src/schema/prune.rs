//! Fields that a schema does not have.

use serde_json::{Map, Value};

use super::{Additional, Path, Schema};

/// The fields of `ObjectMeta`: the metadata of all objects is of this type, whatever the schema says.
const METADATA: [&str; 15] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// As many unknown fields as are named.
const MOST: usize = 1000;

/// Removes what a schema does not have.
pub(crate) fn prune(schema: &Schema, value: &mut Value) {
    Walk { found: None }.value(schema, value, &Path::Root);
}

/// The paths of what a schema does not have, such as `spec.replica`, in the order in which they are found.
pub(crate) fn unknown_fields(schema: &Schema, value: &Value) -> Vec<String> {
    let mut walk = Walk { found: Some(Vec::new()) };
    walk.value(schema, &mut value.clone(), &Path::Root);
    walk.found.unwrap_or_default()
}

struct Walk {
    found: Option<Vec<String>>,
}

impl Walk {
    fn value(&mut self, schema: &Schema, value: &mut Value, path: &Path<'_>) {
        match value {
            Value::Object(map) => self.map(schema, map, path),
            Value::Array(list) => {
                if let Some(items) = &schema.items {
                    for (at, item) in list.iter_mut().enumerate() {
                        self.value(items, item, &path.index(at));
                    }
                }
            }
            _ => {}
        }
    }

    fn map(&mut self, schema: &Schema, map: &mut Map<String, Value>, path: &Path<'_>) {
        let is_object =
            |field: &str| schema.is_resource && matches!(field, "apiVersion" | "kind" | "metadata");
        let is_known = |field: &str| {
            schema.preserves_unknown
                || is_object(field)
                || schema.properties.contains_key(field)
                || !matches!(schema.additional, Additional::Unsaid)
        };
        self.retain(map, path, is_known);
        for (field, value) in map.iter_mut() {
            if schema.is_resource && field == "metadata" {
                if let Value::Object(metadata) = value {
                    self.retain(metadata, &path.field("metadata"), |it| METADATA.contains(&it));
                }
            } else if let Some(child) = schema.child(field) {
                self.value(child, value, &path.field(field));
            }
        }
    }

    fn retain(&mut self, map: &mut Map<String, Value>, path: &Path<'_>, is_known: impl Fn(&str) -> bool) {
        if let Some(found) = &mut self.found {
            let unknown = map.keys().filter(|it| !is_known(it)).map(|it| path.field(it).to_string());
            found.extend(unknown.take(MOST.saturating_sub(found.len())));
        }
        map.retain(|field, _| is_known(field));
    }
}
