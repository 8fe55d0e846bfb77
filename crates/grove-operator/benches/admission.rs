//! How long an admission takes: reviews of a set with 60 cliques over TLS on loopback, from 8 connections at a time.
//!
//! `make bench-admission`; the goal is a p99 of less than 5 ms.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a measurement that fails may end so"
)]

#[path = "../tests/admission/client.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod client;
#[path = "../tests/admission/stage.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod stage;

use std::time::{Duration, Instant};

use futures::future::join_all;
use grove_api::constants::webhooks::{SET_DEFAULTING, SET_VALIDATING};
use grove_operator::admission::Limits;
use k8s_openapi::ByteString;
use serde_json::Value;
use stage::{Stage, set};

const REVIEWS: usize = 5_000;
const CONNECTIONS: usize = 8;
const CLIQUES: usize = 60;

fn main() {
    // As many threads as the operator has.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    for (what, path) in [("defaulting", SET_DEFAULTING.path), ("validation", SET_VALIDATING.path)] {
        for connections in [1, CONNECTIONS] {
            let mut times = runtime.block_on(measure(path, connections));
            times.sort();
            let at = |percent: usize| times[(times.len() * percent / 100).min(times.len() - 1)];
            println!(
                "{what}, {connections} at a time: p50 {:.2} ms, p99 {:.2} ms, worst {:.2} ms, of {} reviews",
                milliseconds(at(50)),
                milliseconds(at(99)),
                milliseconds(at(100)),
                times.len()
            );
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

async fn measure(path: &str, connections: usize) -> Vec<Duration> {
    let stage = Stage::new(Limits::default()).await;
    let object = stored(&stage, set(CLIQUES)).await;
    let object = if path == SET_VALIDATING.path { object } else { set(CLIQUES) };
    let body = client::review("CREATE", &object, &Value::Null);
    let one = || async {
        let mut kept = stage.client.keep().await.unwrap();
        let mut times = Vec::new();
        for _ in 0..REVIEWS / connections {
            let started = Instant::now();
            let (code, text) = kept.post(path, body.clone()).await.unwrap();
            times.push(started.elapsed());
            assert!(code == 200 && text.contains("\"allowed\":true"), "{code} {text}");
        }
        times
    };
    join_all((0..connections).map(|_| one())).await.concat()
}

/// The set as it comes to validation: defaulted.
async fn stored(stage: &Stage, mut object: Value) -> Value {
    let mut kept = stage.client.keep().await.unwrap();
    let answer = kept.review(SET_DEFAULTING.path, &object).await.unwrap();
    let patch: ByteString = serde_json::from_value(answer["patch"].clone()).unwrap();
    let patch: json_patch::Patch = serde_json::from_slice(&patch.0).unwrap();
    json_patch::patch(&mut object, &patch).unwrap();
    object
}
