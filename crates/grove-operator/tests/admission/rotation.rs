//! Certificates with a life of seconds, under load.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use grove_api::constants::webhooks::SET_VALIDATING;
use grove_operator::{
    admission::{Limits, Snapshot},
    certificates::{Lifetimes, Served},
};
use k8s_openapi::jiff::Timestamp;
use tokio::time::{sleep, timeout};

use crate::{
    client::Client,
    keeper::{Cluster, MUTATING},
    stage::{listen, set},
};

/// Half of a leaf's life, and more, is left when it is renewed: a machine may be busy.
const LIFETIMES: Lifetimes = Lifetimes { authority: Duration::from_secs(12), leaf: Duration::from_secs(6) };
const PATIENCE: Duration = Duration::from_mins(1);

/// Clients that trust what the webhook configuration says, as an API server does, connect and ask all the time. Leaf and
/// authority change; no handshake and no review fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_notices_a_rotation() {
    let (cluster, served) = (Arc::new(Cluster::new(Timestamp::now)), Arc::new(Served::default()));
    cluster.install();
    let _keeping = cluster.start_with(&served, Timestamp::now, LIFETIMES);
    let trusted = || cluster.trusted(MUTATING)[0].clone();
    let ready = async {
        while served.ready(Timestamp::now()).is_err() || trusted().is_none() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, ready).await.expect("no certificate");
    let limits = Limits::default();
    let (address, _stop, _serving) = listen(limits, Arc::new(Snapshot::default()), Arc::clone(&served)).await;

    let (enough, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    let one = || async {
        let object = set(3);
        while !enough.load(Ordering::Relaxed) {
            let client = Client::new(&trusted().expect("nobody is trusted"), address);
            let mut kept = client.keep().await.expect("a handshake failed");
            for _ in 0..3 {
                kept.review(SET_VALIDATING.path, &object).await.expect("a review failed");
                asked.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    let watching = async {
        let (mut leaves, mut authorities) = (BTreeSet::new(), BTreeSet::new());
        while leaves.len() < 4 || authorities.len() < 3 {
            let content = cluster.content();
            leaves.insert(content.leaf);
            // One, both, and the new one alone.
            authorities.insert(content.authorities);
            sleep(Duration::from_millis(20)).await;
        }
        enough.store(true, Ordering::Relaxed);
    };
    let all = async { tokio::join!(join_all((0..4).map(|_| one())), watching) };
    timeout(PATIENCE, all).await.expect("it does not rotate");
    assert!(asked.load(Ordering::Relaxed) > 100, "only {asked:?} reviews");
}
