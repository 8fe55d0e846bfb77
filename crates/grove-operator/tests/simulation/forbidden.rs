//! An operator that may not read something: `--default-topology-name` makes it look at nodes, whatever its role says.

use std::time::Duration;

use grove_apiserver::ApiServer;
use grove_plan::node_loss::Patience;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use k8s_openapi::jiff::SignedDuration;
use kube::{Client, client::Body};
use serde_json::json;
use tower::{BoxError, Service as _};

use crate::{
    cluster_wide::create,
    workload::{Minima, SETS, set},
    world::{NAMESPACE, World},
};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// A client that may not read this path.
pub(crate) fn client(server: &ApiServer, path: &'static str) -> Client {
    let server = server.service();
    let service = tower::service_fn(move |request: Request<Body>| {
        let mut server = server.clone();
        async move {
            if request.uri().path() != path {
                let answer = server.call(request).await?;
                return Ok::<_, BoxError>(answer.map(BodyExt::boxed_unsync));
            }
            let status = json!({
                "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                "code": 403, "reason": "Forbidden", "message": "nodes is forbidden",
            });
            let answer = Response::builder().status(StatusCode::FORBIDDEN);
            Ok(answer.body(Full::from(status.to_string()).boxed_unsync())?)
        }
    });
    Client::new(service, NAMESPACE)
}

/// Sets run, the binding says what is missing, and no node is taken for lost.
#[tokio::test(start_paused = true)]
async fn an_operator_that_may_not_list_nodes_works_without_them() {
    let mut world = World::new(1);
    world.topology_aware = true;
    world.node_loss = Some(Patience { after: MINUTE, replace_unit_after: MINUTE });
    world.forbidden = Some("/api/v1/nodes");
    world.build(1, 10);
    let binding = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "racks" },
        "spec": { "levels": [{ "domain": "rack", "key": "example.com/rack" }] },
    });
    create(&world, "clustertopologybindings.grove.io", binding);
    world.start();
    world.create(SETS, set(Minima { a: 2, x: 1, c: 3 }, 1));
    world.settle().await;
    let pods = |world: &World| {
        let pods = world.list("pods");
        let bound = pods.iter().filter(|it| it.field("/spec/nodeName").is_some());
        bound.map(|it| it.field("/metadata/uid").unwrap().clone()).collect::<Vec<_>>()
    };
    let before = pods(&world);
    assert_eq!(before.len(), 10, "all are bound");
    tokio::time::sleep(Duration::from_hours(1)).await;
    world.settle().await;
    assert_eq!(pods(&world), before, "they stay");
    let binding = world.server.store().get("clustertopologybindings.grove.io", "", "racks").unwrap();
    let conditions = binding.field("/status/conditions").unwrap().as_array().unwrap().clone();
    let said = conditions.iter().find(|it| it["type"] == "NodesLabelled").unwrap();
    assert_eq!((&said["status"], &said["reason"]), (&json!("Unknown"), &json!("NodesNotReadable")));
}
