//! Pods on the nodes of a hall.

use super::*;
use crate::plan::BAD_IMAGE;

/// A hall of one node, with so much room, and a pod that wants to be there.
fn with_pod(slots: usize) -> (Cluster, Hall) {
    let cluster = Cluster::new(1);
    let hall = Hall::new(cluster.clone(), 1, slots, Random::new(1, 3));
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "p", "namespace": crate::cluster::NAMESPACE },
        "spec": { "containers": [{ "name": "main", "image": "engine:1" }] },
    });
    cluster.write("user", PODS, "", None, Action::Create(pod)).unwrap();
    (cluster, hall)
}

/// A crash leaves its traces when the container is back; a probe that fails leaves none.
#[tokio::test(start_paused = true)]
async fn what_happened_to_a_container_stays_written() {
    let (cluster, hall) = with_pod(1);
    let running = tokio::spawn(hall.clone().run());
    let pod = || cluster.get(PODS, "p").unwrap();
    let container = |field: &str| pod().field(&format!("/status/containerStatuses/0/{field}")).cloned();
    tokio::time::sleep(STAGE * 10).await;
    hall.unready(&pod(), STAGE);
    assert_eq!((container("ready"), container("started")), (Some(false.into()), Some(true.into())));
    tokio::time::sleep(STAGE * 2).await;
    assert_eq!((container("ready"), container("restartCount")), (Some(true.into()), Some(0.into())));
    hall.crash(&pod(), STAGE);
    tokio::time::sleep(STAGE * 2).await;
    assert_eq!((container("ready"), container("restartCount")), (Some(true.into()), Some(1.into())));
    assert!(container("lastState/terminated").is_some());
    running.abort();
}

/// Who found no room has no change to wait for when there is some.
#[tokio::test(start_paused = true)]
async fn a_pod_that_found_no_room_gets_it_when_all_is_well() {
    let (cluster, hall) = with_pod(0);
    let running = tokio::spawn(hall.clone().run());
    let node = || text(&cluster.get(PODS, "p").unwrap(), "/spec/nodeName").to_owned();
    tokio::time::sleep(STAGE * 10).await;
    assert_eq!(node(), "");
    hall.heal();
    tokio::time::sleep(STAGE * 10).await;
    assert_eq!(node(), "node-0");
    running.abort();
}

/// The API server removes a pod on no node in two steps. A backup may have been taken in between.
#[tokio::test(start_paused = true)]
async fn a_pod_on_no_node_that_a_backup_brings_back_is_removed() {
    let (cluster, hall) = with_pod(0);
    let running = tokio::spawn(hall.clone().run());
    cluster.delete("user", PODS, "p", None);
    assert!(cluster.get(PODS, "p").is_none());
    cluster.server.restore(1, true);
    hall.look_again();
    assert!(cluster.get(PODS, "p").is_some_and(|it| it.is_terminating()));
    tokio::time::sleep(STAGE * 2).await;
    assert!(cluster.get(PODS, "p").is_none());
    running.abort();
}

#[tokio::test(start_paused = true)]
async fn a_pod_whose_image_is_broken_crashes_and_stays_so() {
    let (cluster, hall) = with_pod(1);
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "q", "namespace": crate::cluster::NAMESPACE },
        "spec": { "containers": [{ "name": "main", "image": BAD_IMAGE }] },
    });
    cluster.delete("user", PODS, "p", None);
    cluster.write("user", PODS, "", None, Action::Create(pod)).unwrap();
    let running = tokio::spawn(hall.clone().run());
    tokio::time::sleep(STAGE * 100).await;
    let pod = cluster.get(PODS, "q").unwrap();
    assert_eq!(text(&pod, "/status/phase"), "Running");
    assert_eq!(text(&pod, "/status/containerStatuses/0/state/waiting/reason"), "CrashLoopBackOff");
    assert!(pod.field("/status/containerStatuses/0/lastState/terminated").is_some());
    assert!(!crate::cluster::is_ready(&pod));
    running.abort();
}
