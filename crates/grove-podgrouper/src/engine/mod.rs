//! The pod grouper at work: pods are watched, their owners found, groups written.
//!
//! Read in the order of the data: `pod_view` is what is kept of pods, `schedulers` whose pods they are and what the cluster
//! has of each scheduler; `owners` climbs from a pod to the owner at the top, through `objects` (`owner_check` → `discovery` →
//! `owner_kinds`, within a `watch_budget` and behind a `circuit_breaker`: users choose what is read there); plugins decide ([`Hub`]); `look` puts that together for one pod; `group_change` and `pod_change` are what has to be written,
//! and `reconcile` does it. `dependents` knows whose group an object matters to, so that a change takes effect without an event of a pod;
//! `settings_watch`, `rules` and `namespaces` are what an admin sets in the cluster; `warnings` is what users are told.

mod circuit_breaker;
mod dependents;
mod discovery;
mod group_change;
mod kind_defaults;
mod look;
mod metrics;
mod namespaces;
mod object_key;
mod objects;
mod owner_check;
mod owner_kinds;
mod owner_object;
mod owners;
mod pod_change;
mod pod_view;
mod reconcile;
mod refusals;
mod rules;
mod schedulers;
mod settings_watch;
mod turns;
mod warnings;
mod watch_budget;

use std::{collections::BTreeMap, pin::pin, sync::Arc, time::Duration};

use grove_runtime::{
    Events, Handover, InformerMetrics, Queue, QueueMetrics, Switch as _, Term, Writer, work,
};
use grove_scheduler::Registry;
use kube::Client;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::info;

use self::{
    dependents::Dependents,
    namespaces::Namespaces,
    object_key::{KindName, ObjectKey, PodKey},
    objects::{News, Objects},
    pod_view::PodView,
    refusals::Refusals,
    rules::RulesWatch,
    schedulers::{Around, Groups, Served},
    settings_watch::SettingsWatch,
    turns::Turns,
    warnings::Warnings,
};
use crate::{hub::Hub, settings::Settings};

pub use self::{
    metrics::GrouperMetrics,
    schedulers::{Unserved, backend_of},
    settings_watch::ConfigMapName,
};

/// Upper bound of one look at a pod, so that no request that hangs holds a worker for ever.
const DEADLINE: Duration = Duration::from_mins(2);

/// What a pod grouper is made with.
#[derive(Clone, Debug)]
pub struct GrouperOptions {
    /// Schedulers whose pods are grouped: `NAME` or `NAME=BACKEND`.
    pub schedulers: Vec<String>,
    /// Only pods that a label selector selects; empty for all.
    pub pod_labels: String,
    /// Only pods of namespaces with these labels; empty for all.
    pub namespace_labels: BTreeMap<String, String>,
    /// What groups depend on.
    pub settings: Settings,
    /// The ConfigMap with defaults of kinds.
    pub kind_defaults: Option<ConfigMapName>,
    /// Pods that are looked at at a time.
    pub concurrency: usize,
    /// The grouper's own namespace.
    pub namespace: String,
}

/// The pod grouper.
pub struct Grouper {
    client: Client,
    hub: Arc<Hub>,
    schedulers: Vec<Arc<Served>>,
    objects: Objects,
    dependents: Arc<Dependents>,
    settings: Arc<SettingsWatch>,
    rules: Arc<RulesWatch>,
    namespaces: Namespaces,
    groups: Arc<tokio::sync::Mutex<Vec<Groups>>>,
    /// Pods to look at. Closed while another grouper leads, so that nothing gathers in it.
    queue: Queue<PodKey>,
    turns: Turns,
    refusals: Refusals,
    writer: Writer,
    warnings: Arc<Warnings>,
    metrics: GrouperMetrics,
    informers: InformerMetrics,
    options: GrouperOptions,
    /// Ends the watches.
    watching: CancellationToken,
}

/// What counts what a grouper does.
#[derive(Clone, Debug, Default)]
pub struct Counting {
    /// Caches.
    pub informers: InformerMetrics,
    /// The queue.
    pub queues: QueueMetrics,
    /// Its own writes.
    pub grouper: GrouperMetrics,
}

impl Grouper {
    /// A grouper that talks through `client` and tells through `events`.
    pub fn new(
        client: Client,
        events: Events,
        registry: &Registry,
        hub: Hub,
        options: GrouperOptions,
        counting: Counting,
    ) -> Result<Arc<Self>, Unserved> {
        let Counting { informers, queues, grouper } = counting;
        let (hub, dependents, watching) =
            (Arc::new(hub), Arc::<Dependents>::default(), CancellationToken::new());
        let queue = Queue::new("podgrouper", &queues);
        queue.close();
        let (known, woken) = (Arc::clone(&dependents), queue.clone());
        let changed = Arc::new(move |news: News<'_>| {
            let pods = match news {
                News::Object(object) => known.of(object),
                News::Readable(kind) => known.of_kind(kind),
            };
            for pod in pods {
                woken.add(pod);
            }
        });
        let known = Arc::clone(&dependents);
        let in_use = Arc::new(move |kind: &KindName| known.has_kind(kind));
        let this = Arc::new(Self {
            schedulers: schedulers::schedulers(&options.schedulers, registry, &informers)?,
            objects: Objects::new(
                client.clone(),
                Arc::clone(&hub),
                informers.clone(),
                changed,
                in_use,
                watching.clone(),
            ),
            settings: Arc::new(SettingsWatch::new(
                options.settings.clone(),
                options.kind_defaults.clone(),
                &informers,
            )),
            rules: Arc::new(RulesWatch::new(Arc::clone(&hub), &informers)),
            namespaces: Namespaces::new(options.namespace_labels.clone(), &informers),
            writer: Writer::new(client.clone(), "grove-podgrouper"),
            warnings: Arc::new(Warnings::new(events)),
            turns: Turns::default(),
            metrics: grouper,
            client,
            hub,
            dependents,
            queue,
            groups: Arc::default(),
            refusals: Refusals::default(),
            informers,
            options,
            watching,
        });
        this.listen();
        Ok(this)
    }

    /// Changes wake the pods that they concern.
    fn listen(self: &Arc<Self>) {
        for (scheduler, served) in self.schedulers.iter().enumerate() {
            let (queue, dependents) = (self.queue.clone(), Arc::clone(&self.dependents));
            served.pods.listen(move |change| {
                let is_same = change.old.zip(change.new).is_some_and(|(old, new)| old.groups_like(new));
                if let Some(pod) = change.new.or(change.old).filter(|_| !is_same) {
                    // A pod may own others.
                    let key = ObjectKey::new("v1", "Pod", pod.namespace(), pod.name());
                    dependents.of(&key).into_iter().for_each(|it| queue.add(it));
                    let (namespace, name) = (pod.namespace().to_owned(), pod.name().to_owned());
                    queue.add(PodKey { scheduler, namespace, name });
                }
            });
        }
        let weak = Arc::downgrade(self);
        self.settings.listen(move || {
            if let Some(this) = weak.upgrade() {
                (0..this.schedulers.len()).for_each(|it| this.wake_all(it));
            }
        });
        let weak = Arc::downgrade(self);
        self.rules.listen(move |rules| {
            if let Some(this) = weak.upgrade() {
                this.settings.put_rules(rules);
                (0..this.schedulers.len()).for_each(|it| this.wake_all(it));
            }
        });
        let weak = Arc::downgrade(self);
        self.namespaces.listen(move |namespace| {
            if let Some(this) = weak.upgrade() {
                (0..this.schedulers.len()).for_each(|it| this.wake_namespace(it, namespace));
            }
        });
    }

    /// Fills caches until `stop`; leaders and followers alike, so that a new leader need not wait.
    pub async fn watch(self: &Arc<Self>, stop: CancellationToken) {
        let mut tasks = JoinSet::new();
        for (scheduler, served) in self.schedulers.iter().enumerate() {
            let (this, served, stop) = (Arc::clone(self), Arc::clone(served), stop.clone());
            tasks.spawn(async move {
                let pods = served.watch_pods(this.client.clone(), &this.options.pod_labels, stop.clone());
                tokio::join!(pods, stop.run_until_cancelled(this.attend(scheduler)));
            });
        }
        let (this, token) = (Arc::clone(self), stop.clone());
        tasks.spawn(async move {
            let client = || this.client.clone();
            tokio::join!(
                this.settings.watch(client(), token.clone()),
                this.rules.watch(client(), token.clone()),
                this.namespaces.watch(client(), token)
            );
        });
        stop.cancelled().await;
        self.watching.cancel();
        while tasks.join_next().await.is_some() {}
    }

    /// Keeps a scheduler known.
    async fn attend(self: &Arc<Self>, scheduler: usize) {
        let around = Around {
            client: self.client.clone(),
            namespace: self.options.namespace.clone(),
            metrics: self.informers.clone(),
            stop: self.watching.clone(),
            groups: Arc::clone(&self.groups),
        };
        let weak = Arc::downgrade(self);
        let group_changed = Arc::new(move |namespace: &str, name: &str, is_gone: bool| {
            if let Some(this) = weak.upgrade() {
                this.group_changed(namespace, name, is_gone);
            }
        });
        self.schedulers[scheduler].attend(&around, || self.wake_all(scheduler), group_changed).await;
    }

    /// Looks at all pods of a scheduler.
    fn wake_all(&self, scheduler: usize) {
        for pod in self.schedulers[scheduler].pods.list() {
            let (namespace, name) = (pod.namespace().to_owned(), pod.name().to_owned());
            self.queue.add_background(PodKey { scheduler, namespace, name });
        }
    }

    fn wake_namespace(&self, scheduler: usize, namespace: &str) {
        for pod in self.schedulers[scheduler].in_namespace.get(namespace) {
            let (namespace, name) = (namespace.to_owned(), pod.name().to_owned());
            self.queue.add(PodKey { scheduler, namespace, name });
        }
    }

    /// Somebody changed a group: one of its pods sees to it. Of one that is gone, all pods may have another place now.
    fn group_changed(&self, namespace: &str, group: &str, is_gone: bool) {
        let members = self.schedulers.iter().enumerate().flat_map(|(scheduler, served)| {
            if is_gone {
                self.warnings.forget(&served.name, namespace, group);
                self.rules.used((scheduler, namespace.to_owned(), group.to_owned()), None);
            }
            let key = move |pod: &PodView| PodKey {
                scheduler,
                namespace: pod.namespace().to_owned(),
                name: pod.name().to_owned(),
            };
            served.members(namespace, group).into_iter().map(move |it| key(&it))
        });
        let members: Vec<PodKey> = members.collect();
        let woken = if is_gone { members.len() } else { 1 };
        members.into_iter().take(woken).for_each(|it| self.queue.add(it));
    }

    /// Whether every cache has been filled once; else what is missing.
    pub fn synced(&self) -> Result<(), String> {
        if let Some(served) = self.schedulers.iter().find(|it| !it.pods.is_synced()) {
            return Err(format!("the pods of {} are not known yet", served.name));
        }
        if !self.settings.is_synced() {
            return Err("PriorityClasses and defaults of kinds are not known yet".to_owned());
        }
        if self.namespaces.is_synced() { Ok(()) } else { Err("namespaces are not known yet".to_owned()) }
    }

    /// Works until the term ends. What is under way then is finished, or, where the term is lost, dropped. May be called for
    /// one term after the other.
    pub async fn work(self: &Arc<Self>, term: Term) -> Handover {
        let synced = async {
            for served in &self.schedulers {
                served.pods.synced().await;
            }
            self.namespaces.synced().await;
            self.settings.synced().await;
            self.rules.synced().await;
        };
        if term.run(synced).await.is_none() {
            return Handover::Idle;
        }
        info!("the caches are filled");
        self.queue.open();
        (0..self.schedulers.len()).for_each(|it| self.wake_all(it));
        let this = Arc::clone(self);
        let workers = work(self.queue.clone(), self.options.concurrency, DEADLINE, move |key| {
            Arc::clone(&this).reconcile(key)
        });
        let ending = async {
            term.ended().await;
            self.queue.close();
        };
        let reporting = term.run(self.rules.report(&self.writer));
        let mut working = pin!(async { tokio::join!(workers, ending, reporting) });
        // The lease may be lost while the last looks end.
        if term.lost().run_until_cancelled(working.as_mut()).await.is_none() {
            self.queue.abort();
            working.await;
        }
        Handover::Idle
    }
}
