//! A unit of higher priority that does not fit has others make room: as few as a bounded search finds, whole gangs where these say
//! `disruptionMode: all`. What they leave is kept for it. Once its minima are there, its other pods have others make room, too.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    act::{
        evictor::Eviction,
        notices::{of_group, of_pod},
    },
    engine::Engine,
    in_flight::Nomination,
    observe::{
        group_view::{GroupKey, GroupObject},
        pod_view::PodKey,
    },
    plan::{
        attempt::{Bind, Decision, Refusal, decide},
        unit::Unit,
        victims::{Victim, choose},
        words,
    },
};

/// Pods that could make room, and the groups that they belong to.
struct Candidates {
    victims: Vec<Victim>,
    groups: BTreeMap<String, GroupObject>,
    /// Pods that go anyway.
    terminating: BTreeSet<PodKey>,
}

/// What of a unit has no place.
#[derive(Clone, Copy)]
enum Pending {
    /// Its minima, and whether every possibility was considered.
    Minima { is_certain: bool },
    /// Pods above them.
    Extras,
}

impl Engine {
    /// Has others make room for the minima of a unit. Returns the places that are kept for it while they go.
    pub(super) fn preempt(&mut self, unit: &Unit, refusal: &Refusal) -> Option<Nomination> {
        self.preempt_for(unit, Pending::Minima { is_certain: refusal.is_certain })
    }

    /// Has others make room for as many pods above the minima as can have a node by that.
    pub(super) fn preempt_for_more(&mut self, unit: &Unit) -> Option<Nomination> {
        self.preempt_for(unit, Pending::Extras)
    }

    fn preempt_for(&mut self, unit: &Unit, pending: Pending) -> Option<Nomination> {
        if let Some(nomination) = self.nominations.get(&unit.key) {
            let is_there =
                |it: (&PodKey, &String)| self.caches.pod(it.0).is_some_and(|pod| pod.uid() == it.1);
            if nomination.victims.iter().any(is_there) {
                return Some(nomination.clone());
            }
            self.give_back(&unit.key);
        }
        let is_certain = !matches!(pending, Pending::Minima { is_certain: false });
        if unit.never_preempts || !is_certain || !self.snapshot.has_below(unit.priority) {
            return None;
        }
        let candidates = self.candidates(unit);
        let also = self.nominated(unit);
        let budget = self.options.budget;
        let terminating = candidates.terminating.clone();
        let mut bind_without = |pods: &BTreeSet<PodKey>| match self
            .snapshot
            .with(pods, &also, |cluster| decide(unit, cluster, budget))
        {
            Decision::Bind(bind) => Some(bind),
            Decision::Refuse(_) => None,
        };
        let without = |chosen: &[usize]| -> BTreeSet<PodKey> {
            let pods = chosen.iter().flat_map(|it| &candidates.victims[*it].pods);
            pods.chain(&terminating).cloned().collect()
        };
        let wanted = match pending {
            Pending::Minima { .. } => 0,
            Pending::Extras => {
                let all: Vec<usize> = (0..candidates.victims.len()).collect();
                bind_without(&without(&all)).map(|it| it.pods.len()).filter(|it| *it > 0)?
            }
        };
        let mut fits_without =
            |pods: &BTreeSet<PodKey>| bind_without(pods).is_some_and(|it| it.pods.len() >= wanted);
        // Nobody is asked to go where it is enough to wait.
        if !terminating.is_empty() && fits_without(&terminating) {
            return None;
        }
        let chosen = choose(&candidates.victims, |it| fits_without(&without(it)))?;
        let bind = bind_without(&without(&chosen))?;
        let victims: Vec<&Victim> = chosen.iter().map(|it| &candidates.victims[*it]).collect();
        Some(self.make_room(unit, &bind, &victims, &candidates.groups))
    }

    fn make_room(
        &mut self,
        unit: &Unit,
        bind: &Bind,
        victims: &[&Victim],
        groups: &BTreeMap<String, GroupObject>,
    ) -> Nomination {
        let message = words::preempted_by(&unit.key);
        let mut uids = BTreeMap::new();
        for victim in victims {
            if let Some(group) = groups.get(&victim.name) {
                self.notices.preempted(of_group(group), &unit.key);
            }
            for key in &victim.pods {
                let Some(placed) = self.snapshot.placed(key) else { continue };
                self.notices.preempted(of_pod(&placed.pod), &unit.key);
                uids.insert(key.clone(), placed.pod.uid().to_owned());
            }
        }
        let eviction = |(pod, uid): (&PodKey, &String)| Eviction {
            pod: pod.clone(),
            uid: uid.clone(),
            message: message.clone(),
        };
        self.evictor.evict(uids.iter().map(eviction).collect());
        let place = |(name, node): &(String, String)| {
            let pod = unit.members.get(name)?.pod.requirements.as_ref().ok()?;
            Some((node.clone(), Arc::clone(pod)))
        };
        let nomination = Nomination {
            priority: unit.priority,
            places: bind.pods.iter().filter_map(place).collect(),
            node_of: bind.pods.iter().cloned().collect(),
            victims: uids,
        };
        self.nominations.insert(unit.key.clone(), nomination.clone());
        nomination
    }

    fn candidates(&self, unit: &Unit) -> Candidates {
        let mut found =
            Candidates { victims: Vec::new(), groups: BTreeMap::new(), terminating: BTreeSet::new() };
        let mut owner_of: BTreeMap<GroupKey, Option<GroupObject>> = BTreeMap::new();
        let mut victims: BTreeMap<String, Victim> = BTreeMap::new();
        for (key, placed) in self.snapshot.pods() {
            let pod = &placed.pod;
            if pod.is_terminating() {
                found.terminating.insert(key.clone());
                continue;
            }
            if pod.priority >= unit.priority {
                continue;
            }
            let group = pod.group.as_ref().map(|it| GroupKey::leaf(&key.namespace, it));
            let owner = group.and_then(|it| {
                owner_of.entry(it.clone()).or_insert_with(|| self.disrupted_with(&it)).clone()
            });
            let (name, created) = match &owner {
                // Told apart from a pod of the same name.
                Some(group) => {
                    (format!("{} {}/{}", group.kind(), group.key.namespace, group.key.name), group.created)
                }
                None => (format!("Pod {key}"), pod.created()),
            };
            let victim = victims.entry(name.clone()).or_insert_with(|| Victim {
                name: name.clone(),
                priority: pod.priority,
                created,
                pods: BTreeSet::new(),
            });
            victim.priority = victim.priority.max(pod.priority);
            victim.pods.insert(key.clone());
            found.groups.extend(owner.map(|it| (name, it)));
        }
        found.victims = victims.into_values().collect();
        found
    }

    /// The outermost group that gives room only as a whole.
    fn disrupted_with(&self, leaf: &GroupKey) -> Option<GroupObject> {
        let path = self.caches.path(leaf)?;
        path.into_iter().rev().find(GroupObject::is_disrupted_as_a_whole)
    }
}
