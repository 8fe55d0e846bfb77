//! How much work the kubelets did: tests hold it against the number of pods.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the kubelets have done since they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkCount {
    /// How often a pod was looked at.
    pub pod_reconciles: u64,
    /// Pods that were found because their node came back.
    pub pods_found_by_node: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pod_reconciles: AtomicU64,
    pods_found_by_node: AtomicU64,
}

impl Counters {
    pub(super) fn reconciled(&self) {
        self.pod_reconciles.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn found(&self, pods: usize) {
        self.pods_found_by_node.fetch_add(pods as u64, Ordering::Relaxed);
    }

    pub(super) fn read(&self) -> WorkCount {
        WorkCount {
            pod_reconciles: self.pod_reconciles.load(Ordering::Relaxed),
            pods_found_by_node: self.pods_found_by_node.load(Ordering::Relaxed),
        }
    }
}
