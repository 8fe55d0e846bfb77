//! What was, as far as the operator may still believe that it is: its caches are late.

mod objects;
mod track;

use std::{collections::BTreeMap, time::Duration};

use grove_api::constants::{gates, labels};
use grove_apiserver::{Event, Key, Object};
use serde_json::Value;
use tokio::time::Instant;

pub(crate) use self::{
    objects::{Clique, Gang, Group, Pod, Set},
    track::Track,
};
use crate::cluster::{
    CLIQUES, COMPOSITES, GANGS, GROUPS, KAI_POD_GROUPS, NODES, POD_GROUPS, PODS, SETS, TENANT, condition,
    is_ready, number, text,
};

/// How many replicas are wanted; none where the object is gone or going.
pub(crate) type Wanted = Track<Option<u64>>;

/// What was.
pub(crate) struct Past {
    /// How old may be what the operator goes by.
    pub(crate) staleness: Duration,
    /// How long a request is under way at most.
    pub(crate) trip: Duration,
    /// How long a node may be silent before its pods count as gone, if they ever do.
    pub(crate) lost_after: Option<Duration>,
    /// How old may be what the operator goes by where it acts because of a node: it has to look before.
    pub(crate) node_staleness: Duration,
    /// How far apart the times are that the operator's clock shows for one moment.
    pub(crate) skew: Duration,
    /// Whether the scheduler has objects of its own for gangs.
    pub(crate) has_backend: bool,
    /// The operator whose write is looked at.
    pub(crate) writer: u32,
    /// Whether operators ever act at the same time, so that one does not know what another did.
    pub(crate) overlaps: bool,
    /// Whether a quota may keep pods from being made.
    pub(crate) limited: bool,
    /// By UID.
    pub(crate) pods: BTreeMap<String, Pod>,
    /// By UID.
    pub(crate) cliques: BTreeMap<String, Clique>,
    /// By name.
    pub(crate) gangs: BTreeMap<String, Gang>,
    /// By name.
    pub(crate) groups: BTreeMap<String, Group>,
    /// By name.
    pub(crate) sets: BTreeMap<String, Set>,
    /// Since when nodes are silent, by name.
    pub(crate) nodes: BTreeMap<String, Track<Option<Instant>>>,
    /// Whether a scheduler's object of a gang is there, by the gang's UID and the object's name.
    pub(crate) backend_objects: BTreeMap<(String, String), Track<bool>>,
    /// The generations of our objects.
    pub(crate) generations: BTreeMap<Key, Track<u64>>,
    /// When each object changed last.
    pub(crate) changed: BTreeMap<Key, Instant>,
    /// When a backup was restored last.
    pub(crate) jumped: Option<Instant>,
}

impl Past {
    pub(crate) fn new(staleness: Duration, trip: Duration, lost_after: Option<Duration>) -> Self {
        Self {
            staleness,
            trip,
            lost_after,
            node_staleness: staleness,
            skew: Duration::ZERO,
            has_backend: false,
            writer: 0,
            overlaps: false,
            limited: false,
            backend_objects: BTreeMap::new(),
            nodes: BTreeMap::new(),
            pods: BTreeMap::new(),
            cliques: BTreeMap::new(),
            gangs: BTreeMap::new(),
            groups: BTreeMap::new(),
            sets: BTreeMap::new(),
            generations: BTreeMap::new(),
            changed: BTreeMap::new(),
            jumped: None,
        }
    }

    /// From when on the operator may still believe what was.
    pub(crate) fn start(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.staleness).unwrap_or(now)
    }

    /// From when on the operator may still believe what nodes said.
    pub(crate) fn node_start(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.node_staleness).unwrap_or(now)
    }

    /// Takes note of a jump: what it brings back is nothing that an operator made or deleted.
    pub(crate) fn jump(&mut self, event: &Event) {
        self.jumped = Some(Instant::now());
        if event.key.namespace == TENANT {
            return;
        }
        if let (Some(old), Some(new)) = (&event.old, &event.new)
            && old.uid() != new.uid()
        {
            self.learn_of(&event.key, old, false);
        }
        // One that was forgotten was not there a moment ago.
        if let (PODS, Some(new)) = (&*event.key.resource, &event.new) {
            self.pods.entry(new.uid().to_owned()).or_insert_with(|| Pod::new(new, false));
        }
        self.learn(event);
        if let Some(pod) = event.new.as_ref().and_then(|it| self.pods.get_mut(it.uid())) {
            (pod.made, pod.deleted) = (None, None);
        }
    }

    /// Takes note of a change.
    pub(crate) fn learn(&mut self, event: &Event) {
        self.changed.insert(event.key.clone(), Instant::now());
        let Some(object) = event.new.as_ref().or(event.old.as_ref()) else { return };
        if let (CLIQUES | GROUPS | SETS, Some(new)) = (&*event.key.resource, &event.new) {
            let generation = number(new, "/metadata/generation").unwrap_or_default();
            self.generations.entry(event.key.clone()).or_insert_with(Track::unknown).set(generation);
        }
        self.learn_of(&event.key, object, event.new.is_some() && !object.is_terminating());
    }

    fn learn_of(&mut self, key: &Key, object: &Object, is_there: bool) {
        match &*key.resource {
            PODS => self.learn_of_pod(object, is_there),
            NODES => self.learn_of_node(object),
            POD_GROUPS | COMPOSITES | KAI_POD_GROUPS => {
                for owner in object.owner_references().iter().filter_map(|it| it["uid"].as_str()) {
                    let key = (owner.to_owned(), object.name().to_owned());
                    self.backend_objects.entry(key).or_insert_with(|| Track::new(false)).set(is_there);
                }
            }
            CLIQUES => self.learn_of_clique(object, is_there),
            GANGS => {
                let initialized = condition(object, "Initialized").is_some_and(|it| it["status"] == "True");
                let gang = self.gangs.entry(object.name().to_owned()).or_insert_with(Gang::new);
                gang.learn(is_there && initialized, object);
            }
            GROUPS => {
                let group = self.groups.entry(object.name().to_owned()).or_insert_with(Group::new);
                group.learn(object, is_there);
            }
            SETS => {
                let set = self.sets.entry(object.name().to_owned()).or_insert_with(Set::new);
                set.learn(object, is_there);
            }
            _ => {}
        }
    }

    fn learn_of_pod(&mut self, object: &Object, is_there: bool) {
        let pod = self.pods.entry(object.uid().to_owned()).or_insert_with(|| Pod::new(object, is_there));
        let phase = text(object, "/status/phase");
        pod.there.set(is_there);
        pod.ready.set(is_ready(object));
        pod.ended.set(matches!(phase, "Failed" | "Succeeded"));
        let has_crashed = object.field("/status/containerStatuses/0/lastState/terminated").is_some();
        pod.failed.set(phase == "Failed" || has_crashed);
        pod.node.set(text(object, "/spec/nodeName").to_owned());
        pod.gated.set(is_gated(object));
        // Another PodGang of its name may have another group.
        objects::member_of(object).clone_into(&mut pod.member_of);
        let clique = pod.clique.clone();
        self.count(&clique);
    }

    fn learn_of_node(&mut self, object: &Object) {
        let taints = object.field("/spec/taints").and_then(Value::as_array);
        let is_silent = taints.is_some_and(|it| !it.is_empty());
        let silent = self.nodes.entry(object.name().to_owned()).or_insert_with(|| Track::new(None));
        let since = silent.now().copied().flatten().unwrap_or_else(Instant::now);
        silent.set(is_silent.then_some(since));
    }

    /// Whether a clique serves now, and whether it lacks pods.
    fn count(&mut self, uid: &str) {
        let pods = || self.pods.values().filter(|it| it.clique == uid && it.there.now() == Some(&true));
        let ready = pods().filter(|it| it.ready.now() == Some(&true)).count() as u64;
        let there = pods().count() as u64;
        let live = pods().filter(|it| it.ended.now() == Some(&false)).count() as u64;
        if let Some(clique) = self.cliques.get_mut(uid) {
            let wanted = clique.replicas.now().copied().flatten();
            clique.serves.set(wanted.is_some() && ready >= clique.minimum);
            clique.lacks.set(wanted.is_some_and(|it| there < it));
            clique.complete.set(wanted.is_some() && live >= clique.minimum);
        }
    }

    fn learn_of_clique(&mut self, object: &Object, is_there: bool) {
        let clique = self.cliques.entry(object.uid().to_owned()).or_insert_with(|| Clique::new(object));
        clique.replicas.set(number(object, "/spec/replicas").filter(|_| is_there));
        clique.hash.set(object.label(labels::POD_TEMPLATE_HASH).unwrap_or_default().to_owned());
        clique.restarted.set(text(object, "/status/restart/before").to_owned());
        let counted = number(object, "/status/restarts/count").unwrap_or_default();
        clique.counted.set((counted, text(object, "/status/restarts/windowStart").to_owned()));
        let is_true = |type_: &str| condition(object, type_).is_some_and(|it| it["status"] == "True");
        clique.breached.set(is_true("PodCliqueScheduled") && is_true("MinAvailableBreached"));
        clique.minimum = number(object, "/spec/minAvailable").unwrap_or(clique.minimum);
        self.count(object.uid());
    }

    /// Forgets pods that are gone for so long that nobody remembers them.
    pub(crate) fn forget(&mut self) {
        let start = self.start();
        self.pods.retain(|_, pod| pod.there.had(start, |it| *it));
    }

    /// Whether the operator that writes cannot but know that a pod was deleted.
    pub(crate) fn knows_deleted(&self, pod: &Pod) -> bool {
        pod.deleted.is_some_and(|it| it == self.writer || !self.overlaps)
    }

    /// The pods of a clique that the operator may believe to be there.
    pub(crate) fn pods_of<'a>(&'a self, clique: &'a str) -> impl Iterator<Item = (&'a String, &'a Pod)> {
        let start = self.start();
        self.pods.iter().filter(move |(_, pod)| pod.clique == clique && pod.there.had(start, |it| *it))
    }

    /// Whether a clique was wanted all the time since then.
    pub(crate) fn wanted_since(&self, clique: &Clique, start: Instant) -> bool {
        let is_in = |wanted: Option<&Wanted>, index: u64| {
            wanted.is_some_and(|it| it.since(start).all(|it| it.is_some_and(|it| it > index)))
        };
        clique.replicas.since(start).all(Option::is_some)
            && is_in(self.sets.get(&clique.set).map(|it| &it.replicas), clique.replica)
            && clique
                .group
                .as_ref()
                .is_none_or(|(group, index)| is_in(self.groups.get(group).map(|it| &it.replicas), *index))
    }

    /// Whether the operator may believe that a replica of a set is not wanted.
    pub(crate) fn may_drop_replica(&self, set: &str, replica: u64) -> bool {
        is_dropped(self.sets.get(set).map(|it| &it.replicas), replica, self.start())
    }

    /// Whether the operator may believe that a replica of a scaling group is not wanted.
    pub(crate) fn may_drop_group_replica(&self, group: &str, replica: u64) -> bool {
        is_dropped(self.groups.get(group).map(|it| &it.replicas), replica, self.start())
    }
}

fn is_dropped(wanted: Option<&Wanted>, replica: u64, start: Instant) -> bool {
    wanted.is_none_or(|it| it.had(start, |it| it.is_none_or(|it| it <= replica)))
}

/// Whether Grove holds a pod back.
pub(crate) fn is_gated(pod: &Object) -> bool {
    let gates = pod.field("/spec/schedulingGates").and_then(Value::as_array);
    gates.into_iter().flatten().any(|it| it["name"] == gates::POD_GANG_PENDING)
}
