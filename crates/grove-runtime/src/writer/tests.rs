//! The requests that each verb sends, and what the answers mean.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use serde_json::json;

use super::*;
use crate::mock;
use crate::workers::Failure as _;

/// Runs a write against a server that answers with `code` and `body`. Returns the request, too.
async fn exchange<T: Send + 'static, Fut>(
    write: impl FnOnce(Writer) -> Fut,
    code: u16,
    body: Value,
) -> (T, String, Value)
where
    Fut: Future<Output = T> + Send + 'static,
{
    let (client, mut calls) = mock::server();
    let task = tokio::spawn(write(Writer::new(client, "grove")));
    let call = calls.recv().await.unwrap();
    let (line, sent) = (format!("{} {}", call.line(), call.content_type), call.body.clone());
    call.answer_with(http::StatusCode::from_u16(code).unwrap(), &body);
    (task.await.unwrap(), line, sent)
}

fn config_map() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "ns", "uid": "u"}})
}

#[tokio::test]
async fn create_posts_to_the_collection() {
    let (made, line, sent) =
        exchange(|w| async move { w.create::<ConfigMap>("ns", &config_map()).await }, 201, config_map())
            .await;
    assert_eq!(line, "POST /api/v1/namespaces/ns/configmaps?&fieldManager=grove application/json");
    assert_eq!(sent, config_map());
    assert_eq!(made.unwrap().metadata.uid.as_deref(), Some("u"));
}

#[tokio::test]
async fn cluster_scoped_objects_have_no_namespace_in_the_path() {
    let (_, line, _) = exchange(
        |w| async move { w.create::<Namespace>("", &json!({})).await },
        201,
        json!({"metadata": {}}),
    )
    .await;
    assert!(line.starts_with("POST /api/v1/namespaces?"), "{line}");
}

#[tokio::test]
async fn patches_say_what_they_are() {
    let patch = json!({"data": {"a": null}});
    let merge = {
        let patch = patch.clone();
        |w: Writer| async move { w.patch::<ConfigMap>("ns", "x", &patch).await }
    };
    let (_, line, sent) = exchange(merge, 200, config_map()).await;
    assert_eq!(
        line,
        "PATCH /api/v1/namespaces/ns/configmaps/x?&fieldManager=grove application/merge-patch+json"
    );
    assert_eq!(sent, patch);

    let status = |w: Writer| async move { w.patch_status::<Pod>("ns", "x", &json!({})).await };
    let (_, line, _) = exchange(status, 200, json!({"metadata": {}})).await;
    assert_eq!(
        line,
        "PATCH /api/v1/namespaces/ns/pods/x/status?&fieldManager=grove application/merge-patch+json"
    );

    let apply = |w: Writer| async move { w.apply::<ConfigMap>("ns", "x", &config_map()).await };
    let (_, line, _) = exchange(apply, 200, config_map()).await;
    assert_eq!(
        line,
        "PATCH /api/v1/namespaces/ns/configmaps/x?&force=true&fieldManager=grove application/apply-patch+yaml"
    );
}

/// What came between the look at an owner and the deletion of its children is not selected.
#[tokio::test]
async fn a_collection_is_deleted_as_it_was_when_an_object_was_read() {
    let (client, mut calls) = mock::server();
    let write = async move {
        let (writer, resource) = (Writer::new(client, "grove"), ApiResource::erase::<ConfigMap>(&()));
        let (owner, revision) = writer.get_at(&resource, "ns", "x").await.unwrap();
        writer.delete_collection::<ConfigMap>("ns", "a=b,c in (d)", &revision).await.unwrap();
        owner.map(|it| it.metadata.uid)
    };
    let task = tokio::spawn(write);
    let read = calls.recv().await.unwrap();
    assert_eq!(read.line(), "GET /api/v1/namespaces/ns/configmaps?&fieldSelector=metadata.name%3Dx");
    read.answer(&json!({
        "apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "17"},
        "items": [{"metadata": {"name": "x", "uid": "u", "resourceVersion": "9"}}],
    }));
    let delete = calls.recv().await.unwrap();
    assert_eq!(
        delete.line(),
        "DELETE /api/v1/namespaces/ns/configmaps?&labelSelector=a%3Db%2Cc+in+%28d%29&resourceVersion=17&resourceVersionMatch=Exact"
    );
    assert_eq!(delete.body, json!({}), "without options the revision is a precondition of each object");
    // Whatever the answer looks like: it is not read.
    delete.answer(&json!({"kind": "ConfigMapList", "items": 7}));
    assert_eq!(task.await.unwrap(), Some(Some("u".to_owned())));
}

#[tokio::test]
async fn deletes_name_the_object_and_how() {
    let delete = |w: Writer| async move {
        let how = Delete {
            grace: Some(0),
            propagation: Some(Propagation::Background),
            version: Some("7".to_owned()),
        };
        w.delete::<ConfigMap>("ns", "x", "u", how).await
    };
    let (_, line, sent) = exchange(delete, 200, json!({"kind": "Status", "status": "Success"})).await;
    assert_eq!(line, "DELETE /api/v1/namespaces/ns/configmaps/x? application/json");
    assert_eq!(
        sent,
        json!({"gracePeriodSeconds": 0, "propagationPolicy": "Background", "preconditions": {"uid": "u", "resourceVersion": "7"}})
    );
}

#[tokio::test]
async fn a_delete_ends_with_the_object_gone_or_terminating() {
    let meta = |more: Value| {
        let mut object = config_map();
        object["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object
    };
    let time = "2026-01-01T00:00:00Z";
    let status = |code: u16, reason: &str, message: &str| {
        (
            code,
            json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message}),
        )
    };
    let gone = [
        (200, json!({"kind": "Status", "status": "Success", "details": {"uid": "u"}})),
        (200, config_map()),
        (200, meta(json!({"deletionTimestamp": time, "deletionGracePeriodSeconds": 0}))),
        status(404, "NotFound", "configmaps \"x\" not found"),
        status(409, "Conflict", "the UID in the precondition (u) does not match the UID in record (v)"),
    ];
    for (code, answer) in gone {
        let text = answer.to_string();
        let delete =
            |w: Writer| async move { w.delete::<ConfigMap>("ns", "x", "u", Delete::default()).await };
        let (deleted, ..) = exchange(delete, code, answer).await;
        assert_eq!(deleted.unwrap(), Deleted::Gone, "{text}");
    }
    let accepted = [
        meta(json!({"deletionTimestamp": time, "deletionGracePeriodSeconds": 30})),
        meta(json!({"deletionTimestamp": time, "finalizers": ["a/b"]})),
    ];
    for answer in accepted {
        let delete =
            |w: Writer| async move { w.delete::<ConfigMap>("ns", "x", "u", Delete::default()).await };
        let (deleted, ..) = exchange(delete, 200, answer).await;
        let Deleted::Accepted(object) = deleted.unwrap() else { panic!("it is still there") };
        assert!(object.metadata.deletion_timestamp.is_some());
    }
    let (code, answer) = status(409, "Conflict", "the object has been modified");
    let delete = |w: Writer| async move { w.delete::<ConfigMap>("ns", "x", "u", Delete::default()).await };
    let (deleted, ..) = exchange(delete, code, answer).await;
    assert!(deleted.unwrap_err().is_conflict());
}

#[tokio::test]
async fn a_fixed_lane_travels_with_the_request() {
    let (client, mut calls) = mock::server();
    let writer = Writer::new(client, "grove");
    for (writer, want) in [(writer.in_lane(Lane::Event), Some(Lane::Event)), (writer.clone(), None)] {
        let task = tokio::spawn(async move { writer.create::<ConfigMap>("ns", &config_map()).await });
        let call = calls.recv().await.unwrap();
        assert_eq!(call.lane, want);
        call.answer(&config_map());
        task.await.unwrap().unwrap();
    }
}

async fn failure(code: u16, reason: &str, message: &str) -> WriteError {
    let status =
        json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": message});
    let create = |w: Writer| async move { w.create::<ConfigMap>("ns", &config_map()).await };
    exchange(create, code, status).await.0.unwrap_err()
}

#[tokio::test]
async fn refusals_are_told_from_trouble() {
    let denied = "admission webhook \"w.example\" denied the request: no";
    let terminating = "unable to create new content in namespace ns because it is being terminated";
    for (code, reason, message, refusal, expected, word) in [
        (400, "BadRequest", "bad", true, false, "Refused"),
        (401, "Unauthorized", "who", false, false, "Unauthorized"),
        (403, "Forbidden", "exceeded quota: q", true, false, "Forbidden"),
        (403, "Forbidden", terminating, true, false, "Forbidden"),
        (404, "NotFound", "namespaces \"ns\" not found", false, true, "NotFound"),
        (409, "Conflict", "modified", false, true, "Conflict"),
        (409, "", "modified", false, true, "Conflict"),
        (409, "AlreadyExists", "exists", false, true, "AlreadyExists"),
        (413, "RequestEntityTooLarge", "big", true, false, "Refused"),
        (422, "Invalid", "invalid", true, false, "Invalid"),
        (429, "TooManyRequests", "slow", false, false, "TooManyRequests"),
        (500, "InternalError", "failed calling webhook", false, false, "ServerError"),
        (503, "ServiceUnavailable", "down", false, false, "ServerError"),
        (504, "Timeout", "late", false, false, "ServerError"),
        (400, "", denied, true, false, "Denied"),
        (403, "Forbidden", denied, true, false, "Denied"),
        (404, "NotFound", denied, true, false, "Denied"),
        (409, "Conflict", denied, true, false, "Denied"),
        (500, "", denied, true, false, "Denied"),
    ] {
        let error = failure(code, reason, message).await;
        assert_eq!(error.is_refusal(), refusal, "{code} {message}");
        assert_eq!(error.is_expected(), expected, "{code} {message}");
        assert_eq!(error.reason(), word, "{code} {message}");
        assert_eq!(error.is_namespace_terminating(), message == terminating, "{code} {message}");
        assert_eq!(error.is_already_exists(), word == "AlreadyExists", "{code} {message}");
        assert_eq!(error.is_quota_exceeded(), message == "exceeded quota: q", "{code} {message}");
    }
}

#[tokio::test]
async fn a_terminating_namespace_is_known_by_its_cause() {
    let status = json!({
        "kind": "Status", "status": "Failure", "code": 403, "reason": "Forbidden", "message": "no",
        "details": {"causes": [{"reason": "NamespaceTerminating", "message": "", "field": "metadata.namespace"}]},
    });
    let create = |w: Writer| async move { w.create::<ConfigMap>("ns", &config_map()).await };
    let error = exchange(create, 403, status).await.0.unwrap_err();
    assert!(error.is_namespace_terminating() && error.is_refusal());
}

#[tokio::test]
async fn errors_say_what_was_to_be_done_and_what_the_server_said() {
    let error = failure(409, "AlreadyExists", "configmaps \"x\" already exists").await;
    assert_eq!(error.to_string(), "create ConfigMap ns/x: configmaps \"x\" already exists");
    assert_eq!(error.message(), "configmaps \"x\" already exists");
    assert_eq!(failure(500, "", "").await.message(), "HTTP status 500");
    assert_eq!(failure(500, "InternalError", "").await.message(), "InternalError");

    let (client, mut calls) = mock::server();
    let writer = Writer::new(client, "grove");
    let object = json!({"metadata": {"generateName": "x-"}});
    let task = tokio::spawn(async move { writer.create::<ConfigMap>("ns", &object).await });
    drop(calls.recv().await);
    let error = task.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "create ConfigMap ns/x-*: ServiceError: connection lost");
    assert_eq!((error.reason(), error.is_refusal(), error.is_expected()), ("Transport", false, false));
}

#[tokio::test]
async fn an_answer_that_cannot_be_decoded_is_an_error() {
    let create = |w: Writer| async move { w.create::<ConfigMap>("ns", &config_map()).await };
    let error = exchange(create, 201, json!({"metadata": 7})).await.0.unwrap_err();
    assert_eq!((error.reason(), error.is_refusal()), ("Transport", false));
    assert!(error.to_string().starts_with("create ConfigMap ns/x: Error deserializing response"), "{error}");
}

#[tokio::test]
async fn an_empty_name_is_never_sent() {
    let (client, mut calls) = mock::server();
    let writer = Writer::new(client, "grove");
    let error = writer.delete::<ConfigMap>("ns", "", "u", Delete::default()).await.unwrap_err();
    assert!(error.to_string().contains("non-empty name"), "{error}");
    drop(writer);
    assert!(calls.recv().await.is_none());
}

/// A name that changes the path is never sent.
#[tokio::test(start_paused = true)]
async fn names_that_are_no_names_are_refused_unsent() {
    let (client, mut calls) = mock::server();
    let writer = Writer::new(client, "grove");
    let trying = async {
        for name in ["?watch=true&x=", "../secrets/y", "a/status", "x?dryRun=All", "%2e%2e"] {
            let patched = writer.patch::<ConfigMap>("ns", name, &json!({})).await;
            let deleted = writer.delete::<ConfigMap>("ns", name, "u", Delete::default()).await;
            let errors = [patched.unwrap_err(), deleted.unwrap_err()];
            assert!(errors.iter().all(WriteError::is_refusal), "{errors:?}");
            assert!(writer.get::<ConfigMap>("ns", name).await.unwrap_err().is_refusal());
            assert!(writer.apply::<ConfigMap>("ns", name, &json!({})).await.unwrap_err().is_refusal());
        }
    };
    // What is sent is not answered here.
    tokio::time::timeout(std::time::Duration::from_secs(1), trying).await.expect("nothing is sent");
    assert!(calls.try_recv().is_err());
}

/// Somebody else changed the object, and the watch that should have told may never do so.
#[tokio::test]
async fn a_conflict_puts_the_object_in_doubt_and_other_refusals_do_not() {
    let patch = |code: u16, reason: &'static str| async move {
        let cache = Cache::<ConfigMap>::new();
        cache.observed(serde_json::from_value(config_map()).unwrap());
        let known = cache.clone();
        let write = |writer: Writer| async move {
            writer.doubt_after_conflicts(&known);
            writer.patch::<ConfigMap>("ns", "x", &json!({})).await
        };
        let status =
            json!({"kind": "Status", "status": "Failure", "reason": reason, "code": code, "message": "no"});
        let (answer, _, _) = exchange(write, code, status).await;
        assert!(answer.is_err());
        cache.unconfirmed(std::time::Duration::ZERO).len()
    };
    assert_eq!(patch(409, "Conflict").await, 1);
    assert_eq!(patch(403, "Forbidden").await, 0);
    assert_eq!(patch(409, "AlreadyExists").await, 0);
}
