//! The operator is killed after its k-th write, while a set is created, scaled and deleted. Whoever comes after it
//! brings the cluster to the same state, and loses nothing on the way.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use grove_apiserver::Fault;
use serde_json::json;

use crate::{
    snapshot::snapshot,
    world::{World, example},
};

const SEEDS: u64 = 200;
const SETS: &str = "podcliquesets.grove.io";

/// The life of a set, step by step.
const STEPS: [fn(&World); 6] = [
    |world| world.create(SETS, example(1)),
    |world| world.patch(SETS, "inf", json!({ "spec": { "replicas": 2 } })),
    |world| {
        world.patch("podcliquescalinggroups.grove.io", "inf-1-pd", json!({ "spec": { "replicas": 4 } }));
        world.patch("podcliques.grove.io", "inf-0-fe", json!({ "spec": { "replicas": 4 } }));
    },
    |world| {
        world.patch("podcliquescalinggroups.grove.io", "inf-1-pd", json!({ "spec": { "replicas": 2 } }));
        world.patch("podcliques.grove.io", "inf-0-fe", json!({ "spec": { "replicas": 1 } }));
    },
    |world| world.patch(SETS, "inf", json!({ "spec": { "replicas": 1 } })),
    |world| world.delete(SETS, "inf"),
];
/// Steps in which no pod may be deleted.
const GROWING: usize = 3;

/// Counts writes, and dies after one of them.
struct Killer {
    writes: Arc<AtomicU64>,
    dead: Arc<AtomicBool>,
}

impl Killer {
    /// Dies after write `k`. With `heard`, the operator still learns that it succeeded.
    fn set(world: &World, k: u64, heard: bool) -> Self {
        let killer = Self { writes: Arc::default(), dead: Arc::default() };
        let (writes, dead) = (Arc::clone(&killer.writes), Arc::clone(&killer.dead));
        world.server.before_write(move |_| {
            if dead.load(Ordering::SeqCst) {
                return Fault::Cut;
            }
            let die = writes.fetch_add(1, Ordering::SeqCst) + 1 == k;
            dead.store(die, Ordering::SeqCst);
            if die && !heard { Fault::Lose } else { Fault::None }
        });
        killer
    }

    fn is_dead(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }
}

/// Pods that were ever there.
fn pods(world: &World, known: &mut BTreeSet<String>) {
    known.extend(world.list("pods").iter().map(|it| it.uid().to_owned()));
}

struct Life {
    snapshots: Vec<Vec<String>>,
    /// Pods ever created, step by step.
    created: Vec<usize>,
    writes: u64,
    kills: u64,
}

async fn live(seed: u64, kill_after: Option<u64>) -> Life {
    let mut world = World::started(seed);
    let killer = Killer::set(&world, kill_after.unwrap_or(u64::MAX), seed.is_multiple_of(2));
    let mut life = Life { snapshots: Vec::new(), created: Vec::new(), writes: 0, kills: 0 };
    let mut known = BTreeSet::new();
    for step in STEPS {
        step(&world);
        world.settle_unless(|| killer.is_dead() && life.kills == 0).await;
        if killer.is_dead() && life.kills == 0 {
            world.kill();
            life.kills = 1;
            // Whoever deletes the dead operator's pods does so meanwhile.
            world.simulate();
            Killer::set(&world, u64::MAX, true);
            world.start();
            world.settle().await;
        }
        pods(&world, &mut known);
        life.created.push(known.len());
        life.snapshots.push(snapshot(&world));
    }
    life.writes = killer.writes.load(Ordering::SeqCst);
    life
}

/// Every fourth seed from `first`: four tests that run side by side.
async fn kill_with_seeds(first: u64) {
    let whole = live(0, None).await;
    assert!(whole.writes > 100, "the life of a set takes more than {} writes", whole.writes);
    let (mut seeds, mut kills) = (0, 0);
    for seed in (first..=SEEDS).step_by(4) {
        // Spread over the whole life; a factor prime to it visits all of it.
        let k = 1 + seed.wrapping_mul(7919) % whole.writes;
        let life = live(seed, Some(k)).await;
        seeds += 1;
        kills += life.kills;
        for (step, (wanted, got)) in whole.snapshots.iter().zip(&life.snapshots).enumerate() {
            assert_eq!(
                wanted, got,
                "seed {seed}: step {step} ends in another state after a kill at write {k}"
            );
        }
        for step in 0..GROWING {
            let (wanted, got) = (whole.created[step], life.created[step]);
            assert_eq!(wanted, got, "seed {seed}, step {step}: pods were made or deleted in vain");
        }
    }
    assert_eq!(seeds, SEEDS / 4);
    assert!(kills * 10 >= seeds * 8, "only {kills} of {seeds} kills fell before the last write");
}

#[tokio::test(start_paused = true)]
async fn a_killed_operator_leaves_no_trace_1() {
    kill_with_seeds(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_killed_operator_leaves_no_trace_2() {
    kill_with_seeds(2).await;
}

#[tokio::test(start_paused = true)]
async fn a_killed_operator_leaves_no_trace_3() {
    kill_with_seeds(3).await;
}

#[tokio::test(start_paused = true)]
async fn a_killed_operator_leaves_no_trace_4() {
    kill_with_seeds(4).await;
}
