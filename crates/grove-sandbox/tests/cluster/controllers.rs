//! Cluster controllers, apart from those of nodes and namespaces.

use serde_json::{Value, json};

use crate::world::{NS, World};

#[tokio::test(start_paused = true)]
async fn every_namespace_has_a_service_account_and_the_root_certificate() {
    let world = World::with("hosts=1", |options| {
        options.controllers.root_certificate = Some("PEM".to_owned());
    })
    .await;
    world.create(
        "namespaces",
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "team" } }),
    );
    world.pass(1.0).await;
    let account = |namespace: &str| world.get_in("serviceaccounts", namespace, "default");
    let certificate = |namespace: &str| world.get_in("configmaps", namespace, "kube-root-ca.crt");
    for namespace in ["default", "kube-system", "team"] {
        assert!(account(namespace).is_some(), "{namespace}");
        assert_eq!(certificate(namespace).unwrap()["data"]["ca.crt"], "PEM", "{namespace}");
    }
    // They come back when somebody deletes or changes them.
    world.delete("serviceaccounts", "default");
    world.patch("configmaps", "kube-root-ca.crt", json!({ "data": { "ca.crt": "forged" } }));
    world.pass(1.0).await;
    assert!(account("default").is_some());
    assert_eq!(certificate("default").unwrap()["data"]["ca.crt"], "PEM");
    world.delete("configmaps", "kube-root-ca.crt");
    world.pass(1.0).await;
    assert!(certificate("default").is_some());
    let before = world.writes();
    world.pass(3_600.0).await;
    assert_eq!(world.writes(), before);
}

#[tokio::test(start_paused = true)]
async fn without_a_certificate_there_is_no_config_map() {
    let world = World::of("hosts=1").await;
    assert!(world.server.store().list("configmaps", None).is_empty());
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_node_that_is_gone_are_removed() {
    let world = World::of("hosts=2").await;
    world.pod("orphan", "node-0", json!({}));
    world.pod("other", "node-1", json!({}));
    world.pod("lost", "no-such-node", json!({}));
    world.pod_with("held", "node-0", json!({ "finalizers": ["example.com/hold"] }), json!({}));
    world.pass(1.0).await;
    world.delete("nodes", "node-0");
    world.pass(38.0).await;
    assert!(world.has_pod("orphan") && world.has_pod("lost"));
    world.pass(3.0).await;
    assert!(!world.has_pod("orphan") && !world.has_pod("lost") && world.has_pod("other"));
    let held = world.get_pod("held");
    assert_eq!(held["status"]["phase"], "Failed");
    let conditions = held["status"]["conditions"].as_array().unwrap();
    let disrupted = conditions.iter().find(|it| it["type"] == "DisruptionTarget").unwrap();
    assert_eq!(disrupted["reason"], "DeletionByPodGC");
}

#[tokio::test(start_paused = true)]
async fn a_pod_group_stays_until_its_pods_have_ended() {
    let world = World::of("hosts=1").await;
    let group = |name: &str, finalizers: Value| {
        json!({
            "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
            "metadata": { "name": name, "finalizers": finalizers }, "spec": {},
        })
    };
    let finalizer = "scheduling.k8s.io/podgroup-protection";
    let get = |name: &str| world.get_in("podgroups.scheduling.k8s.io", NS, name);
    world.create("podgroups.scheduling.k8s.io", group("gang", json!([])));
    world.create("podgroups.scheduling.k8s.io", group("stamped", json!([finalizer])));
    world.create("podgroups.scheduling.k8s.io", group("unused", json!([])));
    let member = json!({ "schedulingGroup": { "podGroupName": "gang" } });
    world.pod_with("runs", "node-0", json!({}), member.clone());
    world.pod_with(
        "ends",
        "node-0",
        json!({ "annotations": { "e2e.grove.io/complete-after": "0s" } }),
        member,
    );
    world.pass(1.0).await;
    assert_eq!(get("gang").unwrap()["metadata"]["finalizers"], json!([finalizer]));
    assert_eq!(world.writes_to("podgroups.scheduling.k8s.io").len(), 2, "one that is stamped is left alone");
    for name in ["gang", "stamped", "unused"] {
        world.delete("podgroups.scheduling.k8s.io", name);
    }
    world.pass(60.0).await;
    assert!(get("stamped").is_none() && get("unused").is_none());
    assert!(get("gang").is_some(), "a pod that runs is in it");
    world.delete("pods", "runs");
    world.pass(1.0).await;
    assert!(get("gang").is_none(), "one that has ended does not hold it");
}
