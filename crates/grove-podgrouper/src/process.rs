//! The pod grouper as a process: from its flags to its end.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use grove_runtime::{
    Election, Events, Fence, Metrics, Throttle, Writer,
    bearer::TokenFile,
    cluster_config, connect,
    health::{self, Checks},
    lead, leader,
    listener::{self, Limits, serve_routes},
    shutdown, telemetry, version,
};
use grove_scheduler::Registry;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::error;

use crate::{
    engine::{ConfigMapName, Counting, Grouper, GrouperMetrics, GrouperOptions, backend_of},
    hub::Hub,
    settings::Settings,
};

/// The oldest Kubernetes that the grouper runs on, that of the operator.
const MINIMUM_KUBERNETES: (u32, u32) = (1, 33);
/// Writes under way at a time.
const IN_FLIGHT: usize = 32;
/// Times of the lease, those of controller-runtime.
const LEASE: [Duration; 3] = [Duration::from_secs(15), Duration::from_secs(10), Duration::from_secs(2)];

/// Why the pod grouper cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What it was given cannot be used; nothing was started.
    #[error("{0}")]
    Unusable(String),
    /// Something outside failed.
    #[error("{0}")]
    Failed(String),
}

/// What the command line says.
#[derive(Clone, Debug)]
pub struct Options {
    /// Names the cluster; without it the usual places are looked at.
    pub kubeconfig: Option<PathBuf>,
    /// Where metrics are served; `None` for nowhere.
    pub metrics: Option<Address>,
    /// File with the bearer token that reads metrics; without it everyone does who reaches the port.
    pub metrics_token_file: Option<PathBuf>,
    /// Where health is served; `None` for nowhere.
    pub health: Option<Address>,
    /// Name of the lease, where only one of several is to work.
    pub lease: Option<String>,
    /// Requests a second, and at once.
    pub qps: f64,
    /// Requests at once.
    pub burst: u32,
    /// Schedulers whose pods are grouped.
    pub schedulers: Vec<String>,
    /// Only pods with these labels.
    pub pod_labels: BTreeMap<String, String>,
    /// Only pods of namespaces with these labels.
    pub namespace_labels: BTreeMap<String, String>,
    /// What groups depend on.
    pub settings: Settings,
    /// The ConfigMap with defaults of kinds.
    pub kind_defaults: Option<ConfigMapName>,
    /// Pods that are looked at at a time.
    pub concurrency: usize,
    /// Whether logs say all.
    pub verbose: bool,
}

/// Where something is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Empty for every address of the machine.
    pub host: String,
    /// Port.
    pub port: u16,
}

fn failed<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> RunError {
    move |cause| RunError::Failed(format!("{what}: {cause}"))
}

/// Runs the pod grouper with the plugins of `hub` and the backends of `registry`, until a signal tells it to stop.
pub async fn run(registry: &Registry, hub: Hub, options: Options) -> Result<(), RunError> {
    check(registry, &options)?;
    let level = if options.verbose { telemetry::Level::Debug } else { telemetry::Level::Info };
    telemetry::init(level, telemetry::Format::Json).map_err(failed("logs"))?;
    let stop = shutdown::on_signal().map_err(failed("signals"))?;
    Box::pin(run_until(registry, hub, options, stop)).await
}

/// Whether there is a backend for each of the schedulers.
fn check(registry: &Registry, options: &Options) -> Result<(), RunError> {
    let mut backends = options.schedulers.iter().map(|name| backend_of(name, registry));
    backends.try_for_each(|it| it.map(drop)).map_err(|error| RunError::Unusable(error.to_string()))
}

/// Likewise, in a process that has its logs and its own way to stop.
pub async fn run_until(
    registry: &Registry,
    hub: Hub,
    options: Options,
    stop: CancellationToken,
) -> Result<(), RunError> {
    check(registry, &options)?;
    let metrics = Metrics::new();
    let started: Arc<OnceLock<Arc<Grouper>>> = Arc::default();
    let mut servers = serve(&options, &metrics, &started, &stop)?;
    let cluster = cluster_config(options.kubeconfig.clone()).await.map_err(RunError::Failed)?;
    let namespace = leader::namespace(None, &cluster.default_namespace);
    let throttle = Throttle::with_metrics(options.qps, options.burst, IN_FLIGHT, metrics.throttle.clone());
    let agent = format!("grove-podgrouper/{}", env!("CARGO_PKG_VERSION"));
    let client = connect(cluster, &agent, throttle, metrics.requests.clone())
        .map_err(failed("connecting to the API server"))?;
    if !version::ask(&client, MINIMUM_KUBERNETES, &stop)
        .await
        .map_err(|it| RunError::Failed(it.to_string()))?
    {
        return Ok(());
    }

    let identity = leader::identity("grove-podgrouper");
    let fence = Fence::default();
    let leaders = fence.guard(client.clone());
    let writer = Writer::new(leaders.clone(), "grove-podgrouper");
    let (events, who) = (metrics.events.clone(), "pod-grouper".to_owned());
    let events = Events::start_with_metrics(&writer, who, identity.clone(), stop.clone(), events);
    let counting = Counting {
        informers: metrics.informers.clone(),
        queues: metrics.queues.clone(),
        grouper: metrics.register(GrouperMetrics::register),
    };
    let settings = GrouperOptions {
        schedulers: options.schedulers.clone(),
        pod_labels: selector(&options.pod_labels),
        namespace_labels: options.namespace_labels.clone(),
        settings: options.settings.clone(),
        kind_defaults: options.kind_defaults.clone(),
        concurrency: options.concurrency,
        namespace: namespace.clone(),
    };
    let grouper = Grouper::new(leaders, events, registry, hub, settings, counting);
    let grouper = grouper.map_err(|error| RunError::Unusable(error.to_string()))?;
    started.get_or_init(|| Arc::clone(&grouper));
    // Reads go on while the last writes end.
    let end_of_watching = CancellationToken::new();
    let (watching, token) = (Arc::clone(&grouper), end_of_watching.clone());
    servers.spawn(async move {
        watching.watch(token).await;
        Ok(())
    });
    let election = options.lease.as_ref().map(|name| Election {
        namespace,
        name: name.clone(),
        identity,
        lease_duration: LEASE[0],
        renew_deadline: LEASE[1],
        retry_period: LEASE[2],
    });
    let result = {
        let work = |term| grouper.work(term);
        let leading = async {
            let led = lead(client, election, &fence, &metrics.leader, &stop, work).await;
            led.map_err(failed("leader election"))
        };
        let mut leading = std::pin::pin!(leading);
        tokio::select! {
            result = &mut leading => result,
            ended = servers.join_next() => match ended {
                _ if stop.is_cancelled() => leading.await,
                ended => Err(RunError::Failed(format!("a part of the pod grouper ended by itself: {ended:?}"))),
            },
        }
    };
    stop.cancel();
    end_of_watching.cancel();
    while let Some(server) = servers.join_next().await {
        if let Ok(Err(cause)) = server {
            error!(%cause, "a server failed");
        }
    }
    result
}

/// Both servers listen before anything else happens: a port that is taken is found at once.
fn serve(
    options: &Options,
    metrics: &Metrics,
    started: &Arc<OnceLock<Arc<Grouper>>>,
    stop: &CancellationToken,
) -> Result<JoinSet<std::io::Result<()>>, RunError> {
    let mut servers = JoinSet::new();
    if let Some(Address { host, port }) = &options.health {
        let (live, ready) = (Checks::new(), Checks::new());
        let asked = Arc::clone(started);
        ready.add("caches", move || {
            asked.get().map_or(Err("the API server has not been reached yet".to_owned()), |it| it.synced())
        });
        let listener = listener::bind(host, *port).map_err(failed("--health-probe-bind-address"))?;
        let routes = health::health_routes(live, ready);
        servers.spawn(serve_routes(listener, "health", routes, Limits::without_bodies(), stop.clone()));
    }
    if let Some(Address { host, port }) = &options.metrics {
        let token = options.metrics_token_file.as_ref().map(TokenFile::open).transpose();
        let token = token.map_err(failed("--metrics-token-file"))?;
        let listener = listener::bind(host, *port).map_err(failed("--metrics-bind-address"))?;
        let routes = health::metrics_routes(metrics.clone(), token);
        servers.spawn(serve_routes(listener, "metrics", routes, Limits::without_bodies(), stop.clone()));
    }
    Ok(servers)
}

fn selector(labels: &BTreeMap<String, String>) -> String {
    let terms: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    terms.join(",")
}
