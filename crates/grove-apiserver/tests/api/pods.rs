//! Pods of a strict server: defaults, priority, and what cannot change.

use serde_json::{Value, json};

use crate::support::{PODS, assert_has, cluster, get, merge, post, send, strategic};

const CLASSES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

fn pod(name: &str, mut spec: Value) -> Value {
    spec["containers"] = json!([{"name": "main", "image": "none"}]);
    json!({"metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn defaults() {
    let server = cluster();
    let (code, said) = post(&server, PODS, pod("a", json!({}))).await;
    assert_eq!(code, 201, "{said}");
    let unreachable = json!({"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let expected = json!({
        "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30, "schedulerName": "default-scheduler",
        "serviceAccountName": "default", "serviceAccount": "default", "enableServiceLinks": true, "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority", "nodeName": null, "securityContext": {},
        "containers": [{"imagePullPolicy": "Always", "terminationMessagePath": "/dev/termination-log", "resources": {}}],
    });
    assert_has(&said["spec"], &expected);
    assert!(said["spec"]["tolerations"].as_array().unwrap().contains(&unreachable));
    assert_eq!(said["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
    // An update that leaves out a default means it.
    let mut body = said;
    body["spec"].as_object_mut().unwrap().remove("dnsPolicy");
    body["metadata"]["labels"] = json!({"x": "1"});
    let (code, said) =
        send(&server, "PUT", &format!("{PODS}/a"), "application/json", &body.to_string()).await;
    assert_eq!((code, said["metadata"]["generation"].as_i64()), (200, Some(1)), "{said}");
}

#[tokio::test]
async fn pods_that_cannot_be() {
    let server = cluster();
    for (spec, field) in [
        (json!({"containers": []}), "spec.containers"),
        (json!({"containers": [{"name": "a"}]}), "spec.containers[0].image"),
        (json!({"containers": [{"image": "x"}]}), "spec.containers[0].name"),
        (
            json!({"containers": [{"name": "a", "image": "x"}, {"name": "a", "image": "x"}]}),
            "spec.containers[1].name",
        ),
        (
            json!({"containers": [{"name": "a", "image": "x"}], "schedulingGates": [{"name": "no gate"}]}),
            "spec.schedulingGates[0]",
        ),
    ] {
        let (code, said) = post(&server, PODS, json!({"metadata": {"name": "a"}, "spec": spec})).await;
        assert_eq!(code, 422, "{said}");
        assert_eq!(said["details"]["causes"][0]["field"], field);
    }
}

#[tokio::test]
async fn priority() {
    let server = cluster();
    let (_, classes) = get(&server, CLASSES).await;
    let values: Vec<i64> =
        classes["items"].as_array().unwrap().iter().map(|it| it["value"].as_i64().unwrap()).collect();
    assert_eq!(values, [2_000_000_000, 2_000_001_000]);
    post(&server, CLASSES, json!({"metadata": {"name": "high"}, "value": 100, "preemptionPolicy": "Never"}))
        .await;
    let (_, said) = post(&server, PODS, pod("a", json!({"priorityClassName": "high"}))).await;
    assert_has(&said["spec"], &json!({"priority": 100, "preemptionPolicy": "Never"}));
    for (name, spec, why) in [
        ("b", json!({"priorityClassName": "none"}), "no PriorityClass with name none was found"),
        (
            "c",
            json!({"priority": 7}),
            "the integer value of priority (7) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name",
        ),
    ] {
        let (code, said) = post(&server, PODS, pod(name, spec)).await;
        let message = format!("pods {name:?} is forbidden: {why}");
        assert_eq!((code, said["message"].as_str()), (403, Some(message.as_str())));
    }
    post(&server, CLASSES, json!({"metadata": {"name": "usual"}, "value": 5, "globalDefault": true})).await;
    let (_, said) = post(&server, PODS, pod("d", json!({}))).await;
    assert_has(&said["spec"], &json!({"priority": 5, "priorityClassName": "usual"}));
    let groups = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
    let group = json!({"metadata": {"name": "g"}, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}}});
    let (code, said) = post(&server, groups, group).await;
    assert_eq!(code, 201, "{said}");
    assert_has(
        &said["spec"],
        &json!({"priority": 5, "disruptionMode": {"single": {}}, "schedulingPolicy": {"gang": {"minCount": 2}}}),
    );
}

#[tokio::test]
async fn what_can_change() {
    let server = cluster();
    let scheduling_gates = json!([{"name": "example.com/one"}, {"name": "example.com/two"}]);
    post(&server, PODS, pod("gated", json!({"schedulingGates": scheduling_gates}))).await;
    post(&server, PODS, pod("plain", json!({}))).await;
    let (plain, waiting) = (&format!("{PODS}/plain"), &format!("{PODS}/gated"));
    for (path, spec, field, why) in [
        (plain, json!({"hostname": "other"}), "spec", "pod updates may not change fields other than"),
        (plain, json!({"nodeName": "n"}), "spec", "pod updates may not change fields other than"),
        (plain, json!({"nodeSelector": {"a": "b"}}), "spec", "pod updates may not change fields other than"),
        (
            plain,
            json!({"schedulingGates": [{"name": "example.com/late"}]}),
            "spec.schedulingGates[0].name",
            "only deletion is allowed",
        ),
        (plain, json!({"containers": []}), "spec.containers", "may not add or remove containers"),
        (plain, json!({"tolerations": []}), "spec.tolerations", "existing toleration can not be modified"),
        (waiting, json!({"priority": 3}), "spec", "pod updates may not change fields other than"),
    ] {
        let (code, said) = merge(&server, path, json!({"spec": spec})).await;
        assert_eq!(code, 422, "{said}");
        let cause = &said["details"]["causes"][0];
        assert_eq!(
            (cause["reason"].as_str(), cause["field"].as_str()),
            (Some("FieldValueForbidden"), Some(field))
        );
        assert!(cause["message"].as_str().unwrap().contains(why), "{cause}");
    }
    let image = json!({"spec": {"containers": [{"name": "main", "image": "new"}]}});
    assert_eq!(strategic(&server, plain, image).await.0, 200);
    let (code, said) = merge(&server, waiting, json!({"spec": {"nodeSelector": {"zone": "a"}}})).await;
    assert_eq!((code, said["metadata"]["generation"].as_i64()), (200, Some(2)));
    let (code, _) = merge(&server, waiting, json!({"spec": {"nodeSelector": {"zone": "b"}}})).await;
    assert_eq!(code, 422);
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}});
    assert_eq!(merge(&server, waiting, json!({"spec": {"affinity": affinity}})).await.0, 200);
    let patch = json!({"spec": {"schedulingGates": [{"$patch": "delete", "name": "example.com/one"}]}});
    let (_, said) = strategic(&server, waiting, patch).await;
    assert_eq!(said["spec"]["schedulingGates"], json!([{"name": "example.com/two"}]));
    let (code, said) = merge(&server, waiting, json!({"spec": {"schedulingGates": null}})).await;
    assert_eq!((code, &said["spec"]["schedulingGates"]), (200, &Value::Null));
}

#[tokio::test]
async fn what_needs_a_container_is_not_served() {
    let server = cluster();
    post(&server, PODS, pod("a", json!({}))).await;
    for part in ["log", "exec", "attach", "portforward", "proxy"] {
        let (code, said) = get(&server, &format!("{PODS}/a/{part}")).await;
        assert_eq!((code, said["reason"].as_str()), (501, Some("NotImplemented")));
        let message =
            format!("pods/{part} is not served: the pods of this cluster are simulated, no container runs");
        assert_eq!(said["message"], message);
    }
    assert_eq!(get(&server, &format!("{PODS}/a/nonsense")).await.0, 404);
}
