//! The pods of the operator: as Pod Security "restricted" wants them, and with nothing writable.

use std::collections::BTreeMap;

use grove_api::config::CertProvisionMode;
use k8s_openapi::api::core::v1::{
    Capabilities, ConfigMapVolumeSource, Container, ContainerPort, EnvVar, EnvVarSource, HTTPGetAction,
    Lifecycle, LifecycleHandler, ObjectFieldSelector, PodSecurityContext, PodSpec, PodTemplateSpec, Probe,
    ResourceRequirements, SeccompProfile, SecretVolumeSource, SecurityContext, SleepAction,
    TopologySpreadConstraint, Volume, VolumeMount,
};
use k8s_openapi::apimachinery::pkg::{
    api::resource::Quantity,
    apis::meta::v1::{LabelSelector, ObjectMeta},
    util::intstr::IntOrString,
};

use super::{
    availability::apart,
    installation::Installation,
    labels::{self, OPERATOR},
};

/// Key of the configuration in its ConfigMap.
pub(super) const CONFIG_FILE: &str = "config.yaml";
/// Name of the port of the webhooks.
pub(super) const WEBHOOKS: &str = "webhooks";
/// Name of the port of the metrics.
pub(super) const METRICS: &str = "metrics";

/// Name of the port that probes ask.
pub(super) const HEALTH: &str = "health";
const CONFIG_FOLDER: &str = "/etc/grove-operator/config";
const CONFIG_VOLUME: &str = "operator-config";
const CERTIFICATE_VOLUME: &str = "grove-webhook-server-cert";

pub(super) fn template(installation: &Installation, config_name: String) -> PodTemplateSpec {
    let config = ConfigMapVolumeSource { name: config_name, ..ConfigMapVolumeSource::default() };
    let mut volumes =
        vec![Volume { name: CONFIG_VOLUME.to_owned(), config_map: Some(config), ..Volume::default() }];
    volumes.extend(certificate_volume(installation));
    let names = &installation.names;
    let mut spec = PodSpec {
        service_account_name: Some(names.service_account.clone()),
        priority_class_name: installation.priority.map(|_| names.priority_class.clone()),
        containers: vec![container(installation)],
        volumes: Some(volumes),
        ..restricted(labels::of_pods())
    };
    installation.pods.apply(&mut spec);
    PodTemplateSpec {
        metadata: Some(ObjectMeta { labels: Some(labels::of_pods()), ..ObjectMeta::default() }),
        spec: Some(spec),
    }
}

/// A pod as Pod Security "restricted" wants it, spread with others that have these labels.
pub(super) fn restricted(labels: BTreeMap<String, String>) -> PodSpec {
    PodSpec {
        affinity: Some(apart(labels.clone())),
        automount_service_account_token: Some(true),
        enable_service_links: Some(false),
        security_context: Some(PodSecurityContext {
            // Who it is, the image says: OpenShift's "restricted-v2" refuses a pod that names a user or a group.
            run_as_non_root: Some(true),
            seccomp_profile: Some(SeccompProfile {
                type_: "RuntimeDefault".to_owned(),
                ..SeccompProfile::default()
            }),
            ..PodSecurityContext::default()
        }),
        // The loss of one node is not the loss of all of them.
        topology_spread_constraints: Some(vec![TopologySpreadConstraint {
            max_skew: 1,
            topology_key: "kubernetes.io/hostname".to_owned(),
            when_unsatisfiable: "ScheduleAnyway".to_owned(),
            label_selector: Some(LabelSelector { match_labels: Some(labels), ..LabelSelector::default() }),
            ..TopologySpreadConstraint::default()
        }]),
        ..PodSpec::default()
    }
}

/// A container of ours: nothing writable, its health asked for, and so much memory.
pub(super) fn hardened() -> Container {
    Container {
        command: Some(vec!["grove".to_owned()]),
        liveness_probe: Some(probe("/healthz", 10)),
        readiness_probe: Some(probe("/readyz", 5)),
        resources: Some(ResourceRequirements {
            requests: Some(quantities(&[("cpu", "50m"), ("memory", "128Mi")])),
            // No limit on processor time: a leader that is slowed down loses its lease.
            limits: Some(quantities(&[("memory", "1Gi")])),
            ..ResourceRequirements::default()
        }),
        security_context: Some(SecurityContext {
            allow_privilege_escalation: Some(false),
            capabilities: Some(Capabilities {
                drop: Some(vec!["ALL".to_owned()]),
                ..Capabilities::default()
            }),
            read_only_root_filesystem: Some(true),
            ..SecurityContext::default()
        }),
        // What it says last when it cannot go on is then in the pod's status.
        termination_message_policy: Some("FallbackToLogsOnError".to_owned()),
        ..Container::default()
    }
}

/// A port of a container.
pub(super) fn port(name: &str, number: i32) -> ContainerPort {
    ContainerPort {
        name: Some(name.to_owned()),
        container_port: number,
        protocol: Some("TCP".to_owned()),
        ..ContainerPort::default()
    }
}

fn container(installation: &Installation) -> Container {
    let servers = &installation.config.server;
    let mut mounts = vec![mount(CONFIG_VOLUME, CONFIG_FOLDER)];
    if certificate_volume(installation).is_some() {
        mounts.push(mount(CERTIFICATE_VOLUME, &servers.webhooks.server_cert_dir));
    }
    let mut container = Container {
        name: OPERATOR.to_owned(),
        image: Some(installation.image.clone()),
        args: Some(vec!["operator".to_owned(), format!("--config={CONFIG_FOLDER}/{CONFIG_FILE}")]),
        env: Some(environment(installation)),
        ports: Some(vec![
            port(WEBHOOKS, servers.webhooks.port.into()),
            port(HEALTH, servers.health_probes.port.into()),
            port(METRICS, servers.metrics.port.into()),
        ]),
        // The API server goes on asking until it has heard that the pod is going.
        lifecycle: Some(Lifecycle {
            pre_stop: Some(LifecycleHandler {
                sleep: Some(SleepAction { seconds: 5 }),
                ..LifecycleHandler::default()
            }),
            ..Lifecycle::default()
        }),
        volume_mounts: Some(mounts),
        ..hardened()
    };
    if !installation.probes {
        (container.liveness_probe, container.readiness_probe) = (None, None);
    }
    container
}

fn environment(installation: &Installation) -> Vec<EnvVar> {
    let account = ObjectFieldSelector {
        field_path: "spec.serviceAccountName".to_owned(),
        ..ObjectFieldSelector::default()
    };
    vec![
        EnvVar {
            name: "GROVE_OPERATOR_SERVICE_ACCOUNT_NAME".to_owned(),
            value_from: Some(EnvVarSource { field_ref: Some(account), ..EnvVarSource::default() }),
            ..EnvVar::default()
        },
        EnvVar {
            name: "GROVE_INIT_CONTAINER_IMAGE".to_owned(),
            value: Some(installation.init_image.clone()),
            ..EnvVar::default()
        },
    ]
}

/// A certificate that somebody else makes comes as files; one of our own is read from its Secret.
fn certificate_volume(installation: &Installation) -> Option<Volume> {
    let webhooks = &installation.config.server.webhooks;
    (webhooks.cert_provision_mode == CertProvisionMode::Manual).then(|| Volume {
        name: CERTIFICATE_VOLUME.to_owned(),
        secret: Some(SecretVolumeSource {
            secret_name: Some(webhooks.secret_name.clone()),
            // The operator says that it is missing, which tells more than a pod that does not start.
            optional: Some(true),
            ..SecretVolumeSource::default()
        }),
        ..Volume::default()
    })
}

fn mount(name: &str, path: &str) -> VolumeMount {
    VolumeMount {
        name: name.to_owned(),
        mount_path: path.to_owned(),
        read_only: Some(true),
        ..VolumeMount::default()
    }
}

fn probe(path: &str, period: i32) -> Probe {
    Probe {
        http_get: Some(HTTPGetAction {
            path: Some(path.to_owned()),
            port: IntOrString::String(HEALTH.to_owned()),
            ..HTTPGetAction::default()
        }),
        period_seconds: Some(period),
        timeout_seconds: Some(5),
        ..Probe::default()
    }
}

fn quantities(all: &[(&str, &str)]) -> BTreeMap<String, Quantity> {
    all.iter().map(|(name, amount)| ((*name).to_owned(), Quantity((*amount).to_owned()))).collect()
}
