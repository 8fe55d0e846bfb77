//! Pods in every state, as `kubectl get pods` shows them.

use super::*;

fn row(pod: &Value) -> String {
    let mut pod = pod.clone();
    pod["metadata"]["name"] = "a".into();
    pod["metadata"]["creationTimestamp"] = "2026-01-02T11:58:00Z".into();
    let now = "2026-01-02T12:00:00Z".parse().unwrap();
    let cells = cells(&Object::new(pod), now);
    let shown: Vec<&str> = cells[1..4].iter().map(|it| it.as_str().unwrap()).collect();
    shown.join(" ")
}

fn pod(containers: usize, statuses: Value) -> Value {
    let containers: Vec<Value> = (0..containers).map(|it| json!({"name": format!("c{it}")})).collect();
    json!({"spec": {"containers": containers}, "status": {"phase": "Running", "containerStatuses": statuses}})
}

fn running(ready: bool) -> Value {
    json!({"ready": ready, "state": {"running": {}}})
}

fn ended(code: i64, reason: &str) -> Value {
    json!({"state": {"terminated": {"exitCode": code, "reason": reason}}})
}

fn waiting(reason: &str) -> Value {
    json!({"restartCount": 3, "state": {"waiting": {"reason": reason}}, "lastState": {"terminated": {"finishedAt": "2026-01-02T11:59:30Z"}}})
}

#[test]
fn containers() {
    for (pod, expected) in [
        (pod(1, json!([])), "0/1 Running 0"),
        (pod(2, json!([running(true), running(true)])), "2/2 Running 0"),
        (pod(2, json!([running(true), running(false)])), "1/2 Running 0"),
        (pod(1, json!([waiting("CrashLoopBackOff")])), "0/1 CrashLoopBackOff 3 (30s ago)"),
        (pod(1, json!([waiting("")])), "0/1 Running 3 (30s ago)"),
        (pod(1, json!([ended(0, "Completed")])), "0/1 Completed 0"),
        (pod(1, json!([ended(1, "Error")])), "0/1 Error 0"),
        (pod(1, json!([ended(137, "")])), "0/1 ExitCode:137 0"),
        (pod(1, json!([{"state": {"terminated": {"signal": 9}}}])), "0/1 Signal:9 0"),
        (pod(2, json!([ended(0, "Completed"), running(true)])), "1/2 NotReady 0"),
        (pod(2, json!([ended(0, "Completed"), ended(2, "Error")])), "0/2 Error 0"),
    ] {
        assert_eq!(row(&pod), expected, "{pod}");
    }
    let mut ready = pod(2, json!([ended(0, "Completed"), running(true)]));
    ready["status"]["conditions"] = json!([{"type": "Ready", "status": "True"}]);
    assert_eq!(row(&ready), "1/2 Running 0");
}

fn with_init(init: Value, statuses: Value) -> Value {
    let mut pod = pod(1, json!([json!({"state": {"waiting": {"reason": "PodInitializing"}}})]));
    pod["status"]["phase"] = "Pending".into();
    pod["spec"]["initContainers"] = init;
    pod["status"]["initContainerStatuses"] = statuses;
    pod
}

#[test]
fn init_containers() {
    let two = json!([{"name": "i0"}, {"name": "i1"}]);
    let status = |name: &str, mut rest: Value| {
        rest["name"] = name.into();
        rest
    };
    for (statuses, expected) in [
        (json!([status("i0", running(false)), status("i1", waiting("PodInitializing"))]), "0/1 Init:0/2 0"),
        (json!([status("i0", ended(0, "Completed")), status("i1", running(false))]), "0/1 Init:1/2 0"),
        (json!([status("i0", waiting("CrashLoopBackOff"))]), "0/1 Init:CrashLoopBackOff 3 (30s ago)"),
        (json!([status("i0", ended(1, "Error"))]), "0/1 Init:Error 0"),
        (json!([status("i0", ended(3, ""))]), "0/1 Init:ExitCode:3 0"),
        (
            json!([status("i0", ended(0, "Completed")), status("i1", ended(0, "Completed"))]),
            "0/1 PodInitializing 0",
        ),
    ] {
        let pod = with_init(two.clone(), statuses);
        assert_eq!(row(&pod), expected, "{pod}");
    }
    let sidecar = json!([{"name": "i0", "restartPolicy": "Always"}]);
    let mut started = status("i0", running(true));
    started["started"] = true.into();
    started["restartCount"] = 2.into();
    assert_eq!(row(&with_init(sidecar, json!([started]))), "1/2 PodInitializing 2");
}

#[test]
fn states_of_the_pod_itself() {
    let gated = json!([{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]);
    for (metadata, status, expected) in [
        (json!({}), json!({"phase": "Pending"}), "0/1 Pending 0"),
        (json!({}), json!({"phase": "Pending", "conditions": gated}), "0/1 SchedulingGated 0"),
        (json!({}), json!({"phase": "Failed", "reason": "Evicted"}), "0/1 Evicted 0"),
        (
            json!({"deletionTimestamp": "2026-01-02T12:00:00Z"}),
            json!({"phase": "Running"}),
            "0/1 Terminating 0",
        ),
        (
            json!({"deletionTimestamp": "2026-01-02T12:00:00Z"}),
            json!({"phase": "Succeeded"}),
            "0/1 Succeeded 0",
        ),
        (
            json!({"deletionTimestamp": "2026-01-02T12:00:00Z"}),
            json!({"phase": "Running", "reason": "NodeLost"}),
            "0/1 Unknown 0",
        ),
    ] {
        let pod = json!({"metadata": metadata, "spec": {"containers": [{"name": "c"}]}, "status": status});
        assert_eq!(row(&pod), expected, "{pod}");
    }
}

#[test]
fn where_it_is() {
    let pod = json!({
        "metadata": {"name": "a", "creationTimestamp": "2026-01-02T11:58:00Z"},
        "spec": {"nodeName": "n", "readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}]},
        "status": {"podIPs": [{"ip": "10.0.0.1"}], "nominatedNodeName": "m", "conditions": [{"type": "y", "status": "True"}]},
    });
    let cells = cells(&Object::new(pod), "2026-01-02T12:00:00Z".parse().unwrap());
    assert_eq!(cells[4..], ["2m", "10.0.0.1", "n", "m", "1/2"]);
    let bare = super::cells(&Object::new(json!({})), "2026-01-02T12:00:00Z".parse().unwrap());
    assert_eq!(bare[4..], ["<unknown>", "<none>", "<none>", "<none>", "<none>"]);
}
