//! Which scenario is run next, and on which cluster, where several clusters run side by side.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, PoisonError},
};

use super::Scenario;
use crate::cluster::{Gates, Scheduler};

/// What a cluster has to be.
pub(super) type Kind = (Scheduler, Gates);

/// As many scenarios have to be left for each cluster of a kind: the start of one more takes as long as a few of them.
const WORTH_A_CLUSTER: usize = 6;

/// The scenarios that are left, by the kind of cluster.
pub(super) struct Queue {
    waiting: Mutex<BTreeMap<Kind, Waiting>>,
}

#[derive(Default)]
struct Waiting {
    scenarios: VecDeque<&'static Scenario>,
    /// Clusters of this kind that work on them.
    clusters: usize,
}

impl Queue {
    /// Everything that is to be run, in the order of the table.
    pub(super) fn new(runs: impl IntoIterator<Item = (Kind, &'static Scenario)>) -> Self {
        let queue = Self { waiting: Mutex::default() };
        queue.refill(runs);
        queue
    }

    /// Everything that is to be run next, after all workers have ended: on fresh clusters.
    pub(super) fn refill(&self, runs: impl IntoIterator<Item = (Kind, &'static Scenario)>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.clear();
        for (kind, scenario) in runs {
            waiting.entry(kind).or_default().scenarios.push_back(scenario);
        }
    }

    /// The kinds of clusters that are needed.
    pub(super) fn kinds(&self) -> Vec<Kind> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).keys().copied().collect()
    }

    /// The kind of which a cluster is needed most: where most scenarios are left for each cluster.
    pub(super) fn open_cluster(&self) -> Option<Kind> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let share = |it: &Waiting| it.scenarios.len() / (it.clusters + 1);
        let is_worth_it =
            |it: &Waiting| !it.scenarios.is_empty() && (it.clusters == 0 || share(it) >= WORTH_A_CLUSTER);
        // The first of those with equal shares, so that a run is like the one before.
        let (kind, chosen) =
            waiting.iter_mut().rev().filter(|(_, it)| is_worth_it(it)).max_by_key(|(_, it)| share(it))?;
        chosen.clusters += 1;
        Some(*kind)
    }

    /// The next scenario for a cluster of this kind; none: there is no more work for it.
    pub(super) fn next(&self, kind: Kind) -> Option<&'static Scenario> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.get_mut(&kind)?.scenarios.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KUBE: Kind = (Scheduler::Kube, Gates::All);
    const KAI: Kind = (Scheduler::Kai, Gates::All);
    static ONE: Scenario = Scenario::on_kube("one", |_| Box::pin(async { Ok(()) }));
    static TWO: Scenario = Scenario::on_kube("two", |_| Box::pin(async { Ok(()) }));

    fn queue(kube: usize, kai: usize) -> Queue {
        Queue::new((0..kube).map(|_| (KUBE, &ONE)).chain((0..kai).map(|_| (KAI, &TWO))))
    }

    #[test]
    fn most_work_is_begun_first_and_shared() {
        let queue = queue(20, 6);
        assert_eq!(queue.open_cluster(), Some(KUBE));
        // Ten for each of two clusters are more than six.
        assert_eq!(queue.open_cluster(), Some(KUBE));
        // Another third would have six, and so has the first of the other kind.
        assert_eq!(queue.open_cluster(), Some(KUBE));
        assert_eq!(queue.open_cluster(), Some(KAI));
        assert_eq!(queue.open_cluster(), None);
    }

    #[test]
    fn every_kind_has_a_cluster_and_no_second_for_little_work() {
        let queue = queue(11, 1);
        assert_eq!(queue.kinds(), [KUBE, KAI]);
        assert_eq!([queue.open_cluster(), queue.open_cluster()], [Some(KUBE), Some(KAI)]);
        assert_eq!(queue.open_cluster(), None);
    }

    #[test]
    fn a_refilled_queue_opens_clusters_again() {
        let queue = queue(1, 0);
        assert_eq!(queue.open_cluster(), Some(KUBE));
        assert!(queue.next(KUBE).is_some());
        queue.refill([(KUBE, &ONE)]);
        assert_eq!(queue.open_cluster(), Some(KUBE));
        assert!(queue.next(KUBE).is_some());
    }

    #[test]
    fn scenarios_are_given_once_in_their_order() {
        let queue = Queue::new([(KUBE, &ONE), (KUBE, &TWO)]);
        let names: Vec<_> = std::iter::from_fn(|| queue.next(KUBE)).map(|it| it.name).collect();
        assert_eq!(names, ["one", "two"]);
        assert!(queue.next(KAI).is_none());
        assert_eq!(queue.open_cluster(), None);
    }
}
