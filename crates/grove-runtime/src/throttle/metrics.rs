//! How long writes wait for their permit. A lane whose waits grow says which work is being held back, and by how much.

use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::Lane;
use crate::metrics::{Buckets, Histograms};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct LaneLabel {
    lane: &'static str,
}

/// Metrics of the throttle. Clones share them.
#[derive(Clone, Debug)]
pub struct ThrottleMetrics {
    waits: Histograms<LaneLabel>,
}

impl Default for ThrottleMetrics {
    fn default() -> Self {
        Self { waits: Family::new_with_constructor(Buckets::Work) }
    }
}

impl ThrottleMetrics {
    /// Adds the metrics to `registry`. The name is client-go's; its labels are `verb` and `host`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "rest_client_rate_limiter_duration_seconds",
            "How long writes waited for the client's own rate limit, by lane",
            metrics.waits.clone(),
        );
        metrics
    }

    pub(super) fn waited(&self, lane: Lane, time: Duration) {
        self.waits.get_or_create(&LaneLabel { lane: lane.as_str() }).observe(time.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn waits_are_counted_by_lane() {
        let mut registry = Registry::default();
        let metrics = ThrottleMetrics::register(&mut registry);
        for lane in Lane::ALL {
            metrics.waited(lane, Duration::from_millis(250));
        }
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for lane in ["create", "change", "status", "event"] {
            let line = format!("rest_client_rate_limiter_duration_seconds_sum{{lane=\"{lane}\"}} 0.25");
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
    }
}
