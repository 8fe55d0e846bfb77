//! What monitoring needs: a ServiceMonitor, by which a Prometheus Operator finds the metrics, a PrometheusRule with alerts on them, and a
//! dashboard for Grafana.
//!
//! The first two kinds are not part of Kubernetes: they are written as JSON. Alerts and dashboard are files in the form in which
//! Prometheus and Grafana read them, so that `promtool` checks what is shipped.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, io};

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::{
    installation::Installation,
    labels::{OPERATOR, labels, metadata, of_service},
    pod,
};

const RULES: &str = include_str!("prometheus-rules.yaml");
const DASHBOARD: &str = include_str!("dashboard.json");
/// Name of the PrometheusRule.
const RULES_NAME: &str = "grove-operator-alerts";
/// Name of the ConfigMap with the dashboard.
pub(super) const DASHBOARD_NAME: &str = "grove-operator-dashboard";

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

/// Likewise: a Prometheus chooses its rules by label, too.
pub(super) fn prometheus_rule(installation: &Installation) -> io::Result<Value> {
    let mut all = labels("operator-prometheus-rule", OPERATOR);
    all.extend(installation.rule_labels.clone());
    Ok(json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": { "name": RULES_NAME, "namespace": installation.namespace, "labels": all },
        "spec": rules()?,
    }))
}

/// The groups of alerts.
fn rules() -> io::Result<Value> {
    serde_saphyr::from_str(RULES).map_err(|error| io::Error::other(error.to_string()))
}

/// Grafana's sidecar loads ConfigMaps with this label.
pub(super) fn dashboard(installation: &Installation) -> ConfigMap {
    let mut all = labels("operator-dashboard", OPERATOR);
    all.insert("grafana_dashboard".to_owned(), "1".to_owned());
    ConfigMap {
        metadata: metadata(DASHBOARD_NAME, Some(&installation.namespace), all),
        data: Some(BTreeMap::from([("grove-operator.json".to_owned(), DASHBOARD.to_owned())])),
        ..ConfigMap::default()
    }
}
