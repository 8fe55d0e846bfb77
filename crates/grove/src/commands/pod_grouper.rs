//! `grove podgrouper`: the pod grouper itself.

use std::{collections::BTreeMap, io, path::PathBuf};

use clap::{ArgAction, Args};
use grove_podgrouper::{
    Hub, Settings,
    engine::ConfigMapName,
    process::{self, Address, Options, RunError},
};
use grove_scheduler::Registry;

use crate::{cli::Outcome, program::complain};

/// Threads that work.
const THREADS: usize = 2;

/// Run the pod grouper: gang scheduling for Jobs, PyTorchJobs and other workloads.
///
/// A replacement for KAI's pod grouper, with the same flags.
#[derive(Args)]
#[command(
    after_help = "Example:\n  grove podgrouper --scheduler-name kai-scheduler --scheduler-name volcano\n\n\
    Exit codes: 0 stopped by SIGTERM or Ctrl-C, 1 failed, 2 invalid flags."
)]
pub(crate) struct PodGrouperCommand {
    /// Kubeconfig file [default: $KUBECONFIG, ~/.kube/config, or the pod's service account].
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,

    /// Schedulers whose pods are grouped; repeatable. NAME=BACKEND for a scheduler installed under another name. Pods of
    /// default-scheduler are grouped only if they or their namespace are labelled for it.
    #[arg(long = "scheduler-name", value_name = "NAME", default_value = "kai-scheduler", action = ArgAction::Append)]
    schedulers: Vec<String>,

    /// Label key for the queue of a workload.
    #[arg(long, value_name = "KEY", default_value = "kai.scheduler/queue")]
    queue_label_key: String,

    /// Label key for the node pool; empty for none.
    #[arg(long, value_name = "KEY", default_value = "kai.scheduler/node-pool")]
    nodepool_label_key: String,

    /// ConfigMap with priority classes and preemptibility by kind; needs its namespace too.
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    default_priorities_configmap_name: String,

    /// Namespace of that ConfigMap.
    #[arg(long, value_name = "NAMESPACE", default_value = "", hide_default_value = true)]
    default_priorities_configmap_namespace: String,

    /// Group only pods with these labels.
    #[arg(long, value_name = "KEY=VALUE,...", default_value = "", hide_default_value = true, value_parser = labels)]
    pod_label_selector: Labels,

    /// Group only pods of namespaces with these labels.
    #[arg(long, value_name = "KEY=VALUE,...", default_value = "", hide_default_value = true, value_parser = labels)]
    namespace_label_selector: Labels,

    /// Also look up groups by the names of older versions (Jobs, RunaiJobs).
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    search_legacy_pg: bool,

    /// Gang-schedule each revision of a Knative Service.
    #[arg(long, value_name = "BOOL", default_value_t = true, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    knative_gang_schedule: bool,

    /// Use leader election, to run several replicas.
    #[arg(long, value_name = "BOOL", default_value_t = false, num_args = 0..=1, require_equals = true, default_missing_value = "true", action = ArgAction::Set)]
    leader_elect: bool,

    /// Name of the lease, by default that of KAI's pod grouper, so that only one of both is active.
    #[arg(long, value_name = "NAME", default_value = "54dff599.kai.scheduler")]
    leader_election_id: String,

    /// Address of the metrics endpoint; 0 to disable.
    #[arg(long, value_name = "[HOST]:PORT", default_value = ":8080", value_parser = address)]
    metrics_bind_address: Place,

    /// File with the bearer token that clients of the metrics endpoint must send; read again for every request.
    #[arg(long, value_name = "FILE")]
    metrics_token_file: Option<PathBuf>,

    /// Address of /healthz and /readyz; 0 to disable.
    #[arg(long, value_name = "[HOST]:PORT", default_value = ":8081", value_parser = address)]
    health_probe_bind_address: Place,

    /// API server writes per second.
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..))]
    qps: u16,

    /// Burst of API server writes.
    #[arg(long, value_name = "NUMBER", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    burst: u32,

    /// Pods reconciled concurrently.
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    max_concurrent_reconciles: u16,

    /// Verbose logging.
    #[arg(long, short)]
    verbose: bool,
}

/// Labels, as a flag gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Labels(BTreeMap<String, String>);

/// Where to serve, if anywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place(Option<Address>);

impl PodGrouperCommand {
    pub(crate) fn run(self, registry: &Registry, hub: Hub) -> io::Result<Outcome> {
        let (name, namespace) =
            (self.default_priorities_configmap_name, self.default_priorities_configmap_namespace);
        if name.is_empty() != namespace.is_empty() {
            complain(format_args!(
                "--default-priorities-configmap-name and --default-priorities-configmap-namespace must be set together"
            ));
            return Ok(Outcome::Unusable);
        }
        let options = Options {
            kubeconfig: self.kubeconfig,
            metrics: self.metrics_bind_address.0,
            metrics_token_file: self.metrics_token_file,
            health: self.health_probe_bind_address.0,
            lease: self.leader_elect.then_some(self.leader_election_id),
            qps: self.qps.into(),
            burst: self.burst,
            schedulers: self.schedulers,
            pod_labels: self.pod_label_selector.0,
            namespace_labels: self.namespace_label_selector.0,
            settings: Settings {
                queue_label: self.queue_label_key,
                node_pool_label: self.nodepool_label_key,
                knative_gangs: self.knative_gang_schedule,
                searches_legacy: self.search_legacy_pg,
                ..Settings::default()
            },
            kind_defaults: (!name.is_empty()).then_some(ConfigMapName { namespace, name }),
            concurrency: self.max_concurrent_reconciles.into(),
            verbose: self.verbose,
        };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
        let Err(error) = runtime.block_on(process::run(registry, hub, options)) else {
            return Ok(Outcome::Success);
        };
        complain(format_args!("{error}"));
        Ok(match error {
            RunError::Unusable(_) => Outcome::Unusable,
            RunError::Failed(_) => Outcome::Findings,
        })
    }
}

/// As KAI's pod grouper reads them: pieces without `=` are passed over.
#[allow(clippy::unnecessary_wraps, reason = "it is a parser")]
fn labels(text: &str) -> Result<Labels, String> {
    let pieces = text.split(',').filter_map(|it| it.split_once('='));
    let trimmed = pieces.map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()));
    Ok(Labels(trimmed.filter(|it| !it.0.is_empty()).collect()))
}

/// `HOST:PORT`, `:PORT`, or `0`.
fn address(text: &str) -> Result<Place, String> {
    if text == "0" {
        return Ok(Place(None));
    }
    let (host, port) = text.rsplit_once(':').ok_or("not an address: use [HOST]:PORT, or 0")?;
    let port = port.parse().map_err(|_| format!("{port:?} is not a port: use a number up to 65535"))?;
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    Ok(Place(Some(Address { host, port })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let place = |host: &str, port| Ok(Place(Some(Address { host: host.to_owned(), port })));
        assert_eq!(address(":8080"), place("", 8080));
        assert_eq!(address("127.0.0.1:1"), place("127.0.0.1", 1));
        assert_eq!(address("[::1]:7"), place("::1", 7));
        assert_eq!(address("0"), Ok(Place(None)));
        assert_eq!(address("8080"), Err("not an address: use [HOST]:PORT, or 0".to_owned()));
        assert_eq!(address(":x"), Err("\"x\" is not a port: use a number up to 65535".to_owned()));
    }

    #[test]
    fn selectors_are_read_as_kai_reads_them() {
        let expected = BTreeMap::from([("a".to_owned(), "b".to_owned()), ("c".to_owned(), String::new())]);
        assert_eq!(labels(" a = b ,nonsense,c=,=x"), Ok(Labels(expected)));
        assert_eq!(labels(""), Ok(Labels(BTreeMap::new())));
    }
}
