//! The schedulers whose pods are grouped: their pods, their groups, and what the cluster has of them.

use std::{sync::Arc, time::Duration};

use grove_api::constants::schedulers;
use grove_probe::probe;
use grove_runtime::{Cache, Index, InformerMetrics, differ_in_status_only, inform};
use grove_scheduler::{
    Probed, Registry, Scheduler, SchedulerBackend, WorkloadGroups,
    workload::{ENABLE_LABEL, ENABLED},
};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
    runtime::watcher,
};
use parking_lot::RwLock;
use serde_json::json;
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{info, warn};

use super::pod_view::{self, PodView};

/// First and longest pause before a scheduler that was not found is looked for again.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// How often one that works is looked for: it may be replaced by another version.
const LOOK_AGAIN: Duration = Duration::from_mins(5);
/// How long the first list of groups may take.
const FILL: Duration = Duration::from_secs(30);

/// Who is told of a group that somebody changed, or deleted, by namespace and name.
pub(crate) type OnGroupChange = Arc<dyn Fn(&str, &str, bool) + Send + Sync>;

/// A scheduler whose pods are grouped.
pub(crate) struct Served {
    /// What its pods carry as `schedulerName`.
    pub(crate) name: String,
    backend: Arc<dyn SchedulerBackend>,
    pub(crate) pods: Cache<PodView>,
    /// By namespace.
    pub(crate) in_namespace: Index<PodView>,
    /// By namespace and what may be the name of their group.
    in_group: Index<PodView>,
    ready: RwLock<Option<Ready>>,
}

/// A scheduler as this cluster has it.
#[derive(Clone)]
pub(crate) struct Ready {
    pub(crate) scheduler: Arc<dyn Scheduler>,
    pub(crate) resource: ApiResource,
    pub(crate) groups: Cache<DynamicObject>,
    /// By namespace.
    pub(crate) in_namespace: Index<DynamicObject>,
    probed: Probed,
}

/// Why a scheduler cannot be served.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unserved {
    /// Nobody knows its backend.
    #[error("--scheduler-name {0}: there is no backend {1:?}; there are: {2}")]
    NoBackend(String, String, String),
    /// It is named twice.
    #[error("--scheduler-name {0} is given twice")]
    Twice(String),
}

/// The name of a scheduler and its backend, of `NAME`, or of `NAME=BACKEND` for one that is installed under another name
/// than its own. A name that no backend has is one of KAI's, whose pod grouper takes any.
pub fn backend_of<'a, 'b>(
    text: &'a str,
    registry: &'b Registry,
) -> Result<(&'a str, &'b Arc<dyn SchedulerBackend>), Unserved> {
    let (name, wanted) = text.split_once('=').unwrap_or((text, text));
    let is_own_name = !text.contains('=');
    let backend =
        registry.get(wanted).or_else(|| is_own_name.then(|| registry.get(schedulers::KAI)).flatten());
    let backend = backend.ok_or_else(|| {
        let known: Vec<&str> = registry.all().iter().map(|it| it.name()).collect();
        Unserved::NoBackend(text.to_owned(), wanted.to_owned(), known.join(", "))
    })?;
    Ok((name, backend))
}

/// The schedulers of these names.
pub(crate) fn schedulers(
    names: &[String],
    registry: &Registry,
    metrics: &InformerMetrics,
) -> Result<Vec<Arc<Served>>, Unserved> {
    let mut served: Vec<Arc<Served>> = Vec::new();
    for text in names {
        let (name, backend) = backend_of(text, registry)?;
        if served.iter().any(|it| it.name == name) {
            return Err(Unserved::Twice(name.to_owned()));
        }
        let pods: Cache<PodView> = Cache::of_kind("Pod", metrics);
        let in_namespace = pods.index(|pod| vec![pod.namespace().to_owned()]);
        let in_group =
            pods.index(|pod| pod.group_names().map(|group| format!("{}/{group}", pod.namespace())).collect());
        let ready = RwLock::default();
        served.push(Arc::new(Served {
            name: name.to_owned(),
            backend: Arc::clone(backend),
            pods,
            in_namespace,
            in_group,
            ready,
        }));
    }
    Ok(served)
}

impl Served {
    pub(crate) fn ready(&self) -> Option<Ready> {
        self.ready.read().clone()
    }

    /// Pods that say that they are in a group, those aside that are going.
    pub(crate) fn members(&self, namespace: &str, group: &str) -> Vec<Arc<PodView>> {
        let Some(ready) = self.ready() else { return Vec::new() };
        let Some(workloads) = ready.scheduler.workloads() else { return Vec::new() };
        let named = self.in_group.get(&format!("{namespace}/{group}"));
        let is_in = |it: &Arc<PodView>| !it.is_going() && workloads.group_of(&it.to_value()) == Some(group);
        named.into_iter().filter(is_in).collect()
    }

    /// Which pods are watched.
    fn selection(&self, labels: &str) -> watcher::Config {
        // It is never done to every pod of a cluster.
        let opt_in = format!("{ENABLE_LABEL}={ENABLED}");
        let opt_in = (self.backend.name() == schedulers::DEFAULT).then_some(opt_in.as_str());
        let labels: Vec<&str> =
            opt_in.into_iter().chain([labels].into_iter().filter(|it| !it.is_empty())).collect();
        let config = watcher::Config::default().fields(&format!("spec.schedulerName={}", self.name));
        if labels.is_empty() { config } else { config.labels(&labels.join(",")) }
    }

    /// Keeps its pods known until `stop`.
    pub(crate) async fn watch_pods(&self, client: Client, labels: &str, stop: CancellationToken) {
        inform(Api::all(client), self.selection(labels), self.pods.clone(), pod_view::prune, stop).await;
    }

    /// Looks for the scheduler, again and again; `changed` is called when another one, or the first one, was found, and
    /// `group_changed` with namespace and name of a group that somebody changed or deleted.
    pub(crate) async fn attend(&self, around: &Around, changed: impl Fn(), group_changed: OnGroupChange) {
        let mut pause = RETRY.0;
        loop {
            match self.look(around, &group_changed).await {
                Ok(false) => pause = LOOK_AGAIN,
                Ok(true) => {
                    changed();
                    pause = LOOK_AGAIN;
                }
                Err(why) => {
                    warn!(scheduler = self.name, why, "the scheduler cannot be served, will be retried");
                    pause = if pause == LOOK_AGAIN { RETRY.0 } else { (pause * 2).min(RETRY.1) };
                }
            }
            sleep(pause).await;
        }
    }

    /// Whether what was found differs from what was known.
    async fn look(&self, around: &Around, group_changed: &OnGroupChange) -> Result<bool, String> {
        let config = json!({});
        let probed = probe(&around.client, &around.namespace, self.backend.probes(&config)).await;
        let probed = probed.map_err(|error| format!("the API server cannot be reached: {error}"))?;
        let known = self.ready();
        if known.as_ref().is_some_and(|it| it.probed == probed) {
            return Ok(false);
        }
        let scheduler = self.backend.init(&config, &probed)?;
        let resource = scheduler.workloads().map(WorkloadGroups::resource);
        let resource = resource.ok_or("its backend cannot group pods that exist already")?;
        let Groups { cache: groups, in_namespace, .. } = watched(around, &resource, group_changed).await?;
        info!(scheduler = self.name, backend = self.backend.name(), version = ?scheduler.version(), "the scheduler is served");
        *self.ready.write() = Some(Ready { scheduler, resource, groups, in_namespace, probed });
        Ok(true)
    }
}

/// Groups of one kind. Two schedulers may have the same kind: then they see the same groups.
#[derive(Clone)]
pub(crate) struct Groups {
    resource: ApiResource,
    cache: Cache<DynamicObject>,
    in_namespace: Index<DynamicObject>,
    /// Ends the watch.
    _running: Arc<DropGuard>,
}

/// Keeps the groups of a kind known, and waits until they are.
async fn watched(
    around: &Around,
    resource: &ApiResource,
    group_changed: &OnGroupChange,
) -> Result<Groups, String> {
    let mut all = around.groups.lock().await;
    if let Some(known) = all.iter().find(|it| it.resource == *resource) {
        return Ok(known.clone());
    }
    let groups: Cache<DynamicObject> = Cache::of_kind(&resource.kind, &around.metrics);
    let in_namespace = groups.index(|it| vec![namespace_of(it).to_owned()]);
    let told = Arc::clone(group_changed);
    groups.listen(move |change| {
        let is_same = change.old.zip(change.new).is_some_and(|(old, new)| differ_in_status_only(old, new));
        // One that appears was made by us, or is in nobody's way.
        if let Some(old) = change.old.filter(|_| !is_same) {
            let name = old.metadata.name.as_deref().unwrap_or_default();
            told(namespace_of(old), name, change.new.is_none());
        }
    });
    let (api, stop) = (Api::all_with(around.client.clone(), resource), around.stop.child_token());
    // Where it cannot be listed, it ends with us.
    let running = Arc::new(stop.clone().drop_guard());
    tokio::spawn(inform(api, watcher::Config::default(), groups.clone(), prune, stop));
    if timeout(FILL, groups.synced()).await.is_err() {
        return Err(format!("{} cannot be listed; the log says why", resource.plural));
    }
    let watched = Groups { resource: resource.clone(), cache: groups, in_namespace, _running: running };
    all.push(watched.clone());
    Ok(watched)
}

/// What a scheduler is looked for with.
#[derive(Clone)]
pub(crate) struct Around {
    pub(crate) client: Client,
    /// Where objects are tried out, without creating them.
    pub(crate) namespace: String,
    pub(crate) metrics: InformerMetrics,
    pub(crate) stop: CancellationToken,
    /// Those that are watched.
    pub(crate) groups: Arc<tokio::sync::Mutex<Vec<Groups>>>,
}

fn namespace_of(object: &DynamicObject) -> &str {
    object.metadata.namespace.as_deref().unwrap_or_default()
}

/// Whoever reads groups reads neither who wrote them nor what became of them.
fn prune(object: &mut DynamicObject) {
    object.metadata.managed_fields = None;
    if let Some(fields) = object.data.as_object_mut() {
        fields.remove("status");
    }
}
