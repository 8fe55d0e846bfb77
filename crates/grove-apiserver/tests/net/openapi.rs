//! OpenAPI v3.

use bytes::Bytes;
use http_body_util::Full;
use serde_json::{Value, json};

use crate::support::{ADMIN, Stage, read, request};

/// The document of a group version, under the address that the index gives.
async fn document(stage: &Stage, path: &str) -> Value {
    let (_, index) = stage.get(ADMIN, "/openapi/v3").await;
    let url = index["paths"][path]["serverRelativeURL"].as_str().unwrap().to_owned();
    let (code, document) = stage.get(ADMIN, &url).await;
    assert_eq!(code, 200, "{document}");
    document
}

fn schema<'a>(document: &'a Value, name: &str) -> &'a Value {
    &document["components"]["schemas"][name]
}

#[tokio::test]
async fn built_in_kinds() {
    let stage = Stage::plain().await;
    let document = document(&stage, "api/v1").await;
    let pod = schema(&document, "io.k8s.api.core.v1.Pod");
    assert_eq!(
        pod["x-kubernetes-group-version-kind"],
        json!([{"group": "", "version": "v1", "kind": "Pod"}])
    );
    let spec = &schema(&document, "io.k8s.api.core.v1.PodSpec")["properties"];
    assert!(spec["containers"]["description"].as_str().unwrap().starts_with("List of containers"));
    let patch = &document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"];
    assert_eq!(
        patch["x-kubernetes-group-version-kind"],
        json!({"group": "", "version": "v1", "kind": "Pod"})
    );
    assert!(patch["parameters"].as_array().unwrap().iter().any(|it| it["name"] == "fieldValidation"));
    // Nothing is missing, and nothing is there that nobody needs.
    let text = document.to_string();
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        let is_used = text.contains(&format!("#/components/schemas/{name}\"")) || name.ends_with("List");
        assert!(is_used, "{name}");
    }
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(schema(&document, name).is_object(), "{name}");
    }
}

#[tokio::test]
async fn custom_kinds() {
    let stage = Stage::plain().await;
    let document = document(&stage, "apis/example.com/v1").await;
    let widget = schema(&document, "com.example.v1.Widget");
    assert_eq!(widget["description"], "A Widget turns.");
    assert_eq!(widget["properties"]["spec"]["properties"]["replicas"]["description"], "How many.");
    let metadata = &widget["properties"]["metadata"]["allOf"][0]["$ref"];
    let name = metadata.as_str().unwrap().rsplit('/').next().unwrap();
    assert!(schema(&document, name)["properties"]["labels"].is_object());
    let gvk = json!({"group": "example.com", "version": "v1", "kind": "Widget"});
    assert_eq!(widget["x-kubernetes-group-version-kind"], json!([gvk]));
    let path = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}";
    assert_eq!(document["paths"][path]["get"]["x-kubernetes-group-version-kind"], gvk);
    assert!(document["paths"][format!("{path}/status")].is_object());
}

#[tokio::test]
async fn documents_are_kept_by_their_hash() {
    let stage = Stage::plain().await;
    let (_, index) = stage.get(ADMIN, "/openapi/v3").await;
    let url = index["paths"]["apis/example.com/v1"]["serverRelativeURL"].as_str().unwrap();
    let send = async |path: &str, tag: &str| {
        let request = request("GET", path, ADMIN).header("if-none-match", tag);
        stage.send(request.body(Full::<Bytes>::default()).unwrap()).await
    };
    let response = send(url, "\"other\"").await;
    assert_eq!(response.headers()["cache-control"], "public, immutable");
    let tag = response.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(read(response).await.0, 200);
    assert_eq!(send(url, &tag).await.status(), 304);
    let response = send("/openapi/v3/apis/example.com/v1?hash=OLD", "").await;
    assert_eq!((response.status().as_u16(), response.headers()["location"].to_str().unwrap()), (301, url));
    let response = send("/openapi/v3/apis/example.com/v1", "").await;
    assert!(response.status() == 200 && !response.headers().contains_key("cache-control"));
    assert_eq!(stage.get(ADMIN, "/openapi/v3/apis/nothing/v1").await.0, 404);
    assert_eq!(stage.get(ADMIN, "/openapi/v2").await.0, 404);
}
