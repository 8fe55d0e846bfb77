//! The reference gang scheduler: a client of the Kubernetes API that binds pods, whole gangs at a time.
//!
//! Read in the order of the data:
//!
//! * `observe`: caches of nodes, pods, PodGroups and CompositePodGroups; a snapshot of what is used of each node, kept up to date pod by pod.
//! * `plan`: pure. What is scheduled in one decision (`unit`), which comes next (`order`), where its pods go (`attempt`, by
//!   `grove-placement`), what it waits for (`needs`), who makes room (`victims`), and what is said (`words`).
//! * `act`: bindings, conditions, deletions and Events.
//! * `engine`: one decision after the other, each against all that is known, assumed bindings included. `decisions` is what follows from
//!   one, `preemption` makes room, `reporting` says why there is none, `in_flight` is what is not over yet.
//!
//! Nothing polls: a gang that has no place waits until something changes that may help it.
//!
//! What it does not do: volumes and claims of devices (DRA) do not decide where a pod goes, PodDisruptionBudgets do not protect victims,
//! and a gang that lost pods stays as it is until its pods are created anew.

mod act;
mod decisions;
mod engine;
mod in_flight;
mod observe;
mod plan;
mod preemption;
mod reporting;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use grove_placement::{Level, topology::standard_levels};
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use tokio_util::sync::CancellationToken;

use engine::Engine;
use observe::pod_view::DEFAULT_SCHEDULER;

/// Alternatives that are tried for one decision: a tenth of a second on a large cluster.
const DEFAULT_BUDGET: u64 = 20_000;

type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What can be chosen about the scheduler.
#[derive(Clone)]
pub struct SchedulerOptions {
    /// Pods with this `schedulerName` are scheduled: `default-scheduler`.
    pub name: String,
    /// Topology levels, from the widest to the narrowest: their names in messages, and what is wider than a preferred level.
    pub levels: Vec<Level>,
    /// Alternatives that are tried for one decision.
    pub budget: u64,
    /// The time in conditions.
    pub clock: Clock,
}

impl Default for SchedulerOptions {
    fn default() -> Self {
        Self {
            name: DEFAULT_SCHEDULER.to_owned(),
            levels: standard_levels(),
            budget: DEFAULT_BUDGET,
            clock: Arc::new(Timestamp::now),
        }
    }
}

impl fmt::Debug for SchedulerOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, levels, budget, .. } = self;
        f.debug_struct("SchedulerOptions")
            .field("name", name)
            .field("levels", levels)
            .field("budget", budget)
            .finish_non_exhaustive()
    }
}

/// How much work was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SchedulerWork {
    /// Units that were looked at.
    pub looks: u64,
    /// Searches for a place, those for victims aside.
    pub searches: u64,
    /// How often the usage of one node was added up.
    pub nodes_summed: u64,
}

/// The counters behind [`SchedulerWork`].
#[derive(Debug, Default)]
struct Counters {
    looks: AtomicU64,
    searches: AtomicU64,
    nodes_summed: AtomicU64,
}

/// The reference gang scheduler. It needs `scheduling.k8s.io/v1beta1` PodGroups and `v1alpha3` CompositePodGroups to be served.
///
/// ```no_run
/// # async fn run(client: kube::Client, stop: tokio_util::sync::CancellationToken) {
/// use grove_sandbox::scheduler::{Scheduler, SchedulerOptions};
///
/// Scheduler::new(client, SchedulerOptions::default()).run(stop).await;
/// # }
/// ```
pub struct Scheduler {
    client: Client,
    options: SchedulerOptions,
    counters: Arc<Counters>,
}

impl fmt::Debug for Scheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scheduler").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Scheduler {
    /// A scheduler that does nothing yet.
    pub fn new(client: Client, options: SchedulerOptions) -> Self {
        Self { client, options, counters: Arc::default() }
    }

    /// Schedules until `stop` is cancelled. Bindings that are under way then may be made or not: the next scheduler completes gangs.
    pub async fn run(&self, stop: CancellationToken) {
        Engine::new(self.client.clone(), self.options.clone(), Arc::clone(&self.counters)).run(stop).await;
    }

    /// How much work was done so far.
    pub fn work(&self) -> SchedulerWork {
        let read = |it: &AtomicU64| it.load(Ordering::Relaxed);
        SchedulerWork {
            looks: read(&self.counters.looks),
            searches: read(&self.counters.searches),
            nodes_summed: read(&self.counters.nodes_summed),
        }
    }
}
