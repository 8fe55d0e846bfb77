//! What a cluster says of sets and what belongs to them.

use std::collections::BTreeMap;

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Resource, ResourceExt};

use crate::commands::preemptions::Preemptions;

/// Namespace and name.
pub(in crate::commands) type Key = (String, String);
/// Objects of a kind.
pub(in crate::commands) type Objects<K> = BTreeMap<Key, K>;

/// The objects that were asked for.
#[derive(Clone, Debug, Default)]
pub(in crate::commands) struct Seen {
    pub(in crate::commands) sets: Objects<PodCliqueSet>,
    pub(in crate::commands) groups: Objects<PodCliqueScalingGroup>,
    pub(in crate::commands) cliques: Objects<PodClique>,
    pub(in crate::commands) gangs: Objects<PodGang>,
    /// Only where one set was asked for: there may be very many.
    pub(in crate::commands) pods: Objects<Pod>,
    /// Who preempted gangs. Likewise, and not while changes are followed.
    pub(in crate::commands) preemptions: Preemptions,
}

pub(in crate::commands) fn key<K: Resource>(object: &K) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

/// A label, empty where there is none.
pub(in crate::commands) fn label<'a, K: Resource>(object: &'a K, key: &str) -> &'a str {
    object.labels().get(key).map(String::as_str).unwrap_or_default()
}

/// Whether an object belongs to a set.
pub(in crate::commands) fn belongs<K: Resource>(object: &K, set: &PodCliqueSet) -> bool {
    object.meta().namespace == set.metadata.namespace && label(object, labels::PART_OF) == set.name_any()
}

/// Name of the PodClique that a pod belongs to: who owns it knows better than who relabelled it.
pub(in crate::commands) fn clique_of(pod: &Pod) -> &str {
    let owner = pod.owner_references().iter().find(|it| it.controller == Some(true));
    owner.map_or_else(|| label(pod, labels::POD_CLIQUE), |it| it.name.as_str())
}

/// How many pods a clique should have.
pub(in crate::commands) fn wanted(clique: &PodClique) -> usize {
    number(clique.spec.replicas.unwrap_or_default())
}

/// How many of them it needs at least: none where it is scaled to zero.
pub(in crate::commands) fn minimum(clique: &PodClique) -> usize {
    if clique.spec.replicas == Some(0) {
        return 0;
    }
    number(clique.spec.min_available.or(clique.spec.replicas).unwrap_or_default())
}

/// A count of the wire.
pub(in crate::commands) fn number(count: i32) -> usize {
    usize::try_from(count).unwrap_or_default()
}
