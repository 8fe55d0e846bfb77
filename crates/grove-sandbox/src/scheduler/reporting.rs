//! What is said of the pods and groups of a unit after a decision.

use std::collections::{BTreeMap, BTreeSet};

use grove_placement::PodRequirements;

use super::{
    act::{
        notices::{of_pod, regarding},
        reports::{About, Report, SCHEDULER_ERROR, UNSCHEDULABLE},
    },
    engine::Engine,
    in_flight::Nomination,
    plan::{
        attempt::{Bind, Refusal},
        unit::Unit,
        words::{self, Scope},
    },
};

impl Engine {
    /// Tells pods and groups why they have no place, and who makes room for them.
    pub(super) fn report_refusal(&mut self, unit: &Unit, refusal: &Refusal, nomination: Option<&Nomination>) {
        let victims = nomination.map_or(0, |it| it.victims.len());
        let node_of = nomination.map(|it| it.node_of.clone()).unwrap_or_default();
        let scope = if unit.is_gang() { Scope::Gang } else { Scope::Alone };
        let pods: BTreeSet<String> = unit.pending().map(|it| it.name().to_owned()).collect();
        let message = self.report_pods(unit, &pods, refusal, scope, &node_of);
        for group in unit.groups.iter().filter(|it| !it.key.is_composite) {
            let mut message = words::of_group(&group.key.name, refusal);
            if victims > 0 {
                message.push_str(&words::preempting(victims));
            }
            let report = Report::GroupWaits { reason: UNSCHEDULABLE, message };
            self.reports.write(About::Group(group.key.clone()), report);
        }
        if let Some((regarding, message)) = regarding(unit).zip(message) {
            self.notices.failed(regarding, message);
        }
    }

    /// Tells pods why they have no node. Returns what the first one is told.
    fn report_pods(
        &mut self,
        unit: &Unit,
        pods: &BTreeSet<String>,
        refusal: &Refusal,
        scope: Scope,
        node_of: &BTreeMap<String, String>,
    ) -> Option<String> {
        let cluster = self.snapshot.cluster();
        let mut told: BTreeMap<&PodRequirements, String> = BTreeMap::new();
        let mut first = None;
        for pod in unit.tree.pods().into_iter().filter(|it| pods.contains(&it.name)) {
            let Some(member) = unit.members.get(&pod.name) else { continue };
            let message = told.entry(&pod.requirements).or_insert_with(|| {
                words::of_pod(&words::nodes(cluster, &pod.requirements, scope), refusal, scope == Scope::Gang)
            });
            first.get_or_insert_with(|| message.clone());
            let report = Report::PodWaits {
                uid: member.pod.uid().to_owned(),
                reason: UNSCHEDULABLE,
                message: message.clone(),
                nominated: node_of.get(&pod.name).cloned(),
            };
            self.reports.write(About::Pod(member.pod.key()), report);
        }
        first
    }

    /// Pods above the minima for which there is no room.
    pub(super) fn report_unplaced(&mut self, unit: &Unit, bind: &Bind, nomination: Option<&Nomination>) {
        if bind.unplaced.is_empty() {
            return;
        }
        let node_of = nomination.map(|it| it.node_of.clone()).unwrap_or_default();
        let pods: BTreeSet<String> = bind.unplaced.iter().cloned().collect();
        let refusal = Refusal { group: unit.tree.name.clone(), message: String::new(), is_certain: true };
        let message = self.report_pods(unit, &pods, &refusal, Scope::Extra, &node_of);
        let first = bind.unplaced.first().and_then(|it| unit.members.get(it));
        if let Some((member, message)) = first.zip(message) {
            self.notices.failed(of_pod(&member.pod), message);
        }
    }

    pub(super) fn report_fault(&self, unit: &Unit, message: &str) {
        for pod in unit.pending().filter(|it| self.is_ours(it)) {
            let report = Report::PodWaits {
                uid: pod.uid().to_owned(),
                reason: SCHEDULER_ERROR,
                message: message.to_owned(),
                nominated: None,
            };
            self.reports.write(About::Pod(pod.key()), report);
        }
        for group in unit.groups.iter().filter(|it| !it.key.is_composite) {
            let report = Report::GroupWaits { reason: SCHEDULER_ERROR, message: message.to_owned() };
            self.reports.write(About::Group(group.key.clone()), report);
        }
        if let Some(regarding) = regarding(unit) {
            self.notices.failed(regarding, message.to_owned());
        }
    }

    /// PodGroups of which the minimum is bound.
    pub(super) fn report_bound(&self, unit: &Unit) {
        for group in unit.groups.iter().filter(|it| !it.key.is_composite) {
            let bound = u64::try_from(unit.bound(&group.key.name)).unwrap_or(u64::MAX);
            if bound >= group.min_count().max(1) {
                self.reports.write(About::Group(group.key.clone()), Report::GroupScheduled);
            }
        }
    }
}
