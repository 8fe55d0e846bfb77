//! Kinds of owners: what is known of each, and its watch.
//!
//! Each kind has a slot with a lock of its own: requests about one kind hold up only those that need the same kind.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use grove_runtime::{Cache, InformerMetrics, inform};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, ListParams},
    runtime::watcher,
};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{debug, info};

use super::{
    circuit_breaker::CircuitBreaker,
    discovery::{Discovery, ServedKind},
    object_key::{KindName, ObjectKey},
    objects::{News, NotRead, OnChange},
    owner_object::{Reads, is_the_same},
    watch_budget::WatchBudget,
};
use crate::{hub::Hub, rule::Rules, workload::Kind};

/// When a kind that may not be listed is tried again.
pub(super) const AGAIN: Duration = Duration::from_mins(1);
/// When a kind is forgotten that no pod needs any more, and its watch ends.
const IDLE: Duration = Duration::from_mins(30);

/// Whether any pod depends on an object of a kind.
pub(crate) type InUse = Arc<dyn Fn(&KindName) -> bool + Send + Sync>;

/// Kinds that the API server serves and that pods have owners of.
pub(crate) struct OwnerKinds {
    client: Client,
    hub: Arc<Hub>,
    metrics: InformerMetrics,
    changed: OnChange,
    in_use: InUse,
    stop: CancellationToken,
    discovery: Discovery,
    slots: Mutex<BTreeMap<KindName, Arc<Slot>>>,
    /// Kinds that plugins ask for and that are not served: pods may be grouped without them.
    missing: Mutex<BTreeSet<KindName>>,
    budget: Mutex<WatchBudget>,
}

/// The place of a kind.
struct Slot {
    /// Held by who finds out about the kind.
    opening: tokio::sync::Mutex<()>,
    breaker: CircuitBreaker,
    known: Mutex<Option<Arc<OwnerKind>>>,
    used: Mutex<Instant>,
}

/// A kind that the API server has.
pub(crate) struct OwnerKind {
    pub(crate) resource: ApiResource,
    pub(crate) is_namespaced: bool,
    pub(crate) reads: Reads,
    /// Where it may not be listed, there is none.
    pub(crate) watch: Option<Watch>,
    /// When an object was refused that may not be read, where none may be listed: the next one is not asked for soon.
    pub(crate) refused: Mutex<Option<Instant>>,
    /// Of reads one by one.
    pub(crate) breaker: CircuitBreaker,
    tried: Instant,
}

/// A watch of a kind. It ends when it is dropped.
pub(crate) struct Watch {
    pub(crate) cache: Cache<DynamicObject>,
    /// Of waiting until the cache is filled.
    pub(crate) filling: CircuitBreaker,
    _running: DropGuard,
}

impl OwnerKind {
    fn is_enough(&self, reads: Reads) -> bool {
        self.reads >= reads && (self.watch.is_some() || self.tried.elapsed() < AGAIN)
    }
}

impl OwnerKinds {
    pub(crate) fn new(
        client: Client,
        hub: Arc<Hub>,
        metrics: InformerMetrics,
        changed: OnChange,
        in_use: InUse,
        stop: CancellationToken,
    ) -> Self {
        let discovery = Discovery::new(client.clone());
        let (slots, missing, budget) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { client, hub, metrics, changed, in_use, stop, discovery, slots, missing, budget }
    }

    /// Finds out what a kind is, and watches it where it may be. `namespace` is that of the pod that has such an owner.
    pub(crate) async fn find(
        &self,
        kind: &KindName,
        namespace: &str,
        rules: &Rules,
    ) -> Result<Arc<OwnerKind>, NotRead> {
        let parsed = Kind::parse(&kind.api_version, &kind.kind);
        let (reads, is_known) = (self.reads(parsed, rules), self.is_known(parsed, rules));
        let slot = self.slots.lock().get(kind).map(Arc::clone);
        if let Some(known) = slot.and_then(|it| it.known(reads)) {
            return Ok(known);
        }
        let served = self.discovery.find(kind).await;
        if served == Err(NotRead::NoKind) && self.hub.reads_beside_owners(parsed) {
            self.missing.lock().insert(kind.clone());
        }
        let served = served?;
        if !served.is_namespaced && !is_known {
            return Err(NotRead::ClusterScoped);
        }
        // Only now: what does not exist has no slot.
        let slot = self.slot(kind);
        if slot.breaker.is_open() {
            return Err(super::circuit_breaker::stalled());
        }
        let _one = slot.opening.lock().await;
        if let Some(known) = slot.known(reads) {
            return Ok(known);
        }
        self.open(kind, namespace, &slot, served, reads, is_known).await
    }

    async fn open(
        &self,
        kind: &KindName,
        namespace: &str,
        slot: &Slot,
        served: ServedKind,
        reads: Reads,
        is_known: bool,
    ) -> Result<Arc<OwnerKind>, NotRead> {
        let ServedKind { resource, is_namespaced } = served;
        let all: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let one = ListParams::default().limit(1);
        let may_list = match slot.breaker.run(all.list_metadata(&one)).await? {
            Ok(_) => true,
            Err(kube::Error::Api(status)) if status.code == 403 => false,
            Err(error) => return Err(NotRead::Failed(error.to_string())),
        };
        let is_watched = may_list && (is_known || self.budget.lock().take(kind, namespace));
        let (name, api_version) = (&kind.kind, &kind.api_version);
        if is_watched {
            info!(kind = name, api_version, ?reads, "owners of this kind are watched");
        } else if may_list {
            info!(
                kind = name,
                api_version, namespace, "too many kinds are watched: owners are read one by one"
            );
        } else {
            debug!(kind = name, api_version, "owners of this kind may not be listed");
        }
        let found = Arc::new(OwnerKind {
            is_namespaced,
            reads,
            watch: is_watched.then(|| self.watch(kind, all, reads)),
            resource,
            refused: Mutex::default(),
            breaker: CircuitBreaker::default(),
            tried: Instant::now(),
        });
        let before = slot.known.lock().replace(Arc::clone(&found));
        let was_refused = before.is_some_and(|it| it.refused.lock().is_some()) && may_list;
        if self.missing.lock().remove(kind) || was_refused {
            (self.changed)(News::Readable(kind));
        }
        Ok(found)
    }

    fn slot(&self, kind: &KindName) -> Arc<Slot> {
        let mut slots = self.slots.lock();
        if let Some(slot) = slots.get(kind) {
            return Arc::clone(slot);
        }
        let is_idle = |kind: &KindName, it: &Slot| it.used.lock().elapsed() > IDLE && !(self.in_use)(kind);
        let mut budget = self.budget.lock();
        slots.retain(|kind, it| {
            let is_idle = is_idle(kind, it);
            if is_idle {
                budget.give_back(kind);
            }
            !is_idle
        });
        let slot = Arc::new(Slot {
            opening: tokio::sync::Mutex::default(),
            breaker: CircuitBreaker::default(),
            known: Mutex::default(),
            used: Mutex::new(Instant::now()),
        });
        slots.insert(kind.clone(), Arc::clone(&slot));
        slot
    }

    /// Whether an admin chose the kind: a plugin or a rule is for it.
    fn is_known(&self, kind: Kind<'_>, rules: &Rules) -> bool {
        rules.find(kind).is_some() || self.hub.knows(kind)
    }

    fn reads(&self, kind: Kind<'_>, rules: &Rules) -> Reads {
        // A rule may name any field.
        if rules.find(kind).is_some() {
            return Reads::Status;
        }
        match (self.hub.reads_spec(kind), self.hub.reads_status(kind)) {
            (_, true) => Reads::Status,
            (true, false) => Reads::Spec,
            (false, false) => Reads::Metadata,
        }
    }

    fn watch(&self, kind: &KindName, api: Api<DynamicObject>, reads: Reads) -> Watch {
        let cache: Cache<DynamicObject> = Cache::of_kind(&kind.kind, &self.metrics);
        let (changed, kind) = (Arc::clone(&self.changed), kind.clone());
        cache.listen(move |change| {
            let is_news = !change.old.zip(change.new).is_some_and(|(old, new)| is_the_same(old, new));
            if let Some(object) = change.new.or(change.old).filter(|_| is_news) {
                let text = |it: &Option<String>| it.clone().unwrap_or_default();
                let (namespace, name) = (text(&object.metadata.namespace), text(&object.metadata.name));
                changed(News::Object(&ObjectKey { kind: kind.clone(), namespace, name }));
            }
        });
        let stop = self.stop.child_token();
        let config = watcher::Config::default();
        tokio::spawn(inform(api, config, cache.clone(), reads.prune(), stop.clone()));
        Watch { cache, filling: CircuitBreaker::default(), _running: stop.drop_guard() }
    }
}

impl Slot {
    /// What is known of the kind, if it is enough.
    fn known(&self, reads: Reads) -> Option<Arc<OwnerKind>> {
        *self.used.lock() = Instant::now();
        self.known.lock().as_ref().filter(|it| it.is_enough(reads)).map(Arc::clone)
    }
}
