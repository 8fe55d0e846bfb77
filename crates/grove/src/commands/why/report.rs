//! What is said of gangs: a pure function of the objects.

use grove_api::constants::labels;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use serde::Serialize;

use super::{
    advice,
    cause::{Cause, State},
    facts::{Around, Facts, Gate, gate, node, refusal},
};
use crate::columns::cut;

/// Characters of a sentence: others wrote most of it.
const MAX_SENTENCE: usize = 400;

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
    /// What would help, the likeliest first.
    pub(super) help: Vec<String>,
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
        let asked =
            facts.gangs.iter().filter(|it| facts.gang.as_ref().is_none_or(|name| it.name_any() == *name));
        let mut gangs: Vec<GangSaid> = asked.map(|gang| GangSaid::of(&Around { facts, gang })).collect();
        gangs.sort_by_key(|it| (it.state, it.name.clone()));
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
        Self {
            name: around.name(),
            state: State::of(around),
            scheduler: around.scheduler().to_owned(),
            cause: cause.name(),
            why: cut(&cause.sentence(around), MAX_SENTENCE),
            help: advice::of(&cause, around),
        }
    }
}

impl PodSaid {
    fn of(facts: &Facts, name: &str) -> Option<Self> {
        let pod = facts.pods.iter().find(|it| it.name_any() == name)?;
        let why = if pod.metadata.deletion_timestamp.is_some() {
            "it is being deleted".to_owned()
        } else if let Some(node) = node(pod) {
            format!("it has its place on node {node}")
        } else {
            match (gate(pod), refusal(pod)) {
                (Some(Gate::Foreign(gate)), _) => {
                    format!("it is held back by the scheduling gate {gate}, which is not Grove's")
                }
                (Some(Gate::Ours), _) => held(facts, pod),
                (None, Some(words)) => format!("the scheduler finds no place for it: {words}"),
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
    match around.filter(Around::is_placed).map(|it| it.go_first()) {
        None => "Grove holds it back until its gang may go".to_owned(),
        Some(Some(until)) => format!("it is above its gang's minimum: Grove holds it back until {until}"),
        Some(None) => "Grove is about to let it go".to_owned(),
    }
}

#[cfg(test)]
mod tests;
