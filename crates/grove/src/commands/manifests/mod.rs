//! `grove manifests`: everything that an installation needs, as plain YAML.
//!
//! `installation` checks what is asked for; `roles`, `user_roles`, `workload`, `webhooks` and `pod_policy` make the objects; here they are put into
//! an order in which they can be applied, and printed.

mod availability;
pub(crate) mod chart;
mod explain;
mod group_policy;
mod installation;
mod labels;
mod monitoring;
mod object;
mod pod;
mod pod_grouper;
mod pod_options;
mod pod_policy;
mod roles;
mod user_roles;
mod webhooks;
mod workload;

#[cfg(feature = "sandbox")]
use std::{ffi::OsString, path::Path};
use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::Args;
#[cfg(feature = "sandbox")]
use clap::FromArgMatches as _;
use grove_api::{constants::schedulers, schema::CRDS};
use grove_podgrouper::Hub;
use grove_scheduler::Registry;
#[cfg(feature = "sandbox")]
use serde_json::Value;

use self::{
    installation::{Installation, Reach},
    object::{Kind, Object, namespace, print},
    pod_grouper::{PodGrouper, Schedulers},
    pod_options::PodArguments,
};
use crate::cli::Outcome;

/// Print the manifests of an installation: CRDs, RBAC, configuration, Deployment and webhooks.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
    grove manifests --image registry.example.com/grove:1.0 | kubectl apply --server-side -f -\n  \
    grove manifests --config operator.yaml --explain-rights\n  \
    grove manifests --only ClusterRole,Role\n\n\
    Use `--server-side`: the CRDs are too large for kubectl's last-applied annotation.")]
pub(crate) struct Manifests {
    /// Operator configuration file [default: leader election and upstream's ports].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Namespace of the operator.
    #[arg(short, long, value_name = "NAME", default_value = "grove-system")]
    namespace: String,

    /// Image with the grove binary.
    #[arg(long, default_value = concat!("grove:", env!("CARGO_PKG_VERSION")))]
    image: String,

    /// Image with grove-initc, for start order.
    #[arg(long, value_name = "IMAGE", default_value = concat!("grove-initc:", env!("CARGO_PKG_VERSION")))]
    init_image: String,

    /// Operator replicas: one is the leader, all serve webhooks [default: 2 with leader election, else 1].
    #[arg(long, value_name = "COUNT")]
    replicas: Option<i32>,

    /// URL of webhooks served outside of the cluster; prints no ConfigMap, Service or Deployment.
    #[arg(long, value_name = "URL", conflicts_with_all = ["image", "init_image", "replicas", "no_priority_class", "no_network_policy", "api_server_cidr", "service_monitor", "prometheus_rule", "dashboards"])]
    webhook_url: Option<String>,

    /// CA bundle of the webhook certificate (with certProvisionMode: manual).
    #[arg(long, value_name = "FILE")]
    ca_bundle: Option<PathBuf>,

    /// Annotation of the webhook configurations, for instance for a CA injector (with certProvisionMode: manual).
    #[arg(long, value_name = "KEY=VALUE")]
    webhook_annotation: Vec<String>,

    #[command(flatten)]
    pods: PodArguments,

    /// Leave out the PriorityClass, by which the operator is evicted last.
    #[arg(long)]
    no_priority_class: bool,

    /// Leave out the NetworkPolicy.
    #[arg(long)]
    no_network_policy: bool,

    /// Addresses of the API server, the only ones that the operator may connect to then; repeatable [default: any].
    #[arg(long, value_name = "CIDR", conflicts_with = "no_network_policy")]
    api_server_cidr: Vec<String>,

    /// Add a ServiceMonitor, by which a Prometheus Operator finds the metrics.
    #[arg(long)]
    service_monitor: bool,

    /// Label of the ServiceMonitor, for instance one by which Prometheus chooses it; repeatable.
    #[arg(long, value_name = "KEY=VALUE", requires = "service_monitor")]
    service_monitor_label: Vec<String>,

    /// Add a PrometheusRule with alerts on the operator, for a Prometheus Operator.
    #[arg(long)]
    prometheus_rule: bool,

    /// Label of the PrometheusRule, for instance one by which Prometheus chooses it; repeatable.
    #[arg(long, value_name = "KEY=VALUE", requires = "prometheus_rule")]
    prometheus_rule_label: Vec<String>,

    /// Add a ConfigMap with a dashboard for Grafana.
    #[arg(long)]
    dashboards: bool,

    /// Print the manifests of the pod grouper instead of the operator.
    #[arg(long, conflicts_with_all = ["config", "init_image", "webhook_url", "ca_bundle", "webhook_annotation", "no_priority_class", "no_network_policy", "api_server_cidr", "service_monitor", "prometheus_rule", "dashboards", "explain_rights"])]
    pod_grouper: bool,

    /// Schedulers whose pods the pod grouper groups; repeatable.
    #[arg(
        long = "scheduler-name",
        value_name = "NAME",
        default_value = "kai-scheduler",
        requires = "pod_grouper"
    )]
    schedulers: Vec<String>,

    /// Namespaces whose pods the pod grouper groups.
    #[arg(long, value_name = "KEY=VALUE,...", requires = "pod_grouper")]
    namespace_label_selector: Option<String>,

    /// ConfigMap with the pod grouper's defaults by kind, as NAMESPACE/NAME.
    #[arg(long, value_name = "NAMESPACE/NAME", requires = "pod_grouper")]
    default_priorities_configmap: Option<String>,

    /// Leave out the Namespace.
    #[arg(long)]
    no_namespace: bool,

    /// Leave out the CustomResourceDefinitions.
    #[arg(long)]
    no_crds: bool,

    /// Leave out the admission policies that limit what the accounts of the operator and the pod grouper change in pods.
    #[arg(long)]
    no_pod_policy: bool,

    /// Print only objects of these kinds.
    #[arg(
        long,
        value_enum,
        value_name = "KIND",
        value_delimiter = ',',
        ignore_case = true,
        hide_possible_values = true
    )]
    only: Vec<Kind>,

    /// Print a Markdown table of the operator's RBAC rules and their reasons, instead of manifests.
    #[arg(long)]
    explain_rights: bool,
}

impl Manifests {
    pub(crate) fn run(self, registry: &Registry, hub: &Hub) -> io::Result<Outcome> {
        if self.pod_grouper {
            let objects = self.of_pod_grouper(registry, hub)?;
            return print(objects);
        }
        let Some(installation) = Installation::read(&self, registry)? else { return Ok(Outcome::Unusable) };
        if self.explain_rights {
            io::stdout().lock().write_all(explain::rights(&installation).as_bytes())?;
            return Ok(Outcome::Success);
        }
        print(self.objects(&installation)?)
    }

    /// All objects of the pod grouper that were asked for, in order.
    fn of_pod_grouper(&self, registry: &Registry, hub: &Hub) -> io::Result<Vec<Object>> {
        let mut objects = Vec::new();
        if !self.no_namespace {
            objects.push(Object::new(Kind::Namespace, &namespace(&self.namespace))?);
        }
        if !self.no_crds {
            let crds = CRDS.iter().filter(|it| it.name().starts_with("groupingrules."));
            let object = |value| Object { kind: Kind::CustomResourceDefinition, value };
            objects.extend(crds.map(|it| object(it.to_value())));
        }
        let (namespace, image) = (&self.namespace, &self.image);
        let kind_defaults = self.default_priorities_configmap.as_deref().map(|it| {
            it.split_once('/')
                .ok_or_else(|| invalid(format!("--default-priorities-configmap {it}: give NAMESPACE/NAME")))
        });
        let grouper = PodGrouper {
            namespace,
            image,
            replicas: self.replicas,
            schedulers: Schedulers::read(&self.schedulers, registry)?,
            namespace_labels: self.namespace_label_selector.as_deref(),
            kind_defaults: kind_defaults.transpose()?,
            pods: self.pods.check()?,
            pod_policy: !self.no_pod_policy,
        };
        objects.extend(grouper.objects(hub)?);
        if self.schedulers.iter().any(|it| it == schedulers::DEFAULT) {
            objects.extend(group_policy::objects()?);
        }
        Ok(self.chosen(objects))
    }

    /// Those of the kinds that were asked for, in an order in which they can be applied.
    fn chosen(&self, mut objects: Vec<Object>) -> Vec<Object> {
        objects.retain(|it| self.only.is_empty() || self.only.contains(&it.kind));
        // Stable: within a kind the order is that of the code.
        objects.sort_by_key(|it| it.kind);
        objects
    }

    /// All objects that were asked for, in order.
    fn objects(&self, installation: &Installation) -> io::Result<Vec<Object>> {
        let mut objects = Vec::new();
        if !self.no_namespace {
            objects.push(Object::new(Kind::Namespace, &namespace(&installation.namespace))?);
        }
        if !self.no_crds {
            let crds =
                CRDS.iter().map(|it| Object { kind: Kind::CustomResourceDefinition, value: it.to_value() });
            objects.extend(crds);
        }
        objects.extend(installed(installation)?);
        Ok(self.chosen(objects))
    }
}

/// All objects of the operator but for the Namespace and CRDs. The chart has the same.
fn installed(installation: &Installation) -> io::Result<Vec<Object>> {
    let mut objects = roles::objects(installation)?;
    objects.extend(user_roles::objects()?);
    if installation.reach == Reach::Service {
        objects.extend(workload::objects(installation)?);
    }
    objects.extend(webhooks::objects(installation)?);
    if installation.pod_policy {
        let account = &installation.names.service_account;
        objects.extend(pod_policy::of_operator(account, &installation.namespace)?);
    }
    Ok(objects)
}

/// The objects that an operator needs which runs outside of the cluster: without CRDs, and without the policies on pods, which the
/// embedded API server stores and does not enforce.
#[cfg(feature = "sandbox")]
pub(crate) fn for_webhook_url(registry: &Registry, config: &Path, url: &str) -> io::Result<Vec<Value>> {
    let flags = ["--no-crds", "--no-pod-policy", "--webhook-url", url, "--config"].map(OsString::from);
    let arguments = parsed(flags.into_iter().chain([config.into()]))?;
    let installation = Installation::read(&arguments, registry)?;
    let installation = installation.ok_or_else(|| invalid("the operator's configuration is invalid"))?;
    Ok(arguments.objects(&installation)?.into_iter().map(|it| it.value).collect())
}

/// Likewise, those of the pod grouper for pods of a scheduler.
#[cfg(feature = "sandbox")]
pub(crate) fn of_pod_grouper_outside(
    registry: &Registry,
    hub: &Hub,
    scheduler: &str,
) -> io::Result<Vec<Value>> {
    let flags = ["--pod-grouper", "--no-crds", "--no-pod-policy", "--scheduler-name", scheduler];
    let objects = parsed(flags.map(OsString::from))?.of_pod_grouper(registry, hub)?;
    Ok(objects.into_iter().filter(|it| it.kind != Kind::Deployment).map(|it| it.value).collect())
}

/// The command with these flags.
#[cfg(feature = "sandbox")]
fn parsed(flags: impl IntoIterator<Item = OsString>) -> io::Result<Manifests> {
    let command = Manifests::augment_args(clap::Command::new("manifests")).no_binary_name(true);
    let matches = command.try_get_matches_from(flags);
    matches.and_then(|it| Manifests::from_arg_matches(&it)).map_err(io::Error::other)
}

/// An argument cannot be used.
fn invalid(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, text.into())
}
