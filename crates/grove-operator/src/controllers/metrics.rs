//! What controllers do to pods: restarts, deletions, removals by force. Each is counted where it succeeded.

use grove_api::{constants::restarts, wire::RestartScope};
use grove_plan::{
    pods::Why,
    restart::{Restart, Unit},
};
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

/// A label for what is read from an object, and is none of the words that this version writes.
const OTHER: &str = "Other";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Restarted {
    reason: &'static str,
    unit: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Deleted {
    reason: &'static str,
}

/// Metrics of what is done to pods. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct PodMetrics {
    restarts: Family<Restarted, Counter>,
    deletions: Family<Deleted, Counter>,
    forced: Counter,
}

impl PodMetrics {
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let Self { restarts, deletions, forced } = metrics.clone();
        registry.register("grove_restarts", "Units that were restarted, by reason and size", restarts);
        registry.register(
            "grove_pods_deleted",
            "Pods that were deleted one by one, by reason; those of a deleted set are not counted",
            deletions,
        );
        registry.register(
            "grove_pods_force_deleted",
            "Terminating pods that were removed by force because their node is lost",
            forced,
        );
        metrics
    }

    /// All cliques of a unit have noted its restart.
    pub(super) fn restarted(&self, restart: &Restart) {
        let reason = known(
            &[restarts::GANG_TERMINATION, restarts::RESTART_POLICY, restarts::NODE_LOST],
            &restart.reason,
        );
        self.restarts.get_or_create(&Restarted { reason, unit: size(&restart.unit) }).inc();
    }

    /// A pod was deleted.
    pub(super) fn deleted(&self, why: Why) {
        let reason = match why {
            Why::Excess => "Excess",
            Why::Ended => "Ended",
            Why::SameIndex => "SameIndex",
            Why::Outdated => "Outdated",
            Why::Restarted => "Restarted",
            Why::NodeLost => "NodeLost",
        };
        self.deletions.get_or_create(&Deleted { reason }).inc();
    }

    /// A pod that never ran was deleted, so that another gang can use what a quota has left.
    pub(super) fn released(&self) {
        self.deletions.get_or_create(&Deleted { reason: "QuotaExhausted" }).inc();
    }

    /// A terminating pod was removed by force.
    pub(super) fn forced(&self) {
        self.forced.inc();
    }
}

/// One of `words`, or [`OTHER`]: users may write anything into a status.
pub(super) fn known(words: &[&'static str], text: &str) -> &'static str {
    words.iter().copied().find(|it| *it == text).unwrap_or(OTHER)
}

fn size(unit: &Unit) -> &'static str {
    match unit.scope() {
        RestartScope::Pod => "Pod",
        RestartScope::Clique => "Clique",
        RestartScope::GroupReplica => "GroupReplica",
        RestartScope::SetReplica => "SetReplica",
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::jiff::Timestamp;
    use prometheus_client::encoding::text::encode;

    use super::*;

    fn restart(reason: &str) -> Restart {
        Restart {
            unit: Unit::GroupReplica("x7k2p".to_owned(), 3),
            before: Timestamp::UNIX_EPOCH,
            reason: reason.to_owned(),
            words: "x7k2p".to_owned(),
            count: None,
            cliques: vec!["x7k2p".to_owned()],
        }
    }

    #[test]
    fn what_is_counted_has_no_words_of_users() {
        let mut registry = Registry::default();
        let metrics = PodMetrics::register(&mut registry);
        metrics.restarted(&restart(restarts::NODE_LOST));
        metrics.restarted(&restart("x7k2p"));
        metrics.deleted(Why::NodeLost);
        metrics.released();
        metrics.forced();
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "grove_restarts_total{reason=\"NodeLost\",unit=\"GroupReplica\"} 1",
            "grove_restarts_total{reason=\"Other\",unit=\"GroupReplica\"} 1",
            "grove_pods_deleted_total{reason=\"NodeLost\"} 1",
            "grove_pods_deleted_total{reason=\"QuotaExhausted\"} 1",
            "grove_pods_force_deleted_total 1",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("x7k2p"), "{text}");
    }
}
