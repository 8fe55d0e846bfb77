//! What is known of each backend: not configured, not ready for a reason, or ready.

use std::{collections::BTreeMap, sync::Arc};

use grove_api::{config::SchedulerProfiles, constants::schedulers};
use grove_runtime::Applier;
use grove_scheduler::{Registry, Scheduler, SchedulerBackend, TopologyPart, TopologyTree};
use kube::api::ApiResource;
use parking_lot::RwLock;
use serde_json::Value;
use tokio::sync::watch;

/// Whether sets can use a scheduler.
#[derive(Clone, Debug)]
pub(crate) enum Readiness {
    /// No profile asks for it.
    NotConfigured,
    /// Nobody has looked yet.
    NotLooked,
    /// What it needs is missing: why.
    Failed(String),
    /// It is there.
    Ready(Ready),
}

/// A scheduler that can be told of gangs.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) scheduler: Arc<dyn Scheduler>,
    /// Writes the objects of its kinds; its caches are filled.
    pub(crate) applier: Arc<Applier>,
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ready").field("scheduler", &self.scheduler).finish_non_exhaustive()
    }
}

impl Readiness {
    /// Why sets cannot use the scheduler called `name`; `None` where they can.
    pub(crate) fn reason(&self, name: &str) -> Option<String> {
        match self {
            Self::Ready(_) => None,
            Self::NotConfigured => Some(format!(
                "the operator's configuration has no profile for scheduler {name:?}: add one to scheduler.profiles"
            )),
            Self::NotLooked => Some(format!("scheduler backend {name:?} is being initialised")),
            Self::Failed(why) => Some(format!("scheduler backend {name:?} is not ready: {why}")),
        }
    }

    pub(crate) fn ready(&self) -> Option<&Ready> {
        match self {
            Self::Ready(ready) => Some(ready),
            _ => None,
        }
    }
}

/// The topology objects that a scheduler has of its own.
pub(crate) enum OwnTopology<'a> {
    /// One lists all levels.
    One(&'a dyn TopologyPart),
    /// There is one for each domain.
    Tree(&'a dyn TopologyTree),
}

impl OwnTopology<'_> {
    pub(crate) fn resource(&self) -> ApiResource {
        match self {
            Self::One(part) => part.resource(),
            Self::Tree(tree) => tree.resource(),
        }
    }
}

/// One backend.
pub(super) struct Entry {
    pub(super) backend: Arc<dyn SchedulerBackend>,
    /// Settings of its profile; `None` where no profile configures it.
    pub(super) config: Option<Value>,
    readiness: RwLock<Readiness>,
}

/// How often something new was found, by the name of the backend.
pub(crate) type Epochs = BTreeMap<&'static str, u64>;

/// All backends that were compiled in.
pub(crate) struct Backends {
    default: &'static str,
    by_name: BTreeMap<&'static str, Entry>,
    /// How often something new was found of each.
    changes: watch::Sender<Epochs>,
    /// That something new was found, for who reports it. A channel of its own: one with several listeners wakes them in
    /// random order, and runs in virtual time are to be repeatable.
    news: watch::Sender<()>,
}

impl Backends {
    /// As the configuration says. None is ready before it was probed.
    pub(crate) fn new(registry: &Registry, profiles: &SchedulerProfiles) -> Self {
        let entries = registry.all().iter().map(|backend| {
            let config = profiles.get(backend.name()).map(|it| it.config.clone());
            let readiness = config.as_ref().map_or(Readiness::NotConfigured, |_| Readiness::NotLooked);
            let entry = Entry { backend: Arc::clone(backend), config, readiness: RwLock::new(readiness) };
            (backend.name(), entry)
        });
        Self {
            default: registry.get(profiles.default_name()).map_or(schedulers::DEFAULT, |it| it.name()),
            by_name: entries.collect(),
            changes: watch::Sender::new(Epochs::new()),
            news: watch::Sender::new(()),
        }
    }

    /// The scheduler of sets that name none.
    pub(crate) fn default_name(&self) -> &'static str {
        self.default
    }

    /// Names of all that were compiled in.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.by_name.keys().copied()
    }

    /// Whether sets can use the scheduler of this name. One that nobody knows is not configured.
    pub(crate) fn readiness(&self, name: &str) -> Readiness {
        self.by_name.get(name).map_or(Readiness::NotConfigured, |it| it.readiness.read().clone())
    }

    /// Whether somebody has looked at every backend that is asked for; else the name of one.
    pub(crate) fn all_looked_at(&self) -> Result<(), &'static str> {
        let not_yet = |entry: &Entry| matches!(*entry.readiness.read(), Readiness::NotLooked);
        self.by_name.iter().find(|(_, entry)| not_yet(entry)).map_or(Ok(()), |(name, _)| Err(name))
    }

    /// Changes whenever something new was found, for who reports it.
    pub(crate) fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// Changes whenever something new was found.
    pub(crate) fn changes(&self) -> watch::Receiver<Epochs> {
        self.changes.subscribe()
    }

    /// The topology objects of those that are configured and have some, by name.
    pub(crate) fn own_topologies(&self) -> impl Iterator<Item = (&'static str, OwnTopology<'_>)> {
        self.configured().filter_map(|(name, entry, _)| {
            let one = entry.backend.topology().map(OwnTopology::One);
            Some((name, one.or_else(|| entry.backend.topology_tree().map(OwnTopology::Tree))?))
        })
    }

    /// Those whose object lists all levels, by name.
    pub(crate) fn with_topology(&self) -> impl Iterator<Item = (&'static str, &dyn TopologyPart)> {
        self.configured().filter_map(|(name, entry, _)| Some((name, entry.backend.topology()?)))
    }

    pub(super) fn configured(&self) -> impl Iterator<Item = (&'static str, &Entry, &Value)> {
        self.by_name.iter().filter_map(|(name, entry)| Some((*name, entry, entry.config.as_ref()?)))
    }

    /// Notes what was found.
    pub(super) fn found(&self, name: &'static str, readiness: Readiness) {
        if let Some(entry) = self.by_name.get(name) {
            *entry.readiness.write() = readiness;
            self.changes.send_modify(|it| *it.entry(name).or_default() += 1);
            self.news.send_replace(());
        }
    }
}
