//! All sets, a line each: a pure function of the objects, and of few kinds of them.

use grove_api::{
    constants::{conditions as names, phases},
    wire::{PodCliqueSet, PodGang},
};
use kube::ResourceExt;
use serde::Serialize;

use super::{
    screen::{State, condition, is_blocked},
    seen::{Seen, belongs, number, wanted},
};

/// All sets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Overview {
    pub(super) sets: Vec<Line>,
    #[serde(skip)]
    pub(super) with_namespace: bool,
}

/// One set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Line {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) state: State,
    /// Whether pods are rejected, so that nothing more is to come by itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) blocked: bool,
    pub(super) available_replicas: usize,
    pub(super) wanted_replicas: usize,
    pub(super) ready_pods: usize,
    pub(super) wanted_pods: usize,
    pub(super) running_gangs: usize,
    pub(super) gangs: usize,
    /// What it lacks, or what waits; empty where there is nothing.
    pub(super) awaited: String,
}

impl Overview {
    pub(super) fn of(seen: &Seen, with_namespace: bool) -> Self {
        Self { sets: seen.sets.values().map(|it| Line::of(seen, it)).collect(), with_namespace }
    }
}

impl Line {
    fn of(seen: &Seen, set: &PodCliqueSet) -> Self {
        let cliques = || seen.cliques.values().filter(|it| belongs(*it, set));
        let gangs = || seen.gangs.values().filter(|it| belongs(*it, set));
        let status = set.status.as_ref();
        let says = |type_: &str, value: &str| {
            condition(&status?.conditions, type_)
                .filter(|it| it.status == value)
                .map(|it| it.message.as_str())
        };
        // "1 of 2 replicas are available; what is missing": the first half stands in a column.
        let lacking =
            says(names::available::TYPE, "False").map(|it| it.split_once("; ").map_or(it, |it| it.1));
        let awaited = says(names::REPLICA_FAILURE, "True")
            .or(lacking)
            .or_else(|| says(names::update_pending::TYPE, "True"));
        Self {
            namespace: set.namespace().unwrap_or_default(),
            name: set.name_any(),
            state: State::of(set),
            blocked: is_blocked(set),
            available_replicas: number(status.map_or(0, |it| it.available_replicas)),
            wanted_replicas: number(set.spec.replicas),
            ready_pods: cliques()
                .map(|it| number(it.status.as_ref().map_or(0, |it| it.ready_replicas)))
                .sum(),
            wanted_pods: cliques().map(wanted).sum(),
            running_gangs: gangs().filter(|it| is_running(it)).count(),
            gangs: gangs().count(),
            awaited: awaited.unwrap_or_default().to_owned(),
        }
    }
}

/// One that fell below its minimum keeps its phase for a while.
fn is_running(gang: &PodGang) -> bool {
    let Some(status) = &gang.status else { return false };
    let is_unhealthy =
        condition(&status.conditions, names::pod_gang::UNHEALTHY).is_some_and(|it| it.status == "True");
    !is_unhealthy && (status.phase == phases::RUNNING || status.phase == phases::SUCCEEDED)
}
