//! What is said of gangs: a pure function of the objects.

use grove_api::constants::labels;
use grove_placement::natural::compare;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde::Serialize;

use super::{
    advice,
    cause::{Cause, State},
    facts::{Around, Facts, Gate, gate, node},
    obstacle::Obstacle,
};
use crate::{columns::cut, commands::preemptions};

/// Characters of a sentence: others wrote most of it.
const MAX_SENTENCE: usize = 400;

/// Obstacles in a sentence.
const MAX_OBSTACLES: usize = 3;

/// All that is said.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    pub(super) namespace: String,
    pub(super) set: String,
    /// The pod that was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pod: Option<PodSaid>,
    /// Those that need attention first.
    pub(super) gangs: Vec<GangSaid>,
    /// Whether the SchedulerBackends could be read.
    pub(super) backends_read: bool,
}

/// What is said of one gang.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GangSaid {
    pub(super) name: String,
    pub(super) state: State,
    pub(super) scheduler: String,
    pub(super) cause: &'static str,
    /// One sentence.
    pub(super) why: String,
    /// What keeps its pods off nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) obstacles: Vec<ObstacleSaid>,
    /// What would help, the likeliest first.
    pub(super) help: Vec<String>,
}

/// One thing that keeps pods off nodes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObstacleSaid {
    kind: &'static str,
    text: String,
}

impl ObstacleSaid {
    pub(super) fn of(obstacle: &Obstacle) -> Self {
        Self { kind: obstacle.kind(), text: obstacle.text() }
    }
}

/// What is said of one pod.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PodSaid {
    pub(super) name: String,
    pub(super) why: String,
}

impl Report {
    pub(super) fn of(facts: &Facts) -> Self {
        let asked = facts.gangs.iter().filter(|it| facts.is_asked(it));
        let mut gangs: Vec<GangSaid> = asked.map(|gang| GangSaid::of(&Around { facts, gang })).collect();
        gangs.sort_by(|one, other| one.state.cmp(&other.state).then_with(|| compare(&one.name, &other.name)));
        Self {
            namespace: facts.namespace.clone(),
            set: facts.set.clone(),
            pod: facts.pod.as_ref().and_then(|name| PodSaid::of(facts, name)),
            gangs,
            backends_read: facts.backends.is_some(),
        }
    }
}

impl GangSaid {
    fn of(around: &Around<'_>) -> Self {
        let cause = Cause::of(around);
        let obstacles = advice::obstacles(&cause, around);
        let why = format!("{}{}", cause.sentence(around), untold(&cause, &obstacles));
        // It stays when the pods are gone, and says nothing of a gang that came back.
        let preempted = around.preempted().filter(|_| !around.is_placed());
        let preempted = preempted.map(|it| format!("; it was {it}")).unwrap_or_default();
        Self {
            name: around.name(),
            state: State::of(around),
            scheduler: around.scheduler().to_owned(),
            cause: cause.name(),
            why: cut(&why, MAX_SENTENCE) + &preempted,
            obstacles: obstacles.iter().map(ObstacleSaid::of).collect(),
            help: advice::of(&cause, around, &obstacles),
        }
    }
}

/// What the scheduler's own words do not say.
fn untold(cause: &Cause, obstacles: &[Obstacle]) -> String {
    let Cause::NoPlace(words) = cause else { return String::new() };
    let more = obstacles.iter().filter(|it| !it.is_told_by(words));
    more.take(MAX_OBSTACLES).fold(String::new(), |said, it| said + "; " + &it.text())
}

impl PodSaid {
    fn of(facts: &Facts, name: &str) -> Option<Self> {
        let pod = facts.pods.iter().find(|it| it.name_any() == name)?;
        let why = if pod.metadata.deletion_timestamp.is_some() {
            preemptions::of_pod(pod)
                .map_or_else(|| "it is being deleted".to_owned(), |it| format!("it is being deleted: {it}"))
        } else if let Some(node) = node(pod) {
            format!("scheduled on node {node}")
        } else {
            match (gate(pod), facts.said_of(pod)) {
                (Some(Gate::Foreign(gate)), _) => {
                    format!("it has the scheduling gate {gate}, which Grove does not manage")
                }
                (Some(Gate::Ours), _) => held(facts, pod),
                (None, Some(words)) => format!("the scheduler cannot place it: {words}"),
                (None, None) => "the scheduler has not answered yet".to_owned(),
            }
        };
        Some(Self { name: name.to_owned(), why: cut(&why, MAX_SENTENCE) })
    }
}

/// Why Grove holds a pod back.
fn held(facts: &Facts, pod: &Pod) -> String {
    let own = pod.labels().get(labels::POD_GANG);
    let gang = facts.gangs.iter().find(|it| own == Some(&it.name_any()));
    let around = gang.map(|gang| Around { facts, gang });
    let is_above = around.as_ref().is_some_and(|it| it.is_initialized() && it.is_above(pod));
    match around.filter(Around::is_placed).map(|it| it.go_first()) {
        None if is_above => {
            "it is above minAvailable and stays gated until the minimum of its gang is scheduled".to_owned()
        }
        None => "its scheduling gate is removed when its gang is complete".to_owned(),
        Some(Some(until)) => format!("it is above minAvailable and stays gated until {until}"),
        Some(None) => "its scheduling gate is about to be removed".to_owned(),
    }
}

#[cfg(test)]
mod tests;
