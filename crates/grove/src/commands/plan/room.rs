//! The nodes that gangs are placed on: described, or those of a cluster.

use std::io;

use grove_api::{
    constants::labels,
    validation::Environment,
    wire::{ClusterTopologyBinding, TopologyLevel},
};
use grove_placement::{Cluster, Level, Node, pod, resources::GPU, topology};
use k8s_openapi::api::core::v1 as core;
use kube::{Api, Client, api::ListParams};

use super::sets::Set;
use crate::{
    cluster::{self, failure},
    described_topology::described_topology,
};

/// Objects of a page: clusters are large.
const PAGE: u32 = 500;

/// Nodes, and the pods on them.
pub(super) struct Room {
    pub(super) cluster: Cluster,
    /// Pods that run already.
    running: Vec<core::Pod>,
    /// What it was made from.
    pub(super) source: String,
}

impl Room {
    /// From one line, or from a file of that name.
    pub(super) fn described(text: &str) -> io::Result<Self> {
        Ok(Self { cluster: described_topology(text)?, running: Vec::new(), source: text.to_owned() })
    }

    /// The nodes of a cluster, and what its pods take of them.
    pub(super) async fn of_cluster(asked: &cluster::Cluster) -> io::Result<Self> {
        let objects: Vec<core::Node> = all(asked).await?;
        let nodes: Result<Vec<Node>, _> = objects.iter().map(Node::from_object).collect();
        let nodes = nodes.map_err(io::Error::other)?;
        let running = all(asked).await?;
        let cluster = Cluster::new(nodes, topology::standard_levels());
        Ok(Self { cluster, running, source: asked.server.clone() })
    }

    /// The levels by the names that people have for them.
    pub(super) fn levels(&self) -> Vec<TopologyLevel> {
        let level = |it: &Level| TopologyLevel { domain: it.name.clone(), key: it.key.clone() };
        self.cluster.levels().iter().map(level).collect()
    }

    /// Makes it the cluster of these sets: with the levels of their topologies, and without their own pods, as if they were
    /// created now.
    pub(super) fn prepare(&mut self, sets: &[Set]) {
        let own = |it: &core::Pod| {
            let set = it.metadata.labels.as_ref().and_then(|it| it.get(labels::PART_OF));
            let is_of = |of: &Set| {
                (of.object.metadata.name.as_ref(), &of.object.metadata.namespace)
                    == (set, &it.metadata.namespace)
            };
            sets.iter().any(is_of)
        };
        self.running.retain(|it| !own(it));
        let mut nodes = self.cluster.nodes().to_vec();
        let mut levels = self.cluster.levels().to_vec();
        for topology in sets.iter().filter_map(|it| it.topology.as_ref()) {
            let exists = |key: &str| nodes.iter().any(|it| it.label(key).is_some());
            // A described rack is a rack, whatever the label is that the topology has for racks.
            let renamed: Vec<(String, String)> = topology
                .levels
                .iter()
                .filter(|it| !exists(&it.key))
                .filter_map(|it| {
                    Some((levels.iter().find(|own| own.name == it.domain)?.key.clone(), it.key.clone()))
                })
                .collect();
            for node in &mut nodes {
                for (from, to) in &renamed {
                    let value = node.labels.get(from).cloned();
                    node.labels.extend(value.map(|it| (to.clone(), it)));
                }
            }
            let of_topology =
                topology.levels.iter().map(|it| Level { name: it.domain.clone(), key: it.key.clone() });
            let of_topology: Vec<Level> = of_topology.collect();
            levels.retain(|it| of_topology.iter().all(|own| own.key != it.key));
            // The wider levels first, as far as is known.
            levels.splice(0..0, of_topology);
        }
        let mut cluster = Cluster::new(nodes, levels);
        for running in &self.running {
            let is_over = ["Succeeded", "Failed"]
                .contains(&running.status.as_ref().and_then(|it| it.phase.as_deref()).unwrap_or_default());
            let Some(name) =
                running.spec.as_ref().and_then(|it| it.node_name.as_deref()).filter(|_| !is_over)
            else {
                continue;
            };
            // One that cannot be read runs all the same: it takes what can be known of it.
            if let (Some(node), Ok(it)) = (cluster.node_mut(name), pod::requirements(running)) {
                node.add_pod(&it);
            }
        }
        self.cluster = cluster;
    }

    /// Free and all GPUs.
    pub(super) fn gpus(&self) -> (i64, i64) {
        let nodes = self.cluster.nodes().iter();
        nodes.fold((0, 0), |(free, all), it| {
            (free.saturating_add(it.free(GPU)), all.saturating_add(it.allocatable.get(GPU)))
        })
    }
}

/// Adds the topologies of a cluster to what validation knows; those of the input go before them.
pub(super) async fn topologies(asked: &cluster::Cluster, environment: &mut Environment) -> io::Result<()> {
    let api: Api<ClusterTopologyBinding> = Api::all(Client::clone(&asked.client));
    match api.list(&ListParams::default()).await {
        Ok(list) => {
            let named =
                list.items.into_iter().map(|it| (it.metadata.name.unwrap_or_default(), it.spec.levels));
            environment.topologies.extend(named);
            Ok(())
        }
        // There is no Grove in it yet, or the user may not read them.
        Err(kube::Error::Api(status)) if matches!(status.code, 403 | 404) => Ok(()),
        Err(error) => Err(failure(&asked.server, &error)),
    }
}

async fn all<K>(asked: &cluster::Cluster) -> io::Result<Vec<K>>
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let api: Api<K> = Api::all(Client::clone(&asked.client));
    let mut params = ListParams::default().limit(PAGE);
    let mut items = Vec::new();
    loop {
        let page = api.list(&params).await.map_err(|it| failure(&asked.server, &it))?;
        items.extend(page.items);
        match page.metadata.continue_.filter(|it| !it.is_empty()) {
            Some(next) => params.continue_token = Some(next),
            None => return Ok(items),
        }
    }
}
