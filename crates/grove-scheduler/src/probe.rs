//! What a backend wants to know of the cluster, and what the framework found out for it.

use std::collections::BTreeMap;

use kube::core::GroupVersionResource;
use serde_json::{Value, json};

/// One question about the cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Probe {
    /// Whether the API server serves a resource.
    Served(GroupVersionResource),
    /// The schema of a CustomResourceDefinition, by its name (`plural.group`).
    Definition(String),
    /// All objects of a resource that has no namespaces. Absent where it is not served.
    Objects(GroupVersionResource),
    /// What the API server makes of an object that it would create: fields behind a closed gate are dropped
    /// silently. Nothing is created.
    DryRun {
        /// By which the answer is found.
        name: &'static str,
        /// Where it would be created.
        resource: GroupVersionResource,
        /// The object; it is namespaced.
        object: Value,
    },
}

/// What was found out. What was not asked, or could not be answered, is absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probed {
    served: BTreeMap<String, bool>,
    definitions: BTreeMap<String, Value>,
    objects: BTreeMap<String, Vec<Value>>,
    dry_runs: BTreeMap<String, Result<Value, String>>,
}

impl Probed {
    /// Notes whether a resource is served.
    #[must_use]
    pub fn with_served(mut self, resource: &GroupVersionResource, served: bool) -> Self {
        self.served.insert(key(resource), served);
        self
    }

    /// Notes a CustomResourceDefinition.
    #[must_use]
    pub fn with_definition(mut self, name: &str, definition: Value) -> Self {
        self.definitions.insert(name.to_owned(), definition);
        self
    }

    /// Notes a CustomResourceDefinition that serves a version with these fields, each as `spec.groups[].name`.
    #[must_use]
    pub fn with_fields(self, name: &str, version: &str, fields: &[&str]) -> Self {
        let mut schema = json!({});
        for field in fields {
            let mut at = &mut schema;
            for step in field.split('.') {
                let (name, is_list) = step.strip_suffix("[]").map_or((step, false), |it| (it, true));
                at = &mut at["properties"][name];
                at = if is_list { &mut at["items"] } else { at };
            }
        }
        let served = json!({ "name": version, "served": true, "schema": { "openAPIV3Schema": schema } });
        self.with_definition(name, json!({ "spec": { "versions": [served] } }))
    }

    /// Notes which objects of a resource there are.
    #[must_use]
    pub fn with_objects(mut self, resource: &GroupVersionResource, objects: Vec<Value>) -> Self {
        self.objects.insert(key(resource), objects);
        self
    }

    /// Notes what came of a dry run: the object as it would be, or the server's refusal.
    #[must_use]
    pub fn with_dry_run(mut self, name: &str, outcome: Result<Value, String>) -> Self {
        self.dry_runs.insert(name.to_owned(), outcome);
        self
    }

    /// Whether the resource is served.
    pub fn serves(&self, resource: &GroupVersionResource) -> bool {
        self.served.get(&key(resource)).copied().unwrap_or(false)
    }

    /// The objects of a resource.
    pub fn objects(&self, resource: &GroupVersionResource) -> Option<&[Value]> {
        self.objects.get(&key(resource)).map(Vec::as_slice)
    }

    /// The outcome of a dry run.
    pub fn dry_run(&self, name: &str) -> Option<&Result<Value, String>> {
        self.dry_runs.get(name)
    }

    /// The schema of a version of a CustomResourceDefinition.
    pub fn schema(&self, name: &str, version: &str) -> Option<&Value> {
        let versions = self.definitions.get(name)?.pointer("/spec/versions")?.as_array()?;
        let served = versions.iter().find(|it| it["name"] == version && it["served"] == true)?;
        served.pointer("/schema/openAPIV3Schema")
    }

    /// Whether the schema of a CustomResourceDefinition has a field; `[]` steps into a list.
    pub fn has_field(&self, name: &str, version: &str, path: &[&str]) -> bool {
        let mut schema = self.schema(name, version);
        for step in path {
            schema = match *step {
                "[]" => schema.and_then(|it| it.get("items")),
                field => schema.and_then(|it| it.get("properties")).and_then(|it| it.get(field)),
            };
        }
        schema.is_some()
    }
}

fn key(resource: &GroupVersionResource) -> String {
    format!("{}/{}/{}", resource.group, resource.version, resource.resource)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_found_in_the_served_version_only() {
        let schema = |properties: Value| json!({ "openAPIV3Schema": { "properties": properties } });
        let spec = json!({ "spec": { "properties": { "subGroups": {
            "type": "array", "items": { "properties": { "parent": {} } },
        } } } });
        let probed = Probed::default().with_definition(
            "podgroups.example.com",
            json!({ "spec": { "versions": [
                { "name": "v1", "served": true, "schema": schema(spec.clone()) },
                { "name": "v2", "served": false, "schema": schema(spec) },
            ] } }),
        );
        let has = |version, path: &[&str]| probed.has_field("podgroups.example.com", version, path);
        assert!(has("v1", &["spec", "subGroups", "[]", "parent"]));
        assert!(!has("v1", &["spec", "subGroups", "[]", "minSubGroup"]));
        assert!(!has("v2", &["spec", "subGroups"]));
        assert!(!probed.has_field("queues.example.com", "v1", &["spec"]));
    }

    #[test]
    fn a_definition_can_be_made_of_its_fields() {
        let fields = ["spec.queue", "spec.groups[].name", "spec.groups[].level.key"];
        let probed = Probed::default().with_fields("herds.example.com", "v1", &fields);
        let has = |version, path: &[&str]| probed.has_field("herds.example.com", version, path);
        assert!(has("v1", &["spec", "queue"]));
        assert!(has("v1", &["spec", "groups", "[]", "name"]));
        assert!(has("v1", &["spec", "groups", "[]", "level", "key"]));
        assert!(!has("v1", &["spec", "groups", "name"]));
        assert!(!has("v1", &["spec", "level"]));
        assert!(!has("v2", &["spec", "queue"]));
        assert!(Probed::default().with_fields("a", "v1", &[]).schema("a", "v1").is_some());
    }

    #[test]
    fn what_was_not_asked_is_not_served() {
        let resource = GroupVersionResource::gvr("scheduling.k8s.io", "v1beta1", "podgroups");
        assert!(!Probed::default().serves(&resource));
        assert!(Probed::default().with_served(&resource, true).serves(&resource));
        assert!(!Probed::default().with_served(&resource, false).serves(&resource));
        assert_eq!(Probed::default().objects(&resource), None);
        assert_eq!(Probed::default().with_objects(&resource, Vec::new()).objects(&resource), Some(&[][..]));
    }
}
