//! Nodes, pods and gangs for tests, as short as they can be.

use super::{
    facts::{BoundPod, Facts, Gang, GangName, Kind, Level, Node, NodeState, Topology},
    known::HOST,
};
use crate::amount::Amount;

pub(super) const ZONE: &str = "topology.kubernetes.io/zone";
pub(super) const RACK: &str = "topology.kubernetes.io/rack";

/// A node with GPUs, its host name and these labels; empty ones are left out.
pub(super) fn node(name: &str, gpus: i64, labels: &[(&str, &str)]) -> Node {
    let labels = labels.iter().copied().chain([(HOST, name)]).filter(|it| !it.1.is_empty());
    Node {
        name: name.to_owned(),
        labels: labels.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        allocatable: Amount::whole(gpus),
        state: NodeState::Usable,
    }
}

/// A pod on a node; of no gang where that has no name.
pub(super) fn pod(node: &str, gpus: i64, gang: &str) -> BoundPod {
    let gang = Some(gang).filter(|it| !it.is_empty()).map(gang_name);
    BoundPod { node: node.to_owned(), takes: Amount::whole(gpus), gang }
}

fn gang_name(name: &str) -> GangName {
    GangName { namespace: "default".to_owned(), name: name.to_owned() }
}

pub(super) fn gang(name: &str, required: Option<&str>) -> Gang {
    Gang { name: gang_name(name), required: required.map(str::to_owned) }
}

pub(super) fn topology(levels: &[(&str, &str)]) -> Topology {
    let level = |(domain, key): &(&str, &str)| Level { domain: (*domain).to_owned(), key: (*key).to_owned() };
    Topology {
        name: "cluster".to_owned(),
        kind: Kind::ClusterTopologyBinding,
        levels: levels.iter().map(level).collect(),
    }
}

/// Two zones, three racks, six nodes of eight GPUs, and one that runs the control plane.
pub(super) fn cluster() -> Facts {
    let at = |name: &str, zone: &str, rack: &str| node(name, 8, &[(ZONE, zone), (RACK, rack)]);
    Facts {
        topologies: vec![topology(&[("zone", ZONE), ("rack", RACK), ("host", HOST)])],
        nodes: vec![
            node("control-0", 0, &[(ZONE, "zone-b")]),
            at("node-1", "zone-a", "rack-1"),
            at("node-2", "zone-a", "rack-1"),
            at("node-3", "zone-a", "rack-2"),
            Node { state: NodeState::Cordoned, ..at("node-4", "zone-a", "rack-2") },
            at("node-5", "zone-b", "rack-10"),
            Node { state: NodeState::NotReady, ..at("node-6", "zone-b", "rack-10") },
        ],
        pods: Some(vec![
            pod("node-1", 8, "chat-0"),
            pod("node-2", 8, "chat-0"),
            pod("node-3", 4, "chat-1"),
            pod("node-5", 4, "chat-1"),
            pod("node-3", 1, ""),
            pod("node-5", 2, "embed-0"),
        ]),
        gangs: Some(vec![
            gang("chat-0", Some(RACK)),
            gang("chat-1", Some(RACK)),
            gang("chat-2", None),
            gang("embed-0", None),
        ]),
        kueue_refused: false,
    }
}

/// What is shown of it.
pub(super) const TEXT: &str = "\
cluster (ClusterTopologyBinding): 7 nodes, 5 of 48 nvidia.com/gpu free

LEVEL   NODE LABEL                    DOMAINS   NODES
zone    topology.kubernetes.io/zone   2         7 of 7
rack    topology.kubernetes.io/rack   3         6 of 7; missing on control-0
host    kubernetes.io/hostname        7         7 of 7

DOMAIN                NODES   FREE   TOTAL
all nodes             7       5      48      1 cordoned, 1 not ready, 16 unusable
    - default/chat-1: 2 pods, 8 nvidia.com/gpu, spread over 2 zones, violates required level rack
  zone-a              4       3      32      1 cordoned, 8 unusable
    rack-1            2       0      16
        - default/chat-0: 2 pods, 16 nvidia.com/gpu, spread over 2 hosts
      node-1          1       0      8
      node-2          1       0      8
    rack-2            2       3      16      1 cordoned, 8 unusable
      node-3          1       3      8
      node-4          1       0      8       1 cordoned, 8 unusable
  zone-b              3       2      16      1 not ready, 8 unusable
    rack-10           2       2      16      1 not ready, 8 unusable
      node-5          1       2      8
          - default/embed-0: 1 pod, 2 nvidia.com/gpu, on 1 node
      node-6          1       0      8       1 not ready, 8 unusable
    (no rack label)   1       0      0
      control-0       1       0      0

1 gang has no scheduled pods: default/chat-2; `grove why podgang/chat-2 -n default` shows why
";
