//! Everything that a set may have made in a namespace.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use k8s_openapi::api::{
    autoscaling::v2::HorizontalPodAutoscaler,
    core::v1::{Pod, Service},
};
use kube::{Resource, ResourceExt, api::ListParams};

use super::stage::{Child, api};
use crate::scenario::Context;

/// The objects of a namespace.
#[derive(Clone, Debug)]
pub(in crate::scenarios) struct World {
    pub(in crate::scenarios) sets: Vec<PodCliqueSet>,
    pub(in crate::scenarios) groups: Vec<PodCliqueScalingGroup>,
    pub(in crate::scenarios) cliques: Vec<PodClique>,
    pub(in crate::scenarios) gangs: Vec<PodGang>,
    pub(in crate::scenarios) services: Vec<Service>,
    pub(in crate::scenarios) autoscalers: Vec<HorizontalPodAutoscaler>,
    pub(in crate::scenarios) pods: Vec<Pod>,
}

impl World {
    /// Lists everything, children before what they are counted in: a status that is right is not held against younger
    /// children.
    pub(in crate::scenarios) async fn read(context: &Context) -> Result<Self> {
        Ok(Self {
            pods: list(context).await?,
            services: list(context).await?,
            autoscalers: list(context).await?,
            cliques: list(context).await?,
            groups: list(context).await?,
            gangs: list(context).await?,
            sets: list(context).await?,
        })
    }

    /// Whether nothing is left; else what is.
    pub(in crate::scenarios) fn leftovers(&self) -> Vec<String> {
        fn names<K: Resource<DynamicType = ()>>(all: &[K]) -> impl Iterator<Item = String> + '_ {
            all.iter().map(|it| format!("{} {}", K::kind(&()), it.name_any()))
        }
        names(&self.sets)
            .chain(names(&self.groups))
            .chain(names(&self.cliques))
            .chain(names(&self.gangs))
            .chain(names(&self.services))
            .chain(names(&self.autoscalers))
            .chain(names(&self.pods))
            .collect()
    }

    /// The names of all pods by UID.
    pub(in crate::scenarios) fn uids(&self) -> BTreeMap<String, String> {
        self.pods.iter().map(|it| (it.uid().unwrap_or_default(), it.name_any())).collect()
    }

    /// UIDs of the pods of cliques whose names begin with `prefix`.
    pub(in crate::scenarios) fn uids_of(&self, prefix: &str) -> BTreeSet<String> {
        let of_clique = |it: &&Pod| label(*it, labels::POD_CLIQUE).starts_with(prefix);
        self.pods.iter().filter(of_clique).map(|it| it.uid().unwrap_or_default()).collect()
    }

    /// A pod of a clique, by its index.
    pub(in crate::scenarios) fn pod(&self, clique: &str, index: u32) -> Result<&Pod> {
        let wanted = index.to_string();
        let found = self.pods.iter().find(|it| {
            label(*it, labels::POD_CLIQUE) == clique
                && label(*it, labels::POD_INDEX) == wanted
                && it.metadata.deletion_timestamp.is_none()
        });
        found.with_context(|| format!("{clique} has no pod {index}"))
    }

    pub(in crate::scenarios) fn set(&self, name: &str) -> Result<&PodCliqueSet> {
        named(&self.sets, name)
    }

    pub(in crate::scenarios) fn clique(&self, name: &str) -> Result<&PodClique> {
        named(&self.cliques, name)
    }

    pub(in crate::scenarios) fn group(&self, name: &str) -> Result<&PodCliqueScalingGroup> {
        named(&self.groups, name)
    }

    pub(in crate::scenarios) fn gang(&self, name: &str) -> Result<&PodGang> {
        named(&self.gangs, name)
    }
}

async fn list<K: Child>(context: &Context) -> Result<Vec<K>> {
    let list = api::<K>(context).list(&ListParams::default()).await;
    Ok(list.with_context(|| format!("list {}", K::kind(&())))?.items)
}

pub(in crate::scenarios) fn named<'a, K: Resource<DynamicType = ()>>(
    all: &'a [K],
    name: &str,
) -> Result<&'a K> {
    all.iter().find(|it| it.name_any() == name).with_context(|| format!("no {} {name}", K::kind(&())))
}

/// A label, empty where there is none.
pub(in crate::scenarios) fn label<'a, K: Resource>(object: &'a K, key: &str) -> &'a str {
    object.labels().get(key).map(String::as_str).unwrap_or_default()
}
