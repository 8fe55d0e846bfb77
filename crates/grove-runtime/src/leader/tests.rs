//! The campaign against a server that the test plays, in paused time.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::mock::{self, Call};

fn election() -> Election {
    Election {
        namespace: "ns".into(),
        name: "grove".into(),
        identity: "me".into(),
        lease_duration: Duration::from_secs(15),
        renew_deadline: Duration::from_secs(10),
        retry_period: Duration::from_secs(2),
    }
}

struct Server {
    fence: Fence,
    calls: mpsc::UnboundedReceiver<Call>,
    campaign: JoinHandle<Result<Option<Leadership>, BadTiming>>,
    stop: CancellationToken,
}

fn start() -> Server {
    let (client, calls) = mock::server();
    let (stop, fence) = (CancellationToken::new(), Fence::default());
    let (token, open) = (stop.clone(), fence.clone());
    let campaign = tokio::spawn(async move { campaign(client, &election(), &open, &token).await });
    Server { fence, calls, campaign, stop }
}

fn lease(holder: &str, version: u32) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "grove", "namespace": "ns", "resourceVersion": version.to_string()},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "leaseTransitions": 3},
    })
}

const PATH: &str = "/apis/coordination.k8s.io/v1/namespaces/ns/leases";

impl Server {
    async fn call(&mut self, line: &str) -> Call {
        let call = self.calls.recv().await.unwrap();
        assert_eq!(call.line(), line);
        call
    }

    async fn get(&mut self) -> Call {
        self.call(&format!("GET {PATH}/grove")).await
    }

    async fn put(&mut self) -> Call {
        self.call(&format!("PUT {PATH}/grove?")).await
    }

    /// Answers a write with what was written, at a new version.
    fn accept(call: Call, version: u32) -> BTreeMap<String, Value> {
        let mut lease = call.body.clone();
        lease["metadata"]["resourceVersion"] = json!(version.to_string());
        let spec = serde_json::from_value(lease["spec"].clone()).unwrap();
        call.answer(&lease);
        spec
    }

    async fn elect(&mut self) -> Leadership {
        self.get().await.refuse(404, "NotFound", "no lease");
        Self::accept(self.call(&format!("POST {PATH}?")).await, 1);
        (&mut self.campaign).await.unwrap().unwrap().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_missing_lease_is_created_and_then_renewed_without_reading() {
    let mut server = start();
    let leadership = server.elect().await;
    // For longer than the lease lasts.
    for version in 1..10 {
        let before = Instant::now();
        let call = server.put().await;
        assert_eq!(before.elapsed().as_secs(), 2);
        assert_eq!(call.body["metadata"]["resourceVersion"], version.to_string());
        let spec = Server::accept(call, version + 1);
        assert_eq!((&spec["holderIdentity"], &spec["leaseTransitions"]), (&json!("me"), &json!(0)));
    }
    assert!(!leadership.lost().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn a_silent_leader_is_replaced_after_its_lease() {
    let mut server = start();
    let started = Instant::now();
    let put = loop {
        let call = server.calls.recv().await.unwrap();
        if call.method == "PUT" {
            break call;
        }
        call.answer(&lease("other", 7));
    };
    assert!((15..20).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    assert_eq!(put.body["metadata"]["resourceVersion"], "7", "only if nobody else was faster");
    let spec = Server::accept(put, 8);
    assert_eq!((&spec["holderIdentity"], &spec["leaseTransitions"]), (&json!("me"), &json!(4)));
    assert!(server.campaign.await.unwrap().unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_lost_race_is_no_leadership() {
    let mut server = start();
    server.get().await.answer(&lease("", 7));
    server.put().await.refuse(409, "Conflict", "modified");
    server.get().await.answer(&lease("other", 8));
    server.get().await.answer(&lease("other", 8));
    assert!(!server.campaign.is_finished());
    server.stop.cancel();
    assert!(server.campaign.await.unwrap().unwrap().is_none());
}

#[tokio::test(start_paused = true)]
async fn trouble_is_retried() {
    let mut server = start();
    server.get().await.refuse(403, "Forbidden", "no");
    // One request is never answered.
    let silent = server.get().await;
    let started = Instant::now();
    let call = server.get().await;
    assert!((12..=15).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    call.answer(&lease("", 7));
    Server::accept(server.put().await, 8);
    assert!(server.campaign.await.unwrap().unwrap().is_some());
    drop(silent);
}

#[tokio::test(start_paused = true)]
async fn leadership_is_lost_at_the_deadline_and_not_before() {
    let mut server = start();
    let leadership = server.elect().await;
    let elected = Instant::now();
    let lost = leadership.lost();
    let refusals = tokio::spawn(async move {
        while let Some(call) = server.calls.recv().await {
            call.refuse(500, "InternalError", "no");
        }
    });
    lost.cancelled().await;
    assert_eq!(elected.elapsed().as_secs(), 10);
    drop(leadership);
    refusals.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_costs_the_leadership_in_time() {
    let mut server = start();
    let leadership = server.elect().await;
    let elected = Instant::now();
    let _silent = server.put().await;
    leadership.lost().cancelled().await;
    assert_eq!(elected.elapsed().as_secs(), 10);
}

#[tokio::test(start_paused = true)]
async fn one_failure_is_survived() {
    let mut server = start();
    let leadership = server.elect().await;
    server.put().await.refuse(500, "InternalError", "no");
    // It may have been written all the same, so the server is asked first.
    server.get().await.answer(&lease("me", 2));
    Server::accept(server.put().await, 3);
    Server::accept(server.put().await, 4);
    assert!(!leadership.lost().is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn another_holder_ends_the_leadership_at_once() {
    // In the answer to the read that follows a conflict.
    let mut server = start();
    let leadership = server.elect().await;
    let elected = Instant::now();
    assert!(server.fence.is_open());
    server.put().await.refuse(409, "Conflict", "modified");
    server.get().await.answer(&lease("other", 9));
    leadership.lost().cancelled().await;
    assert_eq!(elected.elapsed(), Duration::from_secs(2), "with the first renewal");
    assert!(!server.fence.is_open());
    assert!(server.calls.try_recv().is_err(), "nothing is written after that");
    drop(leadership);

    // In the answer to a write.
    let mut server = start();
    let leadership = server.elect().await;
    server.put().await.answer(&lease("other", 9));
    leadership.lost().cancelled().await;
    assert!(!server.fence.is_open());

    // However long that holder has been silent.
    let mut server = start();
    let leadership = server.elect().await;
    server.put().await.refuse(409, "Conflict", "modified");
    let mut expired = lease("other", 9);
    expired["spec"]["leaseDurationSeconds"] = json!(0);
    server.get().await.answer(&expired);
    leadership.lost().cancelled().await;
    assert!(server.calls.try_recv().is_err(), "a leader takes nothing from another one");
}

#[tokio::test(start_paused = true)]
async fn a_conflict_with_ourselves_is_survived() {
    let mut server = start();
    let leadership = server.elect().await;
    // An annotation, say.
    server.put().await.refuse(409, "Conflict", "modified");
    server.get().await.answer(&lease("me", 9));
    Server::accept(server.put().await, 10);
    Server::accept(server.put().await, 11);
    assert!(!leadership.lost().is_cancelled() && server.fence.is_open());
}

/// Others saw the lease when it was written, which may be long before we hear of it.
#[tokio::test(start_paused = true)]
async fn the_time_of_a_lease_counts_from_the_request() {
    let mut server = start();
    server.get().await.refuse(404, "NotFound", "no lease");
    let (post, sent) = (server.call(&format!("POST {PATH}?")).await, Instant::now());
    tokio::time::sleep(Duration::from_secs(9)).await;
    Server::accept(post, 1);
    let leadership = (&mut server.campaign).await.unwrap().unwrap().unwrap();
    // It is renewed at once; this time without an answer.
    let _silent = server.put().await;
    assert_eq!(sent.elapsed().as_secs(), 9);
    leadership.lost().cancelled().await;
    assert_eq!(sent.elapsed().as_secs(), 10);
    assert!(!server.fence.is_open());
}

/// A process that was stopped for a while finds its timers late, and its fence closed.
#[tokio::test(start_paused = true)]
async fn the_fence_closes_by_the_clock_alone() {
    let fence = Fence::default();
    assert!(!fence.is_open());
    fence.open_until(Instant::now() + Duration::from_secs(10));
    tokio::time::advance(Duration::from_millis(9_999)).await;
    assert!(fence.is_open());
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(!fence.is_open());
}

#[tokio::test(start_paused = true)]
async fn release_frees_the_lease_at_once() {
    let mut server = start();
    let leadership = server.elect().await;
    let (lost, interrupted) = (leadership.lost(), server.put().await);
    let releasing = tokio::spawn(leadership.release());
    server.get().await.answer(&lease("me", 1));
    // The interrupted renewal was written after all.
    server.put().await.refuse(409, "Conflict", "modified");
    drop(interrupted);
    server.get().await.answer(&lease("me", 2));
    let call = server.put().await;
    assert_eq!(call.body["metadata"]["resourceVersion"], "2");
    let spec = Server::accept(call, 3);
    assert_eq!((&spec["holderIdentity"], &spec["leaseDurationSeconds"]), (&json!(""), &json!(1)));
    releasing.await.unwrap();
    assert!(!lost.is_cancelled());
    assert!(server.calls.recv().await.is_none(), "nothing is renewed after that");
}

#[tokio::test(start_paused = true)]
async fn what_is_not_ours_is_not_released() {
    for answer in [Some("other"), None] {
        let mut server = start();
        let leadership = server.elect().await;
        let releasing = tokio::spawn(leadership.release());
        match answer {
            Some(holder) => server.get().await.answer(&lease(holder, 9)),
            None => server.get().await.refuse(404, "NotFound", "no lease"),
        }
        releasing.await.unwrap();
        assert!(server.calls.recv().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn release_does_not_wait_for_ever() {
    let mut server = start();
    let leadership = server.elect().await;
    let releasing = tokio::spawn(leadership.release());
    let _silent = server.get().await;
    let started = Instant::now();
    releasing.await.unwrap();
    assert_eq!(started.elapsed().as_secs(), 2);
}

#[tokio::test]
async fn timings_that_allow_two_leaders_are_refused() {
    let seconds = Duration::from_secs;
    for (lease, renew, retry, fits) in [
        (seconds(15), seconds(10), seconds(2), true),
        (seconds(10), seconds(10), seconds(2), false),
        (seconds(15), seconds(2), seconds(2), false),
        (seconds(15), seconds(10), seconds(9), false),
        (seconds(15), seconds(10), Duration::ZERO, false),
        (Duration::from_millis(15_900), Duration::from_millis(15_500), seconds(2), false),
        (Duration::from_millis(900), Duration::from_millis(500), Duration::from_millis(100), false),
    ] {
        let election =
            Election { lease_duration: lease, renew_deadline: renew, retry_period: retry, ..election() };
        assert_eq!(election.check().is_ok(), fits, "{lease:?} {renew:?} {retry:?}");
    }
}

#[test]
fn the_namespace_is_configured_or_our_own_or_a_fallback() {
    let file = std::env::temp_dir().join(format!("grove-namespace-{}", std::process::id()));
    std::fs::write(&file, "pods-own\n").unwrap();
    assert_eq!(namespace_from(Some("set"), &file, "fallback"), "set");
    assert_eq!(namespace_from(None, &file, "fallback"), "pods-own");
    assert_eq!(namespace_from(Some(""), &file, "fallback"), "pods-own");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(namespace_from(None, &file, "fallback"), "fallback");
}
