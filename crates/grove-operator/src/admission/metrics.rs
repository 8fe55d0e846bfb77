//! What admission answers, how long that takes, and what it refuses.
//!
//! No label is taken from a request: only paths that are served are counted, and a rejection counts by the kind of its
//! findings, as the API server's `details.causes` names them.

use std::time::Duration;

use grove_api::constants::webhooks::{
    AUTHORIZER, CLIQUE_VALIDATING, GROUP_VALIDATING, SET_DEFAULTING, SET_SCALE, SET_VALIDATING,
    TOPOLOGY_VALIDATING, Webhook,
};
use http::StatusCode;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::Registry,
};

const WEBHOOKS: [Webhook; 7] = [
    SET_DEFAULTING,
    SET_VALIDATING,
    SET_SCALE,
    TOPOLOGY_VALIDATING,
    CLIQUE_VALIDATING,
    GROUP_VALIDATING,
    AUTHORIZER,
];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    result: &'static str,
    webhook: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Coded {
    code: u16,
    webhook: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Rejected {
    rule: &'static str,
    webhook: &'static str,
}

/// Metrics of admission. Clones share them.
#[derive(Clone, Debug)]
pub struct AdmissionMetrics {
    latencies: Family<Answered, Histogram>,
    requests: Family<Coded, Counter>,
    rejections: Family<Rejected, Counter>,
}

impl Default for AdmissionMetrics {
    fn default() -> Self {
        Self {
            latencies: Family::new_with_constructor(latency),
            requests: Family::default(),
            rejections: Family::default(),
        }
    }
}

/// From 1 ms, for what is judged from caches, to 10 s, the default timeout of webhooks.
fn latency() -> Histogram {
    Histogram::new([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0])
}

impl AdmissionMetrics {
    /// Adds the metrics to `registry`. The first two have the names that controller-runtime gives them.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        // Prometheus sees no increase in a series that begins at 1, and one panic is worth an alert.
        for Webhook { path: webhook, .. } in WEBHOOKS {
            metrics.rejections.get_or_create(&Rejected { rule: "InternalError", webhook }).inc_by(0);
        }
        let Self { latencies, requests, rejections } = metrics.clone();
        registry.register(
            "controller_runtime_webhook_latency_seconds",
            "How long admission requests took, by webhook and result",
            latencies,
        );
        registry.register(
            "controller_runtime_webhook_requests",
            "Admission requests by webhook and HTTP code",
            requests,
        );
        registry.register(
            "grove_admission_rejections",
            "Admission requests that were denied, by webhook and kind of finding",
            rejections,
        );
        metrics
    }

    /// A request at `path` was answered. `rules` are the kinds of findings for which it was denied.
    pub(super) fn answered(&self, path: &str, code: StatusCode, rules: &[&'static str], took: Duration) {
        let Some(Webhook { path: webhook, .. }) = WEBHOOKS.into_iter().find(|it| it.path == path) else {
            return;
        };
        let result = match (code, rules) {
            (StatusCode::OK, []) => "allowed",
            (StatusCode::OK, _) => "denied",
            _ => "error",
        };
        self.latencies.get_or_create(&Answered { result, webhook }).observe(took.as_secs_f64());
        self.requests.get_or_create(&Coded { code: code.as_u16(), webhook }).inc();
        for &rule in rules {
            self.rejections.get_or_create(&Rejected { rule, webhook }).inc();
        }
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn requests_count_by_webhook_result_and_rule() {
        let mut registry = Registry::default();
        let metrics = AdmissionMetrics::register(&mut registry);
        let took = Duration::from_millis(2);
        metrics.answered(SET_VALIDATING.path, StatusCode::OK, &[], took);
        metrics.answered(SET_VALIDATING.path, StatusCode::OK, &["FieldValueInvalid", "Forbidden"], took);
        metrics.answered(AUTHORIZER.path, StatusCode::GATEWAY_TIMEOUT, &[], took);
        // Anybody can ask for any path.
        metrics.answered("/webhooks/x7k2p", StatusCode::NOT_FOUND, &[], took);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let (latency, requests) =
            ("controller_runtime_webhook_latency_seconds_count", "controller_runtime_webhook_requests_total");
        let (set, authorizer) = ("/webhooks/validate-podcliqueset", "/webhooks/authorizer-webhook");
        for line in [
            format!("{latency}{{result=\"allowed\",webhook=\"{set}\"}} 1"),
            format!("{latency}{{result=\"denied\",webhook=\"{set}\"}} 1"),
            format!("{latency}{{result=\"error\",webhook=\"{authorizer}\"}} 1"),
            format!("{requests}{{code=\"200\",webhook=\"{set}\"}} 2"),
            format!("{requests}{{code=\"504\",webhook=\"{authorizer}\"}} 1"),
            format!("grove_admission_rejections_total{{rule=\"FieldValueInvalid\",webhook=\"{set}\"}} 1"),
            format!("grove_admission_rejections_total{{rule=\"Forbidden\",webhook=\"{set}\"}} 1"),
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("x7k2p"), "{text}");
    }
}
