//! The ServiceMonitor, by which a Prometheus Operator finds the metrics. Its kind is not part of Kubernetes: it is written as JSON.

use serde_json::{Value, json};

use super::{
    installation::Installation,
    labels::{OPERATOR, labels, of_service},
    pod,
};

/// With these labels besides ours: a Prometheus chooses its monitors by label.
pub(super) fn service_monitor(installation: &Installation) -> Value {
    let mut all = labels("operator-service-monitor", OPERATOR);
    all.extend(installation.monitor_labels.clone());
    json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": { "name": installation.names.service_monitor, "namespace": installation.namespace, "labels": all },
        "spec": {
            "selector": { "matchLabels": of_service() },
            "endpoints": [{ "port": pod::METRICS, "path": "/metrics", "scheme": "http" }],
        },
    })
}
