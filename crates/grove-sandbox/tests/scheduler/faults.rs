//! Nodes and pods that go away in the middle, and writes that fail: a gang that was begun is completed.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use grove_apiserver::{Action, DeleteOptions, Fault, Subresource, WriteRequest};
use serde_json::json;

use crate::world::World;

/// Decides about bindings, the first one of which is number 0.
fn at_bindings(
    world: &World,
    mut decide: impl FnMut(u32, &WriteRequest) -> Fault + Send + 'static,
) -> Arc<AtomicU32> {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    world.server.before_write(move |request| {
        if request.subresource != Some(Subresource::Binding) {
            return Fault::None;
        }
        decide(counted.fetch_add(1, Ordering::SeqCst), request)
    });
    count
}

#[tokio::test(start_paused = true)]
async fn bindings_that_fail_or_whose_answer_is_lost_are_repeated() {
    let faults: [fn() -> Fault; 4] = [
        || Fault::Cut,
        || Fault::Lose,
        || Fault::refuse(500, "InternalError", "etcd is away"),
        || Fault::refuse(429, "TooManyRequests", "slow down"),
    ];
    for (number, fault) in faults.into_iter().enumerate() {
        let world = World::new("racks=1,hosts=3,gpus=4");
        let bindings = at_bindings(&world, move |at, _| if at % 2 == 0 { fault() } else { Fault::None });
        world.gang("g", 3, 4, json!({}));
        world.settle().await;
        assert_eq!(world.bound("g").len(), 3, "fault {number}");
        assert!(bindings.load(Ordering::SeqCst) > 3);
        assert_eq!(world.said_of("g").unwrap().0, "True");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_replaced_before_its_binding_is_bound_all_the_same() {
    let world = World::new("racks=1,hosts=3,gpus=4");
    let server = world.server.clone();
    at_bindings(&world, move |at, request| {
        if at == 1 {
            let pods = Arc::clone(server.resources().by_id("pods").unwrap());
            let now = DeleteOptions { grace_period_seconds: Some(0), ..DeleteOptions::default() };
            let delete = WriteRequest {
                resource: pods,
                namespace: "ns".to_owned(),
                name: request.name.clone(),
                subresource: None,
                manager: "test".to_owned(),
                dry_run: false,
                action: Action::Delete(now),
            };
            let mut pod = server.store().get("pods", "ns", &request.name).unwrap().value().clone();
            server.write(delete.clone()).unwrap();
            for field in ["uid", "resourceVersion"] {
                pod["metadata"][field] = json!(null);
            }
            server
                .write(WriteRequest { name: String::new(), action: Action::Create(pod), ..delete })
                .unwrap();
        }
        Fault::None
    });
    world.gang("g", 3, 4, json!({}));
    world.settle().await;
    assert_eq!(world.bound("g").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_lost_between_decision_and_binding() {
    let world = World::new("racks=2,hosts=3,gpus=4");
    let server = world.server.clone();
    at_bindings(&world, move |at, request| {
        // The node of the first binding vanishes before any other is sent; the binding itself is refused.
        if at == 0 {
            let Action::Create(binding) = &request.action else { return Fault::None };
            let node = binding["target"]["name"].as_str().unwrap().to_owned();
            let nodes = Arc::clone(server.resources().by_id("nodes").unwrap());
            let delete = WriteRequest {
                resource: nodes,
                namespace: String::new(),
                name: node,
                subresource: None,
                manager: "test".to_owned(),
                dry_run: false,
                action: Action::Delete(DeleteOptions::default()),
            };
            server.write(delete).unwrap();
            return Fault::refuse(500, "InternalError", "away");
        }
        Fault::None
    });
    world.gang("g", 4, 4, json!({}));
    world.settle().await;
    let nodes: std::collections::BTreeSet<String> = world.bound("g").into_values().collect();
    assert_eq!(nodes.len(), 4);
    for node in nodes {
        assert!(world.server.store().get("nodes", "", &node).is_some(), "{node} is gone");
    }
}

#[tokio::test(start_paused = true)]
async fn a_new_scheduler_completes_what_the_one_before_it_began() {
    let mut world = World::new("racks=2,hosts=3,gpus=4");
    at_bindings(&world, |at, _| if at == 0 { Fault::None } else { Fault::Cut });
    world.gang(
        "g",
        3,
        4,
        json!({ "schedulingConstraints": { "topology": [{ "key": crate::world::RACK }] } }),
    );
    while world.bound("g").is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    assert_eq!(world.bound("g").len(), 1);
    world.server.before_write(|_| Fault::None);
    world.restart().await;
    world.settle().await;
    assert_eq!(world.bound("g").len(), 3);
    assert_eq!(world.domains("g", crate::world::RACK).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_gang_that_loses_a_pod_is_completed_where_it_is() {
    let world = World::new("racks=2,hosts=3,gpus=4");
    world.gang(
        "g",
        3,
        4,
        json!({ "schedulingConstraints": { "topology": [{ "key": crate::world::RACK }] } }),
    );
    world.settle().await;
    let rack = world.domains("g", crate::world::RACK);
    world.delete("pods", "g-1");
    world.settle().await;
    world.member("g", "g-1", 4);
    world.settle().await;
    assert_eq!(world.bound("g").len(), 3);
    assert_eq!(world.domains("g", crate::world::RACK), rack);
}

#[tokio::test(start_paused = true)]
async fn conflicts_of_conditions_are_repeated() {
    let world = World::new("racks=1,hosts=1,gpus=4");
    let mut seen = 0;
    world.server.before_write(move |request| {
        let is_status = request.resource.plural == "pods" && request.subresource == Some(Subresource::Status);
        seen += u32::from(is_status);
        if is_status && seen < 4 {
            Fault::refuse(409, "Conflict", "the object has been modified")
        } else {
            Fault::None
        }
    });
    world.pod("p", 8);
    world.settle().await;
    assert_eq!(world.why("p"), "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
}
