//! The nodes of a described cluster.

use std::collections::BTreeMap;

use super::{BLOCK, HOST, RACK, Shape, ZONE, standard_levels};
use crate::{
    cluster::{Cluster, Node},
    resources::{CPU, GPU, MEMORY, PODS, Resources},
};

/// Pods that a node takes, as a kubelet has it by default.
const PODS_PER_NODE: i64 = 110;

impl Shape {
    /// The nodes, `rack-0-node-0` and so on, with the labels that Grove's samples use. Domains are numbered through the cluster.
    pub fn to_cluster(&self) -> Cluster {
        let (zones, blocks, racks) =
            (self.zones.unwrap_or(1), self.blocks.unwrap_or(1), self.racks.unwrap_or(1));
        let mut nodes = Vec::new();
        for rack in 0..zones.saturating_mul(blocks).saturating_mul(racks) {
            let block = rack / racks;
            let places = [
                (self.zones, ZONE, format!("zone-{}", block / blocks)),
                (self.blocks, BLOCK, format!("block-{block}")),
                (self.racks, RACK, format!("rack-{rack}")),
            ];
            let places = places.into_iter().filter(|it| it.0.is_some());
            let places: BTreeMap<String, String> = places.map(|it| (it.1.to_owned(), it.2)).collect();
            nodes.extend((0..self.hosts).map(|host| self.node(&places, host)));
        }
        let exists = |key: &str| nodes.iter().any(|it: &Node| it.label(key).is_some());
        let levels = standard_levels().into_iter().filter(|it| exists(&it.key)).collect();
        Cluster::new(nodes, levels)
    }

    /// `places` are the labels of the domains around it.
    fn node(&self, places: &BTreeMap<String, String>, host: u64) -> Node {
        let narrowest = [RACK, BLOCK, ZONE].into_iter().find_map(|it| places.get(it));
        let name = narrowest.map_or_else(|| format!("node-{host}"), |it| format!("{it}-node-{host}"));
        let mut labels = places.clone();
        let own = [(HOST, name.as_str()), ("kubernetes.io/os", "linux"), ("kubernetes.io/arch", "amd64")];
        labels.extend(own.map(|(key, value)| (key.to_owned(), value.to_owned())));
        let mut allocatable = Resources::default();
        allocatable.set(CPU, self.cpu);
        allocatable.set(MEMORY, self.memory);
        allocatable.set(PODS, PODS_PER_NODE);
        if self.gpus > 0 {
            allocatable.set(GPU, i64::try_from(self.gpus).unwrap_or(i64::MAX));
        }
        Node { name, labels, allocatable, ..Node::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::parse;

    fn names(cluster: &Cluster) -> Vec<&str> {
        cluster.nodes().iter().map(|it| it.name.as_str()).collect()
    }

    #[test]
    fn all_levels() {
        let cluster = parse("zones=2,blocks=2,racks=2,hosts=2,gpus=8").unwrap();
        assert_eq!(cluster.nodes().len(), 16);
        let last = cluster.nodes().last().unwrap();
        assert_eq!(last.name, "rack-7-node-1");
        let labels = [ZONE, BLOCK, RACK, HOST].map(|it| last.label(it).unwrap_or_default());
        assert_eq!(labels, ["zone-1", "block-3", "rack-7", "rack-7-node-1"]);
        let amounts = [CPU, MEMORY, GPU, PODS].map(|it| last.allocatable.get(it));
        assert_eq!(amounts, [128_000, 1 << 40, 8, 110]);
        let levels: Vec<&str> = cluster.levels().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(levels, ["zone", "block", "rack", "host"]);
    }

    #[test]
    fn levels_may_be_left_out() {
        let flat = parse("hosts=2").unwrap();
        assert_eq!(names(&flat), ["node-0", "node-1"]);
        assert_eq!(flat.levels().len(), 1);
        assert_eq!(flat.nodes()[0].allocatable.get(GPU), 0);
        let gap = parse("zones=2,racks=1").unwrap();
        assert_eq!(names(&gap), ["rack-0-node-0", "rack-1-node-0"]);
        assert_eq!(gap.nodes()[1].label(ZONE), Some("zone-1"));
        assert_eq!(gap.nodes()[1].label(BLOCK), None);
        let zones = parse("zones=1,hosts=2").unwrap();
        assert_eq!(names(&zones), ["zone-0-node-0", "zone-0-node-1"]);
    }
}
