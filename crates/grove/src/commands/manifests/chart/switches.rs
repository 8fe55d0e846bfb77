//! What the chart's values turn on and off, and what stands for their values while the objects are built.

use grove_api::config::{CertProvisionMode, OperatorConfiguration};
use grove_api::constants::schedulers;
use grove_scheduler::{Registry, ResourceUse};
use serde_json::{Value, json};

use super::super::{
    installation::{Installation, Reach},
    labels::Names,
    pod_options::PodOptions,
};

/// True where certificates come from elsewhere.
pub(super) const MANUAL: &str = r#"eq .Values.config.server.webhooks.certProvisionMode "manual""#;

/// Something that is on or off.
pub(super) struct Switch {
    /// An expression that is true where it is on.
    pub(super) condition: String,
    /// Whether it is on in the installation that the others are compared with.
    pub(super) initial: bool,
    /// Turns it to the other side.
    turn: Turn,
}

enum Turn {
    Plain(fn(&mut Installation)),
    /// A scheduler is not used, or is used with other settings.
    Uses(Vec<ResourceUse>),
}

impl Switch {
    fn new(condition: &str, initial: bool, turn: fn(&mut Installation)) -> Self {
        Self { condition: condition.to_owned(), initial, turn: Turn::Plain(turn) }
    }

    /// What it is for, without the rest.
    pub(super) fn turn(&self, installation: &mut Installation) {
        match &self.turn {
            Turn::Plain(turn) => turn(installation),
            Turn::Uses(uses) => installation.uses.retain(|it| !uses.contains(it)),
        }
    }
}

/// All switches of the operator.
pub(super) fn switches(registry: &Registry) -> Vec<Switch> {
    let mut all = vec![
        Switch::new(".Values.config.leaderElection.enabled", true, |it| {
            it.config.leader_election.enabled = false;
        }),
        Switch::new(MANUAL, false, |it| {
            it.config.server.webhooks.cert_provision_mode = CertProvisionMode::Manual;
        }),
        Switch::new(".Values.config.authorizer.enabled", true, |it| it.config.authorizer.enabled = false),
        Switch::new(r#"include "grove.readsNodes" ."#, true, |it| it.config.node_loss.enabled = false),
        Switch::new(".Values.config.server.healthProbes.enable", true, |it| it.probes = false),
        Switch::new(".Values.priorityClass.enabled", true, |it| it.priority = None),
        Switch::new(".Values.podDisruptionBudget.enabled", true, |it| it.disruption_budget = false),
        Switch::new(".Values.networkPolicy.enabled", true, |it| it.network_policy = false),
        Switch::new(".Values.networkPolicy.apiServerCIDRs", false, |it| {
            it.api_server_cidrs = vec![CIDR.to_owned()];
        }),
        Switch::new(".Values.metrics.serviceMonitor.enabled", true, |it| it.service_monitor = false),
        Switch::new(".Values.metrics.prometheusRule.enabled", true, |it| it.prometheus_rule = false),
        Switch::new(".Values.metrics.dashboards.enabled", true, |it| it.dashboards = false),
        Switch::new(".Values.podPolicy.enabled", true, |it| it.pod_policy = false),
    ];
    for backend in registry.all() {
        let name = backend.name();
        let (condition, uses) = if name == schedulers::DEFAULT {
            let all = backend.resources(&json!({}));
            let fewer = backend.resources(&json!({ "gangScheduling": false }));
            let uses = all.into_iter().filter(|it| !fewer.contains(it)).collect();
            (r#"include "grove.gangScheduling" ."#.to_owned(), uses)
        } else {
            let names: Vec<String> = std::iter::once(name)
                .chain(backend.synonyms().iter().copied())
                .map(|it| format!("{it:?}"))
                .collect();
            (format!(r#"include "grove.uses" (list . {})"#, names.join(" ")), backend.resources(&json!({})))
        };
        all.push(Switch { condition, initial: true, turn: Turn::Uses(uses) });
    }
    all
}

/// Stands for the addresses of the API server.
pub(super) const CIDR: &str = "@cidr@";
/// Stands for the configuration.
pub(super) const CONFIG: &str = "@config@";

const REPLICAS: i32 = 1_900_000_001;
const PRIORITY: i32 = 1_900_000_002;
const WEBHOOK_PORT: u16 = 61_001;
const HEALTH_PORT: u16 = 61_002;
const METRICS_PORT: u16 = 61_003;

/// Texts of the installation, and what they stand for.
pub(super) const TEXTS: &[(&str, &str)] = &[
    ("@namespace@", ".Release.Namespace"),
    ("@image@", r#"include "grove.image" (list . .Values.image)"#),
    ("@initImage@", r#"include "grove.image" (list . .Values.initImage)"#),
    ("@serviceAccount@", ".Values.serviceAccount.name"),
    ("@service@", ".Values.service.name"),
    ("@clusterRole@", ".Values.clusterRole.name"),
    ("@clusterRoleBinding@", ".Values.clusterRoleBinding.name"),
    ("@leaseRole@", ".Values.leaseRole.name"),
    ("@leaseRoleBinding@", ".Values.leaseRoleBinding.name"),
    ("@priorityClass@", ".Values.priorityClass.name"),
    ("@serviceMonitor@", ".Values.metrics.serviceMonitor.name"),
    ("@leaseName@", ".Values.config.leaderElection.resourceName"),
    ("@leaseNamespace@", "default .Release.Namespace .Values.config.leaderElection.resourceNamespace"),
    ("@certificateSecret@", ".Values.config.server.webhooks.secretName"),
    ("@certificateFolder@", ".Values.config.server.webhooks.serverCertDir"),
];

/// Likewise numbers. Helm reads large ones as floating point, which would be printed as `1e+06`.
pub(super) const NUMBERS: &[(i64, &str)] = &[
    (REPLICAS as i64, "int .Values.replicaCount"),
    (PRIORITY as i64, "int .Values.priorityClass.value"),
    (WEBHOOK_PORT as i64, "int .Values.config.server.webhooks.port"),
    (HEALTH_PORT as i64, "int .Values.config.server.healthProbes.port"),
    (METRICS_PORT as i64, "int .Values.config.server.metrics.port"),
];

/// The installation that stands for all.
pub(super) fn stand_in(registry: &Registry) -> Installation {
    let text = |name: &str| format!("@{name}@");
    let mut config = OperatorConfiguration::default();
    config.leader_election.enabled = true;
    config.leader_election.resource_name = text("leaseName");
    config.leader_election.resource_namespace = text("leaseNamespace");
    config.authorizer.enabled = true;
    config.server.webhooks.port = WEBHOOK_PORT;
    config.server.webhooks.secret_name = text("certificateSecret");
    config.server.webhooks.server_cert_dir = text("certificateFolder");
    config.server.health_probes.port = HEALTH_PORT;
    config.server.metrics.port = METRICS_PORT;
    let nothing = Value::Object(serde_json::Map::new());
    Installation {
        namespace: text("namespace"),
        uses: registry.all().iter().flat_map(|it| it.resources(&nothing)).collect(),
        config,
        config_text: CONFIG.to_owned(),
        image: text("image"),
        init_image: text("initImage"),
        replicas: REPLICAS,
        reach: Reach::Service,
        ca_bundle: None,
        webhook_annotations: std::collections::BTreeMap::new(),
        names: Names {
            service_account: text("serviceAccount"),
            service: text("service"),
            cluster_role: text("clusterRole"),
            cluster_role_binding: text("clusterRoleBinding"),
            lease_role: text("leaseRole"),
            lease_role_binding: text("leaseRoleBinding"),
            priority_class: text("priorityClass"),
            service_monitor: text("serviceMonitor"),
        },
        pods: PodOptions::default(),
        priority: Some(PRIORITY),
        probes: true,
        service_monitor: true,
        monitor_labels: std::collections::BTreeMap::new(),
        prometheus_rule: true,
        rule_labels: std::collections::BTreeMap::new(),
        dashboards: true,
        disruption_budget: true,
        network_policy: true,
        api_server_cidrs: Vec::new(),
        pod_policy: true,
    }
}
