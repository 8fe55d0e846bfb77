//! `grove sandbox node`.

use std::{fmt::Write as _, io};

use clap::{Args, Subcommand};
use grove_sandbox::{Drained, Faults};

use super::{Done, simulated::check_node};
use crate::{
    cli::object_name,
    cluster::{Cluster, Reach, failure},
};

/// Lose, return, cordon, uncordon or drain a simulated node.
#[derive(Subcommand)]
#[command(after_help = "Example:\n  grove sandbox node lose rack-0-node-0")]
pub(crate) enum NodeCommand {
    /// Stop the kubelet: the node becomes NotReady and its pods are replaced.
    Lose(NodeArguments),
    /// Start the kubelet of a lost node again.
    Return(NodeArguments),
    /// Schedule no more pods to the node.
    Cordon(NodeArguments),
    /// Schedule pods to the node again.
    Uncordon(NodeArguments),
    /// Cordon the node and evict its pods.
    Drain(NodeArguments),
}

#[derive(Args)]
pub(crate) struct NodeArguments {
    /// Name of a node.
    #[arg(value_parser = object_name)]
    name: String,

    #[command(flatten)]
    reach: Reach,
}

/// What is done to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeFault {
    Lose,
    Return,
    Cordon,
    Uncordon,
    Drain,
}

impl NodeCommand {
    pub(super) async fn run(self) -> io::Result<Done> {
        let (fault, NodeArguments { name, reach }) = match self {
            Self::Lose(arguments) => (NodeFault::Lose, arguments),
            Self::Return(arguments) => (NodeFault::Return, arguments),
            Self::Cordon(arguments) => (NodeFault::Cordon, arguments),
            Self::Uncordon(arguments) => (NodeFault::Uncordon, arguments),
            Self::Drain(arguments) => (NodeFault::Drain, arguments),
        };
        act(&reach.cluster().await?, fault, &name).await
    }
}

/// Checks the node, causes the fault, and says what follows.
pub(super) async fn act(cluster: &Cluster, fault: NodeFault, name: &str) -> io::Result<Done> {
    if let Err(why) = check_node(cluster, name).await? {
        return Ok(Done::Refused(why));
    }
    let faults = Faults::new(cluster.client.clone());
    let done = match fault {
        NodeFault::Lose => faults.lose_node(name).await.map(|()| Done::Said(lost(name))),
        NodeFault::Return => faults.return_node(name).await.map(|()| {
            Done::Said(format!(
                "node {name} is back: pods that were deleted meanwhile end, the others become ready again"
            ))
        }),
        NodeFault::Cordon => faults.cordon(name).await.map(|()| {
            Done::Said(format!(
                "node {name} is cordoned: its pods stay; `grove sandbox node uncordon {name}` undoes it"
            ))
        }),
        NodeFault::Uncordon => {
            let text = format!("node {name} is not cordoned: pods are scheduled to it again");
            faults.uncordon(name).await.map(|()| Done::Said(text))
        }
        NodeFault::Drain => faults.drain(name).await.map(|it| drained(name, &it)),
    };
    done.map_err(|error| failure(&cluster.server, &error))
}

fn lost(name: &str) -> String {
    format!(
        "the kubelet of node {name} is silent: after the grace period (`grove up --node-grace`) the node is NotReady, and after as long \
         again its pods are replaced; `grove sandbox node return {name}` undoes it"
    )
}

fn drained(name: &str, drained: &Drained) -> Done {
    let Drained { evicted, refused } = drained;
    let evicted = if evicted.len() == 1 { "1 pod".to_owned() } else { format!("{} pods", evicted.len()) };
    let mut text = format!(
        "node {name} is cordoned and {evicted} evicted; `grove sandbox node uncordon {name}` opens it again"
    );
    if refused.is_empty() {
        return Done::Said(text);
    }
    for (namespace, pod, why) in refused {
        // Writing into a string does not fail.
        let _ = write!(text, "\npod {namespace}/{pod} was not evicted: {why}");
    }
    Done::InPart(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_drain() {
        let pod = |name: &str| ("ml".to_owned(), name.to_owned());
        let mut all = Drained { evicted: vec![pod("a"), pod("b")], refused: Vec::new() };
        let Done::Said(text) = drained("n", &all) else { panic!("refused") };
        assert!(text.starts_with("node n is cordoned and 2 pods evicted"), "{text}");
        all.refused.push(("ml".to_owned(), "c".to_owned(), "a budget".to_owned()));
        let Done::InPart(text) = drained("n", &all) else { panic!("not refused") };
        assert!(text.ends_with("\npod ml/c was not evicted: a budget"), "{text}");
    }
}
