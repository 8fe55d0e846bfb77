//! Names and shapes of all metrics of this crate.
//!
//! They carry the names that client-go and controller-runtime use, so that existing dashboards work. The registry
//! appends `_total` to counters itself. Labels are closed sets: never an object's name.

mod queues;

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::{Family, MetricConstructor};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::cache::ContactAges;

pub(crate) use queues::OneQueueMetrics;
pub use queues::QueueMetrics;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    code: String,
    method: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Method {
    method: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Lease {
    name: String,
}

/// Bucket boundaries of a histogram, as a value that a [`Family`] can hold.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Buckets {
    /// client-go's for queues: 10 ns to 1000 s.
    Queue,
    /// controller-runtime's for reconciles and client-go's for requests, roughly: 5 ms to 60 s.
    Work,
}

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        match self {
            Self::Queue => Histogram::new(exponential_buckets(1e-8, 10.0, 12)),
            Self::Work => Histogram::new([
                0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 30.0, 60.0,
            ]),
        }
    }
}

pub(crate) type Histograms<L> = Family<L, Histogram, Buckets>;

/// Metrics of all informers.
#[derive(Clone, Debug, Default)]
pub struct InformerMetrics {
    objects: Family<Kind, Gauge>,
    restarts: Family<Kind, Counter>,
    pub(crate) ages: ContactAges,
}

impl InformerMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("informer_objects", "Objects in the cache", metrics.objects.clone());
        registry.register(
            "informer_watch_restarts",
            "Lists and watches that failed and were started again",
            metrics.restarts.clone(),
        );
        registry.register_collector(Box::new(metrics.ages.clone()));
        metrics
    }

    pub(crate) fn of_kind(&self, kind: &str) -> KindMetrics {
        let label = Kind { kind: kind.to_owned() };
        KindMetrics {
            objects: self.objects.get_or_create_owned(&label),
            restarts: self.restarts.get_or_create_owned(&label),
        }
    }
}

/// Metrics of one kind.
#[derive(Clone, Debug)]
pub(crate) struct KindMetrics {
    objects: Gauge,
    restarts: Counter,
}

impl KindMetrics {
    pub(crate) fn objects(&self, count: usize) {
        self.objects.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    pub(crate) fn restarted(&self) {
        self.restarts.inc();
    }

    #[cfg(test)]
    pub(crate) fn count_of_objects(&self) -> i64 {
        self.objects.get()
    }

    #[cfg(test)]
    pub(crate) fn count_of_restarts(&self) -> u64 {
        self.restarts.get()
    }
}

/// Metrics of requests to the API server.
#[derive(Clone, Debug)]
pub struct RequestMetrics {
    requests: Family<Request, Counter>,
    durations: Histograms<Method>,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        Self { requests: Family::default(), durations: Family::new_with_constructor(Buckets::Work) }
    }
}

impl RequestMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("rest_client_requests", "Requests by code and method", metrics.requests.clone());
        registry.register(
            "rest_client_request_duration_seconds",
            "Time until the head of the response",
            metrics.durations.clone(),
        );
        metrics
    }

    /// `code` is the HTTP status, or `<error>` as client-go writes it when there was no answer.
    pub(crate) fn answered(&self, method: &str, code: &str, after: Duration) {
        let label = Request { code: code.to_owned(), method: method.to_owned() };
        self.requests.get_or_create(&label).inc();
        self.durations.get_or_create(&Method { method: method.to_owned() }).observe(after.as_secs_f64());
    }

    #[cfg(test)]
    pub(crate) fn count(&self, method: &str, code: &str) -> u64 {
        let label = Request { code: code.to_owned(), method: method.to_owned() };
        self.requests.get_or_create(&label).get()
    }

    #[cfg(test)]
    pub(crate) fn seconds(&self, method: &str) -> f64 {
        self.durations.get_or_create(&Method { method: method.to_owned() }).sum()
    }
}

/// Metrics of the Event publisher.
#[derive(Clone, Debug, Default)]
pub struct EventMetrics {
    pub(crate) posted: Counter,
    pub(crate) dropped: Counter,
    pub(crate) failed: Counter,
}

impl EventMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("events_posted", "Events that were posted", metrics.posted.clone());
        registry.register("events_dropped", "Events lost because too many waited", metrics.dropped.clone());
        registry.register("events_failed", "Events that the server did not take", metrics.failed.clone());
        metrics
    }
}

/// Metrics of the leader election.
#[derive(Clone, Debug, Default)]
pub struct LeaderMetrics {
    leads: Family<Lease, Gauge>,
}

impl LeaderMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "leader_election_master_status",
            "1 if this process is the leader",
            metrics.leads.clone(),
        );
        metrics
    }

    /// Notes whether this process has the lease `name`.
    pub fn leads(&self, name: &str, leads: bool) {
        self.leads.get_or_create(&Lease { name: name.to_owned() }).set(i64::from(leads));
    }

    #[cfg(test)]
    pub(crate) fn is_leader(&self, name: &str) -> i64 {
        self.leads.get_or_create(&Lease { name: name.to_owned() }).get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;

    #[test]
    fn names_are_those_that_dashboards_know() {
        let mut registry = Registry::default();
        let queues = QueueMetrics::register(&mut registry).of_queue("cliques");
        queues.adds.inc();
        queues.queued.observe(0.1);
        queues.reconciled("success");
        queues.workers(4);
        let _active = queues.begin();
        drop(queues.begin());
        InformerMetrics::register(&mut registry).of_kind("Pod").objects(3);
        RequestMetrics::register(&mut registry).answered("GET", "200", Duration::from_millis(1));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "workqueue_depth{name=\"cliques\"} 0",
            "workqueue_adds_total{name=\"cliques\"} 1",
            "workqueue_retries_total{name=\"cliques\"} 0",
            "workqueue_queue_duration_seconds_count{name=\"cliques\"} 1",
            "workqueue_work_duration_seconds_count{name=\"cliques\"} 0",
            "controller_runtime_reconcile_total{controller=\"cliques\",result=\"success\"} 1",
            "controller_runtime_active_workers{controller=\"cliques\"} 1",
            "controller_runtime_max_concurrent_reconciles{controller=\"cliques\"} 4",
            "controller_runtime_reconcile_errors_total{controller=\"cliques\"} 0",
            "controller_runtime_reconcile_panics_total{controller=\"cliques\"} 0",
            "informer_objects{kind=\"Pod\"} 3",
            "rest_client_requests_total{code=\"200\",method=\"GET\"} 1",
            "rest_client_request_duration_seconds_count{method=\"GET\"} 1",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
    }
}
