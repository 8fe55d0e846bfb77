//! Namespaces whose pods are grouped, where an admin chose some.

use std::{collections::BTreeMap, sync::Arc};

use grove_runtime::{Cache, InformerMetrics, inform};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, api::PartialObjectMeta, runtime::watcher};
use tokio_util::sync::CancellationToken;

/// The namespaces that have some labels; without any, all of them.
pub(crate) struct Namespaces {
    wanted: BTreeMap<String, String>,
    cache: Cache<PartialObjectMeta<Namespace>>,
}

impl Namespaces {
    pub(crate) fn new(wanted: BTreeMap<String, String>, metrics: &InformerMetrics) -> Self {
        Self { wanted, cache: Cache::of_kind("Namespace", metrics) }
    }

    /// Whether pods of a namespace are grouped. Of one that is not known they are not.
    pub(crate) fn has(&self, name: &str) -> bool {
        if self.wanted.is_empty() {
            return true;
        }
        let Some(namespace) = self.cache.get("", name) else { return false };
        let labels = namespace.metadata.labels.clone().unwrap_or_default();
        self.wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
    }

    /// Calls `changed` with the name of each namespace that comes, goes or changes.
    pub(crate) fn listen(&self, changed: impl Fn(&str) + Send + Sync + 'static) {
        self.cache.listen(move |change| {
            let name =
                |it: Option<&Arc<PartialObjectMeta<Namespace>>>| it.and_then(|it| it.metadata.name.clone());
            if let Some(name) = name(change.new).or_else(|| name(change.old)) {
                changed(&name);
            }
        });
    }

    /// Keeps them known until `stop`, where anybody asks.
    pub(crate) async fn watch(&self, client: Client, stop: CancellationToken) {
        if !self.wanted.is_empty() {
            inform(Api::all(client), watcher::Config::default(), self.cache.clone(), prune, stop).await;
        }
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.wanted.is_empty() || self.cache.is_synced()
    }

    pub(crate) async fn synced(&self) {
        if !self.wanted.is_empty() {
            self.cache.synced().await;
        }
    }
}

fn prune(namespace: &mut PartialObjectMeta<Namespace>) {
    namespace.metadata.managed_fields = None;
    namespace.metadata.annotations = None;
}
