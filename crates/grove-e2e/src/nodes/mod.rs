//! Simulated nodes: zones of blocks of racks of hosts with GPUs. kwok plays their kubelets by `stages.yaml`.

mod init_containers;
pub(crate) mod kubelet;
pub(crate) mod pod_files;

use std::collections::BTreeMap;

use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::{
    api::core::v1::{Node, NodeStatus},
    apimachinery::pkg::api::resource::Quantity,
};
use kube::{Api, Client, api::PostParams, core::ObjectMeta};
use serde_json::{Value, json};

pub use self::init_containers::{InitContainers, NAME as INIT_CONTAINER};
use crate::{cluster::Scheduler, objects};

/// Node labels, from the broadest level to the narrowest.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// Label of the block.
pub const BLOCK: &str = "topology.kubernetes.io/block";
/// Label of the rack.
pub const RACK: &str = "topology.kubernetes.io/rack";
/// Label of the host.
pub const HOST: &str = "kubernetes.io/hostname";

/// A hall of GPU nodes: `Hall::racks(8).nodes(4).gpus(8)`.
#[derive(Clone, Copy, Debug)]
pub struct Hall {
    racks: usize,
    nodes: usize,
    gpus: usize,
    racks_per_block: usize,
    blocks_per_zone: usize,
}

impl Hall {
    /// This many racks, two to a block and two blocks to a zone, with one node each.
    pub fn racks(racks: usize) -> Self {
        Self { racks, nodes: 1, gpus: 8, racks_per_block: 2, blocks_per_zone: 2 }
    }

    /// This many nodes in each rack.
    #[must_use]
    pub fn nodes(self, nodes: usize) -> Self {
        Self { nodes, ..self }
    }

    /// This many GPUs in each node.
    #[must_use]
    pub fn gpus(self, gpus: usize) -> Self {
        Self { gpus, ..self }
    }

    /// This many racks in each block, and blocks in each zone.
    #[must_use]
    pub fn blocks(self, racks_per_block: usize, blocks_per_zone: usize) -> Self {
        Self { racks_per_block, blocks_per_zone, ..self }
    }

    /// The nodes: `rack-0-node-0` and so on.
    pub fn to_nodes(self) -> Vec<Node> {
        (0..self.racks).flat_map(|rack| (0..self.nodes).map(move |node| self.node(rack, node))).collect()
    }

    fn node(self, rack: usize, node: usize) -> Node {
        let name = node_name(rack, node);
        let block = rack / self.racks_per_block;
        let zone = block / self.blocks_per_zone;
        let label = |key: &str, value: String| (key.to_owned(), value);
        let labels = BTreeMap::from([
            label(ZONE, format!("zone-{zone}")),
            label(BLOCK, format!("block-{block}")),
            label(RACK, format!("rack-{rack}")),
            label(HOST, name.clone()),
            label("topology.kubernetes.io/region", "region-0".to_owned()),
            label("kubernetes.io/os", "linux".to_owned()),
            label("kubernetes.io/arch", "amd64".to_owned()),
        ]);
        let resource = |key: &str, value: String| (key.to_owned(), Quantity(value));
        let resources = BTreeMap::from([
            resource("cpu", "128".to_owned()),
            resource("memory", "1Ti".to_owned()),
            resource("pods", "110".to_owned()),
            resource("nvidia.com/gpu", self.gpus.to_string()),
        ]);
        Node {
            metadata: ObjectMeta { name: Some(name), labels: Some(labels), ..ObjectMeta::default() },
            status: Some(NodeStatus {
                allocatable: Some(resources.clone()),
                capacity: Some(resources),
                ..NodeStatus::default()
            }),
            ..Node::default()
        }
    }

    /// Creates the nodes, and what a scheduler needs to know of their topology.
    pub async fn create(self, client: &Client, scheduler: Scheduler) -> Result<()> {
        let api: Api<Node> = Api::all(client.clone());
        stream::iter(self.to_nodes())
            .map(|node| {
                let api = api.clone();
                async move { api.create(&PostParams::default(), &node).await }
            })
            .buffer_unordered(16)
            .try_collect::<Vec<_>>()
            .await?;
        if scheduler == Scheduler::Volcano {
            for hyper_node in self.hyper_nodes() {
                objects::apply(client, hyper_node, None).await?;
            }
        }
        Ok(())
    }

    /// Volcano's own picture of the racks and blocks.
    fn hyper_nodes(self) -> Vec<Value> {
        let member = |kind: &str, name: String| json!({ "type": kind, "selector": { "exactMatch": { "name": name } } });
        let hyper_node = |name: String, tier: usize, label: &str, members: Vec<Value>| {
            json!({
                "apiVersion": "topology.volcano.sh/v1alpha1",
                "kind": "HyperNode",
                "metadata": { "name": name },
                "spec": { "tier": tier, "tierName": label, "members": members },
            })
        };
        let racks = (0..self.racks).map(|rack| {
            let members = (0..self.nodes).map(|node| member("Node", node_name(rack, node)));
            hyper_node(format!("rack-{rack}"), 1, RACK, members.collect())
        });
        let blocks = (0..self.racks.div_ceil(self.racks_per_block)).map(|block| {
            let first = block * self.racks_per_block;
            let racks = first..(first + self.racks_per_block).min(self.racks);
            let members = racks.map(|rack| member("HyperNode", format!("rack-{rack}")));
            hyper_node(format!("block-{block}"), 2, BLOCK, members.collect())
        });
        racks.chain(blocks).collect()
    }
}

/// The name of a node by its place.
pub fn node_name(rack: usize, node: usize) -> String {
    format!("rack-{rack}-node-{node}")
}
