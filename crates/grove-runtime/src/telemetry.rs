//! Logs and metrics of the whole process: one subscriber, one registry.

use std::fmt;
use std::fs::File;
use std::io::{IsTerminal as _, stderr};
use std::sync::{Arc, Mutex};

use parking_lot::RwLock;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt as log;

use crate::metrics::{EventMetrics, InformerMetrics, LeaderMetrics, QueueMetrics, RequestMetrics};
use crate::process::ProcessCollector;
use crate::throttle::ThrottleMetrics;

/// Logs the whole answer of a server where it cannot be decoded, as a warning: nothing below an error.
const INDISCREET: &str = "kube_client";

/// Crates that tell every step they take at `info` and below.
const NOISY: &[&str] = &["kube", "kube_runtime", "hyper", "hyper_util", "h2", "tower", "rustls", "axum"];

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Decisions, too.
    Debug,
    /// What changes outside, and trouble.
    Info,
    /// Trouble that needs somebody.
    Error,
}

/// How logs look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One JSON object per line, for machines.
    Json,
    /// Text, for people.
    Text,
}

/// Logs cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// `RUST_LOG` is wrong.
    #[error("RUST_LOG={value:?}: {why}")]
    Filter {
        /// Its value.
        value: String,
        /// What is wrong.
        why: String,
    },
    /// Somebody else has set up logs before.
    #[error("logs: {0}")]
    Twice(String),
}

/// Starts to log to stderr. `RUST_LOG`, if set, decides instead of `level`.
pub fn init(level: Level, format: Format) -> Result<(), LogError> {
    let filter = filter(level, std::env::var("RUST_LOG").ok())?;
    let builder = log::Subscriber::builder().with_env_filter(filter).with_writer(stderr);
    let done = match format {
        // Fields at the top level, as other Kubernetes components log them.
        Format::Json => builder.json().flatten_event(true).with_span_list(false).finish().install(),
        Format::Text => builder.with_ansi(stderr().is_terminal()).finish().install(),
    };
    done.map_err(LogError::Twice)
}

/// Starts to log to a file, as text: for a process whose stderr belongs to its user. `RUST_LOG`, if set, decides instead of `level`.
pub fn init_file(level: Level, file: File) -> Result<(), LogError> {
    let filter = filter(level, std::env::var("RUST_LOG").ok())?;
    let builder = log::Subscriber::builder().with_env_filter(filter).with_writer(Mutex::new(file));
    builder.with_ansi(false).finish().install().map_err(LogError::Twice)
}

/// The last step of [`init`], whatever the format.
trait Install {
    fn install(self) -> Result<(), String>;
}

impl<S: Into<tracing::Dispatch>> Install for S {
    fn install(self) -> Result<(), String> {
        tracing::dispatcher::set_global_default(self.into()).map_err(|error| error.to_string())
    }
}

fn filter(level: Level, over: Option<String>) -> Result<EnvFilter, LogError> {
    let value = over.filter(|value| !value.trim().is_empty()).unwrap_or_else(|| directives(level));
    EnvFilter::builder()
        .parse(&value)
        .map_err(|error| LogError::Filter { value: value.clone(), why: error.to_string() })
}

fn directives(level: Level) -> String {
    let (level, noise) = match level {
        Level::Debug => ("debug", "warn"),
        Level::Info => ("info", "warn"),
        Level::Error => ("error", "error"),
    };
    let quiet = NOISY.iter().map(|target| format!(",{target}={noise}"));
    quiet.fold(format!("{level},{INDISCREET}=error"), |all, one| all + &one)
}

/// All metrics of the process. Clones share the registry.
#[derive(Clone)]
pub struct Metrics {
    /// Of informers.
    pub informers: InformerMetrics,
    /// Of queues and workers.
    pub queues: QueueMetrics,
    /// Of requests to the API server.
    pub requests: RequestMetrics,
    /// Of the throttle before them.
    pub throttle: ThrottleMetrics,
    /// Of published Events.
    pub events: EventMetrics,
    /// Of the leader election.
    pub leader: LeaderMetrics,
    registry: Arc<RwLock<Registry>>,
}

impl Metrics {
    /// A new registry with the metrics of this crate and of the process.
    #[allow(clippy::new_without_default, reason = "a second registry would be a mistake, not a default")]
    pub fn new() -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(ProcessCollector));
        Self {
            informers: InformerMetrics::register(&mut registry),
            queues: QueueMetrics::register(&mut registry),
            requests: RequestMetrics::register(&mut registry),
            throttle: ThrottleMetrics::register(&mut registry),
            events: EventMetrics::register(&mut registry),
            leader: LeaderMetrics::register(&mut registry),
            registry: Arc::new(RwLock::new(registry)),
        }
    }

    /// Adds metrics of other crates.
    pub fn register<R>(&self, register: impl FnOnce(&mut Registry) -> R) -> R {
        register(&mut self.registry.write())
    }

    /// All metrics in OpenMetrics text.
    pub fn encode(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry.read())?;
        Ok(text)
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use prometheus_client::metrics::counter::Counter;
    use tracing::level_filters::LevelFilter;

    use super::*;
    use crate::mock;

    #[test]
    fn levels_are_ours_and_not_those_of_libraries() {
        let text = directives(Level::Debug);
        assert!(text.starts_with("debug,kube_client=error,kube=warn"), "{text}");
        assert!(directives(Level::Info).starts_with("info,kube_client=error,kube=warn"));
        assert!(directives(Level::Error).contains(",hyper=error"));
        for (level, want) in [
            (Level::Debug, LevelFilter::DEBUG),
            (Level::Info, LevelFilter::INFO),
            (Level::Error, LevelFilter::ERROR),
        ] {
            assert_eq!(filter(level, None).unwrap().max_level_hint(), Some(want));
            assert_eq!(filter(level, Some(" ".into())).unwrap().max_level_hint(), Some(want));
        }
    }

    /// kube's client logs the whole answer, which may have secrets in it.
    #[tokio::test]
    async fn answers_that_cannot_be_decoded_are_not_logged() {
        for level in [Level::Debug, Level::Info, Level::Error] {
            let text = Text::default();
            let writer = text.clone();
            let subscriber = log::Subscriber::builder()
                .with_env_filter(filter(level, None).unwrap())
                .with_writer(move || writer.clone())
                .finish();
            let _guard = tracing::subscriber::set_default(subscriber);
            tracing::error!("something is logged");
            let (client, mut calls) = mock::server();
            let api: kube::Api<ConfigMap> = kube::Api::namespaced(client, "ns");
            let answer = async {
                let call = calls.recv().await.unwrap();
                call.answer(&serde_json::json!({ "metadata": {}, "data": "hunter2" }));
            };
            let (result, ()) = tokio::join!(api.get("x"), answer);
            assert!(result.is_err());
            let text = String::from_utf8(text.0.lock().clone()).unwrap();
            assert!(text.contains("something is logged") && !text.contains("hunter2"), "{text}");
        }
    }

    #[derive(Clone, Default)]
    struct Text(Arc<parking_lot::Mutex<Vec<u8>>>);

    impl std::io::Write for Text {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_environment_decides_and_may_be_wrong() {
        let over = filter(Level::Error, Some("trace".into())).unwrap();
        assert_eq!(over.max_level_hint(), Some(LevelFilter::TRACE));
        let error = filter(Level::Info, Some("grove=loud".into())).unwrap_err().to_string();
        assert!(error.starts_with("RUST_LOG=\"grove=loud\": "), "{error}");
    }

    #[test]
    fn one_registry_holds_everything() {
        let metrics = Metrics::new();
        let own = Counter::<u64>::default();
        metrics.register(|registry| registry.register("grove_things", "Things", own.clone()));
        own.inc();
        metrics.queues.of_queue("sets").adds.inc();
        metrics.leader.leads("grove", true);
        let text = metrics.encode().unwrap();
        for line in [
            "grove_things_total 1",
            "workqueue_adds_total{name=\"sets\"} 1",
            "leader_election_master_status{name=\"grove\"} 1",
        ] {
            assert!(text.lines().any(|l| l == line), "{line} is not in\n{text}");
        }
        // One `# HELP` per metric: nothing is registered twice.
        let mut helps: Vec<_> = text.lines().filter(|line| line.starts_with("# HELP")).collect();
        let all = helps.len();
        helps.sort_unstable();
        helps.dedup();
        assert_eq!(helps.len(), all);
    }
}
