//! Asks a cluster, in pages: a cluster has many pods. Only by lists: who may only read may do that.

use std::{fmt::Debug, io};

use grove_api::{
    constants::labels,
    wire::{ClusterTopologyBinding, KueueTopology, PodGang},
};
use k8s_openapi::api::core::v1::{Node as ApiNode, Pod};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DynamicObject, GroupVersionKind, ListParams},
};
use serde::de::DeserializeOwned;

use super::{
    facts::{BoundPod, Facts, Gang, GangName, Kind, Level, Node, NodeState, Topology},
    naming, natural,
};
use crate::{
    amount::Amount,
    cluster::{Cluster, failure},
    demand,
};

/// Objects in one answer.
const PAGE: u32 = 500;
/// How often a list is begun anew because its pages became too old on the way.
const TRIES: usize = 3;
/// Only pods that have a node and have not ended take something.
const BOUND: &str = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed";

/// All that there is to show; with a name, of that topology only. Where there is none, nothing else is asked for.
pub(super) async fn read(cluster: &Cluster, name: Option<&str>, resource: &str) -> io::Result<Facts> {
    let failed = |error: kube::Error| failure(&cluster.server, &error);
    let topologies = bindings(&cluster.client).await.map_err(failed)?;
    let mut facts = Facts { topologies, ..Facts::default() };
    match kueue(&cluster.client).await.map_err(failed)? {
        Some(more) => facts.topologies.extend(more),
        None => facts.kueue_refused = true,
    }
    facts.topologies.retain(|it| name.is_none_or(|name| it.name == name));
    if facts.topologies.is_empty() {
        return Ok(facts);
    }
    facts.nodes = nodes(cluster, resource).await?;
    facts.pods = readable(pods(&cluster.client, resource).await).map_err(failed)?;
    facts.gangs = readable(gangs(&cluster.client).await).map_err(failed)?;
    Ok(facts)
}

/// All nodes, in the order in which people count.
pub(super) async fn nodes(cluster: &Cluster, resource: &str) -> io::Result<Vec<Node>> {
    let api: Api<ApiNode> = Api::all(cluster.client.clone());
    let list = pages(&api, &ListParams::default(), |it| Some(node(it, resource))).await;
    let mut nodes = list.map_err(|error| failure(&cluster.server, &error))?;
    nodes.sort_by(|a, b| natural::order(&a.name, &b.name));
    Ok(nodes)
}

/// What is not there, or not ours to read.
fn readable<T>(answer: kube::Result<T>) -> kube::Result<Option<T>> {
    match answer {
        Ok(it) => Ok(Some(it)),
        Err(kube::Error::Api(status)) if matches!(status.code, 403 | 404) => Ok(None),
        Err(error) => Err(error),
    }
}

/// All objects, of which `keep` keeps what is needed.
async fn pages<K, T>(
    api: &Api<K>,
    params: &ListParams,
    mut keep: impl FnMut(K) -> Option<T>,
) -> kube::Result<Vec<T>>
where
    K: Clone + DeserializeOwned + Debug,
{
    let first = params.clone().limit(PAGE);
    let (mut kept, mut page, mut tries) = (Vec::new(), first.clone(), 1);
    loop {
        let list = match api.list(&page).await {
            Ok(list) => list,
            Err(kube::Error::Api(status)) if status.code == 410 && tries < TRIES => {
                (kept, page, tries) = (Vec::new(), first.clone(), tries + 1);
                continue;
            }
            Err(error) => return Err(error),
        };
        kept.extend(list.items.into_iter().filter_map(&mut keep));
        match list.metadata.continue_.filter(|it| !it.is_empty()) {
            Some(next) => page = page.continue_token(&next),
            None => return Ok(kept),
        }
    }
}

/// A cluster without Grove may have Kueue's.
async fn bindings(client: &Client) -> kube::Result<Vec<Topology>> {
    let api: Api<ClusterTopologyBinding> = Api::all(client.clone());
    let topology = |it: ClusterTopologyBinding| {
        let levels = it.spec.levels.iter();
        Some(Topology {
            name: it.name_any(),
            kind: Kind::ClusterTopologyBinding,
            levels: levels.map(|it| Level { domain: it.domain.clone(), key: it.key.clone() }).collect(),
        })
    };
    match pages(&api, &ListParams::default(), topology).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        other => other,
    }
}

/// Kueue's, in the newest version that is served; `None` where they must not be read.
async fn kueue(client: &Client) -> kube::Result<Option<Vec<Topology>>> {
    // Who may not list something is refused it also where it does not exist: only this tells.
    let groups = client.list_api_groups().await?;
    let served: Vec<String> = groups
        .groups
        .into_iter()
        .filter(|it| it.name == KueueTopology::GROUP)
        .flat_map(|it| it.versions)
        .map(|it| it.version)
        .collect();
    for version in KueueTopology::VERSIONS.into_iter().filter(|it| served.iter().any(|served| served == it)) {
        let kind = GroupVersionKind::gvk(KueueTopology::GROUP, version, KueueTopology::KIND);
        let resource = ApiResource::from_gvk_with_plural(&kind, KueueTopology::PLURAL);
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        match pages(&api, &ListParams::default(), |it| Some(kueue_topology(&it))).await {
            Ok(all) => return Ok(Some(all)),
            // Kueue serves other kinds in versions that have no Topology.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(kube::Error::Api(status)) if status.code == 403 => return Ok(None),
            Err(error) => return Err(error),
        }
    }
    Ok(Some(Vec::new()))
}

fn kueue_topology(object: &DynamicObject) -> Topology {
    let levels = object.data["spec"]["levels"].as_array().into_iter().flatten();
    let keys: Vec<&str> = levels.filter_map(|it| it["nodeLabel"].as_str()).collect();
    let level = |(key, domain): (&&str, String)| Level { domain, key: (*key).to_owned() };
    let levels = keys.iter().zip(naming::domains(keys.iter().copied())).map(level).collect();
    Topology { name: object.name_any(), kind: Kind::Kueue, levels }
}

fn node(node: ApiNode, resource: &str) -> Node {
    let status = node.status.unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let ready = conditions.iter().any(|it| it.type_ == "Ready" && it.status == "True");
    let cordoned = node.spec.is_some_and(|it| it.unschedulable == Some(true));
    let state = match (ready, cordoned) {
        (false, _) => NodeState::NotReady,
        (true, true) => NodeState::Cordoned,
        (true, false) => NodeState::Usable,
    };
    let allocatable = status.allocatable.as_ref().and_then(|it| it.get(resource)).map(Amount::of);
    Node {
        name: node.metadata.name.unwrap_or_default(),
        labels: node.metadata.labels.unwrap_or_default(),
        allocatable: allocatable.unwrap_or_default(),
        state,
    }
}

async fn pods(client: &Client, resource: &str) -> kube::Result<Vec<BoundPod>> {
    let api: Api<Pod> = Api::all(client.clone());
    let bound = |pod: Pod| {
        let spec = pod.spec?;
        let leaves = pod.metadata.deletion_timestamp.is_some();
        let namespace = pod.metadata.namespace.unwrap_or_default();
        let gang = pod.metadata.labels.unwrap_or_default().remove(labels::POD_GANG).filter(|_| !leaves);
        let takes = demand::of_pod(&spec, resource);
        Some(BoundPod { node: spec.node_name?, takes, gang: gang.map(|name| GangName { namespace, name }) })
    };
    pages(&api, &ListParams::default().fields(BOUND), bound).await
}

async fn gangs(client: &Client) -> kube::Result<Vec<Gang>> {
    let api: Api<PodGang> = Api::all(client.clone());
    let gang = |gang: PodGang| {
        let name = GangName { namespace: gang.namespace().unwrap_or_default(), name: gang.name_any() };
        let constraint = gang.spec.topology_constraint.and_then(|it| it.pack_constraint);
        Some(Gang { name, required: constraint.and_then(|it| it.required) })
    };
    pages(&api, &ListParams::default(), gang).await
}

#[cfg(test)]
mod tests;
