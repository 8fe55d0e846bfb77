//! Odd requests: nothing panics, and every answer is a proper one.

use grove_apiserver::Labels;
use serde_json::{Value, json};

use crate::support::{CONFIG_MAPS, WIDGETS, get, post, send, server, widget};

#[tokio::test]
async fn discovery() {
    let server = server();
    for (path, pointer, expected) in [
        ("/version", "/major", json!("1")),
        ("/api", "/versions", json!(["v1"])),
        ("/apis", "/kind", json!("APIGroupList")),
        ("/apis/example.com", "/preferredVersion/groupVersion", json!("example.com/v1")),
        ("/apis/example.com/v1", "/resources/1/name", json!("widgets/status")),
        ("/apis/example.com/v1", "/resources/2/group", json!("autoscaling")),
        ("/api/v1", "/groupVersion", json!("v1")),
    ] {
        let (code, said) = get(&server, path).await;
        assert_eq!((code, said.pointer(pointer)), (200, Some(&expected)), "{path}");
    }
    assert_eq!(get(&server, "/readyz").await, (200, json!("ok")));
    let client = crate::support::client(&server);
    let found = kube::discovery::Discovery::new(client).run().await.unwrap();
    assert!(found.groups().any(|it| it.name() == "example.com"));
}

#[tokio::test]
async fn paths_that_lead_nowhere() {
    let server = server();
    for (path, code, is_text) in [
        ("/", 404, true),
        ("/nonsense", 404, true),
        ("/apis/nothing.example.com/v1", 404, true),
        ("/apis/nothing.example.com/v1/things", 404, true),
        ("/apis/example.com/v1/things", 404, true),
        ("/api/v1/nothings", 404, false),
        ("/api/v1/namespaces/default/nodes", 404, false),
        ("/apis/example.com/v1/namespaces/default/zones", 404, true),
        ("/api/v1/pods/a", 404, false),
        ("/api/v1/namespaces/default/pods/a/log", 404, false),
        ("/api/v1/namespaces/default/pods/a/proxy/b/c", 404, true),
        ("/api/v1/namespaces/default/pods/a/binding", 404, false),
        ("/api/v1/namespaces/default/bindings", 405, false),
        ("/api/v1/namespaces/default/finalize", 405, false),
    ] {
        let (got, said) = get(&server, path).await;
        assert_eq!((got, said.is_string()), (code, is_text), "{path} {said}");
    }
}

// The server waits three seconds for a revision that is yet to come.
#[tokio::test(start_paused = true)]
async fn every_method_on_every_path_with_every_body() {
    let server = server();
    let paths = [
        "/",
        "/api",
        "/api/v1",
        "/apis/example.com",
        "/version",
        "/healthz",
        "/api/v1/namespaces",
        "/api/v1/namespaces/default",
        "/api/v1/namespaces/default/finalize",
        "/api/v1/namespaces/default/status",
        "/api/v1/nodes/a/status",
        CONFIG_MAPS,
        "/api/v1/namespaces/default/configmaps/a",
        WIDGETS,
        "/apis/example.com/v1/namespaces/default/widgets/a",
        "/apis/example.com/v1/namespaces/default/widgets/a/status",
        "/apis/example.com/v1/namespaces/default/widgets/a/scale",
        "/api/v1/namespaces/default/pods/a/binding",
        "/api/v1/namespaces/default/bindings",
        "/api/v1/configmaps",
        "/api/v1/namespaces/%00/configmaps/%ff",
        "/api/v1/namespaces/default/configmaps/a%2Fb",
        "/api/v1/namespaces/default/configmaps?limit=-1&continue=%00&labelSelector=%28%28",
        "/api/v1/namespaces/default/configmaps?resourceVersion=18446744073709551615&resourceVersionMatch=Exact&limit=1",
        "/api/v1/namespaces/default/pods?fieldSelector==&timeoutSeconds=99999999999999999999",
    ];
    let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
    let bodies = [
        "",
        "null",
        "1",
        "[]",
        "{}",
        "{",
        "\u{0}",
        "\"text\"",
        &deep,
        r#"{"metadata":null}"#,
        r#"{"metadata":[]}"#,
        r#"{"metadata":{"name":"a"},"spec":1,"status":[],"data":null}"#,
        r#"{"metadata":{"name":"a","resourceVersion":"x","ownerReferences":[{}],"finalizers":["","a"]}}"#,
        r#"{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","generateName":"ä"},"spec":"x","status":"y"}"#,
        r#"{"metadata":{"name":"a/b","namespace":"default","labels":{"":""}},"target":{"name":"n"},"spec":{"nodeName":1}}"#,
        r#"{"kind":"Scale","metadata":{"name":"a"},"spec":{"replicas":9223372036854775807}}"#,
        r#"[{"op":"add","path":"/metadata","value":1}]"#,
        r#"[{"op":"remove","path":""}]"#,
        r#"[{"op":"replace","path":"/spec","value":{"replicas":-1}},{"op":"move","from":"/spec","path":"/spec/a"}]"#,
        r#"[{"op":"add","path":"/spec/containers/99999999999999999999","value":{}}]"#,
        r#"{"gracePeriodSeconds":-9223372036854775808,"propagationPolicy":"Foreground"}"#,
        r#"{"gracePeriodSeconds":9223372036854775807}"#,
    ];
    let kinds = [
        "application/json",
        "application/merge-patch+json",
        "application/json-patch+json",
        "application/apply-patch+yaml",
        "x",
    ];
    post(&server, WIDGETS, widget("a", json!({"replicas": 1}))).await;
    post(
        &server,
        "/api/v1/namespaces/default/pods",
        json!({"metadata": {"name": "a"}, "spec": {"nodeName": "n"}}),
    )
    .await;
    let mut asked = 0;
    for path in paths {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"] {
            // A list of the far future would wait for it.
            if method == "GET" && path.contains("18446744073709551615") {
                continue;
            }
            for kind in kinds {
                for body in bodies {
                    let (code, said) = send(&server, method, path, kind, body).await;
                    assert!((200..600).contains(&code), "{method} {path} {body}");
                    if code >= 400 && !said.is_string() {
                        assert_eq!(
                            (&said["kind"], &said["code"]),
                            (&json!("Status"), &json!(code)),
                            "{method} {path} {body}"
                        );
                    }
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 10_000);
    for (_, object) in server.store().objects() {
        assert!(!object.uid().is_empty() && object.revision() > 0 && object.value().is_object());
        assert!(serde_json::from_slice::<Value>(&object.json()).is_ok());
    }
}

#[tokio::test]
async fn bodies_that_are_too_large() {
    let server = server();
    let body = format!("{{\"data\":\"{}\"}}", "x".repeat(4 * 1024 * 1024));
    assert_eq!(send(&server, "POST", CONFIG_MAPS, "application/json", &body).await.0, 413);
}

#[test]
fn random_selectors() {
    let parts = ["a", "=", "!", ",", "(", ")", " in ", "notin", ">", "<", "1", " ", "ä", "x/y", "-"];
    let mut state = 1_u64;
    let mut roll = |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % sides
    };
    let mut fine = 0;
    for _ in 0..20_000 {
        let text: String = (0..roll(8)).map(|_| parts[roll(parts.len())]).collect();
        if let Ok(selector) = Labels::parse(&text) {
            selector.matches(|_| Some("1"));
            fine += 1;
        }
    }
    assert!(fine > 100);
}
