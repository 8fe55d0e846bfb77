//! What is remembered of an object.

use std::time::Duration;

use grove_api::{constants::labels, wire::GoDuration};
use grove_apiserver::Object;
use serde_json::Value;

use super::{Track, Wanted};
use crate::{
    cluster::{number, text},
    connection::Sent,
    plan::Policy,
};

/// A pod.
#[derive(Clone, Debug)]
pub(crate) struct Pod {
    pub(crate) name: String,
    /// UID of its clique.
    pub(crate) clique: String,
    pub(crate) gang: String,
    pub(crate) index: Option<u64>,
    /// Hash of its template.
    pub(crate) hash: String,
    pub(crate) image: String,
    /// Whether it is there, and not on its way out.
    pub(crate) there: Track<bool>,
    pub(crate) ready: Track<bool>,
    /// Whether it ended by itself.
    pub(crate) ended: Track<bool>,
    /// Whether it, or a container of it, has failed.
    pub(crate) failed: Track<bool>,
    /// Whether Grove holds it back.
    pub(crate) gated: Track<bool>,
    /// The node that it has; empty if it has none.
    pub(crate) node: Track<String>,
    /// When it was created, as objects say it.
    pub(crate) created: String,
    /// The operator that made it.
    pub(crate) made: Option<Sent>,
    /// The operator that deleted it and knows that.
    pub(crate) deleted: Option<u32>,
    /// The object of its scheduler that it is a member of; empty if it is of none.
    pub(crate) member_of: String,
}

/// A clique.
#[derive(Clone, Debug)]
pub(crate) struct Clique {
    pub(crate) name: String,
    pub(crate) set: String,
    pub(crate) replica: u64,
    pub(crate) gang: String,
    /// Its scaling group, and the replica of it.
    pub(crate) group: Option<(String, u64)>,
    /// Pods that are wanted; none where it is gone or going.
    pub(crate) replicas: Track<Option<u64>>,
    /// Hash of the template.
    pub(crate) hash: Track<String>,
    /// Pods from before this time are to go; empty if there is none.
    pub(crate) restarted: Track<String>,
    /// Restarts by its policy, and when their window began.
    pub(crate) counted: Track<(u64, String)>,
    pub(crate) minimum: u64,
    /// Whether its minimum is ready.
    pub(crate) serves: Track<bool>,
    /// Whether it has fewer pods than are wanted. One that has ended holds its place until its time has come.
    pub(crate) lacks: Track<bool>,
    /// Whether its minimum is there, and has not ended.
    pub(crate) complete: Track<bool>,
    /// Whether it says that it has its place, and is below its minimum all the same.
    pub(crate) breached: Track<bool>,
}

/// A scaling group.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) replicas: Wanted,
    pub(crate) minimum: u64,
}

/// A set.
#[derive(Clone, Debug)]
pub(crate) struct Set {
    pub(crate) replicas: Wanted,
    /// Whether changes of its template reach pods that run.
    pub(crate) rolls: Track<bool>,
    /// The replica whose turn it is.
    pub(crate) turn: Track<Option<u64>>,
    /// How long a unit of it may be below its minimum before it is restarted; none where nothing ever is.
    pub(crate) termination_delay: Option<Duration>,
    pub(crate) policy: Track<Option<Policy>>,
}

/// A gang.
#[derive(Clone, Debug)]
pub(crate) struct Gang {
    /// Whether it is there and initialised.
    pub(crate) initialized: Track<bool>,
    /// Its cliques, and how many pods of each belong together.
    pub(crate) minima: Vec<(String, u64)>,
    pub(crate) uid: String,
}

impl Pod {
    pub(super) fn new(object: &Object, is_there: bool) -> Self {
        let label = |key: &str| object.label(key).unwrap_or_default().to_owned();
        let owner = object.owner_references().iter().find(|it| it["controller"] == true);
        Self {
            name: object.name().to_owned(),
            clique: owner.and_then(|it| it["uid"].as_str()).unwrap_or_default().to_owned(),
            gang: label(labels::POD_GANG),
            index: label(labels::POD_INDEX).parse().ok(),
            hash: label(labels::POD_TEMPLATE_HASH),
            image: text(object, "/spec/containers/0/image").to_owned(),
            there: Track::new(is_there),
            ready: Track::new(false),
            ended: Track::new(false),
            failed: Track::new(false),
            gated: Track::new(true),
            node: Track::new(String::new()),
            created: object.meta("creationTimestamp").unwrap_or_default().to_owned(),
            made: None,
            deleted: None,
            member_of: member_of(object).to_owned(),
        }
    }
}

impl Clique {
    pub(super) fn new(object: &Object) -> Self {
        let label = |key: &str| object.label(key);
        let index = |key: &str| label(key).and_then(|it| it.parse().ok()).unwrap_or_default();
        let group = label(labels::SCALING_GROUP).map(str::to_owned);
        Self {
            name: object.name().to_owned(),
            set: label(labels::PART_OF).unwrap_or_default().to_owned(),
            replica: index(labels::SET_REPLICA_INDEX),
            gang: label(labels::POD_GANG).unwrap_or_default().to_owned(),
            group: group.map(|it| (it, index(labels::SCALING_GROUP_REPLICA_INDEX))),
            replicas: Track::unknown(),
            hash: Track::unknown(),
            restarted: Track::unknown(),
            counted: Track::unknown(),
            minimum: 0,
            serves: Track::unknown(),
            lacks: Track::unknown(),
            complete: Track::unknown(),
            breached: Track::unknown(),
        }
    }
}

impl Group {
    pub(super) fn new() -> Self {
        Self { replicas: Track::unknown(), minimum: 1 }
    }

    pub(super) fn learn(&mut self, object: &Object, is_there: bool) {
        self.replicas.set(number(object, "/spec/replicas").filter(|_| is_there));
        self.minimum = number(object, "/spec/minAvailable").unwrap_or(1);
    }
}

impl Set {
    pub(super) fn new() -> Self {
        Self {
            replicas: Track::unknown(),
            rolls: Track::unknown(),
            turn: Track::unknown(),
            termination_delay: None,
            policy: Track::unknown(),
        }
    }

    pub(super) fn learn(&mut self, object: &Object, is_there: bool) {
        self.replicas.set(number(object, "/spec/replicas").filter(|_| is_there));
        let strategy = |field: &str| object.field(&format!("/spec/updateStrategy/{field}"));
        let is_paused = strategy("paused").is_some_and(|it| *it == true);
        self.rolls.set(text(object, "/spec/updateStrategy/type") != "OnDelete" && !is_paused);
        let is_open = object.field("/status/updateProgress/updateEndedAt").is_none();
        let turn = number(object, "/status/updateProgress/currentlyUpdating/0/replicaIndex");
        self.turn.set(turn.filter(|_| is_open));
        let delay = object.field("/spec/template/terminationDelay").cloned();
        let delay = delay.and_then(|it| serde_json::from_value::<GoDuration>(it).ok());
        self.termination_delay = delay.and_then(|it| it.to_std().ok());
        let policy = object.field("/spec/template/restartPolicy").filter(|it| !it.is_null());
        self.policy.set(policy.map(Policy::read));
    }
}

/// The PodGroup that a pod names, of the stock scheduler or of KAI.
pub(super) fn member_of(pod: &Object) -> &str {
    let group = text(pod, "/spec/schedulingGroup/podGroupName");
    if group.is_empty() { text(pod, "/metadata/annotations/pod-group-name") } else { group }
}

impl Gang {
    pub(super) fn new() -> Self {
        Self { initialized: Track::new(false), minima: Vec::new(), uid: String::new() }
    }

    pub(super) fn learn(&mut self, initialized: bool, object: &Object) {
        self.initialized.set(initialized);
        object.uid().clone_into(&mut self.uid);
        let groups = object.field("/spec/podgroups").and_then(Value::as_array);
        let minimum =
            |it: &Value| (it["name"].as_str().unwrap_or_default().to_owned(), it["minReplicas"].as_u64());
        self.minima = groups
            .into_iter()
            .flatten()
            .map(minimum)
            .map(|(name, it)| (name, it.unwrap_or_default()))
            .collect();
    }
}
