//! Objects that go.

use serde_json::{Value, json};

use crate::support::{
    CONFIG_MAPS, PODS, WIDGETS, assert_has, create_all, delete, get, merge, names, post, server, widget,
};

#[tokio::test]
async fn at_once() {
    let server = server();
    let (_, made) = post(&server, WIDGETS, widget("a", json!({}))).await;
    let (code, said) =
        delete(&server, &format!("{WIDGETS}/a"), json!({"propagationPolicy": "Background"})).await;
    assert_eq!(code, 200);
    let details =
        json!({"name": "a", "group": "example.com", "kind": "widgets", "uid": made["metadata"]["uid"]});
    assert_eq!(
        said,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
    );
    let (code, said) = delete(&server, &format!("{WIDGETS}/a"), Value::Null).await;
    assert_eq!((code, said["message"].as_str()), (404, Some("widgets.example.com \"a\" not found")));
    let (_, again) = post(&server, WIDGETS, widget("a", json!({}))).await;
    assert_ne!(again["metadata"]["uid"], made["metadata"]["uid"]);
}

#[tokio::test]
async fn preconditions() {
    let server = server();
    let a = &format!("{CONFIG_MAPS}/a");
    let (_, made) = post(&server, CONFIG_MAPS, json!({"metadata": {"name": "a"}})).await;
    let (uid, version) = (&made["metadata"]["uid"], &made["metadata"]["resourceVersion"]);
    for (preconditions, code, words) in [
        (json!({"uid": "other"}), 409, "the UID in the precondition (other)"),
        (json!({"uid": uid, "resourceVersion": "1"}), 409, "the ResourceVersion in the precondition (1)"),
    ] {
        let (got, said) = delete(&server, a, json!({"preconditions": preconditions})).await;
        assert_eq!((got, said["reason"].as_str()), (code, Some("Conflict")));
        assert!(said["message"].as_str().unwrap().contains(words), "{said}");
    }
    assert_eq!(delete(&server, &format!("{a}?dryRun=All"), Value::Null).await.0, 200);
    assert_eq!(get(&server, a).await.0, 200);
    let options = json!({"preconditions": {"uid": uid, "resourceVersion": version}});
    assert_eq!(delete(&server, a, options).await.0, 200);
}

#[tokio::test]
async fn finalizers_hold() {
    let server = server();
    let a = &format!("{WIDGETS}/a");
    let mut body = widget("a", json!({}));
    body["metadata"]["finalizers"] = json!(["example.com/hold"]);
    let (_, made) = post(&server, WIDGETS, body).await;
    let (code, held) = delete(&server, a, Value::Null).await;
    assert_eq!(code, 200);
    let expected = json!({"kind": "Widget", "metadata": {
        "deletionTimestamp": "2026-01-02T12:00:00Z", "deletionGracePeriodSeconds": 0, "generation": 2,
        "finalizers": ["example.com/hold"], "uid": made["metadata"]["uid"],
    }});
    assert_has(&held, &expected);
    assert_eq!(delete(&server, a, Value::Null).await.1, held, "again changes nothing");
    assert_eq!(post(&server, WIDGETS, widget("a", json!({}))).await.0, 409);

    // A write of the status cannot let go of one of ours, a write of the object can.
    merge(&server, &format!("{a}/status"), json!({"metadata": {"finalizers": null}, "status": {"a": 1}}))
        .await;
    assert_eq!(get(&server, a).await.0, 200);
    merge(&server, a, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(get(&server, a).await.0, 404);
    let last = server.store().events_since(server.store().revision() - 1).unwrap().pop().unwrap();
    assert!(last.new.is_none());
    assert_eq!(last.old.as_ref().unwrap().finalizers().collect::<Vec<_>>(), ["example.com/hold"]);
}

#[tokio::test]
async fn policies_become_finalizers() {
    let server = server();
    for (name, options, finalizers) in [
        ("a", json!({"propagationPolicy": "Orphan"}), Some(json!(["orphan"]))),
        ("b", json!({"propagationPolicy": "Foreground"}), Some(json!(["foregroundDeletion"]))),
        ("c", json!({"orphanDependents": true}), Some(json!(["orphan"]))),
        ("d", json!({"propagationPolicy": "Background"}), None),
        ("e", json!({}), None),
    ] {
        post(&server, CONFIG_MAPS, json!({"metadata": {"name": name}})).await;
        let (_, said) = delete(&server, &format!("{CONFIG_MAPS}/{name}"), options).await;
        match finalizers {
            Some(finalizers) => assert_eq!(said["metadata"]["finalizers"], finalizers),
            None => assert_eq!(said["kind"], "Status"),
        }
    }
    let (_, said) =
        delete(&server, &format!("{CONFIG_MAPS}/a"), json!({"propagationPolicy": "Foreground"})).await;
    assert_eq!(said["metadata"]["finalizers"], json!(["foregroundDeletion"]), "the last word counts");
    let (_, said) =
        delete(&server, &format!("{CONFIG_MAPS}/a"), json!({"propagationPolicy": "Background"})).await;
    assert_eq!(said["kind"], "Status");
    assert_eq!(
        delete(&server, &format!("{CONFIG_MAPS}/b?propagationPolicy=Sideways"), Value::Null).await.0,
        422
    );
}

#[tokio::test]
async fn pods_are_given_time() {
    let server = server();
    let pod = |name: &str, spec: Value| json!({"metadata": {"name": name}, "spec": spec});
    let on_node = |grace: Option<i64>| json!({"nodeName": "n", "terminationGracePeriodSeconds": grace});
    let pods = [
        ("nowhere", json!({})),
        ("default", on_node(None)),
        ("short", on_node(Some(5))),
        ("asked", on_node(Some(5))),
        ("zero", on_node(Some(5))),
        ("over", on_node(None)),
    ];
    create_all(&server, PODS, pods.map(|(name, spec)| pod(name, spec))).await;
    merge(&server, &format!("{PODS}/over/status"), json!({"status": {"phase": "Succeeded"}})).await;
    for (name, options, grace, until, stays) in [
        ("nowhere", json!({}), 0, "2026-01-02T12:00:00Z", false),
        ("default", json!({}), 30, "2026-01-02T12:00:30Z", true),
        ("short", json!({}), 5, "2026-01-02T12:00:05Z", true),
        ("asked", json!({"gracePeriodSeconds": 60}), 60, "2026-01-02T12:01:00Z", true),
        ("zero", json!({"gracePeriodSeconds": 0}), 0, "2026-01-02T12:00:00Z", false),
        ("over", json!({}), 0, "2026-01-02T12:00:00Z", false),
        // Grace becomes shorter, never longer; and it is the node that says the last word.
        ("asked", json!({"gracePeriodSeconds": 90}), 60, "2026-01-02T12:01:00Z", true),
        ("asked", json!({"gracePeriodSeconds": 10}), 10, "2026-01-02T12:00:10Z", true),
        ("asked", json!({}), 10, "2026-01-02T12:00:10Z", true),
        ("asked", json!({"gracePeriodSeconds": 0}), 0, "2026-01-02T12:00:00Z", false),
    ] {
        let (code, said) = delete(&server, &format!("{PODS}/{name}"), options.clone()).await;
        assert_eq!((code, said["kind"].as_str()), (200, Some("Pod")), "{name} {options}");
        let expected =
            json!({"deletionGracePeriodSeconds": grace, "deletionTimestamp": until, "generation": 2});
        assert_has(&said["metadata"], &expected);
        assert_eq!(get(&server, &format!("{PODS}/{name}")).await.0 == 200, stays, "{name} {options}");
    }
}

#[tokio::test]
async fn a_pod_may_wait_for_its_node_and_for_finalizers() {
    let server = server();
    let a = &format!("{PODS}/a");
    let pod =
        json!({"metadata": {"name": "a", "finalizers": ["example.com/hold"]}, "spec": {"nodeName": "n"}});
    post(&server, PODS, pod).await;
    delete(&server, a, Value::Null).await;
    merge(&server, a, json!({"metadata": {"finalizers": null}})).await;
    assert_eq!(get(&server, a).await.0, 200, "the node has not said that it ended");
    delete(&server, a, json!({"gracePeriodSeconds": 0})).await;
    assert_eq!(get(&server, a).await.0, 404);
}

#[tokio::test]
async fn some_namespaces_never_go() {
    let server = server();
    let (code, said) = delete(&server, "/api/v1/namespaces/default", Value::Null).await;
    let message = "namespaces \"default\" is forbidden: this namespace may not be deleted";
    assert_eq!((code, said["message"].as_str()), (403, Some(message)));
}

#[tokio::test]
async fn collections() {
    let server = server();
    let maps = ["a", "b", "c"].map(|it| json!({"metadata": {"name": it, "labels": {"tier": it}}}));
    create_all(&server, CONFIG_MAPS, maps).await;
    merge(&server, &format!("{CONFIG_MAPS}/b"), json!({"metadata": {"finalizers": ["example.com/hold"]}}))
        .await;
    let (code, said) = delete(&server, &format!("{CONFIG_MAPS}?labelSelector=tier!=a"), Value::Null).await;
    assert_eq!((code, said["kind"].as_str()), (200, Some("ConfigMapList")));
    assert_eq!(names(&said), ["b", "c"]);
    assert_eq!(names(&get(&server, CONFIG_MAPS).await.1), ["a", "b"]);
    assert_eq!(delete(&server, "/api/v1/configmaps", Value::Null).await.0, 405);
    let last = server.store().writes().pop().unwrap();
    assert_eq!(
        (last.verb, last.resource.as_str(), last.name.as_str()),
        ("deletecollection", "configmaps", "")
    );
}

/// What was selected at a revision goes by its name, whatever that is today; what came later stays.
#[tokio::test]
async fn collections_of_the_past() {
    let server = server();
    let map = |name: &str, tier: &str| json!({"metadata": {"name": name, "labels": {"tier": tier}}});
    create_all(
        &server,
        CONFIG_MAPS,
        [map("gone", "x"), map("kept", "y"), map("moved", "x"), map("new-life", "x")],
    )
    .await;
    let (_, list) = get(&server, CONFIG_MAPS).await;
    let then = list["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    delete(&server, &format!("{CONFIG_MAPS}/gone"), Value::Null).await;
    merge(&server, &format!("{CONFIG_MAPS}/moved"), json!({"metadata": {"labels": {"tier": "y"}}})).await;
    delete(&server, &format!("{CONFIG_MAPS}/new-life"), Value::Null).await;
    create_all(&server, CONFIG_MAPS, [map("late", "x"), map("new-life", "y")]).await;
    let x = |version: &str| {
        format!("{CONFIG_MAPS}?labelSelector=tier=x&resourceVersion={version}&resourceVersionMatch=Exact")
    };
    // Without options the revision is a precondition, too, and the list is of a later one than its objects.
    let (code, said) = delete(&server, &x(&then), Value::Null).await;
    assert_eq!((code, said["reason"].as_str()), (409, Some("Conflict")));
    let (code, _) = delete(&server, &x(&then), json!({})).await;
    assert_eq!(code, 200);
    assert_eq!(names(&get(&server, CONFIG_MAPS).await.1), ["kept", "late"]);

    let (code, said) = delete(&server, &x("0"), json!({})).await;
    assert_eq!((code, said["reason"].as_str()), (422, Some("Invalid")));
    server.compact();
    let (code, said) = delete(&server, &x(&then), json!({})).await;
    assert_eq!((code, said["reason"].as_str()), (410, Some("Expired")));
    assert_eq!(names(&get(&server, CONFIG_MAPS).await.1), ["kept", "late"]);
}
