//! The metrics of scheduler backends. Names and labels are a contract: dashboards are written for them. The registry
//! appends `_total` to the counter itself. Backends are few and compiled in, so that their names may be labels.

use std::time::Duration;

use grove_scheduler::BACKEND_API_VERSION;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{
        counter::Counter,
        family::{Family, MetricConstructor},
        gauge::Gauge,
        histogram::Histogram,
    },
    registry::Registry,
};

/// What a backend is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// A PodGang is synced for the first time.
    Create,
    /// It is synced again.
    Update,
    /// It is deleted.
    Delete,
    /// What the scheduler says of it is read.
    StatusUpdate,
    /// A pod is prepared.
    Mutate,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Create, Self::Update, Self::Delete, Self::StatusUpdate, Self::Mutate];

    /// Its label, also in logs and Events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::StatusUpdate => "status_update",
            Self::Mutate => "mutate",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Initialization {
    backend_name: String,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Operated {
    backend_name: String,
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperatedWith {
    backend_name: String,
    operation: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Info {
    backend_name: String,
    version: &'static str,
}

/// From 100 µs, for what is only computed, to 30 s, for a server that hardly answers.
#[derive(Clone, Copy, Debug)]
struct Buckets;

impl MetricConstructor<Histogram> for Buckets {
    fn new_metric(&self) -> Histogram {
        Histogram::new([0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0])
    }
}

/// Metrics of all backends. Clones share them.
#[derive(Clone, Debug)]
pub struct BackendMetrics {
    initializations: Family<Initialization, Histogram, Buckets>,
    durations: Family<Operated, Histogram, Buckets>,
    operations: Family<OperatedWith, Counter>,
    info: Family<Info, Gauge>,
}

impl Default for BackendMetrics {
    fn default() -> Self {
        Self {
            initializations: Family::new_with_constructor(Buckets),
            durations: Family::new_with_constructor(Buckets),
            operations: Family::default(),
            info: Family::default(),
        }
    }
}

impl BackendMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let Self { initializations, durations, operations, info, .. } = metrics.clone();
        registry.register(
            "grove_scheduler_backend_initialization_duration_seconds",
            "How long it took to find out what the cluster has of a scheduler",
            initializations,
        );
        registry.register(
            "grove_scheduler_backend_operation_duration_seconds",
            "How long operations of a scheduler backend took",
            durations,
        );
        registry.register(
            "grove_scheduler_backend_operation",
            "Operations of a scheduler backend by result",
            operations,
        );
        registry.register("grove_scheduler_backend_info", "1 for each backend that can be used", info);
        metrics
    }

    /// A backend was initialised, or failed to be.
    pub fn initialized(&self, name: &str, ok: bool, took: Duration) {
        let label = Initialization { backend_name: name.to_owned(), status: status(ok) };
        self.initializations.get_or_create(&label).observe(took.as_secs_f64());
    }

    /// A backend did something, or failed to.
    pub fn operated(&self, name: &str, operation: Operation, ok: bool, took: Duration) {
        let operation = operation.as_str();
        let label = Operated { backend_name: name.to_owned(), operation };
        self.durations.get_or_create(&label).observe(took.as_secs_f64());
        let label = OperatedWith { backend_name: name.to_owned(), operation, status: status(ok) };
        self.operations.get_or_create(&label).inc();
    }

    /// A backend can be used.
    pub fn info(&self, name: &str) {
        self.info.get_or_create(&Info::of(name)).set(1);
    }

    /// A backend cannot be used any more.
    pub fn lost(&self, name: &str) {
        self.info.remove(&Info::of(name));
    }
}

impl Info {
    /// The version is that of the interface between backends and the operator: the scheduler's own is in its SchedulerBackend.
    fn of(name: &str) -> Self {
        Self { backend_name: name.to_owned(), version: BACKEND_API_VERSION }
    }
}

fn status(ok: bool) -> &'static str {
    if ok { "success" } else { "failure" }
}

#[cfg(test)]
mod tests {
    use grove_runtime::Metrics;

    use super::*;

    /// All that a scrape says of backends.
    fn scrape(metrics: &Metrics) -> String {
        let text = metrics.encode().unwrap();
        let ours = text.split_inclusive('\n').filter(|line| line.contains("grove_scheduler_backend"));
        ours.collect()
    }

    /// The lines of one histogram; `at` is the number of buckets that one observation is too large for.
    fn histogram(name: &str, labels: &str, sum: &str, at: usize) -> String {
        const BOUNDS: [&str; 15] = [
            "0.0001", "0.001", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1.0", "2.5", "5.0",
            "10.0", "30.0", "+Inf",
        ];
        let bucket = |(number, bound): (usize, &str)| {
            let count = u8::from(number >= at);
            format!("{name}_bucket{{le=\"{bound}\",{labels}}} {count}\n")
        };
        let buckets: Vec<String> = BOUNDS.into_iter().enumerate().map(bucket).collect();
        let head = format!("{name}_sum{{{labels}}} {sum}\n{name}_count{{{labels}}} 1\n");
        head + &buckets.concat()
    }

    #[test]
    fn a_scrape_has_the_four_metrics_of_the_contract() {
        let metrics = Metrics::new();
        let ours = metrics.register(BackendMetrics::register);
        ours.initialized("kai-scheduler", false, Duration::from_millis(250));
        ours.operated("default-scheduler", Operation::Create, true, Duration::from_millis(2));
        ours.info("default-scheduler");
        let initialization = "grove_scheduler_backend_initialization_duration_seconds";
        let duration = "grove_scheduler_backend_operation_duration_seconds";
        let first = histogram(initialization, "backend_name=\"kai-scheduler\",status=\"failure\"", "0.25", 7);
        let second =
            histogram(duration, "backend_name=\"default-scheduler\",operation=\"create\"", "0.002", 2);
        let want = format!(
            "\
# HELP {initialization} How long it took to find out what the cluster has of a scheduler.
# TYPE {initialization} histogram
{first}# HELP {duration} How long operations of a scheduler backend took.
# TYPE {duration} histogram
{second}# HELP grove_scheduler_backend_operation Operations of a scheduler backend by result.
# TYPE grove_scheduler_backend_operation counter
grove_scheduler_backend_operation_total{{backend_name=\"default-scheduler\",operation=\"create\",status=\"success\"}} 1
# HELP grove_scheduler_backend_info 1 for each backend that can be used.
# TYPE grove_scheduler_backend_info gauge
grove_scheduler_backend_info{{backend_name=\"default-scheduler\",version=\"1.3.0\"}} 1
"
        );
        assert_eq!(scrape(&metrics), want);
    }

    #[test]
    fn operations_are_the_five_of_the_contract_and_count_by_result() {
        let metrics = Metrics::new();
        let ours = metrics.register(BackendMetrics::register);
        for operation in Operation::ALL {
            ours.operated("b", operation, true, Duration::ZERO);
            ours.operated("b", operation, false, Duration::ZERO);
            ours.operated("b", operation, false, Duration::ZERO);
        }
        let text = scrape(&metrics);
        for operation in ["create", "update", "delete", "status_update", "mutate"] {
            for (status, count) in [("success", 1), ("failure", 2)] {
                let labels = format!("backend_name=\"b\",operation=\"{operation}\",status=\"{status}\"");
                let line = format!("grove_scheduler_backend_operation_total{{{labels}}} {count}");
                assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
            }
        }
    }

    #[test]
    fn a_backend_has_one_row_of_information_for_as_long_as_it_can_be_used() {
        let metrics = Metrics::new();
        let ours = metrics.register(BackendMetrics::register);
        let rows = || -> Vec<String> {
            let text = scrape(&metrics);
            let mut rows: Vec<_> = text
                .lines()
                .filter_map(|it| it.strip_prefix("grove_scheduler_backend_info"))
                .map(str::to_owned)
                .collect();
            rows.sort();
            rows
        };
        ours.info("a");
        ours.info("b");
        ours.info("a");
        assert_eq!(
            rows(),
            ["{backend_name=\"a\",version=\"1.3.0\"} 1", "{backend_name=\"b\",version=\"1.3.0\"} 1"]
        );
        ours.lost("a");
        ours.lost("never there");
        assert_eq!(rows(), ["{backend_name=\"b\",version=\"1.3.0\"} 1"]);
    }
}
