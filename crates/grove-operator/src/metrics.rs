//! All metrics of the operator, besides those of `grove-runtime`. Each part lies beside the code that knows its facts.

use prometheus_client::registry::Registry;

use crate::{
    admission::AdmissionMetrics,
    backends::BackendMetrics,
    controllers::{GangMetrics, PodMetrics},
};

/// Metrics of the operator. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct OperatorMetrics {
    /// Of scheduler backends.
    pub(crate) backends: BackendMetrics,
    /// Of admission.
    pub(crate) admission: AdmissionMetrics,
    /// Of gangs.
    pub(crate) gangs: GangMetrics,
    /// Of what is done to pods.
    pub(crate) pods: PodMetrics,
}

impl OperatorMetrics {
    /// Adds the metrics to `registry`.
    pub fn register(registry: &mut Registry) -> Self {
        Self {
            backends: BackendMetrics::register(registry),
            admission: AdmissionMetrics::register(registry),
            gangs: GangMetrics::register(registry),
            pods: PodMetrics::register(registry),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use grove_runtime::Metrics;

    use super::*;
    use crate::certificates::Served;

    const PAGE: &str = include_str!("../../../docs/metrics.md");

    /// Metrics of the page's tables before the section on the pod grouper, with their types.
    fn documented() -> BTreeMap<String, String> {
        let (page, _) = PAGE.split_once("## Metrics of the pod grouper").unwrap();
        let rows = page.lines().filter_map(|it| it.strip_prefix("| `")?.split_once("` | "));
        let typed = rows.filter_map(|(name, rest)| Some((name, rest.split_once(" | ")?.0)));
        let metrics = typed.filter(|(_, type_)| ["counter", "gauge", "histogram"].contains(type_));
        metrics.map(|(name, type_)| (name.to_owned(), type_.to_owned())).collect()
    }

    #[test]
    fn the_page_lists_every_metric_of_the_operator() {
        let metrics = Metrics::new();
        metrics.register(OperatorMetrics::register);
        metrics.register(|registry| Served::default().register(registry));
        // A family is not encoded before it has a series; what is registered is in its debug output.
        let registered = metrics.register(|registry| format!("{registry:?}"));
        let names = registered.split("Descriptor { name: \"").skip(1);
        let mut exported: BTreeSet<String> =
            names.filter_map(|it| it.split('"').next()).map(str::to_owned).collect();
        let text = metrics.encode().unwrap();
        let types: BTreeMap<&str, &str> =
            text.lines().filter_map(|it| it.strip_prefix("# TYPE ")?.split_once(' ')).collect();
        exported.extend(types.keys().map(|it| (*it).to_owned()));
        assert!(exported.contains("workqueue_depth") && exported.len() > 30, "{exported:?}");

        let mut listed = BTreeSet::new();
        for (name, type_) in documented() {
            // The registry appends this to counters.
            let base = name.as_str();
            let base = if type_ == "counter" { base.strip_suffix("_total").expect(base) } else { base };
            if let Some(exported) = types.get(base) {
                assert_eq!(*exported, type_, "{name}");
            }
            listed.insert(base.to_owned());
        }
        assert_eq!(listed, exported, "docs/metrics.md lists other metrics than the operator has");
    }
}
