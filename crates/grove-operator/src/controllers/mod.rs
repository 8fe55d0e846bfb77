//! The controllers. Each reads the caches (observe), asks `grove-plan` what to do (plan), and does it (act).

mod allotment;
mod allowed;
mod backend;
mod binding;
mod children;
mod clique;
mod deletion;
mod dry_run;
mod gang;
mod gang_stages;
mod group;
mod growth;
mod metrics;
mod node_loss;
mod nodes;
mod observe;
mod pod_creation;
mod quota;
mod recovery;
mod restart_policy;
mod revisions;
mod scheduling;
mod set;
mod start_order;
mod status;
mod story;
mod template;
mod topology;
mod undecodable;
mod update;
mod writes;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use grove_api::wire::PodCliqueSet;
use grove_plan::{
    allotment::Caps,
    node_loss::Patience,
    objects::Context,
    status::TopologySeen,
    topology::{Topology, topology_name},
};
use grove_runtime::{Events, History, Outcome, OwnedWrites, Queue, Switch, Writer};
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use tokio::sync::mpsc;

pub(crate) use self::{gang_stages::GangMetrics, metrics::PodMetrics, scheduling::Leftover};
use crate::{
    backends::Backends,
    key::{Key, StatusKey},
    memory::Memory,
    metrics::OperatorMetrics,
    seen::Seen,
};

/// How long a set gathers changes below it before it looks at them.
const GATHER: Duration = Duration::from_millis(200);
/// The shortest wait.
const SOON: Duration = Duration::from_millis(1);
/// Requests that one reconcile has under way at a time.
const IN_FLIGHT: usize = 32;

/// What waits to be looked at.
#[derive(Clone)]
pub(crate) struct Queues {
    pub(crate) sets: Queue<Key>,
    pub(crate) groups: Queue<Key>,
    pub(crate) cliques: Queue<Key>,
    pub(crate) gangs: Queue<Key>,
    pub(crate) status: Queue<StatusKey>,
    /// Sets apart: there are few, each speaks for many objects, and none should wait for the reports on those.
    pub(crate) set_status: Queue<StatusKey>,
    /// Sets of which units may have to be restarted. Apart from their status: that may be paced, or refused.
    pub(crate) recovery: Queue<Key>,
    /// Names of scheduler backends.
    pub(crate) backends: Queue<String>,
    /// Names of ClusterTopologyBindings.
    pub(crate) bindings: Queue<String>,
    /// Names of Kueue's Topologies.
    pub(crate) topologies: Queue<String>,
    /// Names of nodes that are read before anything is decided because of them.
    pub(crate) nodes: Queue<String>,
    /// Namespaces in which a quota is exhausted.
    pub(crate) quotas: Queue<String>,
}

impl Queues {
    /// All of them: they are open while this process leads.
    pub(crate) fn all(&self) -> [&dyn Switch; 12] {
        let Self { sets, groups, cliques, gangs, status, set_status, recovery, .. } = self;
        let Self { backends, bindings, topologies, nodes, quotas, .. } = self;
        [
            sets, groups, cliques, gangs, status, set_status, recovery, backends, bindings, topologies,
            nodes, quotas,
        ]
    }

    /// The status of an object may have to be written.
    pub(crate) fn report(&self, key: StatusKey) {
        self.of(&key).add(key);
    }

    /// Likewise, but what changes at the same time is looked at together.
    pub(crate) fn report_soon(&self, key: StatusKey) {
        self.of(&key).add_after(key, GATHER);
    }

    /// Something below a set changed: it is reported on, and units of it may have to be restarted.
    pub(crate) fn look_at_set(&self, set: Key) {
        self.recovery.add(set.clone());
        self.report(StatusKey::Set(set));
    }

    /// Likewise, but what changes at the same time is looked at together.
    pub(crate) fn look_at_set_soon(&self, set: Key) {
        self.recovery.add_after(set.clone(), GATHER);
        self.report_soon(StatusKey::Set(set));
    }

    fn of(&self, key: &StatusKey) -> &Queue<StatusKey> {
        if matches!(key, StatusKey::Set(_)) { &self.set_status } else { &self.status }
    }
}

/// What all controllers work with.
pub(crate) struct Grove {
    pub(crate) seen: Seen,
    pub(crate) memory: Memory,
    pub(crate) queues: Queues,
    pub(crate) writer: Writer,
    /// Writes under way, which no reconcile that ends early takes with it.
    pub(crate) writes: OwnedWrites,
    /// Whether a term as the leader has ended, and its last writes end: none begins after that.
    pub(crate) stopping: AtomicBool,
    pub(crate) events: Events,
    pub(crate) backends: Arc<Backends>,
    pub(crate) metrics: OperatorMetrics,
    /// Takes what gangs leave behind, while somebody clears it away.
    pub(crate) leftovers: mpsc::Sender<Leftover>,
    /// Image of the init container of pods that start in order.
    pub(crate) init_image: String,
    /// Whether placement by topology is on.
    pub(crate) topology_aware: bool,
    /// How much one set may have.
    pub(crate) caps: Caps,
    /// How long nodes may be in trouble; without it nobody looks whether they are.
    pub(crate) node_loss: Option<Patience>,
    /// The wall clock.
    pub(crate) clock: fn() -> Timestamp,
    /// The API server's history, as all caches follow it.
    pub(crate) history: History,
}

impl Grove {
    /// Whether nodes are watched: to notice that one is lost, and to know in which domain it is.
    pub(crate) fn looks_at_nodes(&self) -> bool {
        self.node_loss.is_some() || self.topology_aware
    }

    /// Whether all nodes are known: they are watched, and the API server lets us.
    pub(crate) fn knows_nodes(&self) -> bool {
        self.looks_at_nodes() && self.seen.nodes.is_synced()
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Since when this operator has watched, by the clock as it is now: it may have been set since.
    fn watched_since(&self) -> Timestamp {
        let watched = SignedDuration::try_from(self.memory.age()).unwrap_or(SignedDuration::MAX);
        self.now().checked_sub(watched).unwrap_or(Timestamp::MIN)
    }

    /// How long it is until then. Where that is over meanwhile, the next look is at once, and not never.
    fn until(&self, then: Timestamp) -> Duration {
        Duration::try_from(then.duration_since(self.now())).unwrap_or_default().max(SOON)
    }

    fn context<'a>(&'a self, set: &'a PodCliqueSet) -> Context<'a> {
        self.context_of_form(set, self.form(set))
    }

    /// Likewise, where new gangs are made in this form.
    fn context_of_form<'a>(&'a self, set: &'a PodCliqueSet, form: &'a str) -> Context<'a> {
        Context { set, default_scheduler: self.default_scheduler(set), form, gang_names: &self.seen }
    }

    /// The topology that a set names, where placement by topology is on and there is one.
    fn topology(&self, set: &PodCliqueSet) -> Option<Topology> {
        let name = topology_name(set).filter(|_| self.topology_aware)?;
        let binding = self.seen.topologies.get("", name).map(|it| Topology::from(it.as_ref()));
        binding.or_else(|| self.seen.kueue.get(name).map(|it| Topology::from(&it)))
    }

    /// Whether placement by topology is on, and a set names one.
    fn names_topology(&self, set: &PodCliqueSet) -> bool {
        self.topology_aware && topology_name(set).is_some()
    }

    fn topology_seen<'a>(&self, topology: Option<&'a Topology>) -> TopologySeen<'a> {
        if self.topology_aware { TopologySeen::On(topology) } else { TopologySeen::Off }
    }
}

fn uid<K: kube::Resource>(object: &K) -> &str {
    object.meta().uid.as_deref().unwrap_or_default()
}

fn version<K: kube::Resource>(object: &K) -> &str {
    object.meta().resource_version.as_deref().unwrap_or_default()
}

/// What is wanted, but a look after `pause` at the latest.
fn sooner(outcome: Outcome, pause: Option<Duration>) -> Outcome {
    match (outcome, pause) {
        (Outcome::Done, Some(pause)) => Outcome::After(pause),
        (Outcome::After(wait), Some(pause)) => Outcome::After(wait.min(pause)),
        (outcome, _) => outcome,
    }
}
