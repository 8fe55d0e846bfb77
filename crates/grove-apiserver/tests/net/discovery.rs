//! What clients ask first.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use crate::support::{ADMIN, Stage, request};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Status, headers of interest, body.
async fn get(stage: &Stage, path: &str, headers: &[(&str, &str)]) -> (u16, String, String, Value) {
    let mut request = request("GET", path, ADMIN);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = stage.send(request.body(Full::<Bytes>::default()).unwrap()).await;
    let header = |name: &str| {
        response.headers().get(name).map(|it| it.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    let (code, content_type, tag) = (response.status().as_u16(), header("content-type"), header("etag"));
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (code, content_type, tag, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn aggregated() {
    let stage = Stage::plain().await;
    let accept = format!("{AGGREGATED},application/json");
    let (code, content_type, tag, said) = get(&stage, "/apis", &[("accept", &accept)]).await;
    assert_eq!((code, content_type.as_str()), (200, AGGREGATED));
    assert_eq!(
        (&said["kind"], &said["apiVersion"]),
        (&json!("APIGroupDiscoveryList"), &json!("apidiscovery.k8s.io/v2"))
    );
    let group =
        said["items"].as_array().unwrap().iter().find(|it| it["metadata"]["name"] == "example.com").unwrap();
    let kind = |kind: &str| json!({"group": "example.com", "version": "v1", "kind": kind});
    let widgets = json!({"version": "v1", "freshness": "Current", "resources": [{
        "resource": "widgets", "responseKind": kind("Widget"), "scope": "Namespaced", "singularResource": "widget",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["wd"], "categories": ["all"],
        "subresources": [
            {"subresource": "status", "responseKind": kind("Widget"), "verbs": ["get", "patch", "update"]},
            {"subresource": "scale", "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
             "verbs": ["get", "patch", "update"]},
        ],
    }]});
    assert_eq!(group["versions"], json!([widgets]));
    let (_, _, _, of_core) = get(&stage, "/api", &[("accept", &accept)]).await;
    let items = of_core["items"].as_array().unwrap();
    assert_eq!((items.len(), &items[0]["metadata"]), (1, &json!({})));
    // Built-in kinds do not repeat the group and the version that they are listed under.
    let pods = items[0].pointer("/versions/0/resources").unwrap().as_array().unwrap();
    let pods = pods.iter().find(|it| it["resource"] == "pods").unwrap();
    assert_eq!(pods["responseKind"], json!({"group": "", "version": "", "kind": "Pod"}));
    let (code, ..) = get(&stage, "/apis", &[("accept", &accept), ("if-none-match", &tag)]).await;
    assert_eq!(code, 304);
    let (code, ..) = get(&stage, "/apis", &[("accept", &accept), ("if-none-match", "\"other\"")]).await;
    assert_eq!(code, 200);
}

#[tokio::test]
async fn legacy() {
    let stage = Stage::plain().await;
    for accept in ["application/json", "*/*", "application/vnd.kubernetes.protobuf,application/json"] {
        let (code, content_type, _, said) = get(&stage, "/apis", &[("accept", accept)]).await;
        assert_eq!(
            (code, content_type.as_str(), &said["kind"]),
            (200, "application/json", &json!("APIGroupList"))
        );
    }
    assert_eq!(get(&stage, "/apis", &[("accept", "text/html")]).await.0, 406);
    let (_, _, _, said) = get(&stage, "/apis/example.com/v1", &[]).await;
    let names: Vec<&str> =
        said["resources"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["widgets", "widgets/status", "widgets/scale"]);
    let (_, _, _, said) = get(&stage, "/apis/authorization.k8s.io/v1", &[]).await;
    assert_eq!(said["resources"][0]["verbs"], json!(["create"]));
    let (_, _, _, said) = get(&stage, "/api/v1", &[]).await;
    assert_eq!((&said["kind"], said.get("apiVersion")), (&json!("APIResourceList"), None));
    let namespaces =
        said["resources"].as_array().unwrap().iter().find(|it| it["name"] == "namespaces").unwrap();
    assert!(!namespaces["verbs"].as_array().unwrap().contains(&json!("deletecollection")));
    assert!(namespaces["storageVersionHash"].is_string());
}

#[tokio::test]
async fn health_and_metrics() {
    let stage = Stage::plain().await;
    for endpoint in ["healthz", "livez", "readyz"] {
        assert_eq!(stage.get(ADMIN, &format!("/{endpoint}")).await, (200, json!("ok")));
        let (code, said) = stage.get(ADMIN, &format!("/{endpoint}?verbose")).await;
        let expected = format!("[+]ping ok\n[+]store ok\n{endpoint} check passed\n");
        assert_eq!((code, said), (200, json!(expected)));
        assert_eq!(stage.get(ADMIN, &format!("/{endpoint}/ping")).await, (200, json!("ok")));
        assert_eq!(stage.get(ADMIN, &format!("/{endpoint}/nonsense")).await.0, 404);
    }
    let (_, said) = stage.get(ADMIN, "/metrics").await;
    assert!(
        said.as_str().unwrap().contains("apiserver_storage_objects{resource=\"namespaces\"} 4\n"),
        "{said}"
    );
}
