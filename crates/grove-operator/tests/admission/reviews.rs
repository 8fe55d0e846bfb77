//! Reviews over TLS.

use bytes::Bytes;
use grove_api::constants::webhooks::{AUTHORIZER, SET_DEFAULTING, SET_VALIDATING};
use grove_operator::admission::Limits;
use http::{Request, header};
use http_body_util::Full;
use k8s_openapi::ByteString;
use serde_json::{Value, json};

use crate::{
    client::review,
    stage::{Stage, set},
};

#[tokio::test]
async fn one_connection_serves_many_reviews() {
    let stage = Stage::new(Limits::default()).await;
    let mut kept = stage.client.keep().await.unwrap();

    let answer = kept.review(SET_DEFAULTING.path, &set(2)).await.unwrap();
    assert_eq!((&answer["uid"], &answer["allowed"]), (&json!("0000-1111"), &json!(true)));
    let patch: ByteString = serde_json::from_value(answer["patch"].clone()).unwrap();
    let mut stored = set(2);
    let patch: json_patch::Patch = serde_json::from_slice(&patch.0).unwrap();
    json_patch::patch(&mut stored, &patch).unwrap();
    assert_eq!(stored.pointer("/spec/template/cliques/1/spec/minAvailable"), Some(&json!(4)));

    let answer = kept.review(SET_VALIDATING.path, &stored).await.unwrap();
    assert_eq!(answer["allowed"], true, "{answer}");
    assert_eq!(answer.get("patch"), None);

    let mut wrong = stored;
    wrong["spec"]["template"]["cliques"][1]["spec"]["minAvailable"] = 9.into();
    let answer = kept.review(SET_VALIDATING.path, &wrong).await.unwrap();
    assert_eq!(answer["allowed"], false);
    assert_eq!(
        answer["status"]["message"],
        "spec.template.cliques[1].spec.minAvailable: Invalid value: 9: must not be greater than replicas (4)"
    );
}

#[tokio::test]
async fn what_is_no_review_is_refused_in_words() {
    let stage = Stage::new(Limits::default()).await;
    let whole = review("CREATE", &set(1), &Value::Null);
    let request = |method: &str, path: &str, kind: &str, body: &str| {
        let request = Request::builder().method(method).uri(path).header(header::CONTENT_TYPE, kind);
        request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()
    };
    let (path, json) = (SET_VALIDATING.path, "application/json");
    for (request, code, words) in [
        (request("POST", path, json, &whole[..whole.len() / 2]), 400, "EOF"),
        (
            request("POST", path, json, &whole.replace("AdmissionReview", "Pod")),
            400,
            "this is for AdmissionReview",
        ),
        (request("POST", path, json, "\u{0}\u{1}"), 400, "not an AdmissionReview"),
        (request("POST", path, "application/x-www-form-urlencoded", &whole), 415, "use application/json"),
        (request("GET", path, json, ""), 405, "only POST"),
        (request("POST", "/webhooks/other", json, &whole), 404, "nothing at this path"),
        (request("POST", AUTHORIZER.path, json, &whole), 404, "nothing at this path"),
    ] {
        let what = format!("{} {}", request.method(), request.uri());
        let mut kept = stage.client.keep().await.unwrap();
        let (got, text) = kept.send(request).await.unwrap();
        assert_eq!(got, code, "{what}: {text}");
        assert!(text.contains(words), "{what}: {text}");
    }
}

#[tokio::test]
async fn a_forged_kind_is_denied_with_the_uid() {
    let stage = Stage::new(Limits::default()).await;
    let mut kept = stage.client.keep().await.unwrap();
    let pod = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web" } });
    let answer = kept.review(SET_VALIDATING.path, &pod).await.unwrap();
    assert_eq!((&answer["uid"], &answer["allowed"]), (&json!("0000-1111"), &json!(false)));
    assert_eq!(answer["status"]["code"], 400);
}
