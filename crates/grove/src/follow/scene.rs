//! What is drawn of a snapshot.

use super::{
    gang::Gang,
    node::Node,
    pod::Pod,
    snapshot::{Naming, Snapshot},
};
use crate::view::{GangState, GangView, NodeView, PodState, PodView, Scene};

impl Snapshot {
    /// Replaces nodes, pods and gangs of a scene.
    pub fn fill(&self, scene: &mut Scene) {
        let naming = self.naming();
        scene.nodes = self.nodes.iter().map(NodeView::from).collect();
        // A pod that has done its work holds no GPUs.
        scene.pods = self.pods.iter().filter(|it| !it.succeeded).map(|it| pod(it, naming)).collect();
        scene.gangs = self.gangs.iter().map(|it| gang(it, naming)).collect();
    }
}

impl From<&Node> for NodeView {
    fn from(node: &Node) -> Self {
        let Node { name, domains, gpus, ready, cordoned } = node.clone();
        Self { name, domains, gpus, ready, cordoned }
    }
}

fn pod(pod: &Pod, naming: Naming) -> PodView {
    let name = |it: &str| naming.name(&pod.namespace, it);
    PodView {
        name: name(&pod.name),
        clique: name(&pod.clique),
        gang: name(&pod.gang),
        gpus: pod.gpus,
        // The node of a failed pod has its GPUs back.
        node: pod.node.clone().filter(|_| !pod.failed),
        state: state(pod),
    }
}

fn state(pod: &Pod) -> PodState {
    if pod.failed {
        PodState::Failed
    } else if pod.terminating {
        PodState::Terminating
    } else if pod.gated {
        PodState::Gated
    } else if pod.node.is_none() {
        PodState::Pending
    } else if pod.ready {
        PodState::Ready
    } else {
        PodState::Starting
    }
}

fn gang(gang: &Gang, naming: Naming) -> GangView {
    let state = if gang.unhealthy.is_some() || gang.failed {
        GangState::Unhealthy
    } else if gang.running {
        GangState::Running
    } else if gang.scheduled {
        GangState::Starting
    } else {
        GangState::Waiting
    };
    GangView { name: naming.name(&gang.namespace, &gang.name), state, message: gang.awaited.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::fixture;

    #[test]
    fn states_of_pods() {
        let bound = || Some("n".to_owned());
        let pod = fixture::pod("g", "g-w", 0);
        let rows = [
            (Pod { gated: true, ..pod.clone() }, PodState::Gated),
            (pod.clone(), PodState::Pending),
            (Pod { node: bound(), ..pod.clone() }, PodState::Starting),
            (Pod { node: bound(), ready: true, ..pod.clone() }, PodState::Ready),
            (Pod { node: bound(), ready: true, terminating: true, ..pod.clone() }, PodState::Terminating),
            (Pod { gated: true, terminating: true, ..pod.clone() }, PodState::Terminating),
            (Pod { node: bound(), failed: true, terminating: true, ..pod }, PodState::Failed),
        ];
        for (pod, want) in rows {
            assert_eq!(state(&pod), want, "{pod:?}");
        }
    }

    #[test]
    fn states_of_gangs() {
        let gang = fixture::gang("g", &[]);
        let why = || Some("1 lost".to_owned());
        let rows = [
            (gang.clone(), GangState::Waiting),
            (Gang { scheduled: true, ..gang.clone() }, GangState::Starting),
            (Gang { scheduled: true, running: true, ..gang.clone() }, GangState::Running),
            (Gang { scheduled: true, running: true, unhealthy: why(), ..gang.clone() }, GangState::Unhealthy),
            (Gang { failed: true, ..gang }, GangState::Unhealthy),
        ];
        for (gang, want) in rows {
            assert_eq!(super::gang(&gang, Snapshot::default().naming()).state, want, "{gang:?}");
        }
    }

    #[test]
    fn a_scene_keeps_what_is_not_in_a_snapshot() {
        let mut scene = Scene { title: "grove up".to_owned(), ..Scene::default() };
        let failed = Pod { failed: true, node: Some("n".to_owned()), ..fixture::pod("g", "g-w", 0) };
        let mut snapshot = Snapshot {
            nodes: vec![fixture::node("n")],
            pods: vec![failed, Pod { succeeded: true, ..fixture::pod("g", "g-w", 1) }],
            gangs: vec![Gang { awaited: "no room".to_owned(), ..fixture::gang("g", &[]) }],
        };
        snapshot.fill(&mut scene);
        assert_eq!(scene.title, "grove up");
        assert_eq!((scene.nodes.len(), scene.pods.len(), scene.gangs.len()), (1, 1, 1));
        assert_eq!(scene.pods[0].node, None, "its GPUs are free");
        assert_eq!((scene.gangs[0].name.as_str(), scene.gangs[0].message.as_str()), ("g", "no room"));
        snapshot.gangs.push(Gang { namespace: "ml".to_owned(), ..fixture::gang("g", &[]) });
        snapshot.fill(&mut scene);
        let names: Vec<&str> = scene.gangs.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["default/g", "ml/g"]);
        assert_eq!(scene.pods[0].gang, "default/g");
    }
}
