//! What is to be installed: the arguments, checked.

use std::{collections::BTreeMap, io, net::IpAddr};

use grove_api::config::{CertProvisionMode, OperatorConfiguration};
use grove_operator::rights::used_by;
use grove_scheduler::{Registry, ResourceUse};
use http::Uri;

use super::{
    Manifests,
    availability::checked_cidrs,
    invalid,
    labels::Names,
    pod_options::{PodOptions, key_values},
    workload::PRIORITY,
};
use crate::{
    commands::config::load_configuration,
    findings::Report,
    input::{self, Source},
};

/// Leader election, so that several operators can run, and the ports of upstream's chart. All else as in an empty file.
const DEFAULT_CONFIGURATION: &str = "\
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
leaderElection:
  enabled: true
server:
  webhooks:
    port: 9443
  healthProbes:
    port: 9444
  metrics:
    port: 9445
";

/// How the API server reaches the webhooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Through the operator's Service.
    Service,
    /// At this address, to which the path of the webhook is added: the operator runs elsewhere.
    Url(String),
}

/// An installation.
pub(super) struct Installation {
    pub(super) namespace: String,
    pub(super) config: OperatorConfiguration,
    /// What its scheduler backends read and write.
    pub(super) uses: Vec<ResourceUse>,
    /// The configuration as it was written, comments and all: what is checked is what runs.
    pub(super) config_text: String,
    pub(super) image: String,
    pub(super) init_image: String,
    pub(super) replicas: i32,
    pub(super) reach: Reach,
    /// Certificates in PEM.
    pub(super) ca_bundle: Option<Vec<u8>>,
    pub(super) webhook_annotations: BTreeMap<String, String>,
    pub(super) names: Names,
    pub(super) pods: PodOptions,
    /// Value of the PriorityClass; `None` without one.
    pub(super) priority: Option<i32>,
    /// Whether kubelets ask for health.
    pub(super) probes: bool,
    pub(super) service_monitor: bool,
    pub(super) monitor_labels: BTreeMap<String, String>,
    pub(super) prometheus_rule: bool,
    pub(super) rule_labels: BTreeMap<String, String>,
    pub(super) dashboards: bool,
    pub(super) disruption_budget: bool,
    pub(super) network_policy: bool,
    /// Where the API server is; empty if that is not said.
    pub(super) api_server_cidrs: Vec<String>,
    /// Whether a policy limits what the operator changes in pods.
    pub(super) pod_policy: bool,
}

impl Installation {
    /// Reads and checks what is asked for. `None` if the configuration is wrong, which has been told then.
    pub(super) fn read(arguments: &Manifests, registry: &Registry) -> io::Result<Option<Self>> {
        let source = match &arguments.config {
            Some(file) => input::read_file(file)?,
            None => Source { name: "<default>".to_owned(), text: DEFAULT_CONFIGURATION.to_owned() },
        };
        let mut report = Report::default();
        let loaded = load_configuration(&source, registry, &mut report);
        report.print_aside()?;
        let Some(loaded) = loaded else { return Ok(None) };
        let config = loaded.config;

        if !is_dns_label(&arguments.namespace) {
            return Err(invalid(format!(
                "--namespace {:?}: is not a name for a namespace: at most 63 of a-z, 0-9 and '-', with none of '-' at the ends",
                arguments.namespace
            )));
        }
        let reach = match &arguments.webhook_url {
            None => Reach::Service,
            Some(url) => Reach::Url(checked_url(url)?),
        };
        if reach == Reach::Service {
            reachable(&config)?;
        }
        for (flag, image) in [("--image", &arguments.image), ("--init-image", &arguments.init_image)] {
            if image.is_empty() || image.contains(char::is_whitespace) {
                return Err(invalid(format!("{flag} {image:?}: is not an image")));
            }
        }
        Ok(Some(Self {
            namespace: arguments.namespace.clone(),
            replicas: replicas(arguments.replicas, &config)?,
            ca_bundle: ca_bundle(arguments, &config)?,
            webhook_annotations: annotations(arguments, &config)?,
            uses: used_by(registry, &loaded.profiles),
            config,
            config_text: source.text,
            image: arguments.image.clone(),
            init_image: arguments.init_image.clone(),
            reach,
            names: Names::default(),
            pods: arguments.pods.check()?,
            priority: (!arguments.no_priority_class).then_some(PRIORITY),
            probes: true,
            service_monitor: arguments.service_monitor,
            monitor_labels: key_values("--service-monitor-label", &arguments.service_monitor_label)?,
            prometheus_rule: arguments.prometheus_rule,
            rule_labels: key_values("--prometheus-rule-label", &arguments.prometheus_rule_label)?,
            dashboards: arguments.dashboards,
            disruption_budget: true,
            network_policy: !arguments.no_network_policy,
            api_server_cidrs: checked_cidrs(&arguments.api_server_cidr)?,
            pod_policy: !arguments.no_pod_policy,
        }))
    }
}

fn is_dns_label(name: &str) -> bool {
    let inner = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
    (1..=63).contains(&name.len())
        && name.bytes().all(inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// An address as the API server takes it: `https`, a host, and neither user nor query.
fn checked_url(url: &str) -> io::Result<String> {
    let wrong = |why: &str| Err(invalid(format!("--webhook-url {url:?}: {why}")));
    let Ok(uri) = url.parse::<Uri>() else { return wrong("is not an address") };
    if uri.scheme_str() != Some("https") {
        return wrong("must begin with https://");
    }
    if uri.authority().is_none_or(|it| it.host().is_empty() || it.as_str().contains('@')) {
        return wrong("must have a host and no user");
    }
    if uri.query().is_some() || url.contains('#') {
        return wrong("must end with its path");
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// Nobody reaches a pod by its loopback address.
fn reachable(config: &OperatorConfiguration) -> io::Result<()> {
    let servers = &config.server;
    for (field, address) in [
        ("webhooks", &servers.webhooks.bind_address),
        ("healthProbes", &servers.health_probes.bind_address),
        ("metrics", &servers.metrics.bind_address),
    ] {
        let loopback = address == "localhost" || address.parse().is_ok_and(|it: IpAddr| it.is_loopback());
        if loopback {
            return Err(invalid(format!(
                "server.{field}.bindAddress {address:?}: in a pod nobody can reach this address; leave it empty, \
                 or say with --webhook-url that the operator runs elsewhere"
            )));
        }
    }
    Ok(())
}

fn replicas(asked: Option<i32>, config: &OperatorConfiguration) -> io::Result<i32> {
    let elects = config.leader_election.enabled;
    match asked {
        None => Ok(if elects { 2 } else { 1 }),
        Some(count) if count < 0 => Err(invalid(format!("--replicas {count}: must not be negative"))),
        Some(count) if count > 1 && !elects => Err(invalid(format!(
            "--replicas {count}: without leader election all of them would work at once; set leaderElection.enabled"
        ))),
        Some(count) => Ok(count),
    }
}

fn ca_bundle(arguments: &Manifests, config: &OperatorConfiguration) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = &arguments.ca_bundle else { return Ok(None) };
    only_manual("--ca-bundle", config)?;
    let source = input::read_file(file)?;
    if !source.text.contains("-----BEGIN CERTIFICATE-----") || source.text.contains("PRIVATE KEY-----") {
        return Err(invalid(format!(
            "--ca-bundle {}: must hold certificates in PEM and nothing else",
            source.name
        )));
    }
    Ok(Some(source.text.into_bytes()))
}

fn annotations(
    arguments: &Manifests,
    config: &OperatorConfiguration,
) -> io::Result<BTreeMap<String, String>> {
    if !arguments.webhook_annotation.is_empty() {
        only_manual("--webhook-annotation", config)?;
    }
    key_values("--webhook-annotation", &arguments.webhook_annotation)
}

/// Two who fill in the same authority would overwrite each other for ever.
fn only_manual(flag: &str, config: &OperatorConfiguration) -> io::Result<()> {
    match config.server.webhooks.cert_provision_mode {
        CertProvisionMode::Manual => Ok(()),
        CertProvisionMode::Auto => Err(invalid(format!(
            "{flag}: the operator fills in the authority of its certificate itself, because \
             server.webhooks.certProvisionMode is auto; with manual, somebody else does"
        ))),
    }
}

#[cfg(test)]
impl Installation {
    pub(super) fn example() -> Self {
        Self {
            namespace: "n".to_owned(),
            config: OperatorConfiguration::default(),
            uses: Vec::new(),
            config_text: DEFAULT_CONFIGURATION.to_owned(),
            image: "grove:1".to_owned(),
            init_image: "grove-initc:1".to_owned(),
            replicas: 1,
            reach: Reach::Service,
            ca_bundle: None,
            webhook_annotations: BTreeMap::new(),
            names: Names::default(),
            pods: PodOptions::default(),
            priority: None,
            probes: true,
            service_monitor: false,
            monitor_labels: BTreeMap::new(),
            prometheus_rule: false,
            rule_labels: BTreeMap::new(),
            dashboards: false,
            disruption_budget: true,
            network_policy: true,
            api_server_cidrs: Vec::new(),
            pod_policy: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_that_an_api_server_takes() {
        for (url, want) in [
            ("https://127.0.0.1:9443", "https://127.0.0.1:9443"),
            ("https://grove.example.com/", "https://grove.example.com"),
            ("https://[::1]:9443/base", "https://[::1]:9443/base"),
        ] {
            assert_eq!(checked_url(url).unwrap(), want);
        }
        for url in
            ["", "grove.example.com", "http://a", "https://", "https://me@a", "https://a?b=c", "https://a/#b"]
        {
            assert!(checked_url(url).is_err(), "{url}");
        }
    }

    #[test]
    fn several_operators_need_an_election() {
        let mut config = OperatorConfiguration::default();
        assert_eq!(replicas(None, &config).unwrap(), 1);
        assert_eq!(replicas(Some(0), &config).unwrap(), 0);
        assert!(replicas(Some(2), &config).is_err());
        config.leader_election.enabled = true;
        assert_eq!(replicas(None, &config).unwrap(), 2);
        assert_eq!(replicas(Some(3), &config).unwrap(), 3);
        assert!(replicas(Some(-1), &config).is_err());
    }

    #[test]
    fn namespaces_are_labels() {
        let long = "a".repeat(64);
        for (name, want) in [
            ("grove-system", true),
            ("", false),
            ("-a", false),
            ("a-", false),
            ("A", false),
            (long.as_str(), false),
        ] {
            assert_eq!(is_dns_label(name), want, "{name}");
        }
    }
}
