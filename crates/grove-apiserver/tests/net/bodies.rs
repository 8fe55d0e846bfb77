//! Bodies that are broken, nested too deeply, or of a wrong form: the same clear refusal over TCP, TLS and HTTP/2, and
//! nothing is written.

use crate::everywhere::{Everywhere, Sent, THERE};
use crate::support::CONFIG_MAPS;

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const STEPS: &str = "application/json-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// Every kind of write that has a body, and how a refusal of a broken one begins.
fn writes() -> Vec<(&'static str, String, &'static str, &'static str)> {
    let applied = format!("{THERE}?fieldManager=a");
    let unrecognized = "the object provided is unrecognized (must be of type ConfigMap): ";
    vec![
        ("POST", CONFIG_MAPS.to_owned(), JSON, unrecognized),
        ("POST", CONFIG_MAPS.to_owned(), YAML, unrecognized),
        ("PUT", THERE.to_owned(), JSON, unrecognized),
        ("PATCH", THERE.to_owned(), MERGE, "invalid JSON patch"),
        ("PATCH", THERE.to_owned(), STEPS, "invalid JSON patch"),
        ("PATCH", THERE.to_owned(), STRATEGIC, "invalid JSON patch"),
        ("PATCH", applied, APPLY, "error decoding patch: error converting YAML to JSON: yaml: "),
        ("DELETE", THERE.to_owned(), JSON, "couldn't get version/kind; json parse error: "),
        (
            "POST",
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews".to_owned(),
            JSON,
            "the object provided is unrecognized (must be of type SelfSubjectAccessReview): ",
        ),
    ]
}

#[tokio::test]
async fn bodies_that_end_too_early() {
    let everywhere = Everywhere::new().await;
    let body = r#"{"metadata":{"name":"there"},"data":{"#;
    for (method, path, content_type, begin) in writes() {
        let sent = Sent::body(method, path, content_type, body);
        let message = everywhere.refused(&sent, 400).await;
        assert!(message.starts_with(begin), "{sent}: {message}");
        let says_so = content_type == JSON;
        assert_eq!(message.contains("unexpected end of JSON input"), says_so, "{sent}: {message}");
    }
    // To the letter, as the real server says it.
    for (content_type, body, why) in [
        (
            JSON,
            r#"{"metadata":{"name":"a""#,
            r#"couldn't get version/kind; json parse error: unexpected end of JSON input ({"metadata":{"name":"a")"#,
        ),
        (JSON, "", "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)"),
        (
            JSON,
            "[1, [2, [3, [4, [5, [6, [7, [8, [9",
            "couldn't get version/kind; json parse error: unexpected end of JSON input \
             (5b312c205b322c205b332c205b342c205b352c205b362c205b372c205b38 ...)",
        ),
    ] {
        let message = everywhere.refused(&Sent::body("POST", CONFIG_MAPS, content_type, body), 400).await;
        assert_eq!(
            message,
            format!("the object provided is unrecognized (must be of type ConfigMap): {why}")
        );
    }
    everywhere.assert_untouched();
}

#[tokio::test]
async fn a_body_that_is_cut_anywhere_creates_nothing() {
    let everywhere = Everywhere::new().await;
    let json = r#"{"kind":"ConfigMap","metadata":{"name":"cut"},"data":{"ä":"\u00e4"}}"#.as_bytes();
    for end in 0..json.len() {
        let sent = Sent::body("POST", CONFIG_MAPS, JSON, json[..end].to_vec());
        everywhere.refused(&sent, 400).await;
    }
    everywhere.assert_untouched();
}

#[tokio::test]
async fn bodies_that_are_nested_too_deeply() {
    let everywhere = Everywhere::new().await;
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let bodies = [
        deep("[", "]"),
        deep(r#"{"a":"#, "}"),
        format!(r#"{{"metadata":{{"name":"there"}},"data":{}}}"#, deep("[", "]")),
        format!(r#"[{{"op":"add","path":"/data/a","value":{}}}]"#, deep("[", "]")),
        // Never closed.
        "[".repeat(1_000_000),
    ];
    for (method, path, content_type, begin) in writes() {
        for body in &bodies {
            let sent = Sent::body(method, path.as_str(), content_type, body.clone());
            let message = everywhere.refused(&sent, 400).await;
            assert!(message.starts_with(begin) && message.len() < 1_000, "{sent}: {message}");
        }
    }
    for body in [deep("- ", ""), deep("? ", ""), format!("a: {}", deep("{a: ", "}"))] {
        for sent in [
            Sent::body("POST", CONFIG_MAPS, YAML, body.clone()),
            Sent::body("PATCH", format!("{THERE}?fieldManager=a"), APPLY, body.clone()),
        ] {
            everywhere.refused(&sent, 400).await;
        }
    }
    everywhere.assert_untouched();
}

#[tokio::test]
async fn bodies_that_are_no_utf_8() {
    let everywhere = Everywhere::new().await;
    for (method, path, content_type, _) in writes() {
        for body in [&b"{\"metadata\":{\"name\":\"there\xff\"}}"[..], b"\xff\xfe{\0}\0", b"\xc0\x80", b"\0"] {
            everywhere.refused(&Sent::body(method, path.as_str(), content_type, body.to_vec()), 400).await;
        }
    }
    everywhere.assert_untouched();
}

/// Nothing is unpacked: a small body that becomes a large one is what its bytes are, no JSON. So it is on the real server.
#[tokio::test]
async fn packed_bodies_are_not_unpacked() {
    let everywhere = Everywhere::new().await;
    // `{}`, packed.
    let packed = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xab, 0xae, 5, 0, 0x43, 0xbf, 0xa6, 0xa3, 2, 0, 0, 0];
    let sent = Sent::body("POST", CONFIG_MAPS, JSON, packed.to_vec()).with("content-encoding", "gzip");
    let message = everywhere.refused(&sent, 400).await;
    assert!(message.ends_with("(1f8b0800000000000003abae050043bfa6a302000000)"), "{message}");
}

#[tokio::test]
async fn bodies_of_other_forms() {
    let everywhere = Everywhere::new().await;
    let objects = "the body of the request was in an unknown format - accepted media types include: application/json, \
                   application/yaml, application/vnd.kubernetes.protobuf";
    let patches = "415: Unsupported Media Type";
    for (method, path, content_type, expected) in [
        ("POST", CONFIG_MAPS, "text/plain", objects),
        ("POST", CONFIG_MAPS, "application/cbor", objects),
        ("POST", CONFIG_MAPS, MERGE, objects),
        ("PUT", THERE, "application/x-www-form-urlencoded", objects),
        ("PUT", THERE, "multipart/form-data; boundary=a", objects),
        ("PATCH", THERE, JSON, patches),
        ("PATCH", THERE, YAML, patches),
        ("PATCH", THERE, "", patches),
        ("PATCH", THERE, "application/apply-patch+cbor", patches),
    ] {
        let message = everywhere.refused(&Sent::body(method, path, content_type, "{}"), 415).await;
        assert_eq!(message, expected, "{method} {content_type}");
    }
    // Protobuf is read, but this is none.
    everywhere
        .refused(&Sent::body("POST", CONFIG_MAPS, "application/vnd.kubernetes.protobuf", "{}"), 400)
        .await;
    everywhere.assert_untouched();
}

#[tokio::test]
async fn answers_that_cannot_be_given() {
    let everywhere = Everywhere::new().await;
    let expected = "only the following media types are accepted: application/json";
    for accept in ["text/html", "application/cbor", "application/json;as=Nothing", "image/*, text/*;q=0.1"] {
        for sent in [
            Sent::get(CONFIG_MAPS),
            Sent::get(THERE),
            Sent::body("POST", CONFIG_MAPS, JSON, r#"{"metadata":{"name":"a"}}"#),
            Sent::body("PATCH", THERE, MERGE, r#"{"data":{"a":"2"}}"#),
            Sent::body("DELETE", THERE, JSON, ""),
        ] {
            assert_eq!(everywhere.refused(&sent.with("accept", accept), 406).await, expected);
        }
    }
    everywhere.assert_untouched();
}
