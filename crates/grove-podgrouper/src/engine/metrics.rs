//! What is counted.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family},
    registry::Registry,
};

/// The grouper's own metrics.
#[derive(Clone, Debug, Default)]
pub struct GrouperMetrics {
    writes: Family<Write, Counter>,
    warnings: Family<Named, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Write {
    scheduler: String,
    what: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Named {
    scheduler: String,
}

/// Something that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrote {
    NewGroup,
    Group,
    Pod,
}

impl GrouperMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let Self { writes, warnings } = metrics.clone();
        registry.register("grove_podgrouper_writes", "Groups created and changed, and pods patched", writes);
        registry.register(
            "grove_podgrouper_warnings",
            "Pods that could not be grouped, each time that they were looked at",
            warnings,
        );
        metrics
    }

    pub(crate) fn wrote(&self, scheduler: &str, what: Wrote) {
        let what = match what {
            Wrote::NewGroup => "group_created",
            Wrote::Group => "group_changed",
            Wrote::Pod => "pod_patched",
        };
        self.writes.get_or_create(&Write { scheduler: scheduler.to_owned(), what }).inc();
    }

    pub(crate) fn warned(&self, scheduler: &str) {
        self.warnings.get_or_create(&Named { scheduler: scheduler.to_owned() }).inc();
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn the_page_lists_the_metrics_of_the_grouper() {
        let mut registry = Registry::default();
        let metrics = GrouperMetrics::register(&mut registry);
        metrics.wrote("s", Wrote::Pod);
        metrics.warned("s");
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let page = include_str!("../../../../docs/metrics.md");
        let types = text.lines().filter_map(|it| it.strip_prefix("# TYPE ")?.split_once(' '));
        let listed = types.filter(|(name, type_)| page.contains(&format!("\n| `{name}_total` | {type_} | ")));
        assert_eq!(listed.count(), 2, "{text}");
    }
}
