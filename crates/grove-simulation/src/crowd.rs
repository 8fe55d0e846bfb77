//! Many seeds on many threads.

use std::{
    ops::Range,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use std::collections::BTreeSet;

use crate::{
    plan::{Fault, Plan},
    run::run,
};

/// How often progress is told.
const TELL: Duration = Duration::from_secs(1);

/// How far a crowd of runs has come.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// Seeds that were run.
    pub done: u64,
    /// Seeds in all.
    pub all: u64,
    /// Writes that they took.
    pub writes: u64,
    /// Time in their clusters.
    pub virtual_time: Duration,
    /// Time here.
    pub time: Duration,
}

impl Progress {
    /// Seeds in a second.
    #[allow(clippy::cast_precision_loss, reason = "for people to read")]
    pub fn rate(&self) -> f64 {
        self.done as f64 / self.time.as_secs_f64().max(0.001)
    }

    /// How long the rest takes.
    #[allow(clippy::cast_precision_loss, reason = "for people to read")]
    pub fn left(&self) -> Duration {
        let left = self.all.saturating_sub(self.done) as f64 / self.rate().max(0.001);
        Duration::try_from_secs_f64(left).unwrap_or_default()
    }
}

/// How a crowd of runs ended.
#[derive(Debug)]
pub struct Result {
    /// How far it came.
    pub progress: Progress,
    /// The first seed that failed.
    pub failed: Option<u64>,
}

/// The plan of a seed with these faults, or with those that it has by itself.
pub fn plan(seed: u64, faults: Option<&BTreeSet<Fault>>) -> Plan {
    faults.map_or_else(|| Plan::new(seed), |it| Plan::with(seed, it))
}

/// Runs seeds until one fails, and tells now and then how far it is.
pub fn run_all(
    seeds: &Range<u64>,
    faults: Option<&BTreeSet<Fault>>,
    jobs: usize,
    mut tell: impl FnMut(&Progress),
) -> Result {
    let next = AtomicU64::new(seeds.start);
    let stop = AtomicBool::new(false);
    let (sender, ends) = mpsc::channel();
    let started = Instant::now();
    let mut progress = Progress { all: seeds.end.saturating_sub(seeds.start), ..Progress::default() };
    let mut failed = None;
    thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let outcome = run(&plan(seed, faults), false);
                    if sender.send((seed, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut told = Instant::now();
        for (seed, outcome) in ends {
            progress.done += 1;
            progress.time = started.elapsed();
            match outcome {
                Ok(outcome) => {
                    progress.writes += outcome.writes;
                    progress.virtual_time += outcome.time;
                    if outcome.broken.is_some() {
                        // The lowest of those that are under way, so that the same seeds fail alike.
                        failed = Some(failed.map_or(seed, |it: u64| it.min(seed)));
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                Err(_) => failed = failed.or(Some(seed)),
            }
            if told.elapsed() >= TELL {
                told = Instant::now();
                tell(&progress);
            }
        }
    });
    progress.time = started.elapsed();
    Result { progress, failed }
}
