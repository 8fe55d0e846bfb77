//! Pods and groups in few words.
#![allow(dead_code, unused_imports, reason = "each test target uses a part")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use grove_placement::{
    Assignment, Cluster, GangPod, Group, Outcome, Placement, PodRequirements, place, topology,
};

pub(crate) use topology::{BLOCK, HOST, RACK};

pub(crate) const GPU: &str = "nvidia.com/gpu";

pub(crate) fn cluster(line: &str) -> Cluster {
    topology::parse(line).unwrap()
}

pub(crate) fn gpus(count: i64) -> PodRequirements {
    let mut pod = PodRequirements { namespace: "ns".to_owned(), ..PodRequirements::default() };
    pod.requests.set(GPU, count);
    pod.requests.set("cpu", 1000);
    pod.requests.set("pods", 1);
    pod
}

pub(crate) fn cpus(count: i64) -> PodRequirements {
    let mut pod = gpus(0);
    pod.requests.set("cpu", count * 1000);
    pod
}

/// A group of pods that are alike, all of which are needed.
pub(crate) fn pods(name: &str, count: u32, kind: &PodRequirements) -> Group {
    at_least(name, count, count, kind)
}

/// Likewise, of which `min` are needed.
pub(crate) fn at_least(name: &str, min: u32, count: u32, kind: &PodRequirements) -> Group {
    let pod =
        |number: u32| GangPod { name: format!("{name}-{number}"), requirements: kind.clone(), node: None };
    Group::of_pods(name, min, (0..count).map(pod).collect())
}

pub(crate) fn all_of(groups: Vec<Group>) -> Group {
    Group::all_of("gang", groups)
}

pub(crate) fn requires(key: &str, group: Group) -> Group {
    Group { required: Some(key.to_owned()), ..group }
}

pub(crate) fn prefers(key: &str, group: Group) -> Group {
    Group { preferred: Some(key.to_owned()), ..group }
}

/// Marks GPUs as used.
pub(crate) fn take(cluster: &mut Cluster, node: &str, used: i64) {
    cluster.node_mut(node).unwrap().used.set(GPU, used);
}

pub(crate) fn placed(cluster: &Cluster, gang: &Group) -> Placement {
    match place(cluster, gang) {
        Outcome::Placed(placement) => placement,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn reason(cluster: &Cluster, gang: &Group) -> String {
    match place(cluster, gang) {
        Outcome::DoesNotFit(reason) => reason.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The nodes that a group uses, each once.
pub(crate) fn nodes_of<'a>(placement: &'a Placement, group: &str) -> Vec<&'a str> {
    let of_group = placement.pods.iter().filter(|it: &&Assignment| it.group == group);
    let mut nodes: Vec<&str> = of_group.map(|it| it.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// The values of a label that a group uses, each once.
pub(crate) fn domains_of(cluster: &Cluster, placement: &Placement, group: &str, key: &str) -> Vec<String> {
    let nodes = nodes_of(placement, group).into_iter();
    let label = |name: &str| cluster.nodes()[cluster.position(name).unwrap()].label(key).unwrap().to_owned();
    let mut values: Vec<String> = nodes.map(label).collect();
    values.sort_unstable();
    values.dedup();
    values
}
