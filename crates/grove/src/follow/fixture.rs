//! Values of a small cluster for tests.

use super::{gang::Gang, node::Node, pod::Pod};

/// A node that is ready.
pub(super) fn node(name: &str) -> Node {
    Node { name: name.to_owned(), gpus: 8, ready: true, ..Node::default() }
}

/// A pod without a gate and without a node, of the set whose name the gang's begins with.
pub(super) fn pod(gang: &str, clique: &str, index: usize) -> Pod {
    Pod {
        namespace: "default".to_owned(),
        name: format!("{clique}-{index}"),
        uid: format!("{clique}-{index}"),
        set: set(gang),
        clique: clique.to_owned(),
        gang: gang.to_owned(),
        ..Pod::default()
    }
}

/// A gang of these cliques, each with its minimum, whose pods do not all exist.
pub(super) fn gang(name: &str, minimum: &[(&str, usize)]) -> Gang {
    Gang {
        namespace: "default".to_owned(),
        name: name.to_owned(),
        uid: name.to_owned(),
        set: set(name),
        minimum: minimum.iter().map(|(clique, count)| ((*clique).to_owned(), *count)).collect(),
        ..Gang::default()
    }
}

fn set(gang: &str) -> String {
    gang.split('-').next().unwrap_or_default().to_owned()
}
