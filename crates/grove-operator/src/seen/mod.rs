//! What is known of the cluster: one cache for each kind, and the indexes over them.

mod gang_names;
mod node_view;
mod pod_view;
mod quota_view;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use grove_api::{
    constants::labels,
    defaulting::default_pod_clique_set,
    wire::{
        ClusterTopologyBinding, KueueTopology, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang,
        SchedulerBackend,
    },
};
use grove_ownership::{OwnerKey, controller};
use grove_plan::{gang_names::has_role, topology::topology_name};
use grove_runtime::{Cache, Cached, Index, InformerMetrics, Stored};
use k8s_openapi::{
    api::{apps::v1::ControllerRevision, autoscaling::v2::HorizontalPodAutoscaler, core::v1::Service},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use kube::Resource;

pub(crate) use self::node_view::NodeView;
pub use self::pod_view::PodView;
pub(crate) use self::quota_view::QuotaView;
use crate::{key::Key, kueue::Kueue};

/// A kind whose objects belong to a set.
pub(crate) struct Children<K> {
    pub(crate) cache: Cache<K>,
    /// By controller.
    by_owner: Index<K>,
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
    /// By namespace and clique: those that start after it.
    pub(crate) cliques_by_parent: Index<PodClique>,
    pub(crate) gangs: Children<PodGang>,
    /// By themselves, as owners of what schedulers' backends made for them.
    gangs_by_self: Index<PodGang>,
    pub(crate) gangs_by_namespace: Index<PodGang>,
    /// Those that may have other names than ours, by the set that they say they are part of.
    named_gangs_by_set: Index<PodGang>,
    /// Likewise, by namespace and the PodCliques that they list.
    named_gangs_by_clique: Index<PodGang>,
    pub(crate) services: Children<Service>,
    pub(crate) autoscalers: Children<HorizontalPodAutoscaler>,
    /// Without the templates that they keep: the one that is needed is read when it is.
    pub(crate) revisions: Children<ControllerRevision>,
    pub(crate) pods: Cache<PodView>,
    /// By clique.
    pods_by_owner: Index<PodView>,
    /// By namespace and name of the set.
    pub(crate) pods_by_set: Index<PodView>,
    /// By namespace and name of the clique.
    pub(crate) pods_by_clique: Index<PodView>,
    /// By name of the node that they are bound to.
    pub(crate) pods_by_node: Index<PodView>,
    /// Empty where node loss is off.
    pub(crate) nodes: Cache<NodeView>,
    pub(crate) topologies: Cache<ClusterTopologyBinding>,
    /// By the name of their topology.
    pub(crate) sets_by_topology: Index<PodCliqueSet>,
    pub(crate) kueue: Kueue,
    /// Not there where the operator may not watch them: nothing may wait for it.
    pub(crate) quotas: Cache<QuotaView>,
    pub(crate) quotas_by_namespace: Index<QuotaView>,
    /// Not there in a cluster that has only upstream's kinds: nothing may wait for it.
    pub(crate) backends: Cache<SchedulerBackend>,
}

/// Index key of a name in a namespace; neither can have a slash.
pub(crate) fn joined(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}

impl<K: Cached> Children<K> {
    fn new(metrics: &InformerMetrics) -> Self {
        let cache = Cache::with_metrics(metrics);
        let by_owner = cache.index(|it: &K| {
            OwnerKey::of_controller(it.meta()).map(|it| it.to_string()).into_iter().collect()
        });
        let by_set = cache.index(|it: &K| by_label(it.meta(), labels::PART_OF));
        Self { cache, by_owner, by_set }
    }

    /// Those that `owner` controls.
    pub(crate) fn of_owner(&self, owner: &OwnerKey) -> Vec<Arc<K>> {
        self.by_owner.get(&owner.to_string())
    }

    /// Whether `owner` controls any.
    pub(crate) fn has_any_of(&self, owner: &OwnerKey) -> bool {
        self.by_owner.count(&owner.to_string()) > 0
    }

    /// Those, and those that `others` has: what somebody relabelled is still owned, and what only has the labels may be
    /// in the way.
    pub(crate) fn of_owner_and(&self, owner: &OwnerKey, others: Vec<Arc<K>>) -> Vec<Arc<K>> {
        let mut all = others;
        all.extend(self.of_owner(owner));
        all
    }
}

impl Seen {
    pub(crate) fn new(metrics: &InformerMetrics) -> Self {
        let cliques = Children::<PodClique>::new(metrics);
        let gangs = Children::<PodGang>::new(metrics);
        let pods: Cache<PodView> = Cache::with_metrics(metrics);
        let sets: Cache<PodCliqueSet> = Cache::with_metrics(metrics);
        let quotas: Cache<QuotaView> = Cache::with_metrics(metrics);
        Self {
            sets_by_topology: sets.index(|it| topology_name(it).map(str::to_owned).into_iter().collect()),
            sets,
            kueue: Kueue::new(Cache::of_kind(KueueTopology::KIND, metrics)),
            groups: Children::new(metrics),
            cliques_by_gang: cliques.cache.index(|it| by_label(&it.metadata, labels::POD_GANG)),
            cliques_by_group: cliques.cache.index(|it| by_label(&it.metadata, labels::SCALING_GROUP)),
            cliques_by_base: cliques.cache.index(|it| by_label(&it.metadata, labels::BASE_POD_GANG)),
            cliques_by_parent: cliques.cache.index(|it| {
                let namespace = it.metadata.namespace.as_deref().unwrap_or_default();
                it.spec.starts_after.iter().map(|parent| joined(namespace, parent)).collect()
            }),
            cliques,
            gangs_by_self: gangs.cache.index(|it| vec![OwnerKey::of(it).to_string()]),
            gangs_by_namespace: gangs
                .cache
                .index(|it: &PodGang| it.metadata.namespace.clone().into_iter().collect()),
            named_gangs_by_set: gangs
                .cache
                .index(|it| if has_role(it) { by_label(&it.metadata, labels::PART_OF) } else { Vec::new() }),
            named_gangs_by_clique: gangs.cache.index(gang_names::listed_by_named),
            gangs,
            services: Children::new(metrics),
            autoscalers: Children::new(metrics),
            revisions: Children::new(metrics),
            pods_by_owner: pods.index(|it| it.owner().map(|it| it.to_string()).into_iter().collect()),
            pods_by_set: pods.index(|it| vec![joined(it.namespace(), &it.set)]),
            pods_by_clique: pods.index(|it| vec![joined(it.namespace(), &it.clique)]),
            pods_by_node: pods
                .index(|it| Some(&it.fact.node).filter(|it| !it.is_empty()).cloned().into_iter().collect()),
            nodes: Cache::with_metrics(metrics),
            pods,
            topologies: Cache::with_metrics(metrics),
            quotas_by_namespace: quotas.index(|it| it.metadata.namespace.clone().into_iter().collect()),
            quotas,
            backends: Cache::with_metrics(metrics),
        }
    }

    /// The set that owns an object, directly or through a scaling group.
    pub(crate) fn set_of(&self, metadata: &ObjectMeta) -> Option<Arc<PodCliqueSet>> {
        let namespace = metadata.namespace.as_deref()?;
        let (name, owner) = (&controller(metadata)?.name, OwnerKey::of_controller(metadata)?);
        if owner.is_a::<PodCliqueSet>() {
            return self.sets.get(namespace, name).filter(|it| OwnerKey::of(it.as_ref()) == owner);
        }
        let group = self.groups.cache.get(namespace, name)?;
        if OwnerKey::of(group.as_ref()) == owner { self.set_of(&group.metadata) } else { None }
    }

    /// The set to wake for an object: its owner, or, where nobody knows that, what it says it is part of.
    pub(crate) fn set_key_of(&self, metadata: &ObjectMeta) -> Option<Key> {
        let namespace = metadata.namespace.as_deref()?;
        match controller_name_of::<PodCliqueSet>(metadata) {
            Some(name) => Some(Key::new(namespace, name)),
            _ => self
                .set_of(metadata)
                .map(|it| Key::of(it.as_ref()))
                .or_else(|| Some(Key::new(namespace, label(metadata, labels::PART_OF)?))),
        }
    }

    /// UIDs of everything that something may be remembered of. That is not pods, nodes and revisions: there are many, and
    /// what is remembered of them is with their owners.
    pub(crate) fn live(&self) -> BTreeSet<String> {
        fn uids<K: Stored>(cache: &Cache<K>, into: &mut BTreeSet<String>) {
            into.extend(cache.list().iter().filter_map(|it| it.meta().uid.clone()));
        }
        let mut live = BTreeSet::new();
        uids(&self.sets, &mut live);
        uids(&self.groups.cache, &mut live);
        uids(&self.cliques.cache, &mut live);
        uids(&self.gangs.cache, &mut live);
        uids(&self.services.cache, &mut live);
        uids(&self.autoscalers.cache, &mut live);
        uids(&self.topologies, &mut live);
        uids(&self.kueue.topologies, &mut live);
        uids(&self.backends, &mut live);
        live
    }

    /// Pods of a clique.
    pub(crate) fn pods_of(&self, clique: &PodClique) -> Vec<Arc<PodView>> {
        self.pods_by_owner.get(&OwnerKey::of(clique).to_string())
    }

    /// How many pods there are of the clique that a pod is of.
    pub(crate) fn count_siblings(&self, pod: &PodView) -> usize {
        pod.owner().map_or(0, |it| self.pods_by_owner.count(&it.to_string()))
    }

    /// The gang that is this owner.
    pub(crate) fn gang_of(&self, owner: &OwnerKey) -> Option<Arc<PodGang>> {
        self.gangs_by_self.get(&owner.to_string()).into_iter().next()
    }
}

/// The name of the controller of an object, if it is of the kind `K`.
pub(crate) fn controller_name_of<K: Cached>(metadata: &ObjectMeta) -> Option<&str> {
    let owner = OwnerKey::of_controller(metadata)?;
    controller(metadata).filter(|_| owner.is_a::<K>()).map(|it| it.name.as_str())
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

/// A revision is kept without its template.
pub(crate) fn prune_revision(revision: &mut ControllerRevision) {
    prune(revision);
    revision.data.0.take();
}

/// Nobody here reads who manages which field, and it is a third of an object.
pub(crate) fn prune<K: Resource>(object: &mut K) {
    object.meta_mut().managed_fields = None;
}
