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
use crate::cluster::{CLIQUES, GANGS, GROUPS, PODS, SETS, condition, is_ready, number, text};

/// How many replicas are wanted; none where the object is gone or going.
pub(crate) type Wanted = Track<Option<u64>>;

/// What was.
pub(crate) struct Past {
    /// How old may be what the operator goes by.
    pub(crate) staleness: Duration,
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
    /// When each object changed last.
    pub(crate) changed: BTreeMap<Key, Instant>,
}

impl Past {
    pub(crate) fn new(staleness: Duration) -> Self {
        Self {
            staleness,
            pods: BTreeMap::new(),
            cliques: BTreeMap::new(),
            gangs: BTreeMap::new(),
            groups: BTreeMap::new(),
            sets: BTreeMap::new(),
            changed: BTreeMap::new(),
        }
    }

    /// From when on the operator may still believe what was.
    pub(crate) fn start(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.staleness).unwrap_or(now)
    }

    /// Takes note of a change.
    pub(crate) fn learn(&mut self, event: &Event) {
        self.changed.insert(event.key.clone(), Instant::now());
        let Some(object) = event.new.as_ref().or(event.old.as_ref()) else { return };
        let is_there = event.new.is_some() && !object.is_terminating();
        match &*event.key.resource {
            PODS => self.learn_of_pod(object, is_there),
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
        pod.bound.set(!text(object, "/spec/nodeName").is_empty());
        pod.gated = is_gated(object);
        let clique = pod.clique.clone();
        self.count_ready(&clique);
    }

    /// Whether a clique serves now.
    fn count_ready(&mut self, uid: &str) {
        let serves = |it: &Pod| it.there.now() == Some(&true) && it.ready.now() == Some(&true);
        let ready = self.pods.values().filter(|it| it.clique == uid && serves(it)).count() as u64;
        if let Some(clique) = self.cliques.get_mut(uid) {
            clique.serves.set(clique.replicas.now().is_some_and(Option::is_some) && ready >= clique.minimum);
        }
    }

    fn learn_of_clique(&mut self, object: &Object, is_there: bool) {
        let clique = self.cliques.entry(object.uid().to_owned()).or_insert_with(|| Clique::new(object));
        clique.replicas.set(number(object, "/spec/replicas").filter(|_| is_there));
        clique.hash.set(object.label(labels::POD_TEMPLATE_HASH).unwrap_or_default().to_owned());
        clique.restarted.set(text(object, "/status/restart/before").to_owned());
        clique.minimum = number(object, "/spec/minAvailable").unwrap_or(clique.minimum);
        self.count_ready(object.uid());
    }

    /// Forgets pods that are gone for so long that nobody remembers them.
    pub(crate) fn forget(&mut self) {
        let start = self.start();
        self.pods.retain(|_, pod| pod.there.had(start, |it| *it));
    }

    /// The pods of a clique that the operator may believe to be there.
    pub(crate) fn pods_of<'a>(&'a self, clique: &'a str) -> impl Iterator<Item = (&'a String, &'a Pod)> {
        let start = self.start();
        self.pods.iter().filter(move |(_, pod)| pod.clique == clique && pod.there.had(start, |it| *it))
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
