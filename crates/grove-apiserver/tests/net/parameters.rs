//! Parameters and paths that nobody means: numbers without end, forged tokens, selectors as long as a request may be.

use bytes::Bytes;
use futures::future::join_all;
use http_body_util::{BodyExt as _, Full};
use serde_json::json;
use tokio::io::AsyncWriteExt as _;

use crate::everywhere::{Everywhere, Sent, THERE};
use crate::support::{ADMIN, CONFIG_MAPS, Stage, request, rest};

const JSON: &str = "application/json";

#[tokio::test]
async fn numbers_that_are_none_or_too_large() {
    let everywhere = Everywhere::new().await;
    let huge = "9".repeat(40_000);
    for (parameter, value, code, expected) in [
        ("limit", "x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"),
        ("limit", "1.5", 400, "strconv.ParseInt: parsing \"1.5\": invalid syntax"),
        ("limit", "9223372036854775808", 400, "value out of range"),
        ("limit", &huge, 400, "value out of range"),
        ("watch=true&timeoutSeconds", "1s", 400, "invalid syntax"),
        ("watch=true&timeoutSeconds", &huge, 400, "value out of range"),
        (
            "resourceVersion",
            "-1",
            400,
            "invalid resource version: resourceVersion: Invalid value: \"-1\": strconv.ParseUint: parsing \"-1\": invalid syntax",
        ),
        ("resourceVersion", "18446744073709551616", 400, "value out of range"),
        ("resourceVersion", &huge, 400, "value out of range"),
        // A watch says it as a server error, as the real server does.
        ("watch=true&resourceVersion", "-1", 500, "strconv.ParseUint: parsing \"-1\": invalid syntax"),
        (
            "resourceVersion=1&resourceVersionMatch",
            "Nearly",
            422,
            "Unsupported value: \"Nearly\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
        ),
    ] {
        let message =
            everywhere.refused(&Sent::get(format!("{CONFIG_MAPS}?{parameter}={value}")), code).await;
        assert!(message.contains(expected), "{parameter}: {message}");
    }
    // What a number may be, however odd: no limit, or one that is never reached.
    for query in ["limit=-1", "limit=-9223372036854775808", "limit=9223372036854775807", "limit=0", "limit="]
    {
        let (code, said) = everywhere.ask(&Sent::get(format!("{CONFIG_MAPS}?{query}"))).await;
        let first = said.pointer("/items/0/metadata/name");
        assert_eq!((code, first), (200, Some(&json!("there"))), "{query}");
    }
}

/// One that ends at once shows that nothing overflows; one without end has an answer that begins.
#[tokio::test]
async fn watches_of_odd_lengths_and_revisions() {
    let stage = Stage::plain().await;
    for query in [
        "timeoutSeconds=-1",
        "timeoutSeconds=-9223372036854775808",
        "timeoutSeconds=9223372036854775807",
        "resourceVersion=18446744073709551615",
        "resourceVersion=18446744073709551615&allowWatchBookmarks=true",
    ] {
        let path = format!("{CONFIG_MAPS}?watch=true&{query}");
        let watch = request("GET", &path, ADMIN).body(Full::<Bytes>::default()).unwrap();
        let mut response = stage.send(watch).await;
        assert_eq!(response.status(), 200, "{query}");
        // Something happens while it is open, and the server goes on.
        let name = format!("a{}", stage.server.store().revision());
        stage.create(CONFIG_MAPS, json!({"metadata": {"name": name}})).await;
        if !query.contains("resourceVersion") {
            let line = response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
            assert!(line.starts_with(br#"{"type":"ADDED""#), "{query}: {line:?}");
        }
    }
    stage.handle.shutdown().await;
}

#[tokio::test]
async fn a_revision_that_is_yet_to_come_is_waited_for_and_then_refused() {
    let stage = Stage::plain().await;
    let future = u64::MAX;
    let paths = [format!("resourceVersion={future}"), format!("limit=1&continue={future}.default.a")]
        .map(|query| format!("{CONFIG_MAPS}?{query}"));
    for (code, said) in join_all(paths.iter().map(|path| stage.get(ADMIN, path))).await {
        let message = said["message"].as_str().unwrap();
        assert_eq!(code, 504);
        assert!(
            message.starts_with(&format!("Timeout: Too large resource version: {future}, current: ")),
            "{message}"
        );
    }
}

#[tokio::test]
async fn forged_tokens_lead_nowhere_else() {
    let everywhere = Everywhere::new().await;
    for token in
        ["x", "1", "1.default", "-1.default.a", "99999999999999999999.default.a", "%00.%00.%00", "e30="]
    {
        let message = everywhere.refused(&Sent::get(format!("{CONFIG_MAPS}?continue={token}")), 400).await;
        assert!(message.starts_with("invalid continue token: continue key is not valid: "), "{message}");
    }
    let long = "1.".repeat(20_000);
    everywhere.refused(&Sent::get(format!("{CONFIG_MAPS}?continue={long}")), 410).await;
    // One of another namespace shows objects of this one only.
    let (_, list) = everywhere.ask(&Sent::get(CONFIG_MAPS)).await;
    let revision = list.pointer("/metadata/resourceVersion").unwrap().as_str().unwrap();
    for (namespace, name, expected) in
        [("kube-system", "", 0), ("", "", 1), ("default", "there", 0), ("default", "", 1)]
    {
        let path = format!("{CONFIG_MAPS}?continue={revision}.{namespace}.{name}");
        let (code, said) = everywhere.ask(&Sent::get(path)).await;
        assert_eq!(
            (code, said["items"].as_array().map(Vec::len)),
            (200, Some(expected)),
            "{namespace}.{name}"
        );
    }
    // A forged revision of the past is one that is forgotten.
    everywhere.refused(&Sent::get(format!("{CONFIG_MAPS}?continue=0.default.a")), 410).await;
}

#[tokio::test]
async fn selectors_as_long_as_a_request_may_be() {
    let everywhere = Everywhere::new().await;
    let many = |each: &str, count: usize| vec![each; count].join(",");
    for (selector, found) in [
        (format!("labelSelector={}", many("!a", 15_000)), 1),
        (format!("labelSelector={}", many("a", 15_000)), 0),
        (format!("labelSelector=a%20notin%20({})", many("b", 20_000)), 1),
        (format!("fieldSelector={}", many("metadata.name=there", 2_000)), 1),
    ] {
        let (code, said) = everywhere.ask(&Sent::get(format!("{CONFIG_MAPS}?{selector}"))).await;
        assert_eq!((code, said["items"].as_array().map(Vec::len)), (200, Some(found)), "{said}");
    }
    for selector in [
        format!("labelSelector=a%20in%20{}", "(".repeat(40_000)),
        format!("labelSelector={}", "=".repeat(40_000)),
        format!("labelSelector={}", "!".repeat(40_000)),
        "labelSelector=%ff%fe%00".to_owned(),
        format!("fieldSelector={}", "a".repeat(40_000)),
        format!("fieldSelector={}=b", "a".repeat(40_000)),
    ] {
        everywhere.refused(&Sent::get(format!("{CONFIG_MAPS}?{selector}")), 400).await;
    }
}

#[tokio::test]
async fn requests_that_are_too_long_before_their_body() {
    let stage = Stage::plain().await;
    for (head, code) in [
        (format!("GET {CONFIG_MAPS}?labelSelector={} HTTP/1.1\r\n", "a".repeat(70_000)), ["414", "431"]),
        (format!("GET /version HTTP/1.1\r\nx-large: {}\r\n", "x".repeat(100_000)), ["431", "431"]),
        (format!("GET /version HTTP/1.1\r\n{}", "x-many: 1\r\n".repeat(3_000)), ["431", "431"]),
    ] {
        let mut stream = stage.connect().await;
        // The server may end the connection before it has read everything.
        drop(stream.write_all(format!("{head}Host: kubernetes\r\n\r\n").as_bytes()).await);
        let answer = rest(&mut stream).await;
        let got = answer.get(9..12).unwrap_or_default();
        assert!(code.contains(&got), "{got:?}");
    }
    assert_eq!(stage.get(ADMIN, "/version").await.0, 200, "it goes on");
}

#[tokio::test]
async fn names_of_managers_have_an_end() {
    let everywhere = Everywhere::new().await;
    let object = r#"{"metadata":{"name":"a"}}"#;
    for (manager, expected) in [
        ("m".repeat(129), "fieldManager: Too long: may not be more than 128 bytes"),
        (
            "a%0Ab".to_owned(),
            "fieldManager: Invalid value: \"a\\nb\": invalid character U+000A (at position 1)",
        ),
    ] {
        for (sent, options) in [
            (
                Sent::body("POST", format!("{CONFIG_MAPS}?fieldManager={manager}"), JSON, object),
                "CreateOptions",
            ),
            (
                Sent::body(
                    "PATCH",
                    format!("{THERE}?fieldManager={manager}"),
                    "application/apply-patch+yaml",
                    "{}",
                ),
                "PatchOptions",
            ),
        ] {
            let message = everywhere.refused(&sent, 422).await;
            assert_eq!(message, format!("{options}.meta.k8s.io \"\" is invalid: {expected}"));
        }
    }
    everywhere.assert_untouched();
    // Of the name of a program counts as much as a manager's may have.
    let stage = Stage::plain().await;
    let post = request("POST", CONFIG_MAPS, ADMIN).header("user-agent", "p".repeat(30_000));
    assert_eq!(stage.send(post.body(Full::from(object)).unwrap()).await.status(), 201);
    let longest = stage.server.store().writes().iter().map(|it| it.manager.len()).max();
    assert_eq!(longest, Some(128));
}
