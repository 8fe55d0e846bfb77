//! The definitions of Grove on this server: the tables of `testdata` say which objects its schemas and rules refuse.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use grove_api::defaulting::{default_pod_clique_set, default_topology};
use grove_api::manifest;
use grove_api::wire::PodCliqueSet;
use grove_apiserver::{Action, Answer, ApiServer, Resource, Resources, WriteRequest};
use serde_json::{Value, json};

use crate::support::{delete, noon, post, put};

/// Rows about metadata, which the server looks after without a schema, and not in all of its details.
const METADATA: [&str; 6] = [
    "set-name-missing",
    "set-label-value",
    "set-annotation-key",
    "metadata-field-unknown",
    "metadata-label-number",
    "metadata-label-number-alone",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn yaml(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap();
    manifest::parse(&text).unwrap().into_iter().map(|it| it.value).collect()
}

fn files(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root().join(folder)).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    files
}

async fn server() -> ApiServer {
    let server = ApiServer::new(Resources::kubernetes().with_definitions(), noon, 7);
    for file in files("crds") {
        let definition = yaml(&file).remove(0);
        let (code, said) =
            post(&server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).await;
        assert_eq!(code, 201, "{}: {said}", file.display());
    }
    server
}

/// One row of a table.
struct Row(Value);

impl Row {
    fn name(&self) -> &str {
        self.0["name"].as_str().unwrap()
    }

    fn base(&self) -> Value {
        yaml(&root().join(format!("testdata/bases/{}.yaml", self.0["base"].as_str().unwrap()))).remove(0)
    }

    fn old(&self) -> Option<Value> {
        Some(changed(self.base(), self.0.get("before")?, &Value::Null))
    }

    fn object(&self) -> Value {
        changed(self.old().unwrap_or_else(|| self.base()), &self.0["set"], &self.0["remove"])
    }

    /// The fields that are refused.
    fn fields(&self) -> Vec<String> {
        let errors = self.0["errors"].as_array().into_iter().flatten();
        errors.map(|it| it.as_str().unwrap().split(' ').next().unwrap().to_owned()).collect()
    }
}

fn changed(mut object: Value, set: &Value, remove: &Value) -> Value {
    let mut apply = |step: Value| {
        let patch: json_patch::Patch = serde_json::from_value(json!([step])).unwrap();
        json_patch::patch(&mut object, &patch).unwrap();
    };
    for pointer in remove.as_array().into_iter().flatten().rev() {
        apply(json!({"op": "remove", "path": pointer}));
    }
    let set: BTreeMap<&String, &Value> = set.as_object().into_iter().flatten().collect();
    for (pointer, value) in set {
        // `add` replaces a field, but would put another item into a list.
        let is_item = pointer.rsplit('/').next().is_some_and(|it| it.parse::<usize>().is_ok());
        let op = if is_item { "replace" } else { "add" };
        apply(json!({"op": op, "path": pointer, "value": value}));
    }
    object
}

/// The object behind the defaulting webhook. None where it does not decode.
fn defaulted(object: &Value, old: Option<&Value>) -> Option<Value> {
    let mut object = manifest::without_nulls(object);
    if object["kind"] != "PodCliqueSet" {
        return Some(object);
    }
    let old: Option<PodCliqueSet> = old.map(|it| serde_json::from_value(it.clone()).unwrap());
    let before: PodCliqueSet = serde_json::from_value(object.clone()).ok()?;
    let mut after = before.clone();
    default_pod_clique_set(&mut after, old.as_ref());
    default_topology(&mut after, old.as_ref(), None);
    let patch =
        json_patch::diff(&serde_json::to_value(before).unwrap(), &serde_json::to_value(after).unwrap());
    json_patch::patch(&mut object, &patch).ok()?;
    Some(object)
}

/// What became of an object.
enum Outcome {
    Stored,
    Refused(Value),
}

async fn send(server: &ApiServer, row: &Row) -> Outcome {
    let old = row.old().and_then(|it| defaulted(&it, None));
    let Some(mut object) = defaulted(&row.object(), old.as_ref()) else {
        return Outcome::Refused(Value::Null);
    };
    let version = object["apiVersion"].as_str().unwrap_or_default().to_owned();
    let (group, version) = version.split_once('/').unwrap_or_default();
    let resources = server.resources();
    let kind = object["kind"].as_str().unwrap_or_default();
    let Some(resource) =
        resources.iter().find(|it| it.group == group && it.kind == kind && it.version == version)
    else {
        return Outcome::Refused(Value::Null);
    };
    if !resource.unknown_fields(&object).is_empty() {
        // Clients ask for this; otherwise such fields are dropped.
        return Outcome::Refused(Value::Null);
    }
    let place = if resource.namespaced {
        object["metadata"]["namespace"] = "default".into();
        "/namespaces/default"
    } else {
        ""
    };
    let path = format!("/apis/{group}/{version}{place}/{}", resource.plural);
    let (code, said) = match old {
        None => post(server, &path, object).await,
        Some(mut old) => {
            old["metadata"]["namespace"] = "default".into();
            let (code, mut made) = post(server, &path, old.clone()).await;
            if code == 422 {
                // Stored before there was the rule that refuses it.
                made = store_unchecked(server, resource, old);
            }
            let name = made["metadata"]["name"].as_str().unwrap();
            object["metadata"]["resourceVersion"] = made["metadata"]["resourceVersion"].clone();
            let result = put(server, &format!("{path}/{name}"), object).await;
            delete(server, &format!("{path}/{name}"), Value::Null).await;
            result
        }
    };
    if code == 201 {
        let name = said["metadata"]["name"].as_str().unwrap();
        delete(server, &format!("{path}/{name}"), Value::Null).await;
    }
    if code < 300 { Outcome::Stored } else { Outcome::Refused(said) }
}

/// Stores an object as it is.
fn store_unchecked(server: &ApiServer, resource: &Resource, object: Value) -> Value {
    let (group, version) = (&resource.group, &resource.version);
    let mut plain = Resource::custom(group, version, &resource.kind, &resource.plural);
    plain.namespaced = resource.namespaced;
    let request = WriteRequest {
        resource: Arc::new(plain),
        namespace: if resource.namespaced { "default".to_owned() } else { String::new() },
        name: String::new(),
        subresource: None,
        manager: "before".to_owned(),
        dry_run: false,
        action: Action::Create(object),
    };
    match server.write(request).unwrap() {
        Answer::Created(made) => made.value().clone(),
        other => unreachable!("{other:?}"),
    }
}

fn rows(file: &Path) -> Vec<Row> {
    let table = yaml(file).remove(0);
    let rows = table.as_array().unwrap().clone();
    rows.into_iter().map(Row).filter(|it| !METADATA.contains(&it.name())).collect()
}

/// Whether a refusal is about a field of the row, or about what that is in. Rules have no index of an item.
fn is_about(said: &Value, fields: &[String]) -> bool {
    let plain = |path: &str| -> String {
        let mut depth = 0;
        path.chars()
            .filter(|it| {
                depth += i32::from(*it == '[');
                let keep = depth == 0;
                depth -= i32::from(*it == ']');
                keep
            })
            .collect()
    };
    let causes = said["details"]["causes"].as_array().into_iter().flatten();
    let mut said = causes.map(|it| plain(it["field"].as_str().unwrap_or_default()));
    // Rules about the sum of all names stand where the first of them is.
    let is_name = |said: &str, field: &str| said == "metadata" && field.rsplit('.').next() == Some("name");
    let fits = |said: &str, it: &str| it.starts_with(said) || said.starts_with(it) || is_name(said, it);
    said.any(|said| fields.iter().any(|it| fits(&said, &plain(it))))
}

#[tokio::test]
async fn schemas_and_rules_refuse_what_the_tables_say() {
    let server = server().await;
    let (mut wrong, mut refused, mut updates) = (Vec::new(), 0, 0);
    for row in files("testdata/invalid").iter().flat_map(|it| rows(it)) {
        let by_server = row.0["refused"] != "admission";
        updates += usize::from(row.old().is_some());
        match send(&server, &row).await {
            Outcome::Stored if by_server => wrong.push(format!("{}: stored", row.name())),
            Outcome::Refused(said) if !by_server => wrong.push(format!("{}: refused: {said}", row.name())),
            Outcome::Refused(said) => {
                refused += 1;
                if !said.is_null() && !is_about(&said, &row.fields()) {
                    wrong.push(format!("{}: {:?} but {said}", row.name(), row.fields()));
                }
            }
            Outcome::Stored => {}
        }
    }
    assert!(wrong.is_empty(), "{} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(refused > 200 && updates > 30, "{refused} refused, {updates} updates");
}

#[tokio::test]
async fn what_is_allowed_is_stored() {
    let server = server().await;
    for row in rows(&root().join("testdata/allowed.yaml")) {
        if let Outcome::Refused(said) = send(&server, &row).await {
            assert_eq!(said, Value::Null, "{}", row.name());
        }
    }
}
