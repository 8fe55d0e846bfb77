//! An operator that gets SIGTERM while it creates many pods, and the one that leads after it.

use std::{sync::Arc, time::Duration};

use grove_operator::{RECONCILES_END, WRITES_END};
use grove_runtime::{Election, Fence, LeaderMetrics, Metrics, lead};
use serde_json::Value;
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    deadlines::{indices, is_pod_creation, one_clique},
    workload::{SETS, created},
    world::{NAMESPACE, World},
};

/// The time that a pod has to stop, by default.
const GRACE: Duration = Duration::from_secs(30);
/// Pods that one reconcile creates at a time.
const IN_FLIGHT: usize = 32;
const PODS: usize = 1_000;

/// An operator that leads or waits to.
struct Replica {
    stop: CancellationToken,
    /// Watches until the end of the test.
    _watching: JoinSet<()>,
    leading: JoinSet<()>,
}

impl Replica {
    fn start(world: &World, identity: &str) -> Self {
        let (client, fence) = (world.client(), Fence::default());
        let operator = world.operator(fence.guard(client.clone()), &Metrics::new());
        let (stop, mut watching, mut leading) = (CancellationToken::new(), JoinSet::new(), JoinSet::new());
        let watched = Arc::clone(&operator);
        watching.spawn(async move { watched.watch(CancellationToken::new()).await });
        let election = Election {
            namespace: NAMESPACE.to_owned(),
            name: "grove-operator".to_owned(),
            identity: identity.to_owned(),
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        };
        let token = stop.clone();
        leading.spawn(async move {
            let work = |term| operator.work(term);
            let metrics = LeaderMetrics::default();
            lead(client, Some(election), &fence, &metrics, &token, work).await.unwrap();
        });
        Self { stop, _watching: watching, leading }
    }

    /// Tells it to stop; how long it took.
    async fn stop(&mut self) -> Duration {
        let begun = Instant::now();
        self.stop.cancel();
        timeout(GRACE, self.leading.join_next()).await.expect("it does not stop in time").unwrap().unwrap();
        begun.elapsed()
    }
}

fn holder(world: &World) -> Option<String> {
    let lease = world.get("leases.coordination.k8s.io", "grove-operator");
    lease.field("/spec/holderIdentity").and_then(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned)
}

/// Waits until there are so many pods; how many there are.
async fn until(world: &World, pods: usize) -> usize {
    for _ in 0..1_000 {
        let count = world.list("pods").len();
        if count >= pods {
            return count;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("there never are {pods} pods");
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_stops_hands_over_and_no_pod_is_created_twice() {
    let mut world = World::new(1);
    world.delay = |method, path| Duration::from_millis(if is_pod_creation(method, path) { 100 } else { 0 });
    let mut first = Replica::start(&world, "first");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(holder(&world).as_deref(), Some("first"));
    // The other one has listed pods, and its watch is far behind.
    world.delay = |_, path| {
        let is_pod_watch = path.starts_with("/api/v1/pods?") && path.contains("watch=true");
        Duration::from_secs(if is_pod_watch { 60 } else { 0 })
    };
    let second = Replica::start(&world, "second");
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.create(SETS, one_clique(u32::try_from(PODS).unwrap()));
    let before = until(&world, 200).await;
    let took = first.stop().await;
    let after = world.list("pods").len();
    assert!(after < PODS && after - before <= IN_FLIGHT, "{} pods were created after that", after - before);
    assert!(took < Duration::from_secs(1), "it took {took:?}, though a pod takes 0.1 s");
    assert_ne!(holder(&world).as_deref(), Some("first"), "the lease is released");
    until(&world, PODS).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!((created(&world), indices(&world).len()), (PODS, PODS));
    assert_eq!(holder(&world).as_deref(), Some("second"));
    drop(second);
}

/// A write without an answer may still be done: no other operator may lead before that is over.
#[tokio::test(start_paused = true)]
async fn the_lease_is_kept_while_a_write_is_under_way() {
    let mut world = World::new(2);
    world.delay = |method, path| Duration::from_secs(if is_pod_creation(method, path) { 90 } else { 0 });
    let mut operator = Replica::start(&world, "first");
    world.create(SETS, one_clique(3));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let took = operator.stop().await;
    assert_eq!(took, RECONCILES_END + WRITES_END);
    assert_eq!((created(&world), holder(&world).as_deref()), (0, Some("first")));
}
