//! The configuration as the operator reads it: complete, with every default filled in.
//!
//! The types decode only what [`load`](super::load) has checked; nothing else should decode them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::wire::GoDuration;

/// The only `apiVersion` of the file.
pub const API_VERSION: &str = "operator.config.grove.io/v1alpha1";
/// The only `kind` of the file.
pub const KIND: &str = "OperatorConfiguration";

/// The operator's configuration. `Default` is what an empty file means, before the schedulers are resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperatorConfiguration {
    /// [`API_VERSION`].
    pub api_version: String,
    /// [`KIND`].
    pub kind: String,
    /// How the operator talks to the API server.
    pub runtime_client_connection: ClientConnection,
    /// Which of several operators works.
    pub leader_election: LeaderElection,
    /// What the operator serves.
    pub server: Servers,
    /// Profiling; absent unless the file has the block.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub debugging: Option<Debugging>,
    /// How much each controller does at a time.
    pub controllers: Controllers,
    /// How much is logged.
    pub log_level: LogLevel,
    /// How it is logged.
    pub log_format: LogFormat,
    /// Protection of what Grove manages against others.
    pub authorizer: Authorizer,
    /// Placement by topology.
    pub topology_aware_scheduling: TopologyAwareScheduling,
    /// Network acceleration.
    pub network: Network,
    /// What happens to pods whose nodes are lost. Ours.
    pub node_loss: NodeLoss,
    /// The schedulers to use. After loading: every active one, by the name that pods carry.
    pub scheduler: Scheduler,
    /// Deprecated shorthand for one default profile. After loading it is part of `scheduler`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduler_name: Option<String>,
}

impl OperatorConfiguration {
    /// Whether placement by topology is on: it is enabled, or a default topology is named.
    pub fn topology_aware(&self) -> bool {
        self.topology_aware_scheduling.enabled || self.default_topology().is_some()
    }

    /// The topology of sets that name none.
    pub fn default_topology(&self) -> Option<&str> {
        self.topology_aware_scheduling.default_topology_name.as_deref()
    }

    /// The configuration with this default topology instead of the file's. An empty name changes nothing.
    #[must_use]
    pub fn with_default_topology(mut self, name: &str) -> Self {
        if !name.is_empty() {
            self.topology_aware_scheduling.default_topology_name = Some(name.to_owned());
        }
        self
    }
}

/// How the operator talks to the API server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClientConnection {
    /// Requests each second.
    pub qps: f64,
    /// Requests at once above that. Zero in the file means the default.
    pub burst: u32,
    /// Content type of requests; empty means the client's own choice.
    pub content_type: String,
    /// Content types of answers; empty means the client's own choice.
    pub accept_content_types: String,
}

/// Which of several operators works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeaderElection {
    /// Whether there is an election at all.
    pub enabled: bool,
    /// How long a leader that is silent stays leader.
    pub lease_duration: GoDuration,
    /// How long the leader tries to renew before it gives up.
    pub renew_deadline: GoDuration,
    /// Pause between two tries.
    pub retry_period: GoDuration,
    /// Kind of the lock; there is only `leases`.
    pub resource_lock: String,
    /// Name of the lock.
    pub resource_name: String,
    /// Namespace of the lock; empty means the operator's own.
    pub resource_namespace: String,
}

/// What the operator serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Servers {
    /// Admission.
    pub webhooks: WebhookServer,
    /// Liveness and readiness.
    pub health_probes: Server,
    /// Metrics.
    pub metrics: MetricsServer,
}

/// The admission server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WebhookServer {
    /// Address to listen on; empty means all.
    pub bind_address: String,
    /// Port to listen on.
    pub port: u16,
    /// Directory of the certificate and its key.
    pub server_cert_dir: String,
    /// Secret of the certificate, its key and its authority.
    pub secret_name: String,
    /// Who makes the certificate.
    pub cert_provision_mode: CertProvisionMode,
}

/// Who makes the webhook certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CertProvisionMode {
    /// The operator.
    Auto,
    /// Somebody else, who fills the Secret.
    Manual,
}

/// A plain server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Server {
    /// Address to listen on; empty means all.
    pub bind_address: String,
    /// Port to listen on.
    pub port: u16,
}

/// The server of metrics.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MetricsServer {
    /// Address to listen on; empty means all.
    pub bind_address: String,
    /// Port to listen on.
    pub port: u16,
    /// File with the bearer token that a client has to show; absent means that none is needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
}

/// Profiling.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Debugging {
    /// Whether profiles are served.
    pub enable_profiling: bool,
    /// Address to serve them on.
    pub pprof_bind_host: String,
    /// Port to serve them on.
    pub pprof_bind_port: u16,
}

/// How much each controller does at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Controllers {
    /// Sets.
    pub pod_clique_set: Controller,
    /// Cliques.
    pub pod_clique: Controller,
    /// Scaling groups.
    pub pod_clique_scaling_group: Controller,
    /// Gangs, on their way to a scheduler.
    pub pod_gang: Controller,
}

/// One controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Controller {
    /// Objects worked on at the same time.
    pub concurrent_syncs: u32,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Decisions too.
    Debug,
    /// What changed.
    Info,
    /// Only what failed.
    Error,
}

/// How it is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One JSON object for each line.
    Json,
    /// For people.
    Text,
}

/// Protection of what Grove manages against others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Authorizer {
    /// Whether the webhook is served.
    pub enabled: bool,
    /// Users who may change managed objects besides the operator: `system:serviceaccount:<namespace>:<name>`.
    pub exempt_service_account_user_names: Vec<String>,
}

/// Placement by topology.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TopologyAwareScheduling {
    /// Whether it is on; naming a default topology turns it on too.
    pub enabled: bool,
    /// The topology of sets that name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_topology_name: Option<String>,
    /// Levels as older files have them. Not applied: an administrator creates a ClusterTopologyBinding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<OlderLevel>,
}

/// A topology level of an older file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OlderLevel {
    /// Name of the domain.
    pub domain: String,
    /// Node label whose value names the domain a node is in.
    pub key: String,
}

/// Network acceleration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Whether ComputeDomains are made for sets that ask for multi-node NVLink.
    #[serde(rename = "autoMNNVLEnabled")]
    pub auto_mnnvl_enabled: bool,
}

/// What happens to pods whose nodes are lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeLoss {
    /// Whether the operator looks at nodes at all.
    pub enabled: bool,
    /// How long a node may be in trouble before its pods count as gone.
    pub after: GoDuration,
    /// How long what replaces them may be without a place before a unit that has to be in one topology domain is restarted
    /// as a whole.
    pub replace_unit_after: GoDuration,
}

/// The schedulers to use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Scheduler {
    /// One entry for each scheduler.
    pub profiles: Vec<SchedulerProfile>,
    /// The scheduler of pods that name none; another way to say `default: true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_profile_name: Option<String>,
}

/// One scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SchedulerProfile {
    /// Name of the scheduler.
    pub name: String,
    /// What the scheduler's backend is told: an object, checked by the backend.
    #[serde(skip_serializing_if = "is_empty_object")]
    pub config: Value,
    /// Whether pods that name no scheduler use this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub default: bool,
}

impl Default for SchedulerProfile {
    fn default() -> Self {
        Self { name: String::new(), config: Value::Object(Map::new()), default: false }
    }
}

fn is_empty_object(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}
