//! Sets that name a topology which the operator's caches do not have yet.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use grove_api::{constants::webhooks::SET_VALIDATING, validation::Environment, wire::TopologyLevel};
use grove_operator::admission::{Knowledge, Limits, LiveTopology, Lookup, Request, Snapshot};
use serde_json::{Value, json};

use crate::stage::{Stage, set};

/// Caches that know of no topology, and an API server that has `dc`, or does not answer at all.
struct Behind {
    answers: bool,
    asked: AtomicUsize,
}

impl Behind {
    fn new(answers: bool) -> Arc<Self> {
        Arc::new(Self { answers, asked: AtomicUsize::new(0) })
    }
}

impl Knowledge for Behind {
    fn snapshot(&self, _: &str, _: &Request) -> Snapshot {
        let environment =
            Environment { topology_aware: Some(true), all_topologies_known: true, ..Environment::default() };
        Snapshot { environment, ..Snapshot::default() }
    }

    fn look_up<'a>(&'a self, topology: &'a str) -> Lookup<'a> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            if !self.answers {
                std::future::pending::<()>().await;
            }
            let level = TopologyLevel { domain: "rack".to_owned(), key: "example.com/rack".to_owned() };
            (topology == "dc").then(|| LiveTopology::Binding(vec![level]))
        })
    }
}

fn packed(topology: &str, level: &str) -> Value {
    let mut set = set(1);
    set["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": topology, "pack": { "required": level } });
    set
}

/// The answer, and how often the API server was asked.
async fn answer(stage: &Stage, behind: &Behind, set: &Value) -> (bool, String, usize) {
    let before = behind.asked.load(Ordering::Relaxed);
    let answer = stage.client.keep().await.unwrap().review(SET_VALIDATING.path, set).await.unwrap();
    let message = answer["status"]["message"].as_str().unwrap_or_default().to_owned();
    (answer["allowed"] == true, message, behind.asked.load(Ordering::Relaxed) - before)
}

#[tokio::test]
async fn the_api_server_is_asked_before_a_topology_is_unknown() {
    let behind = Behind::new(true);
    let stage = Stage::knowing(Limits::default(), Arc::clone(&behind) as _).await;
    assert_eq!(answer(&stage, &behind, &packed("dc", "rack")).await, (true, String::new(), 1));
    let (allowed, message, asked) = answer(&stage, &behind, &packed("dc", "moon")).await;
    assert_eq!((allowed, asked), (false, 1));
    assert!(
        message.contains("not a level of topology \"dc\""),
        "what was found is held against the set: {message}"
    );
    let (allowed, message, asked) = answer(&stage, &behind, &packed("gone", "rack")).await;
    assert_eq!((allowed, asked), (false, 1));
    assert!(message.contains("there is no ClusterTopologyBinding"), "{message}");
    assert_eq!(answer(&stage, &behind, &set(1)).await, (true, String::new(), 0));
}

#[tokio::test]
async fn an_api_server_that_does_not_answer_costs_its_time_and_no_more() {
    let behind = Behind::new(false);
    let limits = Limits { answer_time: Duration::from_secs(2), ..Limits::default() };
    let stage = Stage::knowing(limits, Arc::clone(&behind) as _).await;
    let started = Instant::now();
    let (allowed, message, asked) = answer(&stage, &behind, &packed("dc", "rack")).await;
    assert_eq!((allowed, asked), (false, 1));
    assert!(message.contains("there is no ClusterTopologyBinding"), "{message}");
    assert!(started.elapsed() < Limits::default().answer_time, "{:?}", started.elapsed());
}
