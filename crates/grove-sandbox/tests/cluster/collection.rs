//! Garbage collection by owners, beside the controller of namespaces.

use grove_apiserver::run_garbage_collector;
use serde_json::json;

use crate::world::{NS, World};

#[tokio::test(start_paused = true)]
async fn dependents_go_with_their_owner() {
    let world = World::of("hosts=1").await;
    let server = world.server.clone();
    world.sandbox.parts().add("garbage-collector", move |stop| {
        run_garbage_collector(server.clone(), async move { stop.cancelled().await })
    });
    world.create(
        "configmaps",
        json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "owner" } }),
    );
    let uid = world.get_in("configmaps", NS, "owner").unwrap()["metadata"]["uid"].clone();
    let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid });
    world.pod_with("p", "node-0", json!({ "ownerReferences": [owner] }), json!({}));
    world.pass(1.0).await;
    world.delete("configmaps", "owner");
    world.delete("nodes", "node-0");
    world.pass(50.0).await;
    assert!(!world.has_pod("p"));
    assert!(
        world.get_in("leases.coordination.k8s.io", "kube-node-lease", "node-0").is_none(),
        "it goes with its node"
    );
    // Namespaces are not its work: without their controller they stay.
    world.sandbox.parts().stop("namespaces").await;
    world.create(
        "namespaces",
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "team" } }),
    );
    world.pass(1.0).await;
    world.delete("namespaces", "team");
    world.pass(60.0).await;
    assert!(world.get_in("namespaces", "", "team").is_some());
    world.sandbox.parts().start("namespaces");
    world.pass(1.0).await;
    assert!(world.get_in("namespaces", "", "team").is_none());
}
