//! The audit log.

use bytes::Bytes;
use grove_apiserver::Authorization;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use crate::support::{ADMIN, CONFIG_MAPS, JANE, Setup, Stage, config_map, read, request};

async fn stage() -> Stage {
    Stage::new(Setup { authorization: Authorization::Rbac, ..Setup::default() }).await
}

impl Stage {
    /// The event of the last request, which may be written a moment after its response has been read.
    async fn event(&self, number: usize) -> Value {
        for _ in 0..10_000 {
            if let Some(event) = self.audit.lock().get(number) {
                return event.clone();
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        panic!("there is no event {number}");
    }
}

#[tokio::test]
async fn an_event_per_request() {
    let stage = stage().await;
    stage.create(&format!("{CONFIG_MAPS}?dryRun=All"), config_map("a")).await;
    let mut event = stage.event(0).await;
    for time in ["requestReceivedTimestamp", "stageTimestamp"] {
        let time = event[time].take();
        let text = time.as_str().unwrap();
        assert!(text.len() == 27 && text.ends_with('Z'), "{text}");
    }
    assert!(event["auditID"].take().is_string());
    let expected = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": null,
        "stage": "ResponseComplete", "requestURI": "/api/v1/namespaces/default/configmaps?dryRun=All",
        "verb": "create", "user": {"username": "admin", "groups": ["system:masters", "system:authenticated"]},
        "sourceIPs": ["127.0.0.1"], "userAgent": "",
        "objectRef": {"resource": "configmaps", "namespace": "default", "name": "a", "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 201}, "requestReceivedTimestamp": null, "stageTimestamp": null,
        "annotations": {"authorization.k8s.io/decision": "allow"},
    });
    assert_eq!(event, expected);
}

#[tokio::test]
async fn refusals_and_impersonation() {
    let stage = stage().await;
    assert_eq!(stage.get("", "/version").await.0, 401);
    let event = stage.event(0).await;
    assert_eq!((&event["user"], &event["responseStatus"]["code"]), (&json!({}), &json!(401)));
    assert_eq!((&event["verb"], event.get("objectRef")), (&json!("get"), None));

    assert_eq!(
        stage.ask(JANE, "PATCH", "/apis/example.com/v1/namespaces/n/widgets/w/status", json!({})).await.0,
        403
    );
    let event = stage.event(1).await;
    assert_eq!(event["annotations"]["authorization.k8s.io/decision"], "forbid");
    let object = json!({
        "resource": "widgets", "namespace": "n", "name": "w", "apiGroup": "example.com", "apiVersion": "v1",
        "subresource": "status",
    });
    assert_eq!((&event["verb"], &event["objectRef"]), (&json!("patch"), &object));

    let as_jane =
        request("GET", CONFIG_MAPS, ADMIN).header("impersonate-user", "jane").header("user-agent", "us/1");
    assert_eq!(read(stage.send(as_jane.body(Full::<Bytes>::default()).unwrap()).await).await.0, 403);
    let event = stage.event(2).await;
    assert_eq!(
        (&event["user"]["username"], &event["impersonatedUser"]["username"]),
        (&json!("admin"), &json!("jane"))
    );
    assert_eq!((&event["verb"], &event["userAgent"]), (&json!("list"), &json!("us/1")));
}

#[tokio::test]
async fn a_watch_is_complete_when_it_ends() {
    let stage = stage().await;
    let watch = request("GET", &format!("{CONFIG_MAPS}?watch=true"), ADMIN);
    let response = stage.send(watch.body(Full::<Bytes>::default()).unwrap()).await;
    stage.create(CONFIG_MAPS, config_map("a")).await;
    let mut lines = response.into_body();
    lines.frame().await.unwrap().unwrap();
    assert_eq!(stage.event(0).await["verb"], "create");
    assert_eq!(stage.audit.lock().len(), 1);
    stage.server.cut_watches();
    assert!(lines.frame().await.is_none());
    let event = stage.event(1).await;
    assert_eq!((&event["verb"], &event["responseStatus"]["code"]), (&json!("watch"), &json!(200)));
}
