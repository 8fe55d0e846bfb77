//! What an admin sets in the cluster: which PriorityClasses there are, and what kinds get by default.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use grove_runtime::{Cache, InformerMetrics, inform};
use k8s_openapi::api::{core::v1::ConfigMap, scheduling::v1::PriorityClass};
use kube::{Api, Client, api::PartialObjectMeta, runtime::watcher};
use parking_lot::RwLock;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::kind_defaults;
use crate::{rule::Rules, settings::Settings};

/// How long the ConfigMap is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Settings as they are now.
pub(crate) struct SettingsWatch {
    now: RwLock<Arc<Settings>>,
    classes: Cache<PartialObjectMeta<PriorityClass>>,
    defaults: Option<Defaults>,
}

/// The ConfigMap with the defaults of kinds.
struct Defaults {
    place: ConfigMapName,
    cache: Cache<ConfigMap>,
}

/// Where a ConfigMap is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigMapName {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl SettingsWatch {
    pub(crate) fn new(given: Settings, place: Option<ConfigMapName>, metrics: &InformerMetrics) -> Self {
        let defaults = place.map(|place| Defaults { place, cache: Cache::of_kind("ConfigMap", metrics) });
        Self {
            now: RwLock::new(Arc::new(given)),
            classes: Cache::of_kind("PriorityClass", metrics),
            defaults,
        }
    }

    pub(crate) fn now(&self) -> Arc<Settings> {
        Arc::clone(&self.now.read())
    }

    /// These rules are in force from now on.
    pub(crate) fn put_rules(&self, rules: Rules) {
        let mut now = self.now.write();
        *now = Arc::new(Settings { rules, ..Settings::clone(&now) });
    }

    /// Calls `changed` when settings differ from what they were.
    pub(crate) fn listen(self: &Arc<Self>, changed: impl Fn() + Clone + Send + Sync + 'static) {
        let (weak, told) = (Arc::downgrade(self), changed.clone());
        self.classes.listen(move |_| {
            if weak.upgrade().is_some_and(|it| it.renew()) {
                told();
            }
        });
        if let Some(defaults) = &self.defaults {
            let weak = Arc::downgrade(self);
            defaults.cache.listen(move |_| {
                if weak.upgrade().is_some_and(|it| it.renew()) {
                    changed();
                }
            });
        }
    }

    /// Whether settings differ from what they were.
    fn renew(&self) -> bool {
        // Before the caches are read: of two that come by at the same time, the later one sees all.
        let mut now = self.now.write();
        let name = |it: &Arc<PartialObjectMeta<PriorityClass>>| it.metadata.name.clone();
        let classes: BTreeSet<String> = self.classes.list().iter().filter_map(name).collect();
        let kinds = match &self.defaults {
            None => Vec::new(),
            Some(Defaults { place, cache }) => {
                let found = cache.get(&place.namespace, &place.name);
                kind_defaults::read(found.as_deref()).unwrap_or_else(|why| {
                    let ConfigMapName { namespace, name } = place;
                    warn!(namespace, name, why, "the ConfigMap with defaults of kinds cannot be used");
                    Vec::new()
                })
            }
        };
        if now.priority_classes == classes && now.kinds == kinds {
            return false;
        }
        *now = Arc::new(Settings { priority_classes: classes, kinds, ..Settings::clone(&now) });
        true
    }

    /// Keeps them true until `stop`.
    pub(crate) async fn watch(&self, client: Client, stop: CancellationToken) {
        let all = watcher::Config::default();
        let classes = inform(Api::all(client.clone()), all, self.classes.clone(), prune_class, stop.clone());
        let defaults = async {
            if let Some(Defaults { place, cache }) = &self.defaults {
                let only = watcher::Config::default().fields(&format!("metadata.name={}", place.name));
                inform(Api::namespaced(client, &place.namespace), only, cache.clone(), prune_config, stop)
                    .await;
            }
        };
        tokio::join!(classes, defaults);
    }

    /// Whether all was read once that has to be.
    pub(crate) fn is_synced(&self) -> bool {
        self.classes.is_synced()
    }

    /// Waits for it. Without the ConfigMap kinds have no defaults, and nobody waits for long for one that cannot be read.
    pub(crate) async fn synced(&self) {
        self.classes.synced().await;
        if let Some(Defaults { place, cache }) = &self.defaults
            && timeout(PATIENCE, cache.synced()).await.is_err()
        {
            let ConfigMapName { namespace, name } = place;
            warn!(
                namespace,
                name, "the ConfigMap with defaults of kinds cannot be read: there are none for now"
            );
        }
    }
}

fn prune_class(class: &mut PartialObjectMeta<PriorityClass>) {
    class.metadata.managed_fields = None;
    class.metadata.annotations = None;
}

fn prune_config(config: &mut ConfigMap) {
    config.metadata.managed_fields = None;
    config.metadata.annotations = None;
}
