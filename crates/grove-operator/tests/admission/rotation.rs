//! Certificates with a life of seconds, on two operators, under load.

use std::{
    collections::BTreeSet,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use grove_api::constants::webhooks::{SET_DEFAULTING, SET_VALIDATING};
use grove_operator::{
    admission::{Limits, Snapshot},
    certificates::{Lifetimes, Served},
};
use k8s_openapi::jiff::Timestamp;
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use crate::{
    client::{Client, Kept},
    keeper::{Cluster, MUTATING},
    stage::{listen, set},
};

/// Two authorities are trusted side by side for a second before the leaf goes over to the new one, and for another one after it.
const LIFETIMES: Lifetimes = Lifetimes { authority: Duration::from_secs(12), leaf: Duration::from_secs(6) };
/// An API server hears of a new caBundle this much later, or twice this much.
const LAG: Duration = Duration::from_millis(100);
/// A failure with a caBundle that was replaced longer ago does not count: no API server hears of a change so late, but on a busy
/// machine a task of this test may not be scheduled for a while.
const TOO_LATE: Duration = Duration::from_millis(600);
/// Leaves that each replica serves in turn: three rotations.
const LEAVES: usize = 4;
const PATIENCE: Duration = Duration::from_mins(1);

/// The caBundle as an API server knows it, and when it was the newest.
type Known = (Vec<u8>, Instant);

/// Two replicas, and what they were seen to serve.
struct Stage {
    replicas: Vec<SocketAddr>,
    /// Leaves, by replica.
    leaves: [Mutex<BTreeSet<Vec<u8>>>; 2],
    asked: AtomicUsize,
    discarded: AtomicUsize,
    enough: AtomicBool,
}

impl Stage {
    /// One review over a new connection to a replica.
    async fn ask(&self, replica: usize, bundle: &[u8]) -> io::Result<()> {
        let stream = Client::new(bundle, self.replicas[replica]).connect().await?;
        let leaf = stream.get_ref().1.peer_certificates().unwrap()[0].to_vec();
        let mut kept = Kept::over(stream).await?;
        for path in [SET_DEFAULTING.path, SET_VALIDATING.path] {
            kept.review(path, &set(3)).await.map_err(io::Error::other)?;
        }
        self.leaves[replica].lock().unwrap().insert(leaf);
        Ok(())
    }

    /// Asks both replicas in turn, as an API server does whose connections do not last.
    async fn load(&self, known: watch::Receiver<Known>) {
        while !self.enough.load(Ordering::Relaxed) {
            for replica in 0..self.replicas.len() {
                let (bundle, published) = known.borrow().clone();
                let result = self.ask(replica, &bundle).await;
                if let Err(error) = result {
                    assert!(published.elapsed() > TOO_LATE, "replica {replica}: {error}");
                    self.discarded.fetch_add(1, Ordering::Relaxed);
                }
                self.asked.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

/// Clients trust what the webhook configuration says, as an API server does, and connect anew for each pair of reviews. Leaf and
/// authority change; no handshake and no review fails on either replica.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rotation_under_load_fails_no_admission_on_either_replica() {
    let cluster = Arc::new(Cluster::new(Timestamp::now));
    cluster.install();
    let served: [Arc<Served>; 2] = Default::default();
    let _keeping = served.each_ref().map(|it| cluster.start_with(it, Timestamp::now, LIFETIMES));
    let ready = async {
        let is_ready = |it: &Arc<Served>| it.ready(Timestamp::now()).is_ok();
        while !served.iter().all(is_ready) || cluster.trusted(MUTATING)[0].is_none() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, ready).await.expect("no certificate");
    let mut replicas = Vec::new();
    for it in &served {
        let (address, _stop, _serving) =
            listen(Limits::default(), Arc::new(Snapshot::default()), Arc::clone(it)).await;
        replicas.push(address);
    }
    let stage = Stage {
        replicas,
        leaves: Default::default(),
        asked: AtomicUsize::new(0),
        discarded: AtomicUsize::new(0),
        enough: AtomicBool::new(false),
    };
    let bundle = || cluster.trusted(MUTATING)[0].clone().expect("nobody is trusted");
    let (hear, known) = watch::channel((bundle(), Instant::now()));
    let watching = async {
        let mut bundles = BTreeSet::new();
        let has_rotated = |it: &Mutex<BTreeSet<Vec<u8>>>| it.lock().unwrap().len() >= LEAVES;
        // One authority, both, and the new one alone.
        while bundles.len() < 3 || !stage.leaves.iter().all(has_rotated) {
            let (late, published) = (bundle(), Instant::now());
            sleep(LAG).await;
            bundles.insert(late.clone());
            hear.send_replace((late, published));
        }
        stage.enough.store(true, Ordering::Relaxed);
    };
    let all = async { tokio::join!(join_all((0..3).map(|_| stage.load(known.clone()))), watching) };
    timeout(PATIENCE, all).await.expect("it does not rotate");
    // How many reviews there are depends on the machine; each replica was asked with each of its certificates.
    let (asked, discarded) = (stage.asked.into_inner(), stage.discarded.into_inner());
    assert!(discarded * 2 < asked, "{discarded} of {asked} reviews were too late to count");
}
