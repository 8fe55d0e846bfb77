//! Which pods are looked at next, while anybody looks.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use grove_runtime::Queue;

use super::object_key::PodKey;

/// The queue. Whoever does not lead takes nothing from it, so that nothing is put into it either.
#[derive(Clone, Debug)]
pub(crate) struct Wake {
    queue: Queue<PodKey>,
    is_on: Arc<AtomicBool>,
}

impl Wake {
    pub(crate) fn new(queue: Queue<PodKey>) -> Self {
        Self { queue, is_on: Arc::default() }
    }

    /// From now on what is added is kept.
    pub(crate) fn begin(&self) {
        self.is_on.store(true, Ordering::SeqCst);
    }

    pub(crate) fn add(&self, pod: PodKey) {
        if self.is_on.load(Ordering::SeqCst) {
            self.queue.add(pod);
        }
    }

    /// Without hurry.
    pub(crate) fn add_background(&self, pod: PodKey) {
        if self.is_on.load(Ordering::SeqCst) {
            self.queue.add_background(pod);
        }
    }

    pub(crate) fn queue(&self) -> Queue<PodKey> {
        self.queue.clone()
    }
}

#[cfg(test)]
mod tests {
    use grove_runtime::QueueMetrics;

    use super::*;

    #[test]
    fn who_does_not_lead_keeps_nothing() {
        let wake = Wake::new(Queue::new("test", &QueueMetrics::default()));
        let pod = PodKey { scheduler: 0, namespace: "ns".to_owned(), name: "p".to_owned() };
        wake.add(pod.clone());
        wake.add_background(pod.clone());
        assert_eq!(wake.queue().len(), 0);
        wake.begin();
        wake.add(pod);
        assert_eq!(wake.queue().len(), 1);
    }
}
