//! The operations of a resource, as OpenAPI lists them.

use serde_json::{Map, Value, json};

use super::document::Kind;

const STATUS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Status";

/// The paths of a resource.
pub(super) fn paths(group: &str, version: &str, kind: &Kind<'_>) -> Map<String, Value> {
    let operations = Operations { group, version, kind };
    let entry = kind.entry;
    let base = if group.is_empty() { format!("/api/{version}") } else { format!("/apis/{group}/{version}") };
    let scoped = if entry.namespaced { "/namespaces/{namespace}" } else { "" };
    let collection = format!("{base}{scoped}/{}", entry.plural);
    let mut paths = Map::new();
    if !entry.verbs.contains(&"get") {
        paths.insert(collection, json!({"post": operations.write("post")}));
        return paths;
    }
    let of_all = json!({
        "get": operations.read("list", &format!("{}List", kind.schema_name)),
        "post": operations.write("post"), "delete": operations.delete("deletecollection"),
    });
    let of_one = json!({
        "get": operations.read("get", &kind.schema_name), "put": operations.write("put"),
        "patch": operations.write("patch"), "delete": operations.delete("delete"),
    });
    if entry.namespaced {
        let list = operations.read("list", &format!("{}List", kind.schema_name));
        paths.insert(format!("{base}/{}", entry.plural), json!({"get": list}));
    }
    paths.insert(format!("{collection}/{{name}}"), of_one);
    if entry.parts.iter().any(|it| it.name == "status") {
        let of_status = json!({
            "get": operations.read("get", &kind.schema_name), "put": operations.write("put"),
            "patch": operations.write("patch"),
        });
        paths.insert(format!("{collection}/{{name}}/status"), of_status);
    }
    paths.insert(collection, of_all);
    paths
}

struct Operations<'a> {
    group: &'a str,
    version: &'a str,
    kind: &'a Kind<'a>,
}

impl Operations<'_> {
    fn operation(&self, action: &str, schema: &str, parameters: &[&str]) -> Value {
        let Self { group, version, kind } = self;
        let parameter =
            |it: &&str| json!({"name": it, "in": "query", "schema": {"type": "string", "uniqueItems": true}});
        json!({
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": {"group": group, "version": version, "kind": kind.entry.kind},
            "parameters": parameters.iter().map(parameter).collect::<Vec<_>>(),
            "responses": {"200": {"description": "OK", "content": {"application/json": {"schema": reference(schema)}}}},
        })
    }

    fn read(&self, action: &str, schema: &str) -> Value {
        self.operation(
            action,
            schema,
            &["fieldSelector", "labelSelector", "limit", "resourceVersion", "watch"],
        )
    }

    /// A write with an object or a patch. Strategic merge patches are not listed although they work: kubectl would take the keys
    /// of lists from these schemas, which do not have them, instead of those that it knows.
    fn write(&self, action: &str) -> Value {
        let parameters = ["dryRun", "fieldManager", "fieldValidation", "force"];
        let count = if action == "patch" { 4 } else { 3 };
        let mut operation = self.operation(action, &self.kind.schema_name, &parameters[..count]);
        let content = if action == "patch" {
            let any = json!({"schema": {"type": "object"}});
            json!({"application/apply-patch+yaml": any, "application/json-patch+json": any, "application/merge-patch+json": any})
        } else {
            json!({"application/json": {"schema": reference(&self.kind.schema_name)}})
        };
        operation["requestBody"] = json!({"required": true, "content": content});
        operation
    }

    fn delete(&self, action: &str) -> Value {
        self.operation(action, STATUS, &["dryRun", "gracePeriodSeconds", "propagationPolicy"])
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}
