//! The OpenAPI document of a group version.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::builtin::{LIST_META, OBJECT_META, builtin};
use super::paths::paths;
use crate::digest::digest;
use crate::discovery::{ResourceEntry, VersionEntry};
use crate::resource::Resources;

const REFERENCE: &str = "#/components/schemas/";

/// The document of a group version, not yet put together.
pub(super) struct Document<'a> {
    group: &'a str,
    version: &'a str,
    kinds: Vec<Kind<'a>>,
}

/// A kind of a document.
pub(super) struct Kind<'a> {
    pub(super) entry: &'a ResourceEntry,
    /// The name of its schema.
    pub(super) schema_name: String,
    /// The schema of its CustomResourceDefinition.
    schema: Option<Arc<Value>>,
}

impl<'a> Document<'a> {
    pub(super) fn new(resources: &Resources, group: &'a str, version: &'a VersionEntry) -> Self {
        let kinds = version.resources.iter().map(|entry| {
            let name = builtin().name(group, &version.name, &entry.kind).map(str::to_owned);
            let resource = resources.find(group, &version.name, &entry.plural);
            Kind {
                entry,
                schema_name: name.unwrap_or_else(|| custom_name(group, &version.name, &entry.kind)),
                schema: resource.and_then(|it| it.open_api.clone()),
            }
        });
        Self { group, version: &version.name, kinds: kinds.collect() }
    }

    /// Names the content: schemas of built-in kinds change only with the program, which `CARGO_PKG_VERSION` stands for.
    pub(super) fn digest(&self) -> String {
        let mut content =
            format!("{} {} {}", env!("CARGO_PKG_VERSION"), self.group, self.version).into_bytes();
        for kind in &self.kinds {
            content.extend_from_slice(format!("{:?}", kind.entry).as_bytes());
            if let Some(schema) = &kind.schema {
                content.extend_from_slice(schema.to_string().as_bytes());
            }
        }
        digest(&content)
    }

    pub(super) fn build(&self) -> Value {
        let mut schemas = Map::new();
        let (mut document_paths, mut wanted) = (Map::new(), BTreeSet::new());
        for kind in &self.kinds {
            let name = &kind.schema_name;
            if !builtin().schemas.contains_key(name) {
                schemas.insert(name.clone(), self.custom_schema(kind));
            }
            schemas.insert(format!("{name}List"), self.list_schema(kind));
            document_paths.extend(paths(self.group, self.version, kind));
            wanted.insert(name.clone());
        }
        let mut document = json!({
            "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "v1.37.0"}, "paths": document_paths,
        });
        collect_references(&document, &mut wanted);
        for schema in schemas.values() {
            collect_references(schema, &mut wanted);
        }
        add_built_in(wanted, &mut schemas);
        document["components"] = json!({"schemas": schemas});
        document
    }

    /// The schema of a kind that did not come with Kubernetes, or of which nothing is known but that it is an object.
    fn custom_schema(&self, kind: &Kind<'_>) -> Value {
        let mut schema = match &kind.schema {
            Some(schema) if schema.is_object() => Value::clone(schema),
            _ => json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true}),
        };
        let metadata = json!({
            "description": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
            "allOf": [{"$ref": format!("{REFERENCE}{OBJECT_META}")}], "default": {},
        });
        if !schema["properties"].is_object() {
            schema["properties"] = json!({});
        }
        for (field, value) in
            [("apiVersion", api_version_field()), ("kind", kind_field()), ("metadata", metadata)]
        {
            if field == "metadata" || schema["properties"][field].get("description").is_none() {
                schema["properties"][field] = value;
            }
        }
        schema["x-kubernetes-group-version-kind"] = json!([self.group_version_kind(&kind.entry.kind)]);
        schema
    }

    fn list_schema(&self, kind: &Kind<'_>) -> Value {
        let reference =
            |name: &str| json!({"allOf": [{"$ref": format!("{REFERENCE}{name}")}], "default": {}});
        let mut metadata = reference(LIST_META);
        metadata["description"] = "Standard list metadata.".into();
        json!({
            "description": format!("{0}List is a list of {0}", kind.entry.kind), "type": "object", "required": ["items"],
            "properties": {
                "apiVersion": api_version_field(), "kind": kind_field(), "metadata": metadata,
                "items": {"type": "array", "items": reference(&kind.schema_name)},
            },
            "x-kubernetes-group-version-kind": [self.group_version_kind(&format!("{}List", kind.entry.kind))],
        })
    }

    fn group_version_kind(&self, kind: &str) -> Value {
        json!({"group": self.group, "version": self.version, "kind": kind})
    }
}

fn api_version_field() -> Value {
    json!({"type": "string", "description": "APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources"})
}

fn kind_field() -> Value {
    json!({"type": "string", "description": "Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds"})
}

/// The name of the schema of a custom resource, such as `io.grove.v1alpha1.PodClique`.
fn custom_name(group: &str, version: &str, kind: &str) -> String {
    let mut parts: Vec<&str> = group.split('.').rev().filter(|it| !it.is_empty()).collect();
    parts.extend([version, kind]);
    parts.join(".")
}

/// Adds the built-in schemas of these names, and all that they refer to.
fn add_built_in(mut wanted: BTreeSet<String>, schemas: &mut Map<String, Value>) {
    while let Some(name) = wanted.pop_first() {
        if schemas.contains_key(&name) {
            continue;
        }
        if let Some(schema) = builtin().schemas.get(&name) {
            collect_references(schema, &mut wanted);
            schemas.insert(name, schema.clone());
        }
    }
}

/// The names that a value refers to. Not by recursion: a CustomResourceDefinition decides how deep it is.
fn collect_references(value: &Value, names: &mut BTreeSet<String>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(list) => open.extend(list),
            Value::Object(map) => {
                if let Some(name) =
                    map.get("$ref").and_then(Value::as_str).and_then(|it| it.strip_prefix(REFERENCE))
                {
                    names.insert(name.to_owned());
                }
                open.extend(map.values());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_of_a_built_in_schema_leads_somewhere() {
        let mut names = BTreeSet::new();
        for schema in builtin().schemas.values() {
            collect_references(schema, &mut names);
        }
        assert!(names.contains("io.k8s.api.core.v1.PodSpec"));
        let missing: Vec<&String> = names.iter().filter(|it| !builtin().schemas.contains_key(*it)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        for name in [OBJECT_META, LIST_META] {
            assert!(builtin().schemas.contains_key(name));
        }
    }

    #[test]
    fn custom_names() {
        assert_eq!(custom_name("grove.io", "v1alpha1", "PodClique"), "io.grove.v1alpha1.PodClique");
        assert_eq!(custom_name("", "v1", "Odd"), "v1.Odd");
    }
}
