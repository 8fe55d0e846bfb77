//! What is decided for a unit, and what follows from that.

use std::{
    collections::BTreeSet,
    sync::{Arc, atomic::Ordering},
};

use grove_placement::PodRequirements;
use tracing::debug;

use super::{
    act::{
        binder::{Binding, Bound},
        notices::regarding,
        reports::About,
    },
    engine::Engine,
    in_flight::Decided,
    observe::{group_view::GroupKey, pod_view::PodView, snapshot::PlacedPod},
    plan::{
        attempt::{Bind, Decision, Refusal, decide},
        needs::Needs,
        unit::{Member, Stage, Unit, UnitContext, UnitKey},
    },
};

impl Engine {
    pub(super) fn look_at(&mut self, key: &UnitKey) {
        self.counters.looks.fetch_add(1, Ordering::Relaxed);
        let Some(unit) = self.unit(key) else { return self.forget(key) };
        self.report_bound(&unit);
        match unit.stage(&self.options.name) {
            Stage::Settled => self.forget(key),
            Stage::Incomplete => {
                self.queue.park(key, Needs::default());
                self.give_back(key);
            }
            Stage::Faulty(message) => {
                self.report_fault(&unit, &message);
                self.queue.park(key, Needs::default());
                self.give_back(key);
            }
            Stage::Ready => self.place(&unit),
        }
    }

    /// What is known of a unit.
    pub(super) fn unit(&self, key: &UnitKey) -> Option<Unit> {
        let has_node = |it: &str| self.snapshot.has_node(it);
        let context = UnitContext {
            scheduler: &self.options.name,
            labels: self.snapshot.excluding_labels().map(str::to_owned).collect(),
            has_node: &has_node,
        };
        match key {
            UnitKey::Pod(key) => {
                let pod = self.caches.pod(key).filter(|it| it.group.is_none() && self.is_ours(it))?;
                Some(Unit::of_pod(self.member(pod), &context))
            }
            UnitKey::Gang(root) => {
                let groups = self.caches.tree(root);
                let leaves = groups.iter().map(|it| &it.key).filter(|it| !it.is_composite);
                let members =
                    |it: &GroupKey| self.caches.pods_of(it).into_iter().map(|it| self.member(it)).collect();
                let pods = leaves.map(|it| (it.name.clone(), members(it))).collect();
                Unit::of_gang(groups, pods, &context)
            }
        }
    }

    fn member(&self, pod: Arc<PodView>) -> Member {
        let assumed = || self.snapshot.placed(&pod.key()).filter(|it| it.pod.uid() == pod.uid());
        let node = pod.node_name.clone().or_else(|| assumed().map(|it| it.node.clone()));
        Member { pod, node }
    }

    /// Places that others make room on for units that come before one.
    pub(super) fn nominated(&self, unit: &Unit) -> Vec<(String, Arc<PodRequirements>)> {
        let others = self.nominations.iter().filter(|it| *it.0 != unit.key && it.1.priority >= unit.priority);
        others.flat_map(|it| it.1.places.iter().cloned()).collect()
    }

    fn place(&mut self, unit: &Unit) {
        let also = self.nominated(unit);
        let alike = Self::alike(unit).filter(|_| also.is_empty());
        if let Some(refusal) = alike.as_ref().and_then(|it| self.refused.get(it)).cloned() {
            return self.refuse(unit, &refusal);
        }
        self.counters.searches.fetch_add(1, Ordering::Relaxed);
        let budget = self.options.budget;
        match self.snapshot.with(&BTreeSet::new(), &also, |cluster| decide(unit, cluster, budget)) {
            Decision::Bind(bind) => self.bind(unit, &bind),
            Decision::Refuse(refusal) => {
                if let Some(alike) = alike {
                    self.refused.insert(alike, refusal.clone());
                }
                self.refuse(unit, &refusal);
            }
        }
    }

    /// What a pod shares with pods for which the answer is the same.
    fn alike(unit: &Unit) -> Option<(i32, PodRequirements)> {
        let pods = unit.tree.pods();
        let [pod] = pods.as_slice() else { return None };
        (!unit.is_gang() && !pod.requirements.depends_on_pods())
            .then(|| (unit.priority, pod.requirements.clone()))
    }

    fn bind(&mut self, unit: &Unit, bind: &Bind) {
        // As with kube-scheduler, they come when nothing more can be placed without.
        let is_stuck = bind.pods.is_empty() && !bind.unplaced.is_empty();
        let nomination = if is_stuck { self.preempt_for_more(unit) } else { None };
        self.report_unplaced(unit, bind, nomination.as_ref());
        if bind.unplaced.is_empty() {
            self.queue.remove(&unit.key);
        } else {
            self.queue.park(&unit.key, bind.needs(unit));
        }
        let mut bindings = Vec::new();
        for (name, node) in &bind.pods {
            let Some(member) = unit.members.get(name) else { continue };
            let (pod, key) = (Arc::clone(&member.pod), member.pod.key());
            self.reports.cancel(&About::Pod(key.clone()));
            bindings.push(Binding { pod: key.clone(), uid: pod.uid().to_owned(), node: node.clone() });
            self.snapshot.set_pod(&key, Some(PlacedPod { pod, node: node.clone(), is_assumed: true }));
        }
        if bindings.is_empty() {
            return;
        }
        let decided = self.decided.entry(unit.key.clone()).or_insert_with(|| Decided::of(regarding(unit)));
        decided.waiting.extend(bindings.iter().map(|it| it.pod.clone()));
        decided.nodes.extend(bindings.iter().map(|it| it.node.clone()));
        debug!(unit = %unit.key, pods = bindings.len(), "binding");
        self.binder.bind(bindings);
        self.give_back(&unit.key);
        // Pods that want to be near these may fit now.
        self.queue.wake(&[]);
    }

    /// A binding was made, or failed for good.
    pub(super) fn finished(&mut self, bound: Bound) {
        let (binding, error) = match bound {
            Bound::Done(binding) => (binding, None),
            Bound::Failed(binding, error) => (binding, Some(error)),
        };
        let unit = self.decided.iter().find(|it| it.1.waiting.contains(&binding.pod)).map(|it| it.0.clone());
        if let Some(error) = &error {
            debug!(pod = %binding.pod, node = binding.node, error, "pod was not bound");
            let assumed = self.snapshot.placed(&binding.pod);
            if assumed.is_some_and(|it| it.is_assumed && it.pod.uid() == binding.uid) {
                let nodes = self.snapshot.set_pod(&binding.pod, None);
                self.nodes_changed(&nodes);
            }
        }
        let Some(unit) = unit else { return };
        if error.is_some() {
            self.retries.add(unit.clone());
        }
        let Some(decided) = self.decided.get_mut(&unit) else { return };
        decided.waiting.remove(&binding.pod);
        decided.bound += usize::from(error.is_none());
        if decided.waiting.is_empty()
            && let Some(decided) = self.decided.remove(&unit)
        {
            if error.is_none() {
                self.retries.forget(&unit);
            }
            if let Some(regarding) = decided.regarding.filter(|_| decided.bound > 0) {
                self.notices.scheduled(regarding, decided.bound, &decided.nodes);
            }
        }
    }

    fn refuse(&mut self, unit: &Unit, refusal: &Refusal) {
        let nomination = self.preempt(unit, refusal);
        self.report_refusal(unit, refusal, nomination.as_ref());
        self.queue.park(&unit.key, refusal.needs(unit));
    }
}
