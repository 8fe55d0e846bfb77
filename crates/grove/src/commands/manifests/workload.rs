//! The operator inside the cluster: its configuration, its Deployment and the Service before it.

use std::{collections::BTreeMap, io};

use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentSpec},
    core::v1::{ConfigMap, Service, ServicePort, ServiceSpec},
    scheduling::v1::PriorityClass,
};
use k8s_openapi::apimachinery::pkg::{
    apis::meta::v1::{LabelSelector, ObjectMeta},
    util::intstr::IntOrString,
};
use ring::digest::{SHA256, digest};

use super::{
    Kind, Object,
    availability::{disruption_budget, network_policy},
    installation::Installation,
    labels::{self, OPERATOR, labels, metadata},
    monitoring, pod,
};

/// Below the two classes that Kubernetes keeps for itself, above all that users have.
pub(super) const PRIORITY: i32 = 999_999_550;

pub(super) fn objects(installation: &Installation) -> io::Result<Vec<Object>> {
    let config = config_map(installation);
    let config_name = config.metadata.name.clone().unwrap_or_default();
    let mut objects = vec![
        Object::new(Kind::ConfigMap, &config)?,
        Object::new(Kind::Service, &service(installation))?,
        Object::new(Kind::Deployment, &deployment(installation, config_name))?,
    ];
    if let Some(priority) = installation.priority {
        objects.push(Object::new(Kind::PriorityClass, &priority_class(installation, priority))?);
    }
    if installation.disruption_budget {
        objects.push(Object::new(Kind::PodDisruptionBudget, &disruption_budget(installation))?);
    }
    if installation.network_policy {
        objects.push(Object::new(Kind::NetworkPolicy, &network_policy(installation))?);
    }
    if installation.service_monitor {
        objects.push(Object { kind: Kind::ServiceMonitor, value: monitoring::service_monitor(installation) });
    }
    if installation.prometheus_rule {
        objects
            .push(Object { kind: Kind::PrometheusRule, value: monitoring::prometheus_rule(installation)? });
    }
    if installation.dashboards {
        objects.push(Object::new(Kind::ConfigMap, &monitoring::dashboard(installation))?);
    }
    Ok(objects)
}

/// It is never changed, and named for its content: another configuration is another object, and pods that start with it.
fn config_map(installation: &Installation) -> ConfigMap {
    let text = &installation.config_text;
    let name = config_name(text);
    ConfigMap {
        metadata: metadata(&name, Some(&installation.namespace), labels("operator-configmap", OPERATOR)),
        immutable: Some(true),
        data: Some(BTreeMap::from([(pod::CONFIG_FILE.to_owned(), text.clone())])),
        ..ConfigMap::default()
    }
}

/// The name of a configuration with this content.
pub(super) fn config_name(text: &str) -> String {
    let sum = digest(&SHA256, text.as_bytes());
    let start = sum.as_ref().first_chunk().map_or(0, |it| u32::from_be_bytes(*it));
    format!("grove-operator-cm-{start:08x}")
}

fn service(installation: &Installation) -> Service {
    let servers = &installation.config.server;
    let port = |name: &str, number: u16| ServicePort {
        name: Some(name.to_owned()),
        port: number.into(),
        target_port: Some(IntOrString::String(name.to_owned())),
        protocol: Some("TCP".to_owned()),
        ..ServicePort::default()
    };
    Service {
        metadata: metadata(&installation.names.service, Some(&installation.namespace), labels::of_service()),
        spec: Some(ServiceSpec {
            type_: Some("ClusterIP".to_owned()),
            selector: Some(labels::of_pods()),
            ports: Some(vec![
                port(pod::METRICS, servers.metrics.port),
                port(pod::WEBHOOKS, servers.webhooks.port),
            ]),
            ..ServiceSpec::default()
        }),
        ..Service::default()
    }
}

fn deployment(installation: &Installation, config_name: String) -> Deployment {
    Deployment {
        metadata: metadata(OPERATOR, Some(&installation.namespace), labels::of_pods()),
        spec: DeploymentSpec {
            replicas: Some(installation.replicas),
            selector: LabelSelector { match_labels: Some(labels::of_pods()), ..LabelSelector::default() },
            template: pod::template(installation, config_name),
            ..DeploymentSpec::default()
        },
        ..Deployment::default()
    }
}

fn priority_class(installation: &Installation, value: i32) -> PriorityClass {
    PriorityClass {
        metadata: ObjectMeta {
            name: Some(installation.names.priority_class.clone()),
            labels: Some(labels("operator-priorityclass", OPERATOR)),
            ..ObjectMeta::default()
        },
        value: Some(value),
        description: Some("Grove's operator: without it no set is started or repaired.".to_owned()),
        ..PriorityClass::default()
    }
}
