//! The steps of the tour.

use std::time::Duration;

use super::watched::Watched;

/// The cluster that the tour needs: in each of two racks three hosts with eight GPUs.
pub const TOPOLOGY: &str = "racks=2,hosts=3,gpus=8";

/// The set that is in the way at first: five of the six hosts.
const TRAINING: &str = include_str!("training.yaml");
/// The set that the tour is about.
const CHAT: &str = include_str!("chat.yaml");

/// The images of the set before and after its update.
const NEW_IMAGE: &str = "registry.example.com/engine:2.0";
const BASE: &str = "chat-0";
const SCALED: &str = "chat-0-decode-0";

/// A step that takes longer has failed.
const TIMEOUT: Duration = Duration::from_mins(1);

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it is about.
    pub title: &'static str,
    /// Said before anything is done.
    pub intro: &'static str,
    /// What is done, in this order.
    pub actions: Vec<Action>,
    /// What is waited for then.
    pub until: Condition,
    /// Said when it is so. `{why}` stands for the scheduler's words about the gang, `{node}` for the node of the step.
    pub outcome: &'static str,
    /// After so long the tour ends, and says what was waited for.
    pub timeout: Duration,
}

/// Something that is done to the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Creates objects from YAML.
    Apply(&'static str),
    /// Deletes a PodCliqueSet.
    DeleteSet(&'static str),
    /// Stops the kubelet of a node. The script says `OfGang`; the machine puts the node in its place.
    LoseNode(Target),
    /// Sets `spec.replicas` of a PodCliqueScalingGroup.
    ScaleGroup {
        /// Name.
        name: &'static str,
        /// Replicas.
        replicas: i32,
    },
    /// Sets the image of all containers of a PodCliqueSet's cliques that ask for GPUs.
    SetImage {
        /// Name of the set.
        set: &'static str,
        /// Image.
        image: &'static str,
    },
}

/// A node that something is done to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// One that has a pod with GPUs of this gang.
    OfGang(&'static str),
    /// This one.
    Node(String),
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// All pods of the gang are ready, and there are so many at least.
    Ready {
        /// PodGang.
        gang: &'static str,
        /// Pods.
        pods: usize,
    },
    /// The scheduler has no place for the gang, and none of its pods has a node.
    Waits {
        /// PodGang.
        gang: &'static str,
    },
    /// The node of the step is lost, and so many pods of the gang are ready on others.
    Recovered {
        /// PodGang.
        gang: &'static str,
        /// Pods.
        pods: usize,
    },
    /// All pods with GPUs of the set have this image and are ready, and there are so many at least.
    Updated {
        /// PodCliqueSet.
        set: &'static str,
        /// Pods with GPUs.
        pods: usize,
        /// Image.
        image: &'static str,
    },
}

impl Condition {
    /// Whether it is so. `node` is the node of the step.
    pub fn is_met(&self, watched: &Watched, node: Option<&str>) -> bool {
        match *self {
            Self::Ready { gang, pods } => {
                let scheduled = watched.gang(gang).is_some_and(|it| it.scheduled);
                let count = watched.pods_of(gang).count();
                scheduled && count >= pods && watched.pods_of(gang).all(|it| it.ready)
            }
            Self::Waits { gang } => {
                let waits = watched.gang(gang).is_some_and(|it| it.unschedulable && !it.scheduled);
                waits && watched.pods_of(gang).all(|it| it.node.is_none())
            }
            Self::Recovered { gang, pods } => {
                let is_lost = watched.nodes.iter().any(|it| Some(it.name.as_str()) == node && !it.ready);
                let elsewhere = watched.pods_of(gang).filter(|it| it.ready && it.node.as_deref() != node);
                is_lost && elsewhere.count() >= pods
            }
            Self::Updated { set, pods, image } => {
                let of_set = || watched.pods.iter().filter(|it| it.set == set && it.gpus > 0);
                of_set().count() >= pods && of_set().all(|it| it.ready && it.image == image)
            }
        }
    }

    /// The gang that it is about.
    pub(super) fn gang(&self) -> Option<&'static str> {
        match *self {
            Self::Ready { gang, .. } | Self::Waits { gang } | Self::Recovered { gang, .. } => Some(gang),
            Self::Updated { .. } => None,
        }
    }

    /// As it stands behind "waiting until".
    pub(super) fn text(&self) -> String {
        match *self {
            Self::Ready { gang, pods } => format!("{pods} pods of gang {gang} are ready"),
            Self::Waits { gang } => format!("the scheduler has said that gang {gang} does not fit"),
            Self::Recovered { gang, pods } => format!("{pods} pods of gang {gang} are ready on other nodes"),
            Self::Updated { set, image, .. } => format!("all GPU pods of {set} run {image}"),
        }
    }
}

/// All steps, in order.
pub fn steps() -> Vec<Step> {
    let step = |title, intro, actions, until, outcome| Step {
        title,
        intro,
        actions,
        until,
        outcome,
        timeout: TIMEOUT,
    };
    vec![
        step(
            "The cluster is busy",
            "Two racks of three hosts, eight GPUs each. A training job takes five of the six hosts.",
            vec![Action::Apply(TRAINING)],
            Condition::Ready { gang: "training-0", pods: 5 },
            "One host is free. Each pod was created with a scheduling gate; Grove removed all gates at once when the gang was complete.",
        ),
        step(
            "A gang waits",
            "Now a chat service: a router, and a decode group of a leader and a worker with eight GPUs each, in one rack.",
            vec![Action::Apply(CHAT)],
            Condition::Waits { gang: BASE },
            "Not one of its pods was bound, although there is room for the leader: half a gang would only block GPUs. The \
             scheduler says: {why}",
        ),
        step(
            "Capacity is freed",
            "The training job ends.",
            vec![Action::DeleteSet("training")],
            Condition::Ready { gang: BASE, pods: 3 },
            "The scheduler placed the whole gang at once, leader and worker in one rack.",
        ),
        step(
            "A node fails",
            "The kubelet of a host with a decode pod stops answering.",
            vec![Action::LoseNode(Target::OfGang(BASE))],
            Condition::Recovered { gang: BASE, pods: 3 },
            "{node} is lost. Grove replaced what ran there, and the gang is whole again in the same rack: its topology still holds.",
        ),
        step(
            "A role scales",
            "The decode group is scaled to two replicas, as an autoscaler would do it.",
            vec![Action::ScaleGroup { name: "chat-0-decode", replicas: 2 }],
            Condition::Ready { gang: SCALED, pods: 2 },
            "The new replica is a gang of its own, scheduled after the base gang: all-or-nothing. The first replica was not touched.",
        ),
        step(
            "An update rolls out",
            "The decode group gets a new image.",
            vec![Action::SetImage { set: "chat", image: NEW_IMAGE }],
            Condition::Updated { set: "chat", pods: 4, image: NEW_IMAGE },
            "Replicas were replaced one after the other, each as a whole, so that leader and worker never ran different versions together.",
        ),
    ]
}

#[cfg(test)]
mod tests;
