//! What means the same, and what does not.

use serde_json::json;

use super::*;

fn canonical(pod: &Value) -> String {
    canonical_pod_spec(&serde_json::from_value(pod.clone()).unwrap())
}

/// A pod whose container has this too.
fn container(more: &Value) -> Value {
    let mut container = json!({ "name": "a" });
    json_patch::merge(&mut container, more);
    json!({ "containers": [container] })
}

/// A pod that has this too.
fn pod(more: &Value) -> Value {
    let mut pod = json!({ "containers": [{ "name": "a" }] });
    json_patch::merge(&mut pod, more);
    pod
}

/// A pod with an init container of this.
fn init(more: &Value) -> Value {
    let mut container = json!({ "name": "i" });
    json_patch::merge(&mut container, more);
    pod(&json!({ "initContainers": [container] }))
}

#[track_caller]
fn same(one: &Value, other: &Value) {
    assert_eq!(canonical(one), canonical(other));
}

#[track_caller]
fn different(one: &Value, other: &Value) {
    assert_ne!(canonical(one), canonical(other), "{one}");
}

#[test]
fn the_order_of_maps_and_sets_means_nothing() {
    let in_container = [
        ("env", json!([{ "name": "A", "value": "1" }, { "name": "B", "value": "2" }])),
        ("ports", json!([{ "containerPort": 80 }, { "containerPort": 80, "protocol": "UDP" }])),
        ("volumeMounts", json!([{ "name": "v", "mountPath": "/a" }, { "name": "v", "mountPath": "/b" }])),
        ("volumeDevices", json!([{ "name": "v", "devicePath": "/a" }, { "name": "w", "devicePath": "/b" }])),
    ];
    for (field, list) in in_container {
        let reversed: Vec<&Value> = list.as_array().unwrap().iter().rev().collect();
        same(&container(&json!({ field: list })), &container(&json!({ field: reversed })));
        same(&init(&json!({ field: list })), &init(&json!({ field: reversed })));
    }
    let claims = |names: [&str; 2]| {
        container(&json!({ "resources": { "claims": names.map(|it| json!({ "name": it })) } }))
    };
    same(&claims(["a", "b"]), &claims(["b", "a"]));

    let in_pod = [
        ("containers", json!([{ "name": "a", "image": "y" }, { "name": "b", "image": "x" }])),
        ("volumes", json!([{ "name": "a", "emptyDir": {} }, { "name": "b", "configMap": { "name": "c" } }])),
        ("imagePullSecrets", json!([{ "name": "a" }, { "name": "b" }])),
        ("hostAliases", json!([{ "ip": "1.1.1.1", "hostnames": ["x"] }, { "ip": "1.1.1.2" }])),
        ("tolerations", json!([{ "key": "a" }, { "key": "b", "operator": "Exists" }])),
        (
            "topologySpreadConstraints",
            json!([
                { "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule" },
                { "maxSkew": 1, "topologyKey": "rack", "whenUnsatisfiable": "DoNotSchedule" },
            ]),
        ),
        ("resourceClaims", json!([{ "name": "a" }, { "name": "b" }])),
        ("schedulingGates", json!([{ "name": "a" }, { "name": "b" }])),
        ("readinessGates", json!([{ "conditionType": "a" }, { "conditionType": "b" }])),
    ];
    for (field, list) in in_pod {
        let reversed: Vec<&Value> = list.as_array().unwrap().iter().rev().collect();
        same(&pod(&json!({ field: list })), &pod(&json!({ field: reversed })));
    }
}

#[test]
fn the_order_of_other_lists_does() {
    let lists = [
        ("command", json!(["a", "b"])),
        ("args", json!(["a", "b"])),
        ("envFrom", json!([{ "prefix": "A" }, { "prefix": "B" }])),
    ];
    for (field, list) in lists {
        let reversed: Vec<&Value> = list.as_array().unwrap().iter().rev().collect();
        different(&container(&json!({ field: list })), &container(&json!({ field: reversed })));
    }
    let starting =
        |names: [&str; 2]| pod(&json!({ "initContainers": names.map(|it| json!({ "name": it })) }));
    different(&starting(["a", "b"]), &starting(["b", "a"]));
}

#[test]
fn variables_keep_their_order_where_it_decides_a_value() {
    let env = |list: &[(&str, &str)]| {
        let list: Vec<Value> =
            list.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        container(&json!({ "env": list }))
    };
    // What stands behind is not known to what refers to it.
    different(&env(&[("A", "1"), ("B", "$(A)")]), &env(&[("B", "$(A)"), ("A", "1")]));
    // Of the same name, the last one counts.
    different(&env(&[("A", "1"), ("A", "2")]), &env(&[("A", "2"), ("A", "1")]));
    same(&env(&[("A", "1"), ("B", "x"), ("A", "2")]), &env(&[("B", "x"), ("A", "1"), ("A", "2")]));
    // Another container's reference is no reason.
    let two = |names: [&str; 2]| {
        let plain = names.map(|it| json!({ "name": it, "value": "1" }));
        let refers = json!([{ "name": "X", "value": "$(Y)" }]);
        json!({ "containers": [{ "name": "a", "env": plain }, { "name": "b", "env": refers }] })
    };
    same(&two(["A", "B"]), &two(["B", "A"]));
}

#[test]
fn content_is_content_in_any_order() {
    let ports = |ports: &[i32]| {
        let ports: Vec<Value> = ports.iter().map(|it| json!({ "containerPort": it })).collect();
        container(&json!({ "ports": ports }))
    };
    different(&ports(&[80, 81]), &ports(&[80, 82]));
    different(&ports(&[80]), &ports(&[80, 81]));
    let images = |a: &str, b: &str| json!({ "containers": [{ "name": "a", "image": a }, { "name": "b", "image": b }] });
    different(&images("x", "y"), &images("y", "x"));
}

#[test]
fn empty_and_absent_are_equal() {
    let plain = pod(&json!({}));
    same(&plain, &container(&json!({ "env": [], "resources": {}, "workingDir": "" })));
    same(&plain, &pod(&json!({ "nodeSelector": {}, "schedulerName": "", "securityContext": {} })));
    different(&plain, &json!({ "containers": [{ "name": "b" }] }));
    same(
        &container(&json!({ "env": [{ "name": "A" }] })),
        &container(&json!({ "env": [{ "name": "A", "value": "" }] })),
    );
}

/// Kubernetes' own types have no way to say these, so that they are gone from what upstream Grove has written.
#[test]
fn what_upstream_leaves_out_is_absent() {
    let plain = pod(&json!({}));
    same(&plain, &pod(&json!({ "hostNetwork": false, "hostPID": false, "hostIPC": false })));
    same(&plain, &container(&json!({ "stdin": false, "tty": false, "stdinOnce": false })));
    let probe = |more: &Value| {
        let mut probe = json!({ "tcpSocket": { "port": 80 } });
        json_patch::merge(&mut probe, more);
        container(&json!({ "livenessProbe": probe }))
    };
    let zeros = json!({ "initialDelaySeconds": 0, "timeoutSeconds": 0, "periodSeconds": 0,
                        "successThreshold": 0, "failureThreshold": 0 });
    same(&probe(&json!({})), &probe(&zeros));
    let divided = |more: &Value| {
        let mut field = json!({ "resource": "limits.cpu" });
        json_patch::merge(&mut field, more);
        container(&json!({ "env": [{ "name": "A", "valueFrom": { "resourceFieldRef": field } }] }))
    };
    same(&divided(&json!({})), &divided(&json!({ "divisor": "0" })));
    different(&divided(&json!({})), &divided(&json!({ "divisor": "1m" })));
    different(&probe(&json!({})), &probe(&json!({ "periodSeconds": 1 })));
}

#[test]
fn false_zero_and_empty_are_content_where_they_say_something() {
    let plain = pod(&json!({}));
    different(&plain, &pod(&json!({ "automountServiceAccountToken": false })));
    different(&plain, &pod(&json!({ "terminationGracePeriodSeconds": 0 })));
    different(&plain, &container(&json!({ "securityContext": { "runAsUser": 0 } })));
    different(&plain, &container(&json!({ "args": [""] })));
    different(&plain, &pod(&json!({ "nodeSelector": { "gpu": "" } })));
    // A key of the user may have the name of a field.
    different(&plain, &pod(&json!({ "nodeSelector": { "value": "" } })));
    let claim = |spec: &Value| {
        let template = json!({ "spec": spec });
        pod(&json!({ "volumes": [{ "name": "v", "ephemeral": { "volumeClaimTemplate": template } }] }))
    };
    different(
        &claim(&json!({ "accessModes": ["a"] })),
        &claim(&json!({ "accessModes": ["a"], "storageClassName": "" })),
    );
}

#[test]
fn an_empty_selector_is_content() {
    for selector in SELECTORS {
        let term = |extra: &Value| {
            let mut term = json!({ "topologyKey": "zone" });
            json_patch::merge(&mut term, extra);
            let affinity = json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term] });
            pod(&json!({ "affinity": { "podAffinity": affinity } }))
        };
        different(&term(&json!({})), &term(&json!({ selector: {} })));
    }
}

#[test]
fn quantities_count_by_their_value() {
    let limits = |cpu: &str, memory: &str| {
        let limits = json!({ "cpu": cpu, "memory": memory });
        container(&json!({ "resources": { "limits": limits, "requests": limits } }))
    };
    same(&limits("1", "4Gi"), &limits("1000m", "4096Mi"));
    different(&limits("1", "4Gi"), &limits("1", "4G"));
    let scratch =
        |size: &str| pod(&json!({ "volumes": [{ "name": "v", "emptyDir": { "sizeLimit": size } }] }));
    same(&scratch("1Gi"), &scratch("1024Mi"));
    different(&scratch("1Gi"), &scratch("0"));
    // A limit of nothing is one.
    different(&container(&json!({ "resources": { "limits": { "cpu": "0" } } })), &container(&json!({})));
    // A variable that looks like a quantity is none.
    let variable = |value: &str| container(&json!({ "env": [{ "name": "A", "value": value }] }));
    different(&variable("1"), &variable("1000m"));
}
