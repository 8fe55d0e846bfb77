//! What is sent, as text: reviews, and what is none.

use super::*;
use crate::admission::desk::{Answer, Reply};

fn answered(desk: &Desk, body: &[u8]) -> Answer {
    match desk.answer(webhooks::SET_VALIDATING.path, body) {
        Reply::Answer(answer) => answer,
        Reply::Doubt(doubt) => panic!("{} is asked for", doubt.topology),
    }
}

/// Panics when it is asked.
struct Broken;

impl Knowledge for Broken {
    fn snapshot(&self, _: &str, _: &Request) -> Snapshot {
        panic!("a bug")
    }
}

#[test]
fn a_panic_is_a_denial_with_the_uid() {
    let desk = Desk::new(Arc::new(Broken), None);
    let body = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "u-7", "kind": { "group": "grove.io", "version": "v1alpha1", "kind": "PodCliqueSet" },
        "operation": "CREATE", "object": set(),
    } });
    let answer = answered(&desk, body.to_string().as_bytes());
    assert_eq!(answer.code, 200);
    let review: Value = serde_json::from_slice(&answer.body).unwrap();
    let response = &review["response"];
    assert_eq!((&response["uid"], &response["allowed"]), (&json!("u-7"), &json!(false)));
    assert_eq!(response["status"]["code"], 500);
}

#[test]
fn what_is_no_review_is_told_so() {
    let desk = Desk::new(Arc::new(Snapshot::default()), None);
    for (body, text) in [
        ("", "EOF while parsing"),
        ("{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"Admiss", "EOF while parsing"),
        ("[]", "the body is not an AdmissionReview"),
        ("{}", "this is for AdmissionReview of admission.k8s.io/v1"),
        (r#"{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview"}"#, "v1beta1"),
        (r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}"#, "has no request"),
        (
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"","operation":"CREATE"}}"#,
            "no uid",
        ),
        (
            r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"EAT"}}"#,
            "EAT",
        ),
    ] {
        let answer = answered(&desk, body.as_bytes());
        let got = String::from_utf8(answer.body).unwrap();
        assert_eq!(answer.code, 400);
        assert!(got.contains(text), "{body}: {got}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(answered(&desk, deep.as_bytes()).code, 400);
}
