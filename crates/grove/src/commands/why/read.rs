//! Asks a cluster. Only by lists: who may only read may do that.

use std::io;

use grove_api::{
    constants::{conditions::pod_gang, labels},
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang, SchedulerBackend},
};
use grove_scheduler::Registry;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, Resource, ResourceExt, api::ListParams, core::NamespaceResourceScope};
use serde::de::DeserializeOwned;

use super::{
    Target,
    facts::{Facts, is_placed},
    nodes,
};
use crate::{
    cluster::{Cluster, failure},
    commands::preemptions,
};

/// What was found.
pub(super) enum Answer {
    /// All that is known of gangs.
    Gangs(Box<Facts>),
    /// A pod that is in no gang of Grove's.
    Foreign(Box<Pod>),
    /// There is no such object.
    Missing,
}

/// Asks about gangs.
pub(super) async fn read(
    cluster: &Cluster,
    namespace: &str,
    registry: &Registry,
    target: &Target,
) -> io::Result<Answer> {
    let place = Place { cluster, namespace };
    let registry = registry.clone();
    let mut facts = Facts { namespace: namespace.to_owned(), registry, ..Facts::default() };
    match target {
        Target::Set(name) => {
            if place.named::<PodCliqueSet>(name).await?.is_none() {
                return Ok(Answer::Missing);
            }
            facts.set.clone_from(name);
            facts.pods = place.labelled(labels::PART_OF, name).await?;
        }
        Target::Gang(name) => {
            let Some(gang) = place.named::<PodGang>(name).await? else { return Ok(Answer::Missing) };
            facts.set = label(&gang, labels::PART_OF);
            facts.gang = Some(name.clone());
            facts.pods = place.labelled(labels::POD_GANG, name).await?;
        }
        Target::Pod(name) => {
            let Some(pod) = place.named::<Pod>(name).await? else { return Ok(Answer::Missing) };
            let gang = label(&pod, labels::POD_GANG);
            if gang.is_empty() {
                return Ok(Answer::Foreign(Box::new(pod)));
            }
            facts.set = label(&pod, labels::PART_OF);
            facts.pod = Some(name.clone());
            facts.pods = place.labelled(labels::POD_GANG, &gang).await?;
            facts.gang = Some(gang);
        }
        Target::Group(name) => {
            let Some(group) = place.named::<PodCliqueScalingGroup>(name).await? else {
                return Ok(Answer::Missing);
            };
            facts.set = label(&group, labels::PART_OF);
            facts.group = Some(name.clone());
            // All of the set: its gangs have other pods too.
            facts.pods = place.labelled(labels::PART_OF, &facts.set).await?;
        }
        Target::Clique(name) => {
            let Some(clique) = place.named::<PodClique>(name).await? else { return Ok(Answer::Missing) };
            let gang = label(&clique, labels::POD_GANG);
            facts.set = label(&clique, labels::PART_OF);
            facts.pods = place.labelled(labels::POD_GANG, &gang).await?;
            facts.gang = Some(gang);
        }
        Target::Other(..) => return Ok(Answer::Missing),
    }
    facts.gangs = place.labelled(labels::PART_OF, &facts.set).await?;
    facts.backends = backends(cluster).await?;
    if facts.gangs.iter().any(|it| facts.is_asked(it) && is_refused(it)) {
        facts.nodes = nodes::read(cluster).await?;
    }
    if facts.gangs.iter().any(|it| facts.is_asked(it) && !is_placed(it)) {
        let events = Api::namespaced(cluster.client.clone(), namespace);
        facts.preemptions = preemptions::read(&events).await.map_err(|it| failure(&cluster.server, &it))?;
    }
    Ok(Answer::Gangs(Box::new(facts)))
}

/// Whether its scheduler says that it cannot be placed, or says nothing of it as a whole.
fn is_refused(gang: &PodGang) -> bool {
    let mut conditions = gang.status.iter().flat_map(|it| &it.conditions);
    let waits = [pod_gang::UNSCHEDULABLE, pod_gang::WAITING_FOR_SCHEDULER];
    conditions.any(|it| {
        it.type_ == pod_gang::SCHEDULED && it.status == "False" && waits.contains(&it.reason.as_str())
    })
}

fn label<K: Resource>(object: &K, key: &str) -> String {
    object.labels().get(key).cloned().unwrap_or_default()
}

struct Place<'a> {
    cluster: &'a Cluster,
    namespace: &'a str,
}

impl Place<'_> {
    async fn list<K>(&self, params: &ListParams) -> io::Result<Vec<K>>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.cluster.client.clone(), self.namespace);
        let list = api.list(params).await.map_err(|it| failure(&self.cluster.server, &it))?;
        Ok(list.items)
    }

    async fn named<K>(&self, name: &str) -> io::Result<Option<K>>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        let params = ListParams::default().fields(&format!("metadata.name={name}"));
        Ok(self.list(&params).await?.pop())
    }

    async fn labelled<K>(&self, key: &str, value: &str) -> io::Result<Vec<K>>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + DeserializeOwned,
    {
        self.list(&ListParams::default().labels(&format!("{key}={value}"))).await
    }
}

/// They have no namespace, so that who may read a namespace may be refused them; and another operator has none.
async fn backends(cluster: &Cluster) -> io::Result<Option<Vec<SchedulerBackend>>> {
    let api: Api<SchedulerBackend> = Api::all(Client::clone(&cluster.client));
    match api.list(&ListParams::default()).await {
        Ok(list) => Ok(Some(list.items)),
        Err(kube::Error::Api(status)) if matches!(status.code, 403 | 404) => Ok(None),
        Err(error) => Err(failure(&cluster.server, &error)),
    }
}

#[cfg(test)]
mod tests;
