//! What a key means that the file leaves out: upstream's defaults, in one place.

use serde_json::Value;

use super::types::{
    API_VERSION, Authorizer, CertProvisionMode, ClientConnection, Controller, Controllers, Debugging, KIND,
    LeaderElection, LogFormat, LogLevel, MetricsServer, Network, NodeLoss, OperatorConfiguration, Scheduler,
    Server, Servers, TopologyAwareScheduling, WebhookServer,
};
use crate::wire::GoDuration;

/// Client burst where the file has none, or zero.
pub(super) const BURST: u32 = 120;

impl Default for OperatorConfiguration {
    fn default() -> Self {
        Self {
            api_version: API_VERSION.to_owned(),
            kind: KIND.to_owned(),
            runtime_client_connection: ClientConnection {
                qps: 100.0,
                burst: BURST,
                content_type: String::new(),
                accept_content_types: String::new(),
            },
            leader_election: LeaderElection {
                enabled: false,
                lease_duration: GoDuration::from_secs(15),
                renew_deadline: GoDuration::from_secs(10),
                retry_period: GoDuration::from_secs(2),
                resource_lock: "leases".to_owned(),
                resource_name: "grove-operator-leader-election".to_owned(),
                resource_namespace: String::new(),
            },
            server: Servers {
                webhooks: WebhookServer {
                    bind_address: String::new(),
                    port: 2750,
                    server_cert_dir: "/etc/grove-operator/webhook-certs".to_owned(),
                    secret_name: "grove-webhook-server-cert".to_owned(),
                    cert_provision_mode: CertProvisionMode::Auto,
                },
                health_probes: Server { bind_address: String::new(), port: 2751 },
                metrics: MetricsServer { bind_address: String::new(), port: 2752, token_file: None },
            },
            debugging: None,
            controllers: Controllers {
                pod_clique_set: Controller { concurrent_syncs: 10 },
                pod_clique: Controller { concurrent_syncs: 10 },
                pod_clique_scaling_group: Controller { concurrent_syncs: 5 },
                pod_gang: Controller { concurrent_syncs: 5 },
            },
            log_level: LogLevel::Info,
            log_format: LogFormat::Json,
            authorizer: Authorizer::default(),
            topology_aware_scheduling: TopologyAwareScheduling::default(),
            network: Network::default(),
            node_loss: NodeLoss {
                enabled: true,
                after: GoDuration::from_secs(5 * 60),
                replace_unit_after: GoDuration::from_secs(60),
            },
            scheduler: Scheduler::default(),
            scheduler_name: None,
        }
    }
}

impl Default for Debugging {
    fn default() -> Self {
        Self { enable_profiling: false, pprof_bind_host: "127.0.0.1".to_owned(), pprof_bind_port: 2753 }
    }
}

/// Puts `given` over `base`: objects are joined key by key, everything else is replaced.
pub(super) fn overlay(base: &mut Value, given: Value) {
    match (base, given) {
        (Value::Object(base), Value::Object(given)) => {
            for (key, value) in given {
                overlay(base.entry(key).or_insert(Value::Null), value);
            }
        }
        (base, given) => *base = given,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn overlay_joins_objects_and_replaces_the_rest() {
        let mut base = json!({ "a": { "x": 1, "y": 2 }, "list": [1, 2], "b": true });
        overlay(&mut base, json!({ "a": { "y": 3 }, "list": [4], "c": { "z": 5 } }));
        assert_eq!(base, json!({ "a": { "x": 1, "y": 3 }, "list": [4], "b": true, "c": { "z": 5 } }));
    }
}
