//! CustomResourceDefinitions as objects: what they define is served at once.

use grove_apiserver::{ApiServer, Resources, collect};
use serde_json::{Value, json};

use crate::support::{assert_has, delete, get, json_patch, merge, names, noon, post, put, watch};

const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const GADGETS: &str = "/apis/example.com/v1/namespaces/default/gadgets";

fn server() -> ApiServer {
    ApiServer::new(Resources::kubernetes().with_definitions(), noon, 7)
}

fn version(name: &str, storage: bool, spec: Value) -> Value {
    json!({
        "name": name, "served": true, "storage": storage, "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {
            "spec": {"type": "object", "properties": spec}, "status": {"type": "object", "properties": {"ready": {"type": "boolean"}}}}}},
    })
}

fn definition(plural: &str, kind: &str, versions: &[Value]) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.example.com")},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": kind, "plural": plural}, "versions": versions},
    })
}

fn gadgets() -> Value {
    let spec = json!({
        "size": {"type": "integer", "minimum": 1, "default": 1}, "color": {"type": "string"},
        "limit": {"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf", "message": "only grows"}]},
    });
    definition("gadgets", "Gadget", &[version("v1", true, spec)])
}

fn gadget(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": name}, "spec": spec})
}

fn condition(definition: &Value, kind: &str) -> String {
    let conditions = definition["status"]["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|it| it["type"] == kind);
    found.map_or("-".to_owned(), |it| {
        format!("{} {}", it["status"].as_str().unwrap(), it["reason"].as_str().unwrap())
    })
}

async fn define(server: &ApiServer, definition: Value) -> Value {
    let (code, said) = post(server, CRDS, definition).await;
    assert_eq!(code, 201, "{said}");
    said
}

#[tokio::test]
async fn what_is_defined_is_served_at_once() {
    let server = server();
    assert_eq!(get(&server, GADGETS).await.0, 404);
    define(&server, gadgets()).await;
    let (_, said) = get(&server, &format!("{CRDS}/gadgets.example.com")).await;
    assert_eq!(condition(&said, "Established"), "True InitialNamesAccepted");
    assert_eq!(condition(&said, "NamesAccepted"), "True NoConflicts");
    assert_has(
        &said,
        &json!({
            "spec": {"names": {"singular": "gadget", "listKind": "GadgetList"}, "conversion": {"strategy": "None"}},
            "status": {"storedVersions": ["v1"], "acceptedNames": {"plural": "gadgets", "kind": "Gadget"}},
            "metadata": {"generation": 1},
        }),
    );
    assert_eq!(get(&server, "/apis/example.com/v1").await.1["resources"][0]["name"], "gadgets");

    let (code, said) = post(&server, GADGETS, gadget("a", json!({"color": "red", "unknown": 1}))).await;
    assert_eq!((code, &said["spec"]), (201, &json!({"color": "red", "size": 1})));
    assert_eq!(names(&get(&server, GADGETS).await.1), ["a"]);
    let (code, said) = post(&server, GADGETS, gadget("b", json!({"size": 0, "color": 1}))).await;
    assert_eq!(code, 422);
    let fields: Vec<&str> = said["details"]["causes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["field"].as_str().unwrap())
        .collect();
    // The last one says that rules were left out.
    assert_eq!(fields, ["spec.size", "spec.color", "<nil>"], "{said}");
    assert!(
        said["message"].as_str().unwrap().starts_with("Gadget.example.com \"b\" is invalid: [spec.size"),
        "{said}"
    );
}

#[tokio::test]
async fn every_way_to_write_is_checked() {
    let server = server();
    define(&server, gadgets()).await;
    let a = &format!("{GADGETS}/a");
    let (_, made) = post(&server, GADGETS, gadget("a", json!({"size": 2, "limit": 5}))).await;
    for (code, patch, spec) in [
        (200, json!({"spec": {"size": 3, "more": 1}}), json!({"size": 3, "limit": 5})),
        (200, json!({"spec": {"size": null}}), json!({"size": 1, "limit": 5})),
        (422, json!({"spec": {"size": -1}}), json!({"size": 1, "limit": 5})),
        (422, json!({"spec": {"limit": 4}}), json!({"size": 1, "limit": 5})),
    ] {
        let (got, said) = merge(&server, a, patch.clone()).await;
        assert_eq!(got, code, "{patch} {said}");
        assert_eq!(get(&server, a).await.1["spec"], spec, "{patch}");
    }
    assert_eq!(
        json_patch(&server, a, json!([{"op": "add", "path": "/spec/size", "value": "x"}])).await.0,
        422
    );
    assert_eq!(merge(&server, &format!("{a}/status"), json!({"status": {"ready": "yes"}})).await.0, 422);
    let (code, said) =
        merge(&server, &format!("{a}/status"), json!({"status": {"ready": true, "odd": 1}})).await;
    assert_eq!((code, &said["status"]), (200, &json!({"ready": true})));
    let apply = |spec: Value| {
        let server = server.clone();
        async move { crate::support::apply(&server, &format!("{GADGETS}/a"), "me", gadget("a", spec)).await }
    };
    assert_eq!(apply(json!({"limit": 3})).await.0, 422);
    assert_eq!(apply(json!({"limit": 6})).await.1["spec"], json!({"size": 1, "limit": 6}));
    let mut stale = made;
    stale["spec"]["size"] = json!(2);
    assert_eq!(put(&server, a, stale).await.0, 409);
}

#[tokio::test]
async fn one_object_in_several_versions() {
    let server = server();
    let old = json!({"size": {"type": "integer"}});
    let new = json!({"size": {"type": "integer"}, "shape": {"type": "string", "default": "round"}});
    let two = definition("gadgets", "Gadget", &[version("v1", true, old), version("v2", false, new)]);
    define(&server, two).await;
    let second = &GADGETS.replace("/v1/", "/v2/");
    let mut lines = watch(&server, second).await;
    let (code, _) = post(&server, GADGETS, gadget("a", json!({"size": 1}))).await;
    assert_eq!(code, 201);
    let expected = json!({"apiVersion": "example.com/v2", "spec": {"size": 1, "shape": "round"}});
    assert_has(&get(&server, &format!("{second}/a")).await.1, &expected);
    assert_has(&get(&server, second).await.1["items"][0], &expected);
    assert_has(&lines.next().await.unwrap()["object"], &expected);
    let (code, said) = merge(&server, &format!("{second}/a"), json!({"spec": {"size": 2}})).await;
    assert_eq!(code, 200);
    assert_has(&said, &json!({"apiVersion": "example.com/v2", "spec": {"size": 2}}));
    let (_, said) = get(&server, &format!("{GADGETS}/a")).await;
    assert_has(&said, &json!({"apiVersion": "example.com/v1", "spec": {"size": 2}}));
    let stored = server.store().get("gadgets.example.com", "default", "a").unwrap();
    assert_eq!(stored.value()["apiVersion"], "example.com/v1");
    let (_, group) = get(&server, "/apis/example.com").await;
    assert_eq!(group["preferredVersion"]["version"], "v2");
}

#[tokio::test]
async fn a_new_schema_takes_effect() {
    let server = server();
    define(&server, gadgets()).await;
    post(&server, GADGETS, gadget("a", json!({"color": "red"}))).await;
    let mut lines = watch(&server, GADGETS).await;
    assert_eq!(lines.told().await, "ADDED a");
    let path = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties";
    let steps = json!([
        {"op": "remove", "path": format!("{path}/color")},
        {"op": "add", "path": format!("{path}/shape"), "value": {"type": "string", "default": "round"}},
    ]);
    let (code, said) = json_patch(&server, &format!("{CRDS}/gadgets.example.com"), steps).await;
    assert_eq!((code, &said["metadata"]["generation"]), (200, &json!(2)), "{said}");
    assert_eq!(lines.told().await, "over");
    assert_eq!(get(&server, &format!("{GADGETS}/a")).await.1["spec"], json!({"size": 1, "shape": "round"}));
    let (_, said) = post(&server, GADGETS, gadget("b", json!({"color": "red"}))).await;
    assert_eq!(said["spec"], json!({"size": 1, "shape": "round"}));
    // What changes nothing for objects leaves watches open.
    let mut lines = watch(&server, GADGETS).await;
    assert_eq!((lines.told().await, lines.told().await), ("ADDED a".to_owned(), "ADDED b".to_owned()));
    merge(&server, &format!("{CRDS}/gadgets.example.com"), json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert!(lines.is_quiet().await);
}

#[tokio::test]
async fn names_belong_to_one_definition() {
    let server = server();
    define(&server, gadgets()).await;
    let plain = |plural: &str, kind: &str| definition(plural, kind, &[version("v1", true, json!({}))]);
    define(&server, plain("gizmos", "Gadget")).await;
    let gizmos = &format!("{CRDS}/gizmos.example.com");
    let (_, said) = get(&server, gizmos).await;
    assert_eq!(condition(&said, "NamesAccepted"), "False ListKindConflict");
    assert_eq!(condition(&said, "Established"), "False NotAccepted");
    assert_eq!(get(&server, "/apis/example.com/v1/gizmos").await.0, 404);

    delete(&server, &format!("{CRDS}/gadgets.example.com"), Value::Null).await;
    collect(&server);
    assert_eq!(condition(&get(&server, gizmos).await.1, "Established"), "True InitialNamesAccepted");
    assert_eq!(get(&server, "/apis/example.com/v1/gizmos").await.0, 200);
}

#[tokio::test]
async fn a_definition_goes_after_its_objects() {
    let server = server();
    define(&server, gadgets()).await;
    let mut held = gadget("held", json!({}));
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    post(&server, GADGETS, held).await;
    post(&server, GADGETS, gadget("a", json!({}))).await;
    let mut lines = watch(&server, GADGETS).await;
    assert_eq!((lines.told().await, lines.told().await), ("ADDED a".to_owned(), "ADDED held".to_owned()));
    let path = &format!("{CRDS}/gadgets.example.com");
    let (code, said) = delete(&server, path, Value::Null).await;
    assert_eq!(code, 200);
    assert_eq!(condition(&said, "Terminating"), "True InstanceDeletionPending");
    assert_eq!(said["metadata"]["finalizers"], json!(["customresourcecleanup.apiextensions.k8s.io"]));
    // Its end is no change of what is wanted, and it has no grace.
    assert_eq!(said["metadata"]["generation"], 1);
    assert_eq!(said["metadata"].get("deletionGracePeriodSeconds"), None);
    let (code, said) = post(&server, GADGETS, gadget("late", json!({}))).await;
    let message = "create not allowed while custom resource definition is terminating";
    assert_eq!((code, said["message"].as_str()), (405, Some(message)));
    collect(&server);
    assert_eq!(names(&get(&server, GADGETS).await.1), ["held"]);
    assert_eq!(get(&server, path).await.0, 200);
    merge(&server, &format!("{GADGETS}/held"), json!({"metadata": {"finalizers": null}})).await;
    collect(&server);
    assert_eq!((get(&server, path).await.0, get(&server, GADGETS).await.0), (404, 404));
    let mut told = Vec::new();
    while told.last().is_none_or(|it| it != "over") {
        told.push(lines.told().await);
    }
    assert!(told.ends_with(&["DELETED held".to_owned(), "over".to_owned()]), "{told:?}");
    define(&server, gadgets()).await;
    assert_eq!(names(&get(&server, GADGETS).await.1), [""; 0]);
}

#[tokio::test]
async fn who_accepts_names_is_noted() {
    let server = ApiServer::new(Resources::cluster().with_definitions(), noon, 7);
    let made = define(&server, gadgets()).await;
    assert_eq!(
        (&made["status"]["conditions"], &made["status"]["storedVersions"]),
        (&Value::Null, &json!(["v1"]))
    );
    let (_, said) = get(&server, &format!("{CRDS}/gadgets.example.com")).await;
    let managers = said["metadata"]["managedFields"].as_array().unwrap();
    let controller = managers.iter().find(|it| it["manager"] == "kube-apiserver").unwrap();
    assert_has(
        controller,
        &json!({"subresource": "status", "fieldsV1": {"f:status": {"f:acceptedNames": {"f:kind": {}}}}}),
    );
    let said = get(&server, GADGETS).await.1;
    assert_eq!(said["metadata"]["continue"], "", "there is no more");
}

#[tokio::test]
async fn definitions_that_make_no_sense() {
    let server = server();
    for (pointer, value, field) in [
        ("/metadata/name", json!("other.example.com"), "metadata.name"),
        ("/spec/group", json!("example"), "metadata.name"),
        ("/spec/scope", json!("World"), "spec.scope"),
        ("/spec/names/kind", json!("a b"), "spec.names.singular"),
        ("/spec/names/plural", json!("Gadgets"), "metadata.name"),
        ("/spec/versions", json!([]), "spec.versions"),
        ("/spec/versions/0/storage", json!(false), "spec.versions"),
        ("/spec/versions/0/name", json!("1"), "spec.versions[0].name"),
        ("/spec/versions/0/schema", json!({}), "spec.versions[0].schema.openAPIV3Schema"),
        (
            "/spec/versions/0/schema/openAPIV3Schema/type",
            json!("string"),
            "spec.validation.openAPIV3Schema.type",
        ),
        (
            "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/limit/x-kubernetes-validations/0/rule",
            json!("self +"),
            "spec.validation.openAPIV3Schema.properties[spec].properties[limit].x-kubernetes-validations[0].rule",
        ),
    ] {
        let mut bad = gadgets();
        *bad.pointer_mut(pointer).unwrap() = value;
        let (code, said) = post(&server, CRDS, bad).await;
        assert_eq!(
            (code, said["details"]["causes"][0]["field"].as_str()),
            (422, Some(field)),
            "{pointer} {said}"
        );
    }
    define(&server, gadgets()).await;
    let path = &format!("{CRDS}/gadgets.example.com");
    let (code, said) = merge(&server, path, json!({"spec": {"scope": "Cluster"}})).await;
    assert_eq!((code, said["details"]["causes"][0]["field"].as_str()), (422, Some("spec.scope")));
    let steps = json!([{"op": "replace", "path": "/spec/versions/0/name", "value": "v2"}]);
    let (code, said) = json_patch(&server, path, steps).await;
    assert_eq!(
        (code, said["details"]["causes"][0]["field"].as_str()),
        (422, Some("status.storedVersions[0]"))
    );
}

#[tokio::test]
async fn definitions_that_were_given_beforehand_are_not_looked_into() {
    let resources = Resources::kubernetes().with_crd(&gadgets()).unwrap();
    let server = ApiServer::new(resources, noon, 7);
    let (code, said) = post(&server, GADGETS, gadget("a", json!({"size": "large", "unknown": 1}))).await;
    assert_eq!((code, &said["spec"]), (201, &json!({"size": "large", "unknown": 1})));
    assert_eq!(get(&server, CRDS).await.0, 404);
}
