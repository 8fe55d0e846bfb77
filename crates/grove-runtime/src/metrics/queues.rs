//! Queues and the workers that serve them.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::{Buckets, Histograms};
use crate::unfinished::{Run, Unfinished};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Name {
    name: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Controller {
    controller: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ControllerResult {
    controller: &'static str,
    result: &'static str,
}

/// Metrics of all queues and of the workers that serve them.
#[derive(Clone, Debug)]
pub struct QueueMetrics {
    depth: Family<Name, Gauge>,
    adds: Family<Name, Counter>,
    retries: Family<Name, Counter>,
    queued: Histograms<Name>,
    worked: Histograms<Name>,
    reconciles: Family<ControllerResult, Counter>,
    errors: Family<Controller, Counter>,
    panics: Family<Controller, Counter>,
    times: Histograms<Controller>,
    active: Family<Controller, Gauge>,
    most: Family<Controller, Gauge>,
    unfinished: Unfinished,
}

impl Default for QueueMetrics {
    fn default() -> Self {
        Self {
            depth: Family::default(),
            adds: Family::default(),
            retries: Family::default(),
            queued: Family::new_with_constructor(Buckets::Queue),
            worked: Family::new_with_constructor(Buckets::Queue),
            reconciles: Family::default(),
            errors: Family::default(),
            panics: Family::default(),
            times: Family::new_with_constructor(Buckets::Work),
            active: Family::default(),
            most: Family::default(),
            unfinished: Unfinished::default(),
        }
    }
}

impl QueueMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let Self { depth, adds, retries, queued, worked, .. } = metrics.clone();
        let Self { reconciles, errors, panics, times, active, most, unfinished, .. } = metrics.clone();
        registry.register("workqueue_depth", "Keys that wait for a worker", depth);
        registry.register("workqueue_adds", "Keys that were queued", adds);
        registry.register("workqueue_retries", "Keys that were queued again after a failure", retries);
        registry.register("workqueue_queue_duration_seconds", "How long keys waited for a worker", queued);
        registry.register("workqueue_work_duration_seconds", "How long a worker had a key", worked);
        registry.register("controller_runtime_reconcile", "Reconciles by result", reconciles);
        registry.register("controller_runtime_reconcile_errors", "Reconciles that failed", errors);
        registry.register("controller_runtime_reconcile_panics", "Reconciles that panicked", panics);
        registry.register("controller_runtime_reconcile_time_seconds", "How long reconciles took", times);
        registry.register("controller_runtime_active_workers", "Workers that have a key", active);
        registry.register("controller_runtime_max_concurrent_reconciles", "Workers", most);
        registry.register_collector(Box::new(unfinished));
        metrics
    }

    pub(crate) fn of_queue(&self, name: &'static str) -> OneQueueMetrics {
        let (label, controller) = (Name { name }, Controller { controller: name });
        self.unfinished.add(name);
        OneQueueMetrics {
            name,
            depth: self.depth.get_or_create_owned(&label),
            adds: self.adds.get_or_create_owned(&label),
            retries: self.retries.get_or_create_owned(&label),
            queued: self.queued.get_or_create_owned(&label),
            worked: self.worked.get_or_create_owned(&label),
            reconciles: self.reconciles.clone(),
            errors: self.errors.get_or_create_owned(&controller),
            panics: self.panics.get_or_create_owned(&controller),
            times: self.times.get_or_create_owned(&controller),
            active: self.active.get_or_create_owned(&controller),
            most: self.most.get_or_create_owned(&controller),
            unfinished: self.unfinished.clone(),
        }
    }
}

/// Metrics of one queue and its workers.
#[derive(Clone, Debug)]
pub(crate) struct OneQueueMetrics {
    name: &'static str,
    pub(crate) depth: Gauge,
    pub(crate) adds: Counter,
    pub(crate) retries: Counter,
    pub(crate) queued: Histogram,
    pub(crate) worked: Histogram,
    reconciles: Family<ControllerResult, Counter>,
    pub(crate) errors: Counter,
    pub(crate) panics: Counter,
    pub(crate) times: Histogram,
    active: Gauge,
    most: Gauge,
    unfinished: Unfinished,
}

/// A worker that has a key, until this is dropped: also where its run is.
pub(crate) struct Active {
    active: Gauge,
    _run: Run,
}

impl Drop for Active {
    fn drop(&mut self) {
        self.active.dec();
    }
}

impl OneQueueMetrics {
    pub(crate) fn workers(&self, count: usize) {
        self.most.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(crate) fn begin(&self) -> Active {
        self.active.inc();
        Active { active: self.active.clone(), _run: self.unfinished.begin(self.name) }
    }

    pub(crate) fn reconciled(&self, result: &'static str) {
        self.reconciles.get_or_create(&ControllerResult { controller: self.name, result }).inc();
    }
}
