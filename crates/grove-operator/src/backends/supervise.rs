//! Keeps what is known of each backend true: looks for it, tries again where it is missing, and looks again when what
//! it was found by has changed. A backend that fails does not concern the others.

use std::{
    collections::BTreeSet,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{FutureExt as _, StreamExt as _};
use grove_api::constants::annotations;
use grove_ownership::OwnerKey;
use grove_probe::{is_served, probe};
use grove_runtime::{Applier, Cache, Changed, InformerMetrics, Writer, differ_in_status_only};
use grove_scheduler::{Probe, Probed, ResourceUse, Uses};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, PartialObjectMeta},
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event, watcher},
    },
};
use serde_json::Value;
use tokio::{sync::Notify, task::JoinSet, time::sleep};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{info, warn};

use super::{
    metrics::BackendMetrics,
    state::{Backends, Entry, Readiness, Ready},
};

/// First and longest pause before a backend that failed is looked for again.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// How often one that works is looked for: an API server that was restarted with other features tells nobody.
const LOOK_AGAIN: Duration = Duration::from_mins(5);
/// How long the first list of its objects may take.
const FILL: Duration = Duration::from_secs(30);
/// What changes at the same time is looked at together.
const GATHER: Duration = Duration::from_millis(500);

/// Who is told of a change of an owner's object.
type OnChange = Arc<dyn Fn(&OwnerKey, Changed) + Send + Sync>;

/// What supervision works with.
#[derive(Clone)]
pub(crate) struct Surroundings {
    pub(crate) client: Client,
    /// Where objects are tried out, without creating them.
    pub(crate) namespace: String,
    pub(crate) informers: InformerMetrics,
    pub(crate) metrics: BackendMetrics,
    pub(crate) backends: Arc<Backends>,
    /// Called with an owner when an object of it changed.
    pub(crate) changed: OnChange,
    /// Who else is told when definitions of these names come, go or change.
    pub(crate) also: Vec<(BTreeSet<String>, Arc<Notify>)>,
    /// Called when a topology object of a scheduler changed, whosever it is.
    pub(crate) topology_changed: Arc<dyn Fn() + Send + Sync>,
}

/// Supervises every backend that the configuration asks for, until `stop`.
pub(crate) async fn supervise(around: Surroundings, stop: CancellationToken) {
    let mut tasks = JoinSet::new();
    let mut interests = around.also.clone();
    let backends = Arc::clone(&around.backends);
    for (name, entry, config) in backends.configured() {
        let doubt = Arc::new(Notify::new());
        interests.push((definitions(entry, config), Arc::clone(&doubt)));
        let one = One { name, around: around.clone(), doubt };
        tasks.spawn(async move { one.attend().await });
    }
    tasks.spawn(watch_definitions(around.client, interests));
    stop.run_until_cancelled(async { while tasks.join_next().await.is_some() {} }).await;
}

/// Names of the CustomResourceDefinitions that matter to a backend.
fn definitions(entry: &Entry, config: &Value) -> BTreeSet<String> {
    let used = entry.backend.resources(config).into_iter().map(|it| definition_of(&it.resource));
    let asked = entry.backend.probes(config).into_iter().filter_map(|it| match it {
        Probe::Definition(name) => Some(name),
        Probe::Served(resource) | Probe::Objects(resource) => {
            Some(format!("{}.{}", resource.resource, resource.group))
        }
        Probe::DryRun { .. } => None,
    });
    used.chain(asked).collect()
}

fn definition_of(resource: &ApiResource) -> String {
    format!("{}.{}", resource.plural, resource.group)
}

/// Raises doubts when a CustomResourceDefinition comes, goes or changes.
async fn watch_definitions(client: Client, interests: Vec<(BTreeSet<String>, Arc<Notify>)>) {
    let api: Api<PartialObjectMeta<CustomResourceDefinition>> = Api::all(client);
    follow(api, "CustomResourceDefinition", |changed| {
        let concerned = interests.iter().filter(|it| changed.is_none_or(|name| it.0.contains(name)));
        concerned.for_each(|it| it.1.notify_one());
    })
    .await;
}

/// Raises a doubt when an object of a kind that a backend reads comes, goes or changes.
async fn watch_objects(client: Client, resource: ApiResource, doubt: Arc<Notify>) {
    let api: Api<PartialObjectMeta<DynamicObject>> = Api::all_with(client, &resource);
    follow(api, &resource.kind, |_| doubt.notify_one()).await;
}

/// Calls `changed` with the name of each object that comes, goes or changes from now on; with none where any may have.
async fn follow<K>(api: Api<PartialObjectMeta<K>>, kind: &str, changed: impl Fn(Option<&str>))
where
    PartialObjectMeta<K>:
        kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned + Send + 'static,
{
    let mut events = std::pin::pin!(watcher(api, watcher::Config::default()).default_backoff());
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Apply(it) | Event::Delete(it)) => {
                changed(Some(it.metadata.name.as_deref().unwrap_or_default()));
            }
            // Something may have happened while nobody watched.
            Ok(Event::InitDone) => changed(None),
            Ok(_) => {}
            Err(error) => warn!(kind, %error, "watch failed, will be retried"),
        }
    }
}

/// One backend.
struct One {
    name: &'static str,
    around: Surroundings,
    /// What is known may not be true any more.
    doubt: Arc<Notify>,
}

/// A backend that works.
struct Working {
    probed: Probed,
    kinds: Vec<ResourceUse>,
    ready: Ready,
    /// Ends the watches of its kinds.
    watches: Arc<DropGuard>,
}

impl One {
    async fn attend(&self) {
        let mut working: Option<Working> = None;
        let mut pause = RETRY.0;
        loop {
            let started = Instant::now();
            // A backend of somebody else may do anything; its supervision goes on.
            let looking = AssertUnwindSafe(self.look(working.as_ref())).catch_unwind();
            let looked = looking.await.unwrap_or_else(|_| {
                Err(Trouble::Missing("its backend panicked; see the operator's log".to_owned()))
            });
            let was_ready = working.is_some();
            match looked {
                Ok(None) => pause = LOOK_AGAIN,
                Ok(Some(found)) => {
                    self.around.metrics.initialized(self.name, true, started.elapsed());
                    self.around.metrics.info(self.name);
                    info!(backend = self.name, version = ?found.ready.scheduler.version(), "the scheduler backend is ready");
                    self.around.backends.found(self.name, Readiness::Ready(found.ready.clone()));
                    working = Some(found);
                    pause = LOOK_AGAIN;
                }
                Err(Trouble::Passing(error)) if was_ready => {
                    warn!(backend = self.name, %error, "the scheduler backend cannot be looked for, will be retried");
                    pause = RETRY.1;
                }
                Err(Trouble::Passing(why) | Trouble::Missing(why)) => {
                    self.around.metrics.initialized(self.name, false, started.elapsed());
                    pause = if was_ready { RETRY.0 } else { (pause * 2).min(RETRY.1) };
                    working = None;
                    self.around.metrics.lost(self.name);
                    self.fail(why);
                }
            }
            // In a fixed order, so that a simulation can be repeated.
            tokio::select! {
                biased;
                () = self.doubt.notified() => {
                    sleep(GATHER).await;
                    pause = pause.min(RETRY.0);
                }
                () = sleep(pause) => {}
            }
        }
    }

    /// Says why, once for each reason.
    fn fail(&self, why: String) {
        let known = self.around.backends.readiness(self.name);
        if !matches!(known, Readiness::Failed(known) if known == why) {
            warn!(backend = self.name, why, "the scheduler backend is not ready");
            self.around.backends.found(self.name, Readiness::Failed(why));
        }
    }

    /// `None` where all is as it was.
    async fn look(&self, working: Option<&Working>) -> Result<Option<Working>, Trouble> {
        let client = &self.around.client;
        let backends = &self.around.backends;
        let Some((_, entry, config)) = backends.configured().find(|it| it.0 == self.name) else {
            return Err(Trouble::Missing("no profile configures it".to_owned()));
        };
        let probed = probe(client, &self.around.namespace, entry.backend.probes(config)).await?;
        let mut kinds = Vec::new();
        for used in entry.backend.resources(config) {
            if is_served(client, &used.resource).await? {
                kinds.push(used);
            }
        }
        let same_kinds = working.filter(|it| it.kinds == kinds);
        if same_kinds.is_some_and(|it| it.probed == probed) {
            return Ok(None);
        }
        if let Some(resource) = not_served_yet(entry, config, &probed, &kinds) {
            return Err(Trouble::Missing(format!("{resource} is defined, but not served yet")));
        }
        let scheduler = entry.backend.init(config, &probed).map_err(Trouble::Missing)?;
        let (applier, watches) = match same_kinds {
            // Their caches are filled.
            Some(it) => (Arc::clone(&it.ready.applier), Arc::clone(&it.watches)),
            None => self.watch(&kinds).await?,
        };
        Ok(Some(Working { probed, kinds, ready: Ready { scheduler, applier }, watches }))
    }

    /// What the backend writes, and asks for in a probe besides.
    fn read_and_written(&self) -> Vec<ApiResource> {
        let configured = self.around.backends.configured().find(|it| it.0 == self.name);
        let Some((_, entry, config)) = configured else { return Vec::new() };
        let probes = entry.backend.probes(config);
        let is_asked_for = |it: &ApiResource| {
            probes.iter().any(|probe| match probe {
                Probe::Objects(asked) => (&asked.group, &asked.resource) == (&it.group, &it.plural),
                _ => false,
            })
        };
        let uses = entry.backend.resources(config).into_iter();
        uses.map(|it| it.resource).filter(is_asked_for).collect()
    }

    /// Watches what the backend writes and reads, and waits until it is known.
    async fn watch(&self, kinds: &[ResourceUse]) -> Result<(Arc<Applier>, Arc<DropGuard>), Trouble> {
        let stop = CancellationToken::new();
        let guard = Arc::new(stop.clone().drop_guard());
        let client = self.around.client.clone();
        let of = |uses: Uses| kinds.iter().filter(move |it| it.uses == uses).map(|it| it.resource.clone());
        let writer = Writer::new(client.clone(), "grove-operator");
        let applier =
            Arc::new(Applier::new(writer, annotations::APPLIED, of(Uses::Writes), &self.around.informers));
        let changed = Arc::clone(&self.around.changed);
        applier.on_change(move |owner, what| changed(owner, what));
        let topology = self.around.backends.own_topologies().find(|it| it.0 == self.name);
        if let Some(cache) = topology.and_then(|(_, own)| applier.cache(&own.resource())) {
            let changed = Arc::clone(&self.around.topology_changed);
            listen_to_content(cache, move || changed());
        }
        for cache in self.read_and_written().iter().filter_map(|it| applier.cache(it)) {
            let doubt = Arc::clone(&self.doubt);
            listen_to_content(cache, move || doubt.notify_one());
        }
        let running = Arc::clone(&applier);
        tokio::spawn({
            let (client, stop) = (client.clone(), stop.clone());
            async move { running.run(client, stop).await }
        });
        for resource in of(Uses::Reads) {
            let (client, stop, doubt) = (client.clone(), stop.clone(), Arc::clone(&self.doubt));
            tokio::spawn(
                async move { stop.run_until_cancelled(watch_objects(client, resource, doubt)).await },
            );
        }
        match tokio::time::timeout(FILL, applier.synced()).await {
            Ok(()) => Ok((applier, guard)),
            Err(_) => {
                Err(Trouble::Missing("its objects cannot be listed; see the operator's log".to_owned()))
            }
        }
    }
}

/// Calls `changed` for every change but those of the status alone.
fn listen_to_content(cache: &Cache<DynamicObject>, changed: impl Fn() + Send + Sync + 'static) {
    cache.listen(move |change| {
        let only_status =
            change.old.zip(change.new).is_some_and(|(old, new)| differ_in_status_only(old, new));
        if !only_status {
            changed();
        }
    });
}

/// A resource that the backend writes, whose definition is there while discovery does not show it yet.
fn not_served_yet(entry: &Entry, config: &Value, probed: &Probed, kinds: &[ResourceUse]) -> Option<String> {
    let uses = entry.backend.resources(config);
    let missing = uses.iter().filter(|it| it.uses == Uses::Writes && !kinds.contains(it));
    missing.map(|it| &it.resource).find_map(|resource| {
        let name = definition_of(resource);
        probed.schema(&name, &resource.version).is_some().then_some(name)
    })
}

/// Why a backend cannot be used.
enum Trouble {
    /// The API server did not answer.
    Passing(String),
    /// What it needs is not there.
    Missing(String),
}

impl From<kube::Error> for Trouble {
    fn from(error: kube::Error) -> Self {
        let hint = match &error {
            kube::Error::Api(status) if status.code == 403 => {
                "; check the operator's ClusterRole (`grove manifests` prints it)"
            }
            _ => "",
        };
        Self::Passing(format!("the API server cannot be reached: {error}{hint}"))
    }
}
