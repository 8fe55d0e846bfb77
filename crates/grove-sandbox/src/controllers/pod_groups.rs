//! A PodGroup that is deleted stays until no pod that still runs, or is to run, belongs to it.
//!
//! In Kubernetes the finalizer comes from admission; where the server does not set it, this controller does.

use std::sync::Arc;

use grove_runtime::{Cache, InformerMetrics, Outcome, Queue, Writer, inform, patiently};
use kube::{
    Api,
    api::{ApiResource, DynamicObject},
    runtime::watcher::Config,
};
use parking_lot::Mutex;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::{Context, DEADLINE, error::ControllerError, queue, serve};
use crate::{caches::group_name, pod_key::PodKey};

const COMPONENT: &str = "podgroup-protection-controller";
const FINALIZER: &str = "scheduling.k8s.io/podgroup-protection";
const GROUP: &str = "scheduling.k8s.io";
const PLURAL: &str = "podgroups";

pub(super) struct PodGroups {
    context: Context,
    writer: Writer,
    /// Keys of PodGroups, which are like those of pods.
    queue: Queue<PodKey>,
    groups: Cache<DynamicObject>,
    served: Mutex<Option<ApiResource>>,
}

impl PodGroups {
    pub(super) fn new(context: Context) -> Arc<Self> {
        let queue = queue::<PodKey>(COMPONENT);
        let groups = Cache::<DynamicObject>::of_kind("PodGroup", &InformerMetrics::default());
        let woken = queue.clone();
        groups.listen(move |change| {
            if let Some(group) = change.new {
                woken.add(key(group));
            }
        });
        let (woken, known) = (queue.clone(), groups.clone());
        context.caches.pods.listen(move |change| {
            let Some(pod) = change.old.or(change.new) else { return };
            let Some(name) = group_name(pod) else { return };
            let namespace = pod.metadata.namespace.clone().unwrap_or_default();
            // Only one that waits for its pods cares.
            if known.get(&namespace, name).is_some_and(|it| it.metadata.deletion_timestamp.is_some()) {
                woken.add(PodKey { namespace, name: name.to_owned() });
            }
        });
        let writer = Writer::new(context.client.clone(), COMPONENT);
        Arc::new(Self { context, writer, queue, groups, served: Mutex::default() })
    }

    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let Some(Some(resource)) = stop.run_until_cancelled(self.discover()).await else {
            // A server without PodGroups does not get them later.
            stop.cancelled().await;
            return;
        };
        *self.served.lock() = Some(resource.clone());
        let api = Api::all_with(self.context.client.clone(), &resource);
        let watching = inform(api, Config::default(), self.groups.clone(), without_data, stop.clone());
        let working = async {
            let synced = async {
                self.context.caches.synced().await;
                self.groups.synced().await;
            };
            if stop.run_until_cancelled(synced).await.is_none() {
                return;
            }
            let groups = self.groups.list().iter().map(|it| key(it)).collect();
            let this = Arc::clone(&self);
            serve(&self.queue, &stop, groups, move |key| Arc::clone(&this).reconcile(key)).await;
        };
        tokio::join!(watching, working);
    }

    /// The version of PodGroups that the server prefers.
    async fn discover(&self) -> Option<ApiResource> {
        let client = &self.context.client;
        let groups = patiently(DEADLINE, || client.list_api_groups()).await;
        let groups = groups.inspect_err(|error| warn!(%error, "PodGroups are not protected")).ok()?;
        let group = groups.groups.into_iter().find(|it| it.name == GROUP)?;
        for version in group.preferred_version.into_iter().chain(group.versions) {
            let list = patiently(DEADLINE, || client.list_api_group_resources(&version.group_version)).await;
            let found = list.ok().and_then(|list| list.resources.into_iter().find(|it| it.name == PLURAL));
            if let Some(found) = found {
                return Some(ApiResource {
                    group: GROUP.to_owned(),
                    version: version.version,
                    api_version: version.group_version,
                    kind: found.kind,
                    plural: PLURAL.to_owned(),
                });
            }
        }
        None
    }

    async fn reconcile(self: Arc<Self>, key: PodKey) -> Result<Outcome, ControllerError> {
        let Some(group) = self.groups.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        let mut finalizers = group.metadata.finalizers.clone().unwrap_or_default();
        let is_protected = finalizers.iter().any(|it| it == FINALIZER);
        let is_deleted = group.metadata.deletion_timestamp.is_some();
        match (is_deleted, is_protected) {
            (false, true) | (true, false) => return Ok(Outcome::Done),
            (false, false) => finalizers.push(FINALIZER.to_owned()),
            (true, true) if self.is_used(&key) => return Ok(Outcome::Done),
            (true, true) => finalizers.retain(|it| it != FINALIZER),
        }
        let Some(resource) = self.served.lock().clone() else { return Ok(Outcome::Done) };
        let version = &group.metadata.resource_version;
        let patch = json!({ "metadata": { "resourceVersion": version, "finalizers": finalizers } });
        match self.writer.patch_kind(&resource, &key.namespace, &key.name, &patch).await {
            // The last finalizer takes the object with it.
            Ok(_) if is_deleted => {}
            Ok(written) => drop(self.groups.written(written)),
            Err(error) if error.is_not_found() => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Outcome::Done)
    }

    fn is_used(&self, key: &PodKey) -> bool {
        let pods = self.context.caches.pods_by_group.get(&format!("{}/{}", key.namespace, key.name));
        pods.iter().any(|pod| {
            let phase = pod.status.as_ref().and_then(|it| it.phase.as_deref());
            !matches!(phase, Some("Succeeded" | "Failed"))
        })
    }
}

fn key(group: &DynamicObject) -> PodKey {
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    PodKey { namespace: text(&group.metadata.namespace), name: text(&group.metadata.name) }
}

/// Only metadata is read.
fn without_data(group: &mut DynamicObject) {
    group.metadata.managed_fields = None;
    group.data = serde_json::Value::Null;
}
