//! A process and its terms, against a server that the test plays, in paused time.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

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

/// Whether the server answers, and which lease it has.
#[derive(Default)]
struct Server {
    is_down: bool,
    lease: Value,
    version: u64,
    /// What was written besides the lease.
    written: Vec<String>,
}

impl Server {
    fn answer(&mut self, call: Call) {
        let is_lease = call.target.contains("/leases");
        match call.method.as_str() {
            // The connection is lost.
            _ if self.is_down => drop(call),
            "GET" if self.lease.is_null() => call.refuse(404, "NotFound", "no lease"),
            "GET" => call.answer(&self.lease.clone()),
            _ if !is_lease => {
                self.written.push(call.line());
                call.answer(&json!({}));
            }
            "PUT"
                if call.body["metadata"]["resourceVersion"] != self.lease["metadata"]["resourceVersion"] =>
            {
                call.refuse(409, "Conflict", "modified");
            }
            _ => {
                self.hold(call.body.clone());
                call.answer(&self.lease.clone());
            }
        }
    }

    fn hold(&mut self, mut lease: Value) {
        self.version += 1;
        lease["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.lease = lease;
    }
}

/// What happened to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Leads,
    Follows,
}

struct Process {
    server: Arc<Mutex<Server>>,
    steps: mpsc::UnboundedReceiver<Step>,
    life: JoinHandle<Result<(), BadTiming>>,
    guarded: Client,
    metrics: LeaderMetrics,
    stop: CancellationToken,
}

fn start(elects: bool) -> Process {
    let (client, mut calls) = mock::server();
    let server: Arc<Mutex<Server>> = Arc::default();
    let answering = Arc::clone(&server);
    tokio::spawn(async move {
        while let Some(call) = calls.recv().await {
            answering.lock().answer(call);
        }
    });
    let (taken, steps) = mpsc::unbounded_channel();
    let (stop, fence, metrics) = (CancellationToken::new(), Fence::default(), LeaderMetrics::default());
    let guarded = fence.guard(client.clone());
    let (ending, counted) = (stop.clone(), metrics.clone());
    let life = tokio::spawn(async move {
        let work = |term: Term| {
            let taken = taken.clone();
            async move {
                taken.send(Step::Leads).unwrap();
                term.ended().await;
                taken.send(Step::Follows).unwrap();
                Handover::Idle
            }
        };
        lead(client, elects.then(election), &fence, &counted, &ending, work).await
    });
    Process { server, steps, life, guarded, metrics, stop }
}

impl Process {
    async fn step(&mut self) -> Step {
        self.steps.recv().await.unwrap()
    }

    /// Whether a write goes through.
    async fn writes(&self) -> bool {
        let request = http::Request::post("/api/v1/namespaces/ns/pods").body(Vec::new()).unwrap();
        self.guarded.request::<Value>(request).await.is_ok()
    }
}

/// Ten minutes without an API server end no process: it follows, writes nothing, and leads again afterwards.
#[tokio::test(start_paused = true)]
async fn an_outage_makes_a_follower_and_not_an_exit() {
    let mut process = start(true);
    assert_eq!(process.step().await, Step::Leads);
    assert!(process.writes().await);
    process.server.lock().is_down = true;
    let down = Instant::now();
    assert_eq!(process.step().await, Step::Follows);
    assert!(down.elapsed() <= Duration::from_secs(10), "{:?}", down.elapsed());
    assert_eq!(process.metrics.is_leader("grove"), 0);
    sleep(Duration::from_mins(10)).await;
    assert!(!process.life.is_finished(), "it contends as long as it takes");
    process.server.lock().is_down = false;
    // It does not lead yet, so that nothing is written.
    assert!(!process.writes().await);
    assert_eq!(process.step().await, Step::Leads);
    assert!(process.writes().await);
    assert_eq!(process.metrics.is_leader("grove"), 1);
    assert_eq!(process.server.lock().written.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn another_holder_makes_a_follower_until_it_is_silent() {
    let mut process = start(true);
    assert_eq!(process.step().await, Step::Leads);
    {
        let mut server = process.server.lock();
        let mut lease = server.lease.clone();
        lease["spec"]["holderIdentity"] = json!("other");
        server.hold(lease);
    }
    assert_eq!(process.step().await, Step::Follows);
    let since = Instant::now();
    assert!(!process.writes().await);
    assert_eq!(process.step().await, Step::Leads);
    assert!(since.elapsed() >= Duration::from_secs(15), "{:?}", since.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_released_when_the_process_ends() {
    let mut process = start(true);
    assert_eq!(process.step().await, Step::Leads);
    process.stop.cancel();
    assert_eq!(process.step().await, Step::Follows);
    process.life.await.unwrap().unwrap();
    assert_eq!(process.server.lock().lease["spec"]["holderIdentity"], "");
}

#[tokio::test(start_paused = true)]
async fn without_an_election_there_is_one_term() {
    let mut process = start(false);
    assert_eq!(process.step().await, Step::Leads);
    assert!(process.writes().await);
    process.stop.cancel();
    assert_eq!(process.step().await, Step::Follows);
    process.life.await.unwrap().unwrap();
    assert!(process.server.lock().lease.is_null(), "no lease is touched");
}

/// What waits for an answer when the term ends is dropped, reads and dry runs pass at all times.
#[tokio::test(start_paused = true)]
async fn a_fence_lets_only_reads_pass_when_it_is_closed() {
    let (client, mut calls) = mock::server();
    let fence = Fence::default();
    let guarded = fence.guard(client);
    let send = |method: &str, target: &str| {
        let request = http::Request::builder().method(method).uri(target).body(Vec::new()).unwrap();
        let client = guarded.clone();
        tokio::spawn(async move { client.request::<Value>(request).await })
    };
    let pods = "/api/v1/namespaces/ns/pods";
    for (method, target) in [("GET", pods.to_owned()), ("POST", format!("{pods}?&dryRun=All"))] {
        let asking = send(method, &target);
        calls.recv().await.unwrap().answer(&json!({}));
        assert!(asking.await.unwrap().is_ok(), "{method} {target}");
    }
    for method in ["POST", "PATCH", "PUT", "DELETE"] {
        let refused = send(method, pods).await.unwrap().unwrap_err();
        assert!(format!("{refused:?}").contains("NotLeading"), "{refused:?}");
    }
    fence.open();
    let under_way = send("POST", pods);
    let unanswered = calls.recv().await.unwrap();
    fence.close();
    let refused = under_way.await.unwrap().unwrap_err();
    assert!(format!("{refused:?}").contains("NotLeading"), "{refused:?}");
    drop(unanswered);
    assert!(calls.try_recv().is_err(), "nothing else was sent");
}
