//! What is known of the cluster: one cache for each kind, and the indexes over them.

mod pod_view;

use std::{collections::BTreeMap, sync::Arc};

use grove_api::{
    constants::labels,
    defaulting::default_pod_clique_set,
    wire::{ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use grove_runtime::{Cache, Cached, Index, InformerMetrics};
use k8s_openapi::{
    api::{autoscaling::v2::HorizontalPodAutoscaler, core::v1::Service},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::Resource;

pub use self::pod_view::PodView;
use crate::key::Key;

/// A kind whose objects belong to a set.
pub(crate) struct Children<K> {
    pub(crate) cache: Cache<K>,
    /// By UID of the controller.
    pub(crate) by_owner: Index<K>,
    /// By namespace and name of the set that they say they are part of.
    pub(crate) by_set: Index<K>,
}

/// Everything that is known.
pub(crate) struct Seen {
    pub(crate) sets: Cache<PodCliqueSet>,
    pub(crate) groups: Children<PodCliqueScalingGroup>,
    pub(crate) cliques: Children<PodClique>,
    /// By namespace and gang.
    pub(crate) cliques_by_gang: Index<PodClique>,
    /// By namespace and scaling group.
    pub(crate) cliques_by_group: Index<PodClique>,
    /// By namespace and base gang: the cliques that wait for it.
    pub(crate) cliques_by_base: Index<PodClique>,
    pub(crate) gangs: Children<PodGang>,
    pub(crate) services: Children<Service>,
    pub(crate) autoscalers: Children<HorizontalPodAutoscaler>,
    pub(crate) pods: Cache<PodView>,
    /// By UID of the clique.
    pub(crate) pods_by_owner: Index<PodView>,
    /// By namespace and name of the set.
    pub(crate) pods_by_set: Index<PodView>,
    /// By namespace and name of the clique.
    pub(crate) pods_by_clique: Index<PodView>,
    pub(crate) topologies: Cache<ClusterTopologyBinding>,
}

/// Index key of a name in a namespace; neither can have a slash.
pub(crate) fn joined(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

impl<K: Cached> Children<K> {
    fn new(metrics: &InformerMetrics) -> Self {
        let cache = Cache::with_metrics(metrics);
        let by_owner =
            cache.index(|it: &K| controller_uid(it.meta()).map(str::to_owned).into_iter().collect());
        let by_set = cache.index(|it: &K| by_label(it.meta(), labels::PART_OF));
        Self { cache, by_owner, by_set }
    }

    /// Those that the object of this UID controls.
    pub(crate) fn of_owner(&self, uid: &str) -> Vec<Arc<K>> {
        self.by_owner.get(uid)
    }
}

impl Seen {
    pub(crate) fn new(metrics: &InformerMetrics) -> Self {
        let cliques = Children::<PodClique>::new(metrics);
        let pods: Cache<PodView> = Cache::with_metrics(metrics);
        Self {
            sets: Cache::with_metrics(metrics),
            groups: Children::new(metrics),
            cliques_by_gang: cliques.cache.index(|it| by_label(&it.metadata, labels::POD_GANG)),
            cliques_by_group: cliques.cache.index(|it| by_label(&it.metadata, labels::SCALING_GROUP)),
            cliques_by_base: cliques.cache.index(|it| by_label(&it.metadata, labels::BASE_POD_GANG)),
            cliques,
            gangs: Children::new(metrics),
            services: Children::new(metrics),
            autoscalers: Children::new(metrics),
            pods_by_owner: pods.index(|it| vec![it.fact.owner.clone()]),
            pods_by_set: pods.index(|it| vec![joined(it.namespace(), &it.set)]),
            pods_by_clique: pods.index(|it| vec![joined(it.namespace(), &it.clique)]),
            pods,
            topologies: Cache::with_metrics(metrics),
        }
    }

    /// The set that an object says it is part of.
    pub(crate) fn set_of(&self, metadata: &ObjectMeta) -> Option<Arc<PodCliqueSet>> {
        let key = set_key(metadata)?;
        self.sets.get(&key.namespace, &key.name)
    }

    /// The set of a clique, if it really owns it, directly or through a scaling group.
    pub(crate) fn set_of_clique(&self, clique: &PodClique) -> Option<Arc<PodCliqueSet>> {
        let set = self.set_of(&clique.metadata)?;
        let owner = controller_uid(&clique.metadata)?;
        let set_uid = set.metadata.uid.as_deref()?;
        if owner == set_uid {
            return Some(set);
        }
        let group = label(&clique.metadata, labels::SCALING_GROUP)?;
        let group = self.groups.cache.get(clique.metadata.namespace.as_deref()?, group)?;
        let is_ours =
            group.metadata.uid.as_deref() == Some(owner) && controller_uid(&group.metadata) == Some(set_uid);
        is_ours.then_some(set)
    }

    /// Pods of the clique with this UID.
    pub(crate) fn pods_of(&self, uid: &str) -> Vec<Arc<PodView>> {
        self.pods_by_owner.get(uid)
    }
}

/// UID of the object that controls it.
pub(crate) fn controller_uid(metadata: &ObjectMeta) -> Option<&str> {
    let owners = metadata.owner_references.iter().flatten();
    owners.filter(|it| it.controller == Some(true)).map(|it| it.uid.as_str()).next()
}

/// The set that an object says it is part of.
pub(crate) fn set_key(metadata: &ObjectMeta) -> Option<Key> {
    Some(Key::new(metadata.namespace.as_deref()?, label(metadata, labels::PART_OF)?))
}

pub(crate) fn label<'a>(metadata: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    metadata.labels.as_ref().and_then(|it: &BTreeMap<String, String>| it.get(key)).map(String::as_str)
}

fn by_label(metadata: &ObjectMeta, key: &str) -> Vec<String> {
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    label(metadata, key).map(|it| joined(namespace, it)).into_iter().collect()
}

/// A set is kept as admission would leave it, so that sets made before the webhook was there are no special case.
pub(crate) fn prune_set(set: &mut PodCliqueSet) {
    prune(set);
    if let Some(annotations) = &mut set.metadata.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
    default_pod_clique_set(set, None);
}

/// Nobody here reads who manages which field, and it is a third of an object.
pub(crate) fn prune<K: Resource>(object: &mut K) {
    object.meta_mut().managed_fields = None;
}
