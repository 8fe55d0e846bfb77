//! Each part can be stopped and started, and goes on with what the cluster says.

use serde_json::json;

use crate::world::{World, condition, is_ready};

#[tokio::test(start_paused = true)]
async fn kubelets_go_on_after_a_restart() {
    let world = World::of("hosts=1").await;
    world.pod("runs", "node-0", json!({}));
    world.pod("starts", "node-0", json!({ "e2e.grove.io/ready-after": "20s" }));
    world.pass(5.0).await;
    assert!(world.sandbox.parts().stop("kubelets").await);
    world.pod("new", "node-0", json!({}));
    world.pass(60.0).await;
    assert!(!is_ready(&world.get_pod("starts")), "nobody plays the kubelet");
    assert_eq!(world.get_pod("new")["status"]["phase"], "Pending");
    let before = world.writes_to("pods").len();
    world.sandbox.parts().start("kubelets");
    world.pass(1.0).await;
    assert!(is_ready(&world.get_pod("starts")) && is_ready(&world.get_pod("new")));
    assert_eq!(world.writes_to("pods").len() - before, 2, "the pod that runs is left alone");
}

#[tokio::test(start_paused = true)]
async fn a_cluster_without_news_for_its_informers_catches_up() {
    let world = World::of("hosts=1").await;
    world.sandbox.parts().stop("informers").await;
    world.pod("p", "node-0", json!({}));
    world.pass(10.0).await;
    assert_eq!(world.get_pod("p")["status"]["phase"], "Pending");
    world.sandbox.parts().start("informers");
    world.pass(5.0).await;
    assert!(is_ready(&world.get_pod("p")));
}

#[tokio::test(start_paused = true)]
async fn controllers_go_on_after_a_restart() {
    let world = World::of("hosts=2").await;
    world.pod("p", "node-0", json!({}));
    world.pod("orphan", "node-1", json!({}));
    world.pass(1.0).await;
    world.sandbox.faults().lose_node("node-0").await.unwrap();
    world.pass(60.0).await;
    assert_eq!(condition(&world.node("node-0"), "Ready"), "Unknown");
    for part in ["node-lifecycle", "taint-eviction", "pod-gc"] {
        assert!(world.sandbox.parts().stop(part).await);
    }
    world.delete("nodes", "node-1");
    world.pass(400.0).await;
    assert!(world.get_pod("p")["metadata"]["deletionTimestamp"].is_null() && world.has_pod("orphan"));
    for part in ["node-lifecycle", "taint-eviction", "pod-gc"] {
        world.sandbox.parts().start(part);
    }
    world.pass(41.0).await;
    assert!(world.get_pod("p")["metadata"]["deletionTimestamp"].is_string(), "its time had passed");
    assert!(!world.has_pod("orphan"));
    assert_eq!(condition(&world.node("node-0"), "Ready"), "Unknown", "it is not taken for a new loss");
}

#[tokio::test(start_paused = true)]
async fn all_end_when_the_sandbox_is_stopped() {
    let world = World::of("hosts=1").await;
    let World { server, sandbox, .. } = world;
    sandbox.stop().await;
    let before = server.store().revision();
    tokio::time::sleep(std::time::Duration::from_mins(10)).await;
    assert_eq!(server.store().revision(), before);
}
