//! All sets, a line each: a pure function of the objects, and of few kinds of them.

use grove_api::{constants::phases, wire::PodCliqueSet};
use kube::ResourceExt;
use serde::Serialize;

use super::{
    screen::{State, condition},
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
    pub(super) available_replicas: usize,
    pub(super) wanted_replicas: usize,
    pub(super) ready_pods: usize,
    pub(super) wanted_pods: usize,
    pub(super) running_gangs: usize,
    pub(super) gangs: usize,
    /// What it lacks; empty where it lacks nothing.
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
        let is_running = |phase: &str| phase == phases::RUNNING || phase == phases::SUCCEEDED;
        let status = set.status.as_ref();
        let available = status
            .and_then(|it| condition(&it.conditions, grove_api::constants::conditions::available::TYPE));
        let lacking = available.filter(|it| it.status == "False");
        Self {
            namespace: set.namespace().unwrap_or_default(),
            name: set.name_any(),
            state: State::of(set),
            available_replicas: number(status.map_or(0, |it| it.available_replicas)),
            wanted_replicas: number(set.spec.replicas),
            ready_pods: cliques()
                .map(|it| number(it.status.as_ref().map_or(0, |it| it.ready_replicas)))
                .sum(),
            wanted_pods: cliques().map(wanted).sum(),
            running_gangs: gangs()
                .filter(|it| it.status.as_ref().is_some_and(|it| is_running(&it.phase)))
                .count(),
            gangs: gangs().count(),
            // "1 of 2 replicas are available; what is missing": the first half stands in a column.
            awaited: lacking
                .map(|it| it.message.split_once("; ").map_or(it.message.as_str(), |it| it.1).to_owned())
                .unwrap_or_default(),
        }
    }
}
