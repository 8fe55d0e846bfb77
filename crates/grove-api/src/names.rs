//! Names of everything Grove makes. No other code builds a name, and none parses one: identity is in labels.
//!
//! With names that validation admits and the indices that [`limits`](crate::limits) allow, every name here that
//! becomes a label value, a host name or a Service name has at most 63 characters.

/// Headless Service of replica `index` of a set; also the subdomain of its pods.
pub fn headless_service(set: &str, index: u32) -> String {
    format!("{set}-{index}")
}

/// DNS name of the headless Service.
pub fn headless_service_address(set: &str, index: u32, namespace: &str) -> String {
    format!("{}.{namespace}.svc.cluster.local", headless_service(set, index))
}

/// PodClique that belongs to no scaling group.
pub fn standalone_clique(set: &str, index: u32, clique: &str) -> String {
    format!("{set}-{index}-{clique}")
}

/// PodCliqueScalingGroup.
pub fn scaling_group(set: &str, index: u32, group: &str) -> String {
    format!("{set}-{index}-{group}")
}

/// PodClique in replica `replica` of the scaling group object `scaling_group`.
pub fn member_clique(scaling_group: &str, replica: u32, clique: &str) -> String {
    format!("{scaling_group}-{replica}-{clique}")
}

/// PodGang of a set replica: all standalone cliques and the first replicas of every group.
pub fn base_gang(set: &str, index: u32) -> String {
    format!("{set}-{index}")
}

/// PodGang of one further replica of a scaling group; `ordinal` counts from the group's `minAvailable`.
pub fn scaled_gang(scaling_group: &str, ordinal: u32) -> String {
    format!("{scaling_group}-{ordinal}")
}

/// ControllerRevision that keeps the template of this generation hash.
pub fn revision(set: &str, hash: &str) -> String {
    format!("{set}-{hash}")
}

/// Topology group of one scaling group replica inside a base gang.
pub fn topology_group(scaling_group: &str, replica: u32) -> String {
    format!("{scaling_group}-{replica}")
}

/// Pack group `number` of a set replica, where its cliques are in no scaling group.
///
/// No clique and no scaling group can be called so: their names do not begin with a dash.
pub fn pack_group(set: &str, index: u32, number: usize) -> String {
    format!("{set}-{index}--pack{number}")
}

/// Likewise in one replica of the scaling group that the template calls `group`.
pub fn pack_group_of_replica(set: &str, index: u32, number: usize, group: &str, replica: u32) -> String {
    format!("{}-{group}-{replica}", pack_group(set, index, number))
}

/// `generateName` of a PodClique's pods.
pub fn pod_prefix(clique: &str) -> String {
    format!("{clique}-")
}

/// Host name of a pod.
pub fn hostname(clique: &str, pod_index: u32) -> String {
    format!("{clique}-{pod_index}")
}

/// ResourceClaim that all replicas of `owner` share.
pub fn shared_claim(owner: &str, template: &str) -> String {
    format!("{owner}-all-{template}")
}

/// ResourceClaim of one replica of `owner`.
pub fn replica_claim(owner: &str, index: u32, template: &str) -> String {
    format!("{owner}-{index}-{template}")
}

/// ComputeDomain of one multi-node NVLink group, and its ResourceClaimTemplate.
pub fn compute_domain(set: &str, index: u32, group: &str) -> String {
    format!("{set}-{index}-{group}")
}

/// Names of objects that upstream Grove makes for start order and that are kept while a pod mounts them.
pub mod upstream {
    /// ServiceAccount.
    pub fn service_account(set: &str) -> String {
        set.to_owned()
    }

    /// Role and RoleBinding.
    pub fn role(set: &str) -> String {
        format!("grove.io:pcs:{set}")
    }

    /// Token Secret.
    pub fn token_secret(set: &str) -> String {
        format!("{set}-ic-sat")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worked example of upstream's documentation: set `inf`, clique `front`, group `pre` of `lead` and `work`.
    #[test]
    fn worked_example() {
        let group = scaling_group("inf", 0, "pre");
        assert_eq!(group, "inf-0-pre");
        assert_eq!(standalone_clique("inf", 0, "front"), "inf-0-front");
        assert_eq!(member_clique(&group, 2, "work"), "inf-0-pre-2-work");
        assert_eq!(base_gang("inf", 0), "inf-0");
        assert_eq!(scaled_gang(&group, 0), "inf-0-pre-0");
        assert_eq!(hostname("inf-0-pre-2-work", 1), "inf-0-pre-2-work-1");
        assert_eq!(headless_service_address("inf", 0, "ml"), "inf-0.ml.svc.cluster.local");
        assert_eq!(shared_claim("inf", "t"), "inf-all-t");
        assert_eq!(replica_claim(&group, 2, "t"), "inf-0-pre-2-t");
        assert_eq!(replica_claim("inf-0-front", 1, "t"), "inf-0-front-1-t");
        assert_eq!(compute_domain("inf", 0, "train"), "inf-0-train");
        assert_eq!(topology_group(&group, 2), "inf-0-pre-2");
        assert_eq!(pack_group("inf", 0, 1), "inf-0--pack1");
        assert_eq!(pack_group_of_replica("inf", 0, 1, "pre", 2), "inf-0--pack1-pre-2");
        assert_eq!(upstream::role("inf"), "grove.io:pcs:inf");
        assert_eq!(upstream::token_secret("inf"), "inf-ic-sat");
    }

    /// A gang lists cliques, scaling group replicas and pack groups under one roof.
    #[test]
    fn pack_groups_are_called_like_nothing_else_in_a_gang() {
        let group = scaling_group("inf", 0, "pack0");
        let others = [
            standalone_clique("inf", 0, "pack0"),
            standalone_clique("inf", 0, "pack0-pack0-0"),
            member_clique(&group, 0, "pack0"),
            topology_group(&group, 0),
            topology_group(&scaling_group("inf", 0, "pack0-pack0"), 0),
        ];
        let packs = [
            pack_group("inf", 0, 0),
            pack_group("inf", 0, 1),
            pack_group("inf", 0, 10),
            pack_group_of_replica("inf", 0, 0, "pack0", 0),
            pack_group_of_replica("inf", 0, 0, "pack0", 1),
            pack_group_of_replica("inf", 0, 1, "pack0", 0),
        ];
        for (number, name) in packs.iter().enumerate() {
            assert!(!others.contains(name) && !packs[..number].contains(name), "{name}");
        }
    }
}
