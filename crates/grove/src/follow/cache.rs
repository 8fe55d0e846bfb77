//! Applies the events of the watches: plain values by namespace and name.

use std::collections::BTreeMap;

use grove_api::wire::PodGang;
use k8s_openapi::api::core::v1;
use kube::{ResourceExt, runtime::watcher::Event};

use super::{gang::Gang, node::Node, pod::Pod, snapshot::Snapshot};

/// An event of one of the watches. It is applied at once: what is kept of it is small.
#[allow(clippy::large_enum_variant, reason = "events are not collected")]
pub(super) enum Change {
    Node(Event<v1::Node>),
    Pod(Event<v1::Pod>),
    Gang(Event<PodGang>),
}

/// What is known, and what is being listed.
#[derive(Debug, Default)]
pub(super) struct Cache {
    nodes: Values<Node>,
    pods: Values<Pod>,
    gangs: Values<Gang>,
}

impl Cache {
    /// Whether anything that is kept has changed.
    pub(super) fn apply(&mut self, change: Change) -> bool {
        match change {
            Change::Node(event) => self.nodes.apply(event, |it, _| Some(it.into())),
            Change::Pod(event) => self.pods.apply(event, |it, _| Pod::of(it)),
            Change::Gang(event) => self.gangs.apply(event, |it, before| Some(Gang::of(it, before))),
        }
    }

    /// Whether every kind was listed once.
    pub(super) fn is_synced(&self) -> bool {
        self.nodes.is_listed && self.pods.is_listed && self.gangs.is_listed
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            nodes: self.nodes.known.values().cloned().collect(),
            pods: self.pods.known.values().cloned().collect(),
            gangs: self.gangs.known.values().cloned().collect(),
        }
    }
}

type Key = (String, String);

/// Values of one kind.
#[derive(Debug)]
struct Values<T> {
    known: BTreeMap<Key, T>,
    /// Of a list that is not complete.
    listed: BTreeMap<Key, T>,
    is_listed: bool,
}

impl<T> Default for Values<T> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), listed: BTreeMap::new(), is_listed: false }
    }
}

impl<T: PartialEq> Values<T> {
    /// `value` also gets what is kept of the object.
    fn apply<K: ResourceExt>(
        &mut self,
        event: Event<K>,
        value: impl Fn(&K, Option<&T>) -> Option<T>,
    ) -> bool {
        match event {
            Event::Init => self.listed.clear(),
            Event::InitApply(object) => {
                let key = key(&object);
                let new = value(&object, self.known.get(&key));
                self.listed.extend(new.map(|it| (key, it)));
            }
            Event::InitDone => {
                // What was deleted while the watch was interrupted is not in the new list.
                let listed = std::mem::take(&mut self.listed);
                let is_first = !std::mem::replace(&mut self.is_listed, true);
                let has_changed = is_first || self.known != listed;
                self.known = listed;
                return has_changed;
            }
            Event::Apply(object) => {
                let key = key(&object);
                let before = self.known.get(&key);
                let new = value(&object, before);
                if before == new.as_ref() {
                    return false;
                }
                match new {
                    Some(new) => drop(self.known.insert(key, new)),
                    None => drop(self.known.remove(&key)),
                }
                return true;
            }
            Event::Delete(object) => return self.known.remove(&key(&object)).is_some(),
        }
        false
    }
}

fn key(object: &impl ResourceExt) -> Key {
    (object.namespace().unwrap_or_default(), object.name_any())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str, gpus: u32, heartbeat: u32) -> v1::Node {
        serde_json::from_value(json!({
            "metadata": { "name": name, "resourceVersion": heartbeat.to_string() },
            "status": { "allocatable": { "nvidia.com/gpu": gpus.to_string() } },
        }))
        .unwrap()
    }

    #[test]
    fn only_what_is_kept_counts_as_a_change() {
        let mut cache = Cache::default();
        let mut apply = |event| cache.apply(Change::Node(event));
        let rows = vec![
            (Event::Init, false),
            (Event::InitApply(node("a", 8, 1)), false),
            (Event::InitDone, true),
            (Event::Apply(node("a", 8, 2)), false),
            (Event::Apply(node("a", 4, 3)), true),
            (Event::Delete(node("b", 8, 1)), false),
            (Event::Init, false),
            (Event::InitApply(node("a", 4, 9)), false),
            (Event::InitDone, false),
            (Event::Init, false),
            (Event::InitDone, true),
        ];
        for (number, (event, want)) in rows.into_iter().enumerate() {
            assert_eq!(apply(event), want, "row {number}");
        }
        assert!(cache.snapshot().nodes.is_empty(), "the last list was empty");
    }

    #[test]
    fn an_empty_list_is_a_change_the_first_time_and_all_kinds_make_it_synced() {
        let mut cache = Cache::default();
        assert!(cache.apply(Change::Node(Event::InitDone)));
        assert!(!cache.apply(Change::Node(Event::InitDone)));
        assert!(cache.apply(Change::Pod(Event::InitDone)));
        assert!(!cache.is_synced());
        assert!(cache.apply(Change::Gang(Event::InitDone)));
        assert!(cache.is_synced());
    }
}
