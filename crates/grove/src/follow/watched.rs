//! What the tour knows of a snapshot.

use super::snapshot::Snapshot;
use crate::tour::{Gang, Node, Pod, Watched};

impl From<&Snapshot> for Watched {
    fn from(snapshot: &Snapshot) -> Self {
        let gang = |it: &super::Gang| Gang {
            name: it.name.clone(),
            scheduled: it.scheduled,
            unschedulable: it.unschedulable,
            message: it.scheduling.clone(),
        };
        let pod = |it: &super::Pod| Pod {
            name: it.name.clone(),
            uid: it.uid.clone(),
            gang: it.gang.clone(),
            set: it.set.clone(),
            node: it.node.clone(),
            gpus: u32::try_from(it.gpus).unwrap_or(u32::MAX),
            image: it.image.clone(),
            ready: it.is_available(),
        };
        let node = |it: &super::Node| Node { name: it.name.clone(), ready: it.ready };
        Self {
            gangs: snapshot.gangs.iter().map(gang).collect(),
            // Those of a lost node are being deleted for as long as its kubelet does not answer.
            pods: snapshot.pods.iter().filter(|it| !it.terminating).map(pod).collect(),
            nodes: snapshot.nodes.iter().map(node).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::follow::fixture;

    #[test]
    fn what_the_tour_waits_for() {
        let ready = super::super::Pod {
            node: Some("n".to_owned()),
            ready: true,
            gpus: 8,
            image: "x:1".to_owned(),
            ..fixture::pod("g", "g-w", 0)
        };
        let terminating = super::super::Pod { terminating: true, ..ready.clone() };
        let gang = super::super::Gang {
            unschedulable: true,
            scheduling: "no room".to_owned(),
            ..fixture::gang("g", &[])
        };
        let snapshot =
            Snapshot { nodes: vec![fixture::node("n")], pods: vec![ready, terminating], gangs: vec![gang] };
        let watched = Watched::from(&snapshot);
        assert_eq!(watched.nodes, [Node { name: "n".to_owned(), ready: true }]);
        assert_eq!(watched.pods.iter().map(|it| it.ready).collect::<Vec<_>>(), [true]);
        assert_eq!((watched.pods[0].gpus, watched.pods[0].image.as_str()), (8, "x:1"));
        let gang = &watched.gangs[0];
        assert!(gang.unschedulable && !gang.scheduled && gang.message == "no room");
    }
}
