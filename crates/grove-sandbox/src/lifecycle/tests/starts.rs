//! From bound to ready.

use super::*;

#[test]
fn without_delays_one_write_makes_a_pod_ready() {
    let mut pod = Played::annotated(json!({}));
    pod.until(60_000);
    assert_eq!(pod.history(), [(0, "Running c=running ready")]);
    assert_eq!(pod.next, Next::Rest);
    assert_eq!(pod.events, ["Normal Pulled", "Normal Started"]);
    let status = pod.status();
    assert_eq!(status.host_ip.as_deref(), Some("172.16.0.1"));
    assert_eq!(status.pod_ip.as_deref(), Some("10.64.0.1"));
    assert_eq!(status.pod_ips.as_ref().unwrap()[0].ip, "10.64.0.1");
    assert_eq!(status.start_time.as_ref().unwrap().0.as_second(), BOUND / 1_000);
    assert_eq!(status.observed_generation, Some(2));
    for type_ in ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready", "PodScheduled"] {
        assert_eq!(pod.condition(type_).status, "True", "{type_}");
    }
    assert_eq!((pod.container().ready, pod.container().started), (true, Some(true)));
}

#[test]
fn delays_add_up_to_the_millisecond() {
    let mut pod = Played::annotated(json!({
        "sandbox.grove.io/pull-after": "2100ms", "sandbox.grove.io/ready-after": "300ms",
    }));
    pod.until(60_000);
    let want = [
        (0, "Pending c=ContainerCreating"),
        (2_100, "Running c=running"),
        (2_400, "Running c=running ready"),
    ];
    assert_eq!(pod.history(), want);
    assert_eq!(pod.condition("PodReadyToStartContainers").status, "True");
}

/// All of it within one second, which is all that the status tells of.
#[test]
fn short_delays_add_up_too() {
    let mut pod = Played::annotated(json!({
        "sandbox.grove.io/pull-after": "50ms",
        "sandbox.grove.io/ready-after": "100ms",
    }));
    pod.until(149);
    assert!(!pod.is_ready());
    pod.until(150);
    assert!(pod.is_ready());
    let at: Vec<i64> = pod.writes.iter().map(|it| it.0).collect();
    assert_eq!(at, [0, 50, 150]);
}

#[test]
fn a_restarted_kubelet_goes_on_where_the_last_one_was() {
    let mut pod = Played::annotated(json!({ "e2e.grove.io/ready-after": "8s" }));
    pod.until(3_000).restart_kubelet().until(7_000);
    assert_eq!(pod.writes.len(), 1);
    // The status says when it started to the second only.
    pod.restart_kubelet().until(60_000);
    assert_eq!(pod.writes[1..].len(), 1);
    let (at, summary) = &pod.writes[1];
    assert!((7_000..=8_000).contains(at) && summary == "Running c=running ready", "{at} {summary}");
    pod.restart_kubelet().until(100_000);
    assert_eq!(pod.writes.len(), 2, "a pod that is ready is left alone");
}

#[test]
fn init_containers_run_in_order() {
    let spec = json!({ "initContainers": [{ "name": "a" }, { "name": "b" }] });
    let mut pod = Played::new(json!({ "sandbox.grove.io/init-after": "1s" }), spec);
    pod.until(60_000);
    let want = [
        (0, "Pending a=running b=PodInitializing c=PodInitializing"),
        (1_000, "Pending a=exit-0 b=running c=PodInitializing"),
        (2_000, "Running a=exit-0 b=exit-0 c=running ready"),
    ];
    assert_eq!(pod.history(), want);
}

#[test]
fn conditions_name_the_init_containers_that_are_left() {
    let spec = json!({ "initContainers": [{ "name": "a" }, { "name": "b" }] });
    let mut pod = Played::new(json!({ "sandbox.grove.io/init-after": "1s" }), spec);
    pod.until(1_500);
    let condition = pod.condition("Initialized");
    assert_eq!(condition.reason.as_deref(), Some("ContainersNotInitialized"));
    assert_eq!(condition.message.as_deref(), Some("containers with incomplete status: [b]"));
    assert_eq!(pod.condition("Ready").message.as_deref(), Some("containers with unready status: [c]"));
}

#[test]
fn sidecars_do_not_hold_the_pod() {
    let spec = json!({ "initContainers": [{ "name": "s", "restartPolicy": "Always" }, { "name": "b" }] });
    let mut pod = Played::new(json!({ "sandbox.grove.io/init-after": "1s" }), spec);
    pod.until(60_000);
    let want = [
        (0, "Pending s=running b=running c=PodInitializing"),
        (1_000, "Running s=running b=exit-0 c=running ready"),
    ];
    assert_eq!(pod.history(), want);
}

fn ordered(annotations: Value, args: Value) -> Played {
    let container = json!({
        "name": "grove-initc", "args": args,
        "volumeMounts": [{ "name": "pod-info-vol", "mountPath": "/var/grove/pod-info" }],
    });
    let item = json!({
        "path": "parents-ready", "fieldRef": { "fieldPath": "metadata.annotations['grove.io/parents-ready']" },
    });
    let volume = json!({ "name": "pod-info-vol", "downwardAPI": { "items": [item] } });
    Played::new(annotations, json!({ "initContainers": [container], "volumes": [volume] }))
}

#[test]
fn start_order_waits_for_the_word_of_the_operator() {
    let mut pod = ordered(json!({}), json!(["--podcliques=inf-0-a:1"]));
    pod.until(3_600_000);
    assert_eq!(pod.history(), [(0, "Pending grove-initc=running c=PodInitializing")]);
    assert_eq!(pod.next, Next::Rest, "it waits for a change, not for time");
    pod.annotate("grove.io/parents-ready", Some("true")).until(3_600_500);
    assert_eq!(pod.history()[1..], [(3_600_000, "Running grove-initc=exit-0 c=running ready")]);
    // It is told once and for all.
    pod.annotate("grove.io/parents-ready", None).until(3_700_000);
    assert_eq!(pod.writes.len(), 2);
}

#[test]
fn wrong_arguments_of_start_order_fail() {
    let mut pod = ordered(json!({}), json!(["--podcliques=inf-0-a"]));
    pod.until(35_000);
    let want = [
        (0, "Pending grove-initc=CrashLoopBackOff c=PodInitializing"),
        (10_000, "Pending grove-initc=CrashLoopBackOff#1 c=PodInitializing"),
        (30_000, "Pending grove-initc=CrashLoopBackOff#2 c=PodInitializing"),
    ];
    assert_eq!(pod.history(), want);
    assert_eq!(pod.events, ["Warning BackOff"; 3]);
    let last = pod.status().init_container_statuses.as_ref().unwrap()[0].last_state.clone().unwrap();
    assert_eq!(last.terminated.unwrap().exit_code, 1);
}

#[test]
fn a_failing_init_container_ends_a_pod_that_never_restarts() {
    let mut pod = ordered(json!({}), json!(["--wrong"]));
    pod.pod.spec.as_mut().unwrap().restart_policy = Some("Never".to_owned());
    pod.until(60_000);
    assert_eq!(pod.history(), [(0, "Failed grove-initc=exit-1 c=PodInitializing")]);
}

#[test]
fn never_ready_holds_while_it_is_there() {
    let mut pod = Played::annotated(json!({ "e2e.grove.io/never-ready": "true" }));
    pod.until(60_000);
    assert_eq!(pod.history(), [(0, "Running c=running")]);
    pod.annotate("e2e.grove.io/never-ready", None).until(61_000);
    pod.annotate("sandbox.grove.io/never-ready", Some("true")).until(62_000);
    assert_eq!(pod.history()[1..], [(60_000, "Running c=running ready"), (61_000, "Running c=running")]);
}

#[test]
fn readiness_gates_belong_to_others() {
    let mut pod =
        Played::new(json!({}), json!({ "readinessGates": [{ "conditionType": "example.com/lb" }] }));
    pod.until(1_000);
    assert_eq!(pod.condition("ContainersReady").status, "True");
    assert_eq!(pod.condition("Ready").reason.as_deref(), Some("ReadinessGatesNotReady"));
    let gate = json!({ "type": "example.com/lb", "status": "True" });
    let conditions = pod.pod.status.as_mut().unwrap().conditions.as_mut().unwrap();
    conditions.push(serde_json::from_value(gate).unwrap());
    pod.until(2_000);
    assert!(pod.is_ready());
    assert_eq!(pod.condition("example.com/lb").status, "True");
}

#[test]
fn a_pod_that_was_marked_while_its_node_was_lost_is_ready_again() {
    let mut pod = Played::annotated(json!({}));
    pod.until(1_000);
    let conditions = pod.pod.status.as_mut().unwrap().conditions.as_mut().unwrap();
    conditions.iter_mut().filter(|it| it.type_ == "Ready").for_each(|it| it.status = "False".to_owned());
    pod.until(90_000);
    assert_eq!(pod.history()[1..], [(1_000, "Running c=running ready")]);
}

#[test]
fn pods_of_the_host_have_its_address() {
    let mut pod = Played::new(json!({}), json!({ "hostNetwork": true }));
    pod.until(0);
    assert_eq!(pod.status().pod_ip.as_deref(), Some("172.16.0.1"));
}

#[test]
fn a_pod_without_containers_is_left_alone() {
    let mut pod = Played::new(json!({}), json!({ "containers": [] }));
    pod.until(60_000);
    assert_eq!((pod.writes.len(), pod.next), (0, Next::Rest));
}
