//! Objects of any kind, as far as we may read them: watched where we may list them, asked for one by one where not.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_runtime::{Cache, InformerMetrics, inform};
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject, ListParams},
    core::GroupVersionKind,
    discovery::{Scope, pinned_kind},
    runtime::watcher,
};
use tokio::{
    sync::Mutex,
    time::{Instant, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::{debug, info};

use super::object_key::{KindName, ObjectKey};
use crate::{hub::Hub, rule::Rules, workload::Kind};

/// How long the first list of a kind may hold anybody up.
const FILL: Duration = Duration::from_secs(10);
/// When a kind that may not be listed, or that is not served, is tried again.
const AGAIN: Duration = Duration::from_mins(1);

/// Why an object is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotRead {
    /// We may not read it.
    Forbidden,
    /// There is none of this name.
    Absent,
    /// The API server does not serve the kind.
    NoKind,
    /// The API server did not answer.
    Failed(String),
}

/// Who is told what has changed.
pub(crate) type OnChange = Arc<dyn Fn(News<'_>) + Send + Sync>;

/// What has changed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum News<'a> {
    /// An object.
    Object(&'a ObjectKey),
    /// Objects of a kind may be read that could not be before.
    Readable(&'a KindName),
}

/// All that can be read.
pub(crate) struct Objects {
    client: Client,
    hub: Arc<Hub>,
    metrics: InformerMetrics,
    changed: OnChange,
    stop: CancellationToken,
    kinds: Mutex<BTreeMap<KindName, Known>>,
}

/// What is known of a kind.
enum Known {
    Served(Arc<Served>),
    /// The API server did not have it then.
    Missing(Instant),
}

/// A kind that the API server has.
struct Served {
    resource: ApiResource,
    is_namespaced: bool,
    reads: Reads,
    /// Where it may not be listed, there is none.
    watch: Option<Watch>,
    /// When an object was refused that may not be read, where none may be listed: the next one is not asked for soon.
    refused: parking_lot::Mutex<Option<Instant>>,
    tried: Instant,
}

/// A watch of a kind. It ends when nobody needs it any more.
struct Watch {
    cache: Cache<DynamicObject>,
    _running: DropGuard,
}

/// What groups depend on, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reads {
    Metadata,
    Spec,
    Status,
}

impl Objects {
    pub(crate) fn new(
        client: Client,
        hub: Arc<Hub>,
        metrics: InformerMetrics,
        changed: OnChange,
        stop: CancellationToken,
    ) -> Self {
        Self { client, hub, metrics, changed, stop, kinds: Mutex::default() }
    }

    /// The object. With `uid`, a cached one that is another is not believed.
    pub(crate) async fn read(
        &self,
        key: &ObjectKey,
        uid: Option<&str>,
        rules: &Rules,
    ) -> Result<Arc<DynamicObject>, NotRead> {
        if key.kind.is_pod() {
            // Not all pods of a cluster are worth a watch.
            let resource = ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&());
            let api = Api::namespaced_with(self.client.clone(), &key.namespace, &resource);
            return get(api, key, Reads::Metadata).await;
        }
        let served = self.served(&key.kind, rules).await?;
        if let Some(Watch { cache, .. }) = &served.watch {
            // A watch that is slow to start holds nobody up for ever.
            let _ = timeout(FILL, cache.synced()).await;
            let namespace = if served.is_namespaced { key.namespace.as_str() } else { "" };
            let found = cache.get(namespace, &key.name);
            if let Some(found) = found.filter(|it| uid.is_none() || it.metadata.uid.as_deref() == uid) {
                return Ok(found);
            }
        }
        if served.refused.lock().is_some_and(|it| it.elapsed() < AGAIN) {
            return Err(NotRead::Forbidden);
        }
        let (client, resource) = (self.client.clone(), &served.resource);
        let api = if served.is_namespaced {
            Api::namespaced_with(client, &key.namespace, resource)
        } else {
            Api::all_with(client, resource)
        };
        let answer = get(api, key, served.reads).await;
        if served.watch.is_none() {
            let now = (answer == Err(NotRead::Forbidden)).then(Instant::now);
            let before = std::mem::replace(&mut *served.refused.lock(), now);
            if before.is_some() && now.is_none() {
                (self.changed)(News::Readable(&key.kind));
            }
        }
        answer
    }

    /// Finds out what a kind is, and watches it where it may be.
    async fn served(&self, kind: &KindName, rules: &Rules) -> Result<Arc<Served>, NotRead> {
        let mut kinds = self.kinds.lock().await;
        let reads = self.reads(Kind::parse(&kind.api_version, &kind.kind), rules);
        let is_enough = |it: &Served| it.reads >= reads && (it.watch.is_some() || it.tried.elapsed() < AGAIN);
        match kinds.get(kind) {
            Some(Known::Served(known)) if is_enough(known) => return Ok(Arc::clone(known)),
            Some(Known::Missing(tried)) if tried.elapsed() < AGAIN => return Err(NotRead::NoKind),
            _ => {}
        }
        let Kind { group, version, kind: name } = Kind::parse(&kind.api_version, &kind.kind);
        let asked = GroupVersionKind::gvk(group, version, name);
        let found = in_time(pinned_kind(&self.client, &asked)).await?;
        let (resource, capabilities) = match found {
            Ok(found) => found,
            Err(kube::Error::Api(status)) if status.code == 403 => return Err(NotRead::Forbidden),
            Err(error) if is_missing(&error) => {
                kinds.insert(kind.clone(), Known::Missing(Instant::now()));
                return Err(NotRead::NoKind);
            }
            Err(error) => return Err(NotRead::Failed(error.to_string())),
        };
        let all: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let may_list = match in_time(all.list_metadata(&ListParams::default().limit(1))).await? {
            Ok(_) => true,
            Err(kube::Error::Api(status)) if status.code == 403 => false,
            Err(error) => return Err(NotRead::Failed(error.to_string())),
        };
        let served = Arc::new(Served {
            is_namespaced: capabilities.scope == Scope::Namespaced,
            reads,
            watch: may_list.then(|| self.watch(kind, all, reads)),
            resource,
            refused: parking_lot::Mutex::default(),
            tried: Instant::now(),
        });
        if may_list {
            info!(
                kind = kind.kind,
                api_version = kind.api_version,
                ?reads,
                "owners of this kind are watched"
            );
        } else {
            debug!(kind = kind.kind, api_version = kind.api_version, "owners of this kind may not be listed");
        }
        let before = kinds.insert(kind.clone(), Known::Served(Arc::clone(&served)));
        let was_readable = match before {
            None => true,
            Some(Known::Missing(_)) => false,
            Some(Known::Served(before)) => before.refused.lock().is_none() || !may_list,
        };
        drop(kinds);
        if !was_readable {
            (self.changed)(News::Readable(kind));
        }
        Ok(served)
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
        let prune = match reads {
            Reads::Metadata => prune_to_metadata,
            Reads::Spec => prune_status,
            Reads::Status => prune,
        };
        let stop = self.stop.child_token();
        tokio::spawn(inform(api, watcher::Config::default(), cache.clone(), prune, stop.clone()));
        Watch { cache, _running: stop.drop_guard() }
    }
}

/// Others wait meanwhile: a part of the API that does not answer holds nobody up for long.
async fn in_time<T>(asking: impl Future<Output = T>) -> Result<T, NotRead> {
    timeout(FILL, asking).await.map_err(|_| NotRead::Failed("the API server does not answer".to_owned()))
}

/// Whether the API server does not have the kind.
fn is_missing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 404,
        kube::Error::Discovery(_) => true,
        _ => false,
    }
}

/// Asks the API server.
async fn get(api: Api<DynamicObject>, key: &ObjectKey, reads: Reads) -> Result<Arc<DynamicObject>, NotRead> {
    let answer = if reads == Reads::Metadata {
        api.get_metadata(&key.name).await.map(|it| {
            let metadata = it.metadata;
            DynamicObject { types: None, metadata, data: serde_json::json!({}) }
        })
    } else {
        api.get(&key.name).await
    };
    match answer {
        Ok(mut object) => {
            prune(&mut object);
            Ok(Arc::new(object))
        }
        Err(kube::Error::Api(status)) if status.code == 403 => Err(NotRead::Forbidden),
        Err(kube::Error::Api(status)) if status.code == 404 => Err(NotRead::Absent),
        Err(error) => Err(NotRead::Failed(error.to_string())),
    }
}

/// Whether an object is what it was, but for its version.
fn is_the_same(old: &DynamicObject, new: &DynamicObject) -> bool {
    let (a, b) = (&old.metadata, &new.metadata);
    (&a.uid, &a.labels, &a.annotations, &a.owner_references)
        == (&b.uid, &b.labels, &b.annotations, &b.owner_references)
        && old.data == new.data
}

fn prune(object: &mut DynamicObject) {
    object.metadata.managed_fields = None;
}

fn prune_status(object: &mut DynamicObject) {
    prune(object);
    if let Some(fields) = object.data.as_object_mut() {
        fields.remove("status");
    }
}

fn prune_to_metadata(object: &mut DynamicObject) {
    prune(object);
    object.data = serde_json::json!({});
}
