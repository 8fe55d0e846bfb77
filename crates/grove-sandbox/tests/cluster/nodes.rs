//! Nodes: how they begin, and that they are quiet.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};

use crate::world::{World, condition, is_ready};

#[tokio::test(start_paused = true)]
async fn nodes_of_a_topology_become_ready_and_are_quiet() {
    let world = World::of("zones=1,racks=2,hosts=2,gpus=8").await;
    let names = ["rack-0-node-0", "rack-0-node-1", "rack-1-node-0", "rack-1-node-1"];
    let mut addresses = BTreeSet::new();
    for name in names {
        let node = world.node(name);
        assert!(is_ready(&node));
        for pressure in ["MemoryPressure", "DiskPressure", "PIDPressure"] {
            assert_eq!(condition(&node, pressure), "False");
        }
        assert_eq!(node["status"]["allocatable"]["nvidia.com/gpu"], "8");
        assert_eq!(node["status"]["capacity"]["pods"], "110");
        assert_eq!(node["metadata"]["labels"]["topology.kubernetes.io/zone"], "zone-0");
        assert_eq!(node["status"]["nodeInfo"]["operatingSystem"], "linux");
        addresses.insert(node["status"]["addresses"][0]["address"].as_str().unwrap().to_owned());
        assert!(world.get_in("leases.coordination.k8s.io", "kube-node-lease", name).is_some());
    }
    assert_eq!(addresses.len(), 4, "each has its own address");
    assert_eq!(world.writes_to("nodes").len(), 2 * names.len(), "create, and conditions");
    assert_eq!(world.writes_to("leases.coordination.k8s.io").len(), names.len());

    world.pod("p", names[0], json!({}));
    world.pass(5.0).await;
    assert!(is_ready(&world.get_pod("p")));
    let before = world.writes();
    world.pass(24.0 * 3_600.0).await;
    assert_eq!(world.writes(), before, "a quiet cluster sees no writes");
}

#[tokio::test(start_paused = true)]
async fn nodes_that_users_create_have_kubelets_too() {
    let world = World::of("hosts=1").await;
    world.create("nodes", json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": "mine" } }));
    world.pod("p", "mine", json!({}));
    world.pass(1.0).await;
    assert!(is_ready(&world.node("mine")) && is_ready(&world.get_pod("p")));
}

#[tokio::test(start_paused = true)]
async fn leases_are_renewed_only_if_asked_for() {
    let renewing = |options: &mut grove_sandbox::SandboxOptions| {
        options.kubelets.lease_renewal = Some(Duration::from_secs(10));
    };
    let world = World::with("hosts=2", renewing).await;
    let before = world.writes_to("leases.coordination.k8s.io").len();
    let renewed = || {
        let lease = world.get_in("leases.coordination.k8s.io", "kube-node-lease", "node-0").unwrap();
        lease["spec"]["renewTime"].clone()
    };
    let then = renewed();
    world.pass(100.0).await;
    assert_eq!(world.writes_to("leases.coordination.k8s.io").len() - before, 20);
    assert_ne!(renewed(), then);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_lease_comes_back_when_the_node_does() {
    let world = World::of("hosts=1").await;
    let lease = || world.get_in("leases.coordination.k8s.io", "kube-node-lease", "node-0");
    let delete = || {
        let api: kube::Api<k8s_openapi::api::coordination::v1::Lease> =
            kube::Api::namespaced(world.client.clone(), "kube-node-lease");
        async move { api.delete("node-0", &kube::api::DeleteParams::default()).await.map(drop) }
    };
    // As the end-to-end scenarios lose a node and bring it back.
    world.patch("nodes", "node-0", json!({ "metadata": { "labels": { "e2e.grove.io/lost": "true" } } }));
    world.pass(1.0).await;
    delete().await.unwrap();
    world.pass(1.0).await;
    assert_eq!(lease(), None, "a silent kubelet has no lease");
    world.patch("nodes", "node-0", json!({ "metadata": { "labels": { "e2e.grove.io/lost": Value::Null } } }));
    world.pass(1.0).await;
    assert!(lease().is_some());
    delete().await.unwrap();
    world.pass(1.0).await;
    assert!(lease().is_some());
}
