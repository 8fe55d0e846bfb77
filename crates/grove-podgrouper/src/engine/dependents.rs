//! Whose groups depend on what: when an object changes, these pods are looked at again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::Mutex;

use super::object_key::{KindName, ObjectKey, PodKey};

/// Pods and what was read for their sake.
#[derive(Debug, Default)]
pub(crate) struct Dependents(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    by_object: BTreeMap<Arc<ObjectKey>, BTreeSet<Arc<PodKey>>>,
    by_pod: BTreeMap<Arc<PodKey>, BTreeSet<Arc<ObjectKey>>>,
}

impl Dependents {
    /// The pod depends on the object from now on. To be called before the object is read: what changes afterwards is
    /// told.
    pub(crate) fn add(&self, pod: &PodKey, object: &ObjectKey) {
        let mut state = self.0.lock();
        if state.by_pod.get(pod).is_some_and(|it| it.contains(object)) {
            return;
        }
        // Each key is kept once: a group of a thousand pods has one owner.
        let object =
            state.by_object.get_key_value(object).map_or_else(|| Arc::new(object.clone()), |it| it.0.clone());
        let pod = state.by_pod.get_key_value(pod).map_or_else(|| Arc::new(pod.clone()), |it| it.0.clone());
        state.by_object.entry(object.clone()).or_default().insert(pod.clone());
        state.by_pod.entry(pod).or_default().insert(object);
    }

    /// The pod depends on these and on nothing else.
    pub(crate) fn keep(&self, pod: &PodKey, objects: &BTreeSet<ObjectKey>) {
        let mut state = self.0.lock();
        let Some(known) = state.by_pod.get(pod) else { return };
        let old: Vec<Arc<ObjectKey>> =
            known.iter().filter(|it| !objects.contains(it.as_ref())).cloned().collect();
        for object in &old {
            state.forget(pod, object);
        }
        if let Some(known) = state.by_pod.get_mut(pod) {
            known.retain(|it| !old.contains(it));
            if known.is_empty() {
                state.by_pod.remove(pod);
            }
        }
    }

    /// The pods that depend on an object of a kind.
    pub(crate) fn of_kind(&self, kind: &KindName) -> Vec<PodKey> {
        let state = self.0.lock();
        let of_kind = state.by_object.iter().filter(|it| it.0.kind == *kind);
        of_kind.flat_map(|it| it.1).map(|it| PodKey::clone(it)).collect()
    }

    /// Whether a pod depends on an object of a kind.
    pub(crate) fn has_kind(&self, kind: &KindName) -> bool {
        self.0.lock().by_object.keys().any(|it| it.kind == *kind)
    }

    /// The pods that depend on an object. One that is in no namespace is known to the pods of all.
    pub(crate) fn of(&self, object: &ObjectKey) -> Vec<PodKey> {
        let state = self.0.lock();
        let clone = |it: &Arc<PodKey>| PodKey::clone(it);
        if object.namespace.is_empty() {
            let is_it = |it: &ObjectKey| it.kind == object.kind && it.name == object.name;
            let all = state.by_object.iter().filter(|it| is_it(it.0));
            return all.flat_map(|it| it.1).map(clone).collect();
        }
        state.by_object.get(object).into_iter().flatten().map(clone).collect()
    }
}

impl State {
    fn forget(&mut self, pod: &PodKey, object: &ObjectKey) {
        if let Some(pods) = self.by_object.get_mut(object) {
            pods.remove(pod);
            if pods.is_empty() {
                self.by_object.remove(object);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str) -> PodKey {
        PodKey { scheduler: 0, namespace: "ns".to_owned(), name: name.to_owned() }
    }

    fn job(name: &str) -> ObjectKey {
        ObjectKey::new("batch/v1", "Job", "ns", name)
    }

    #[test]
    fn an_object_has_the_pods_that_were_looked_at_with_it() {
        let dependents = Dependents::default();
        dependents.add(&pod("a"), &job("j"));
        dependents.add(&pod("b"), &job("j"));
        dependents.add(&pod("b"), &job("k"));
        assert_eq!(dependents.of(&job("j")), [pod("a"), pod("b")]);
        assert_eq!(dependents.of(&job("k")), [pod("b")]);
        dependents.keep(&pod("b"), &[job("k")].into());
        assert_eq!((dependents.of(&job("j")), dependents.of(&job("k"))), (vec![pod("a")], vec![pod("b")]));
    }

    #[test]
    fn what_is_in_no_namespace_concerns_pods_of_all() {
        let dependents = Dependents::default();
        let other = PodKey { namespace: "other".to_owned(), ..pod("b") };
        dependents.add(&pod("a"), &ObjectKey::new("v1", "Node", "ns", "n"));
        dependents.add(&other, &ObjectKey::new("v1", "Node", "other", "n"));
        dependents.add(&pod("c"), &ObjectKey::new("v1", "Node", "ns", "m"));
        assert_eq!(dependents.of(&ObjectKey::new("v1", "Node", "", "n")), [pod("a"), other]);
    }

    #[test]
    fn nothing_is_kept_of_what_is_gone() {
        let dependents = Dependents::default();
        dependents.add(&pod("a"), &job("j"));
        dependents.keep(&pod("a"), &BTreeSet::new());
        let state = dependents.0.lock();
        assert!(state.by_object.is_empty() && state.by_pod.is_empty());
    }
}
