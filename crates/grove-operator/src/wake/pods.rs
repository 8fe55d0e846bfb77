//! Which controllers a change of a pod or a node concerns.

use std::sync::Arc;

use grove_api::constants::labels;
use grove_plan::{
    facts::Phase,
    gang::is_initialized,
    layout::{count, spec_minimum},
    rollout,
};
use k8s_openapi::jiff::SignedDuration;

use crate::{
    controllers::{Grove, uid},
    key::{Key, StatusKey},
    seen::{NodeView, PodView, joined, label},
};

impl Grove {
    pub(super) fn pod_changed(&self, old: Option<&Arc<PodView>>, new: Option<&Arc<PodView>>) {
        let Some(pod) = new.or(old) else { return };
        if old.is_some_and(|old| new.is_some_and(|new| old.fact == new.fact)) {
            return;
        }
        self.forget_node_without_pods(old, new);
        let clique = Key::new(pod.namespace(), pod.clique.clone());
        let gang = Key::new(pod.namespace(), pod.fact.gang.clone());
        let set = Key::new(pod.namespace(), pod.set.clone());
        let presence =
            |it: &Arc<PodView>| (it.fact.is_live(), it.fact.phase, it.fact.index, it.fact.awaits_parents);
        let is_ready = |it: &Arc<PodView>| (it.fact.is_live(), it.fact.ready, it.fact.bound);
        let wakes = old.map(is_ready) != new.map(is_ready) && self.awaits_readiness(pod);
        if wakes || old.map(presence) != new.map(presence) {
            self.queues.cliques.add(clique.clone());
        }
        if let (Some(group), true) = (&pod.group, wakes) {
            self.queues.groups.add(Key::new(pod.namespace(), group.clone()));
        }
        let serves = |it: &PodView| it.fact.ready || it.fact.phase == Phase::Succeeded;
        let ready = |it: Option<&Arc<PodView>>| it.is_some_and(|it| serves(it) && it.fact.is_live());
        if ready(old) != ready(new) {
            self.wake_cliques_after(&clique);
        }
        let place = |it: &Arc<PodView>| (it.fact.is_live(), it.fact.bound, it.fact.gates.clone());
        if old.map(place) != new.map(place) {
            self.quota_of_pod_changed(pod.namespace(), new);
            let bound = |it: Option<&Arc<PodView>>| it.is_some_and(|it| it.fact.bound && it.fact.is_live());
            if bound(old) != bound(new) {
                self.wake_scaled_gangs(&gang);
            }
            if bound(new) && !bound(old) {
                self.pod_bound(&clique);
            }
            self.queues.gangs.add(gang.clone());
        }
        // Others may have waited for it. Whoever created it knows, but not where the answer was lost.
        let is_live = |it: Option<&Arc<PodView>>| it.is_some_and(|it| it.fact.is_live());
        if is_live(new) && !is_live(old) {
            self.wake_held_by_minimum(&gang, &clique.name);
        }
        self.queues.report(StatusKey::Gang(gang));
        self.queues.report(StatusKey::Clique(clique));
        if let Some(group) = &pod.group {
            self.queues.report(StatusKey::Group(Key::new(pod.namespace(), group.clone())));
        }
        self.queues.look_at_set_soon(set);
    }

    /// Notes that the minimum of a clique is bound as soon as it is seen: a pod of it may be lost again before its status is looked at.
    fn pod_bound(&self, clique: &Key) {
        let Some(clique) = self.seen.cliques.cache.get(&clique.namespace, &clique.name) else { return };
        let id = uid(clique.as_ref());
        let is_recorded = clique.status.as_ref().is_some_and(|it| it.was_scheduled == Some(true));
        if is_recorded || clique.spec.replicas == Some(0) || self.memory.was_scheduled(id) {
            return;
        }
        if self.tally(&clique).scheduled >= spec_minimum(&clique.spec).max(1) {
            self.memory.note_scheduled(id, true);
        }
    }

    /// What was read of a node is forgotten with the last pod there: its name may be one that a tenant invented.
    fn forget_node_without_pods(&self, old: Option<&Arc<PodView>>, new: Option<&Arc<PodView>>) {
        let Some(node) = old.map(|it| it.fact.node.as_str()).filter(|it| !it.is_empty()) else { return };
        if new.is_none() && self.seen.pods_by_node.count(node) == 0 {
            self.memory.nodes.forget(node);
        }
    }

    /// What was scaled out waits for its base gang.
    pub(super) fn wake_scaled_gangs(&self, base: &Key) {
        let mut last = None;
        for clique in self.seen.cliques_by_base.get(&joined(&base.namespace, &base.name)) {
            let gang = label(&clique.metadata, labels::POD_GANG).map(str::to_owned);
            if let Some(name) = &gang
                && last != gang
            {
                self.queues.gangs.add(Key::new(base.namespace.clone(), name.clone()));
            }
            last = gang;
        }
    }

    /// Whether it matters to an update, or to one that would be too many, which pods are ready.
    fn awaits_readiness(&self, pod: &PodView) -> bool {
        let set = self.seen.sets.get(pod.namespace(), &pod.set);
        let progress =
            set.as_ref().and_then(|it| it.status.as_ref()).and_then(|it| it.update_progress.as_ref());
        rollout::is_open(progress) || {
            let clique = self.seen.cliques.cache.get(pod.namespace(), &pod.clique);
            let wanted = clique.and_then(|it| it.spec.replicas).map_or(0, count) as usize;
            self.seen.count_siblings(pod) > wanted
        }
    }

    /// Others of a gang that is not complete yet may have waited for the minimum of a clique.
    pub(super) fn wake_held_by_minimum(&self, gang: &Key, clique: &str) {
        let known = self.seen.gangs.cache.get(&gang.namespace, &gang.name);
        if known.is_some_and(|it| is_initialized(&it)) {
            return;
        }
        for other in self.seen.cliques_by_gang.get(&joined(&gang.namespace, &gang.name)) {
            if other.spec.replicas != other.spec.min_available
                && other.metadata.name.as_deref() != Some(clique)
            {
                self.queues.cliques.add(Key::of(other.as_ref()));
            }
        }
    }

    /// A node came, went or has other taints: its pods may be lost, or not any more.
    pub(super) fn node_changed(&self, old: Option<&Arc<NodeView>>, new: Option<&Arc<NodeView>>) {
        let Some(name) = new.or(old).and_then(|it| it.metadata.name.as_deref()) else { return };
        if old.map(|it| &it.labels) != new.map(|it| &it.labels) {
            self.wake_bindings_by(old, new);
            // How well gangs sit there may be another matter now.
            for pod in self.seen.pods_by_node.get(name) {
                self.queues.report_soon(StatusKey::Gang(Key::new(pod.namespace(), pod.fact.gang.clone())));
            }
        }
        if old.is_some_and(|old| new.is_some_and(|new| old.fact == new.fact)) {
            return;
        }
        let after = self.node_loss.map_or(SignedDuration::ZERO, |it| it.after);
        self.memory.nodes.changed(name, new.map(|it| &it.fact), after, self.now());
        self.wake_cliques_on(name);
    }
}
