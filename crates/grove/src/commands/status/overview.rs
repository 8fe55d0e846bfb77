//! All sets, a line each: a pure function of the objects, and of few kinds of them.

use grove_api::{
    constants::{conditions as names, phases},
    wire::{PodCliqueSet, PodGang},
};
use grove_placement::natural::compare;
use kube::ResourceExt;
use serde::Serialize;

use super::{
    blocked::Blocked,
    screen::{State, awaited, condition},
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
    /// Why nothing more is to come by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) blocked: Option<Blocked>,
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
        let mut sets: Vec<Line> = seen.sets.values().map(|it| Line::of(seen, it)).collect();
        sets.sort_by(|one, other| {
            compare(&one.namespace, &other.namespace).then_with(|| compare(&one.name, &other.name))
        });
        Self { sets, with_namespace }
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
        // Why a gang has no place says more than that its pods are not ready.
        let state = State::of(set);
        let unplaced = unplaced(gangs()).filter(|_| state != State::Available);
        let blocked = Blocked::of(set);
        let awaited = blocked
            .and_then(|it| says(it.condition(), "True"))
            .or(unplaced.as_deref())
            .or(lacking)
            .or_else(|| says(names::update_pending::TYPE, "True"));
        Self {
            namespace: set.namespace().unwrap_or_default(),
            name: set.name_any(),
            state,
            blocked,
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

/// The first gang without a place, and why: one that waits for other gangs only if there is no other.
fn unplaced<'a>(gangs: impl Iterator<Item = &'a PodGang>) -> Option<String> {
    let conditions = |it: &'a PodGang| it.status.as_ref().map_or(&[][..], |it| &it.conditions);
    let waits = |it: &&'a PodGang| {
        condition(conditions(it), names::pod_gang::SCHEDULED).is_some_and(|it| it.status == "False")
    };
    let others = [names::pod_gang::WAITING_FOR_BASE, names::pod_gang::WAITING_FOR_OTHERS];
    let rank = |it: &PodGang| {
        let scheduled =
            it.status.as_ref().and_then(|it| condition(&it.conditions, names::pod_gang::SCHEDULED));
        scheduled.is_some_and(|it| others.contains(&it.reason.as_str()))
    };
    let mut gangs: Vec<&PodGang> = gangs.filter(waits).collect();
    gangs.sort_by(|one, other| {
        rank(one).cmp(&rank(other)).then_with(|| compare(&one.name_any(), &other.name_any()))
    });
    let first = gangs.first()?;
    let why = awaited(conditions(first));
    (!why.is_empty()).then(|| format!("gang {}: {why}", first.name_any()))
}

/// One that fell below its minimum keeps its phase for a while.
fn is_running(gang: &PodGang) -> bool {
    let Some(status) = &gang.status else { return false };
    let is_unhealthy =
        condition(&status.conditions, names::pod_gang::UNHEALTHY).is_some_and(|it| it.status == "True");
    !is_unhealthy && (status.phase == phases::RUNNING || status.phase == phases::SUCCEEDED)
}
