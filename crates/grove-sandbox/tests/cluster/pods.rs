//! Pods on their nodes, through the API.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::{World, is_ready};

#[tokio::test(start_paused = true)]
async fn one_write_makes_a_pod_ready() {
    let world = World::of("hosts=1").await;
    world.pod("p", "node-0", json!({}));
    world.pass(1.0).await;
    let pod = world.get_pod("p");
    assert!(is_ready(&pod));
    assert_eq!(pod["status"]["phase"], "Running");
    assert_eq!(pod["status"]["qosClass"], "BestEffort", "what the server says stays");
    assert_eq!(pod["status"]["hostIP"], world.node("node-0")["status"]["addresses"][0]["address"]);
    assert_eq!(world.writes_to("pods"), ["patch p"]);
}

#[tokio::test(start_paused = true)]
async fn each_delay_costs_one_write() {
    let world = World::of("hosts=1").await;
    world.pod(
        "p",
        "node-0",
        json!({ "sandbox.grove.io/pull-after": "2s", "e2e.grove.io/ready-after": "3s" }),
    );
    world.pass(4.9).await;
    assert_eq!(world.writes_to("pods").len(), 2);
    assert!(!is_ready(&world.get_pod("p")));
    world.pass(0.2).await;
    assert!(is_ready(&world.get_pod("p")));
    assert_eq!(world.writes_to("pods").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn defaults_come_from_the_options() {
    let world = World::with("hosts=1", |options| {
        options.kubelets.ready_after = std::time::Duration::from_secs(2);
    })
    .await;
    world.pod("slow", "node-0", json!({}));
    world.pod("fast", "node-0", json!({ "sandbox.grove.io/ready-after": "0s" }));
    world.pass(1.0).await;
    assert!(!is_ready(&world.get_pod("slow")) && is_ready(&world.get_pod("fast")));
    world.pass(1.1).await;
    assert!(is_ready(&world.get_pod("slow")));
}

#[tokio::test(start_paused = true)]
async fn pods_wait_until_they_are_bound() {
    let world = World::of("hosts=1").await;
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" },
        "spec": { "containers": [{ "name": "c", "image": "i" }] },
    });
    world.create("pods", pod);
    world.pass(60.0).await;
    assert_eq!(world.writes_to("pods").len(), 0);
    let api: kube::Api<k8s_openapi::api::core::v1::Pod> = kube::Api::default_namespaced(world.client.clone());
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": { "name": "p" },
        "target": { "kind": "Node", "name": "node-0" },
    });
    let params = kube::api::PostParams::default();
    let bound: kube::Result<Value> = api.create_subresource("binding", "p", &params, &binding).await;
    bound.unwrap();
    world.pass(1.0).await;
    assert!(is_ready(&world.get_pod("p")));
    assert_eq!(
        crate::world::condition(&world.get_pod("p"), "PodScheduled"),
        "True",
        "the scheduler's word stays"
    );
}

#[tokio::test(start_paused = true)]
async fn every_pod_has_its_own_address() {
    let world = World::of("hosts=3").await;
    for number in 0..300 {
        world.pod(&format!("p-{number}"), &format!("node-{}", number % 3), json!({}));
    }
    world.pass(5.0).await;
    let address =
        |number: i32| world.get_pod(&format!("p-{number}"))["status"]["podIP"].as_str().unwrap().to_owned();
    let addresses: BTreeSet<String> = (0..300).map(address).collect();
    assert_eq!(addresses.len(), 300);
    // Also those that come after kubelets were restarted.
    world.sandbox.parts().stop("kubelets").await;
    world.sandbox.parts().start("kubelets");
    world.pod("late", "node-0", json!({}));
    world.pass(5.0).await;
    let late = world.get_pod("late")["status"]["podIP"].as_str().unwrap().to_owned();
    assert!(!addresses.contains(&late), "{late}");
}

#[tokio::test(start_paused = true)]
async fn annotations_take_effect_on_running_pods() {
    let world = World::of("hosts=1").await;
    world.pod("p", "node-0", json!({}));
    world.pass(10.0).await;
    world.annotate("p", "sandbox.grove.io/never-ready", "true".into());
    world.pass(1.0).await;
    assert!(!is_ready(&world.get_pod("p")));
    world.annotate("p", "sandbox.grove.io/never-ready", Value::Null);
    world.pass(1.0).await;
    assert!(is_ready(&world.get_pod("p")));
    world.annotate("p", "e2e.grove.io/fail-after", "100ms".into());
    world.pass(1.0).await;
    assert_eq!(world.get_pod("p")["status"]["phase"], "Failed");
}

#[tokio::test(start_paused = true)]
async fn start_order_goes_on_when_the_operator_says_so() {
    let world = World::of("hosts=1").await;
    let container = json!({
        "name": "grove-initc", "image": "grove-initc", "args": ["--podcliques=inf-0-a:2"],
        "volumeMounts": [{ "name": "pod-info-vol", "mountPath": "/var/grove/pod-info" }],
    });
    let item = json!({
        "path": "parents-ready", "fieldRef": { "fieldPath": "metadata.annotations['grove.io/parents-ready']" },
    });
    let spec = json!({
        "initContainers": [container],
        "volumes": [{ "name": "pod-info-vol", "downwardAPI": { "items": [item] } }],
    });
    world.pod_with("p", "node-0", json!({}), spec);
    world.pass(600.0).await;
    let pod = world.get_pod("p");
    assert_eq!(pod["status"]["phase"], "Pending");
    assert!(pod["status"]["initContainerStatuses"][0]["state"]["running"].is_object());
    assert_eq!(world.writes_to("pods").len(), 1);
    world.annotate("p", "grove.io/parents-ready", "true".into());
    world.pass(0.5).await;
    assert!(is_ready(&world.get_pod("p")));
    assert_eq!(world.writes_to("pods").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn deleted_pods_go_when_their_containers_have_ended() {
    let world = World::of("hosts=1").await;
    world.pod("plain", "node-0", json!({}));
    world.pod("slow", "node-0", json!({ "e2e.grove.io/terminate-after": "8s" }));
    world.pod("grace", "node-0", json!({ "sandbox.grove.io/terminate-after": "grace" }));
    world.pass(1.0).await;
    for name in ["plain", "slow", "grace"] {
        world.delete("pods", name);
    }
    world.pass(0.5).await;
    assert!(!world.has_pod("plain") && world.has_pod("slow") && world.has_pod("grace"));
    world.pass(8.0).await;
    assert!(!world.has_pod("slow") && world.has_pod("grace"));
    world.pass(20.5).await;
    assert!(world.has_pod("grace"));
    world.pass(1.5).await;
    assert!(!world.has_pod("grace"));
    let deletes = world.writes_to("pods").iter().filter(|it| it.starts_with("delete")).count();
    assert_eq!(deletes, 3);
}

#[tokio::test(start_paused = true)]
async fn a_pod_with_a_finalizer_is_told_once() {
    let world = World::of("hosts=1").await;
    world.pod_with("p", "node-0", json!({ "finalizers": ["example.com/hold"] }), json!({}));
    world.pass(1.0).await;
    world.delete("pods", "p");
    world.pass(600.0).await;
    assert_eq!(world.get_pod("p")["status"]["phase"], "Succeeded");
    assert_eq!(world.writes_to("pods"), ["patch p", "patch p", "delete p"]);
    world.patch("pods", "p", json!({ "metadata": { "finalizers": null } }));
    world.pass(1.0).await;
    assert!(!world.has_pod("p"));
}

#[tokio::test(start_paused = true)]
async fn a_pod_of_the_same_name_begins_anew() {
    let world = World::of("hosts=1").await;
    for crashes in [true, false] {
        let annotations = if crashes { json!({ "e2e.grove.io/crash-after": "1s" }) } else { json!({}) };
        world.pod("p", "node-0", annotations);
        world.pass(10.2).await;
        let restarts = world.get_pod("p")["status"]["containerStatuses"][0]["restartCount"].as_i64().unwrap();
        assert_eq!(restarts > 0, crashes);
        world.delete("pods", "p");
        world.pass(0.5).await;
        assert!(!world.has_pod("p"));
    }
}
