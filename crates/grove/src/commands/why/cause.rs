//! Why a gang is as it is: of all that was written about it, what comes first.

use grove_api::constants::conditions::{self as names, pod_gang, scheduler_backend_ready};
use serde::Serialize;

use super::{
    facts::{Around, Gate, gate},
    words::is_of_api_server,
};

/// Why a gang waits, with the words of whoever knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// It runs.
    None,
    /// No operator has looked at it.
    Unseen,
    /// Its pods cannot be created: the API server, or the scheduler's backend, does not take them.
    PodsRefused(String),
    /// Not all of its pods exist.
    PodsMissing(String),
    /// No profile of the operator's configuration asks for its scheduler.
    BackendNotConfigured,
    /// Its scheduler cannot be used.
    BackendNotReady(String),
    /// Its scheduler could not be told of it.
    BackendFailed(String),
    /// It requires a level of a topology that does not exist.
    TopologyNotFound(String),
    /// The base gang goes first.
    WaitingForBase,
    /// A base gang of another replica goes first.
    WaitingForOthers(String),
    /// Its pods have a gate that is not Grove's.
    HeldByOthers(String),
    /// Its pods still have Grove's gate.
    NotLetGo,
    /// The scheduler finds no place.
    NoPlace(String),
    /// The scheduler has not answered.
    Silent(String),
    /// The scheduler places its pods one by one.
    NotHonoured(String),
    /// It runs, and pods above its minimum wait until other gangs of the set have their place.
    MinimaFirst { pods: usize, until: String },
    /// It has its place and is not ready.
    NotReady(String),
    /// It had its place and fell below its minimum.
    Unhealthy(String),
}

/// How a gang is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    Unhealthy,
    /// It has no place.
    Waiting,
    /// It has its place.
    Starting,
    Running,
}

impl State {
    pub(super) fn of(around: &Around<'_>) -> Self {
        let is = |type_: &str| around.condition(type_).is_some_and(|it| it.status == "True");
        match (is(pod_gang::UNHEALTHY), is(pod_gang::SCHEDULED), is(pod_gang::READY)) {
            (true, ..) => Self::Unhealthy,
            (false, false, _) => Self::Waiting,
            (false, true, false) => Self::Starting,
            (false, true, true) => Self::Running,
        }
    }
}

impl Cause {
    pub(super) fn of(around: &Around<'_>) -> Self {
        let says = |type_: &str, status: &str| around.condition(type_).filter(|it| it.status == status);
        if let Some(refused) = says(names::REPLICA_FAILURE, "True") {
            return Self::PodsRefused(refused.message.clone());
        }
        if says(pod_gang::SCHEDULED, "True").is_some() {
            let unhealthy = says(pod_gang::UNHEALTHY, "True").map(|it| Self::Unhealthy(it.message.clone()));
            let starting = || says(pod_gang::READY, "False").map(|it| Self::NotReady(it.message.clone()));
            return unhealthy.or_else(starting).or_else(|| minima_first(around)).unwrap_or(Self::None);
        }
        let Some(waits) = says(pod_gang::SCHEDULED, "False").or_else(|| says(pod_gang::INITIALIZED, "False"))
        else {
            return Self::Unseen;
        };
        let words = waits.message.clone();
        match waits.reason.as_str() {
            pod_gang::BACKEND_FAILED => Self::BackendFailed(words),
            pod_gang::NOT_HONOURED => Self::NotHonoured(words),
            pod_gang::UNSCHEDULABLE => Self::NoPlace(words),
            pod_gang::TOPOLOGY_NOT_FOUND | pod_gang::TOPOLOGY_LEVELS_UNAVAILABLE => {
                Self::TopologyNotFound(words)
            }
            pod_gang::WAITING_FOR_BASE => Self::WaitingForBase,
            pod_gang::WAITING_FOR_OTHERS => Self::WaitingForOthers(words),
            pod_gang::BACKEND_NOT_READY => unready(around).unwrap_or(Self::BackendNotReady(words)),
            pod_gang::PODS_NOT_CREATED => unready(around).unwrap_or_else(|| incomplete(around, words)),
            _ => unready(around).unwrap_or_else(|| unanswered(around, words)),
        }
    }

    /// In one sentence.
    pub(super) fn sentence(&self, around: &Around<'_>) -> String {
        let scheduler = match around.scheduler() {
            "" => "the scheduler".to_owned(),
            name => name.to_owned(),
        };
        match self {
            Self::None => "running".to_owned(),
            Self::Unseen => "the operator has not reconciled it yet".to_owned(),
            Self::PodsRefused(words) if is_of_api_server(words) => {
                format!("the API server rejects its pods: {words}")
            }
            Self::PodsRefused(words) => format!("its pods cannot be created: {words}"),
            Self::PodsMissing(words)
            | Self::BackendNotReady(words)
            | Self::TopologyNotFound(words)
            | Self::NotHonoured(words)
            | Self::WaitingForOthers(words) => words.clone(),
            Self::BackendNotConfigured => {
                format!("its scheduler {scheduler} has no profile in the operator's configuration")
            }
            Self::BackendFailed(words) => {
                format!("its pods stay gated, because the backend of {scheduler} failed: {words}")
            }
            Self::WaitingForBase => match around.base() {
                Some(base) => format!("waiting for its base gang {base} to be scheduled"),
                None => "waiting for its base gang to be scheduled".to_owned(),
            },
            Self::HeldByOthers(gate) => {
                format!("its pods have the scheduling gate {gate}, which Grove does not manage")
            }
            Self::NotLetGo => "all of its pods exist; their scheduling gates are not removed yet".to_owned(),
            Self::NoPlace(words) => format!("{scheduler} cannot place it: {words}"),
            Self::Silent(words) if words.is_empty() => format!("{scheduler} has not answered yet"),
            Self::Silent(words) => format!("{scheduler} has not answered yet: {words}"),
            Self::MinimaFirst { pods, until } => {
                let (pods, stay) =
                    if *pods == 1 { ("1 pod".to_owned(), "stays") } else { (format!("{pods} pods"), "stay") };
                format!("running; {pods} above minAvailable {stay} gated until {until}")
            }
            Self::NotReady(words) => format!("scheduled, but not ready: {words}"),
            Self::Unhealthy(words) => format!("below minAvailable: {words}"),
        }
    }

    /// For machines.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Unseen => "unseen",
            Self::PodsRefused(_) => "podsRefused",
            Self::PodsMissing(_) => "podsMissing",
            Self::BackendNotConfigured => "backendNotConfigured",
            Self::BackendNotReady(_) => "backendNotReady",
            Self::BackendFailed(_) => "backendFailed",
            Self::TopologyNotFound(_) => "topologyNotFound",
            Self::WaitingForBase => "waitingForBase",
            Self::WaitingForOthers(_) => "waitingForOthers",
            Self::HeldByOthers(_) => "heldByOthers",
            Self::NotLetGo => "notLetGo",
            Self::NoPlace(_) => "noPlace",
            Self::Silent(_) => "silent",
            Self::NotHonoured(_) => "notHonoured",
            Self::MinimaFirst { .. } => "minimaFirst",
            Self::NotReady(_) => "notReady",
            Self::Unhealthy(_) => "unhealthy",
        }
    }
}

/// Its minimum is placed: what Grove still holds back is above it, and lets the minima of others go first.
fn minima_first(around: &Around<'_>) -> Option<Cause> {
    let pods = around.held();
    let until = around.go_first().filter(|_| pods > 0)?;
    Some(Cause::MinimaFirst { pods, until })
}

/// The backend itself knows better than a gang that waits for it.
fn unready(around: &Around<'_>) -> Option<Cause> {
    let said = around.unready_backend()?;
    if said.reason == scheduler_backend_ready::NOT_CONFIGURED {
        return Some(Cause::BackendNotConfigured);
    }
    let why = if said.message.is_empty() { &said.reason } else { &said.message };
    let name = around.scheduler();
    Some(Cause::BackendNotReady(format!("the scheduler backend {name} is not ready: {why}")))
}

/// Who says that a gang is incomplete says it best where it says so of its pods.
fn incomplete(around: &Around<'_>, words: String) -> Cause {
    let initialized = around.condition(pod_gang::INITIALIZED).filter(|it| it.status == "False");
    Cause::PodsMissing(initialized.map_or(words, |it| it.message.clone()))
}

/// Its scheduler was told of it, and has not said a word about the whole of it.
fn unanswered(around: &Around<'_>, words: String) -> Cause {
    if let Some(refused) = around.pods().find_map(|it| around.facts.said_of(it)) {
        return Cause::NoPlace(refused);
    }
    let gates: Vec<Option<Gate<'_>>> = around.pods().map(gate).collect();
    let foreign = gates.iter().find_map(|it| match it {
        Some(Gate::Foreign(name)) => Some(Cause::HeldByOthers((*name).to_owned())),
        _ => None,
    });
    // Pods above the minimum may be held back while the scheduler has all that it needs.
    let is_let_go = gates.is_empty() || gates.contains(&None);
    foreign.unwrap_or(if is_let_go { Cause::Silent(words) } else { Cause::NotLetGo })
}
