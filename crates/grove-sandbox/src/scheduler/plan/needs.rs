//! What a unit without a place waits for, so that it is not looked at again for changes that cannot help it.
//!
//! A unit for which every possibility was considered fits later only with a pod on a node that has changed: a change of a node
//! helps only if that node has room for one pod of the unit. Pods whose place depends on other pods may be helped by any change.

use std::collections::BTreeSet;

use grove_placement::{Node, PodRequirements, pod::reject};

/// What a unit waits for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    kinds: Vec<PodRequirements>,
    is_any_change: bool,
}

impl Needs {
    pub(crate) fn of<'a>(pods: impl Iterator<Item = &'a PodRequirements>) -> Self {
        let kinds: BTreeSet<&PodRequirements> = pods.collect();
        Self {
            is_any_change: kinds.iter().any(|it| it.depends_on_pods()),
            kinds: kinds.into_iter().cloned().collect(),
        }
    }

    /// Waits for any change, where it is not known what would help.
    pub(crate) fn any_change(self) -> Self {
        Self { is_any_change: true, ..self }
    }

    pub(crate) fn is_any_change(&self) -> bool {
        self.is_any_change
    }

    /// Whether one of its pods can be on the node.
    pub(crate) fn can_use(&self, node: &Node) -> bool {
        let has_room = |pod: &PodRequirements| pod.requests.iter().all(|it| node.free(it.0) >= it.1);
        self.kinds.iter().any(|it| has_room(it) && reject(it, node).is_none())
    }
}

#[cfg(test)]
mod tests {
    use grove_placement::pod::HostPort;

    use super::*;

    #[test]
    fn only_nodes_with_room_for_a_pod_help() {
        let pod = |gpus: i64| {
            let mut pod = PodRequirements::default();
            pod.requests.set("gpu", gpus);
            pod
        };
        let mut node = Node::default();
        node.allocatable.set("gpu", 4);
        assert!(Needs::of([&pod(8), &pod(4)].into_iter()).can_use(&node));
        assert!(!Needs::of([&pod(8), &pod(5)].into_iter()).can_use(&node));
        node.unschedulable = true;
        assert!(!Needs::of([&pod(4)].into_iter()).can_use(&node));
    }

    #[test]
    fn pods_that_depend_on_others_wait_for_any_change() {
        let mut pod = PodRequirements::default();
        assert!(!Needs::of([&pod].into_iter()).is_any_change());
        pod.host_ports.push(HostPort { port: 80, ..HostPort::default() });
        assert!(Needs::of([&pod].into_iter()).is_any_change());
    }
}
