//! Node labels that are known to say where a node is, and who sets them.

use std::cmp::Ordering;

/// A known label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// What its domains are called.
    pub(super) domain: String,
    /// Labels of one family are ordered by their meaning, whatever values nodes have.
    pub(super) family: &'static str,
    /// How narrow its domains are, among its family.
    narrowness: i32,
    /// The one to take where two labels name the same domains: the lower.
    pub(super) rank: usize,
}

pub(super) const HOST: &str = "kubernetes.io/hostname";
/// Kubernetes' own, and what people write in their manner.
const KUBERNETES: &str = "Kubernetes";
/// Topograph's switches are numbered from the node outwards, as many as there are.
const TIER: &str = "fabric.topograph.run/tier-";

/// Key, domain, who sets it, narrowness; the first is taken where two name the same domains.
const TABLE: [(&str, &str, &str, i32); 36] = [
    (HOST, "host", KUBERNETES, 100),
    ("topology.kubernetes.io/zone", "zone", KUBERNETES, 10),
    ("topology.kubernetes.io/region", "region", KUBERNETES, 0),
    ("topology.kubernetes.io/datacenter", "datacenter", KUBERNETES, 20),
    ("topology.kubernetes.io/block", "block", KUBERNETES, 40),
    ("topology.kubernetes.io/rack", "rack", KUBERNETES, 60),
    ("kubernetes.io/zone", "zone", KUBERNETES, 10),
    ("kubernetes.io/datacenter", "datacenter", KUBERNETES, 20),
    ("kubernetes.io/block", "block", KUBERNETES, 40),
    ("kubernetes.io/rack", "rack", KUBERNETES, 60),
    ("topology.k8s.aws/network-node-layer-1", "layer-1", "AWS", 30),
    ("topology.k8s.aws/network-node-layer-2", "layer-2", "AWS", 40),
    ("topology.k8s.aws/network-node-layer-3", "layer-3", "AWS", 50),
    ("topology.k8s.aws/network-node-layer-4", "layer-4", "AWS", 60),
    ("cloud.google.com/gce-topology-block", "block", "Google Cloud", 40),
    ("cloud.google.com/gce-topology-subblock", "subblock", "Google Cloud", 50),
    ("cloud.google.com/gce-topology-host", "physical-host", "Google Cloud", 90),
    ("oci.oraclecloud.com/rdma.hpc_island_id", "island", "Oracle Cloud", 30),
    ("oci.oraclecloud.com/rdma.network_block_id", "block", "Oracle Cloud", 40),
    ("oci.oraclecloud.com/rdma.local_block_id", "local-block", "Oracle Cloud", 50),
    ("oci.oraclecloud.com/rdma.host_id", "physical-host", "Oracle Cloud", 90),
    ("backend.coreweave.cloud/fabric", "fabric", "CoreWeave", 30),
    ("backend.coreweave.cloud/superpod", "superpod", "CoreWeave", 40),
    ("backend.coreweave.cloud/leafgroup", "leafgroup", "CoreWeave", 50),
    ("ib.coreweave.cloud/fabric", "fabric", "CoreWeave (older)", 30),
    ("ib.coreweave.cloud/leafgroup", "leafgroup", "CoreWeave (older)", 50),
    ("network.topology.nvidia.com/datacenter", "datacenter", "Topograph (older)", 20),
    ("network.topology.nvidia.com/core", "core", "Topograph (older)", 25),
    ("network.topology.nvidia.com/spine", "spine", "Topograph (older)", 45),
    ("network.topology.nvidia.com/block", "block", "Topograph (older)", 55),
    ("network.topology.nvidia.com/leaf", "leaf", "Topograph (older)", 65),
    ("network.topology.nvidia.com/accelerator", "nvlink", "Topograph (NVLink)", 70),
    ("accelerator.topograph.run/domain", "nvlink", "Topograph (accelerators)", 70),
    ("accelerator.topograph.run/sub-domain", "nvlink-part", "Topograph (accelerators)", 75),
    ("ds.coreweave.com/nvlink.domain", "nvlink", "CoreWeave (NVLink)", 70),
    ("nvidia.com/gpu.clique", "nvlink", "NVIDIA GPU operator", 70),
];

/// What is known of a label.
pub(super) fn of(key: &str) -> Option<Known> {
    if let Some(number) = key.strip_prefix(TIER) {
        let number: u8 = number.parse().ok()?;
        return Some(Known {
            domain: format!("tier-{number}"),
            family: "Topograph",
            narrowness: 65 - i32::from(number),
            rank: TABLE.len() + usize::from(number),
        });
    }
    let rank = TABLE.iter().position(|it| it.0 == key)?;
    let (_, domain, family, narrowness) = TABLE[rank];
    Some(Known { domain: domain.to_owned(), family, narrowness, rank })
}

impl Known {
    /// Its meaning is fixed: it is kept also where it happens to name the same domains as another.
    pub(super) fn is_standard(&self) -> bool {
        self.family == KUBERNETES
    }

    /// Regions and zones hold all else, and all else holds hosts.
    fn is_outer(&self) -> bool {
        self.is_standard() && matches!(self.narrowness, 0 | 10 | 100)
    }

    /// Which of two is the broader by its meaning (it is `Less`); `None`: only the nodes can tell.
    pub(super) fn by_meaning(&self, other: &Self) -> Option<Ordering> {
        let comparable = self.family == other.family || self.is_outer() || other.is_outer();
        let order = self.narrowness.cmp(&other.narrowness);
        (comparable && order != Ordering::Equal).then_some(order)
    }

    /// Which of two is likely the broader.
    pub(super) fn likely(&self, other: &Self) -> Ordering {
        self.narrowness.cmp(&other.narrowness)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn keys_are_different_and_fit_a_binding() {
        let keys: BTreeSet<&str> = TABLE.iter().map(|it| it.0).collect();
        assert_eq!(keys.len(), TABLE.len());
        for (key, domain, ..) in TABLE {
            assert!(key.len() <= 63, "{key}");
            assert!(
                domain.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-'),
                "{domain}"
            );
            assert!(domain.starts_with(|it: char| it.is_ascii_lowercase()), "{domain}");
        }
    }

    #[test]
    fn what_a_meaning_decides() {
        let rows = [
            ("topology.kubernetes.io/region", "topology.kubernetes.io/zone", Some(Ordering::Less)),
            ("topology.kubernetes.io/rack", "topology.kubernetes.io/block", Some(Ordering::Greater)),
            ("topology.kubernetes.io/zone", "nvidia.com/gpu.clique", Some(Ordering::Less)),
            ("network.topology.nvidia.com/leaf", HOST, Some(Ordering::Less)),
            (
                "topology.k8s.aws/network-node-layer-3",
                "topology.k8s.aws/network-node-layer-1",
                Some(Ordering::Greater),
            ),
            ("fabric.topograph.run/tier-2", "fabric.topograph.run/tier-0", Some(Ordering::Less)),
            // Other people's racks and switches: only the nodes can tell.
            ("topology.kubernetes.io/rack", "network.topology.nvidia.com/leaf", None),
            ("topology.kubernetes.io/zone", "kubernetes.io/zone", None),
        ];
        for (one, other, want) in rows {
            assert_eq!(of(one).unwrap().by_meaning(&of(other).unwrap()), want, "{one} and {other}");
        }
        for unknown in ["example.com/rack", "fabric.topograph.run/tier-x", "fabric.topograph.run/tier-300"] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
    }
}
