//! The operator as a process: from its configuration to its end.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures::{FutureExt as _, future::BoxFuture};
use grove_api::config::{
    Authorizer as Authorization, CertProvisionMode, Controllers, LeaderElection, Loaded, LogFormat, LogLevel,
    NodeLoss, OperatorConfiguration,
};
use grove_api::wire::{DurationError, GoDuration};
use grove_plan::{allotment::Caps, node_loss::Patience};
use grove_runtime::{
    Election, Events, Fence, Metrics, Throttle, Writer,
    bearer::TokenFile,
    cluster_config, connect,
    health::{self, Checks},
    lead, leader,
    listener::{self, Limits, serve_routes},
    profiles, shutdown, telemetry, version,
};
use grove_scheduler::Registry;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::Client;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use crate::{
    admission::{self, Authorizer, Desk},
    certificates::{self, Keeper, Lifetimes, Names, Served},
    metrics::OperatorMetrics,
    start::{Concurrency, Operator, Settings},
};

/// The oldest Kubernetes that the operator runs on: the oldest whose API our client library knows.
pub const MINIMUM_KUBERNETES: (u32, u32) = (1, 33);
/// Writes under way at a time: enough to keep a server busy, and few enough that what waits is served in order of lanes.
const IN_FLIGHT: usize = 32;
/// How long requests to us may still take when we end: admission goes on for a while, and then answers what is under way.
const LAST_ANSWERS: Duration = Duration::from_secs(12);
/// Names the operator's service account, which the authorizer lets pass.
const SERVICE_ACCOUNT: &str = "GROVE_OPERATOR_SERVICE_ACCOUNT_NAME";

/// Why the operator cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// What it was given cannot be used; nothing was started.
    #[error("{0}")]
    Unusable(String),
    /// Something outside failed.
    #[error("{0}")]
    Failed(String),
}

/// Wraps any cause with what was being done.
fn while_doing<E: std::fmt::Display>(what: &'static str) -> impl Fn(E) -> RunError {
    move |cause| RunError::Failed(format!("{what}: {cause}"))
}

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Names the cluster; without it the usual places are looked at.
    pub kubeconfig: Option<PathBuf>,
    /// How long the certificates live that the operator makes.
    pub lifetimes: Lifetimes,
}

/// Runs the operator with the scheduler backends of `registry`, until SIGTERM or SIGINT. It is the only one in its process: logs and
/// signals are its own.
pub async fn run(registry: &Registry, loaded: Loaded, options: Options) -> Result<(), RunError> {
    let config = &loaded.config;
    // Checked before anything is set up.
    service_account(&config.authorizer)?;
    telemetry::init(level(config.log_level), format(config.log_format)).map_err(while_doing("logs"))?;
    let stop = shutdown::on_signal().map_err(while_doing("signals"))?;
    Box::pin(run_until(registry, loaded, options, stop)).await
}

/// Runs the operator until `stop` is cancelled, in a process that has logs and handles signals.
pub async fn run_until(
    registry: &Registry,
    loaded: Loaded,
    options: Options,
    stop: CancellationToken,
) -> Result<(), RunError> {
    let config = &loaded.config;
    let account = service_account(&config.authorizer)?;
    for warning in &loaded.warnings {
        warn!(field = %warning.path, "{}", warning.text);
    }
    let metrics = Metrics::new();
    let (live, ready) = (Checks::new(), Checks::new());
    // Asked from the first moment that somebody can ask.
    let started: Arc<OnceLock<Arc<Operator>>> = Arc::default();
    let asked = Arc::clone(&started);
    ready.add("caches", move || {
        asked.get().map_or(Err("the API server has not been reached yet".to_owned()), |it| it.synced())
    });
    let certificate: Arc<Served> = Arc::default();
    metrics.register(|registry| certificate.register(registry));
    let asked = Arc::clone(&certificate);
    ready.add("webhooks", move || asked.ready(Timestamp::now()));
    // API servers are sent elsewhere before admission ends.
    let stopping = stop.clone();
    ready.add("shutdown", move || if stopping.is_cancelled() { Err("stopping".to_owned()) } else { Ok(()) });
    // Probes are answered, and caches filled, while the last writes and requests end.
    let end = CancellationToken::new();
    let mut until_end = serve(config, &metrics, live, ready, &end)?;
    let mut servers = JoinSet::new();
    let server = &config.server.webhooks;
    let webhooks =
        listener::bind(&server.bind_address, server.port).map_err(while_doing("server.webhooks"))?;

    let cluster = cluster_config(options.kubeconfig).await.map_err(RunError::Failed)?;
    let namespace = cluster.default_namespace.clone();
    let connection = &config.runtime_client_connection;
    let throttle =
        Throttle::with_metrics(connection.qps, connection.burst, IN_FLIGHT, metrics.throttle.clone());
    let agent = format!("grove-operator/{}", env!("CARGO_PKG_VERSION"));
    let client = connect(cluster, &agent, throttle, metrics.requests.clone())
        .map_err(while_doing("connecting to the API server"))?;
    if !version::ask(&client, MINIMUM_KUBERNETES, &stop)
        .await
        .map_err(|it| RunError::Failed(it.to_string()))?
    {
        return Ok(());
    }

    let identity = leader::identity("grove-operator");
    // Controllers write through it, and only while this process leads. Certificates are for leaders and followers alike.
    let fence = Fence::default();
    let leaders = fence.guard(client.clone());
    let writer = Writer::new(leaders.clone(), "grove-operator");
    let events = Events::start_with_metrics(
        &writer,
        "grove-operator".to_owned(),
        identity.clone(),
        stop.clone(),
        metrics.events.clone(),
    );
    let operator_metrics = metrics.register(OperatorMetrics::register);
    let operator = Arc::new(Operator::new(
        leaders,
        events,
        settings(registry, &loaded, &namespace),
        &metrics.informers,
        &metrics.queues,
        operator_metrics.clone(),
    ));
    started.get_or_init(|| Arc::clone(&operator));
    let (watching, token) = (Arc::clone(&operator), end.clone());
    until_end.spawn(async move {
        watching.watch(token).await;
        Ok(())
    });

    // Leaders and followers alike: an API server calls any of them.
    let own = leader::namespace(None, &namespace);
    let authorizer = account
        .map(|account| Authorizer::new(&own, &account, &config.authorizer.exempt_service_account_user_names));
    let knowledge = admission::Cluster::new(operator.grove(), client.clone(), &loaded);
    let desk = Desk::new(Arc::new(knowledge), authorizer).with_metrics(operator_metrics.admission);
    let limits = Limits::default();
    servers.spawn(admission::serve(webhooks, Arc::clone(&certificate) as _, desk, limits, stop.clone()));
    servers.spawn(certify(config, own, options.lifetimes, client.clone(), certificate, stop.clone()));

    let election = election(&config.leader_election, &namespace, identity)?;
    let work = |term| operator.work(term);
    let leading = async {
        let led = lead(client, election, &fence, &metrics.leader, &stop, work).await;
        led.map_err(while_doing("leader election"))
    };
    let mut leading = std::pin::pin!(leading);
    // Without one of them, nobody would hear that something is wrong.
    let failed = |ended| Err(RunError::Failed(format!("a part of the operator ended by itself: {ended:?}")));
    let result = tokio::select! {
        result = &mut leading => result,
        ended = until_end.join_next() => failed(ended),
        ended = servers.join_next() => match ended {
            // They end when they are told to; the lease is given away before we go.
            _ if stop.is_cancelled() => leading.await,
            ended => failed(ended),
        },
    };
    stop.cancel();
    wait_for(servers).await;
    end.cancel();
    wait_for(until_end).await;
    result
}

fn settings(registry: &Registry, loaded: &Loaded, namespace: &str) -> Settings {
    let config = &loaded.config;
    Settings {
        concurrency: concurrency(&config.controllers),
        registry: registry.clone(),
        profiles: loaded.profiles.clone(),
        namespace: leader::namespace(None, namespace),
        init_image: crate::init_image::from_environment(),
        topology_aware: config.topology_aware(),
        caps: Caps::default(),
        node_loss: patience(&config.node_loss),
        clock: Timestamp::now,
    }
}

/// Waits until the last requests to us are answered.
async fn wait_for(mut servers: JoinSet<std::io::Result<()>>) {
    let ending = async {
        while let Some(server) = servers.join_next().await {
            if let Ok(Err(cause)) = server {
                error!(%cause, "a server failed");
            }
        }
    };
    if tokio::time::timeout(LAST_ANSWERS, ending).await.is_err() {
        warn!("some requests to us were not answered");
    }
}

/// Sees to the certificate of admission until `stop`.
fn certify(
    config: &OperatorConfiguration,
    namespace: String,
    lifetimes: Lifetimes,
    client: Client,
    served: Arc<Served>,
    stop: CancellationToken,
) -> BoxFuture<'static, std::io::Result<()>> {
    let settings = &config.server.webhooks;
    let task = match settings.cert_provision_mode {
        CertProvisionMode::Manual => {
            certificates::follow(PathBuf::from(&settings.server_cert_dir), served, stop).boxed()
        }
        CertProvisionMode::Auto => {
            let keeper = Keeper {
                names: Names::new(&namespace, &settings.bind_address),
                namespace,
                secret: settings.secret_name.clone(),
                lifetimes,
                authorizer: config.authorizer.enabled,
                clock: Timestamp::now,
            };
            keeper.run(client, served, stop).boxed()
        }
    };
    task.map(Ok).boxed()
}

/// Whom the authorizer lets pass as the operator itself; nothing where it is off.
fn service_account(config: &Authorization) -> Result<Option<String>, RunError> {
    if !config.enabled {
        return Ok(None);
    }
    let account = std::env::var(SERVICE_ACCOUNT).ok().filter(|it| !it.is_empty());
    let missing = || {
        RunError::Unusable(format!(
            "authorizer.enabled: the environment variable {SERVICE_ACCOUNT} has to name the operator's service account"
        ))
    };
    account.map(Some).ok_or_else(missing)
}

/// Where leadership is contended for, if it is.
fn election(
    config: &LeaderElection,
    namespace: &str,
    identity: String,
) -> Result<Option<Election>, RunError> {
    if !config.enabled {
        return Ok(None);
    }
    let wrong = while_doing::<DurationError>("leader election");
    Ok(Some(Election {
        namespace: leader::namespace(Some(&config.resource_namespace), namespace),
        name: config.resource_name.clone(),
        identity,
        lease_duration: config.lease_duration.to_std().map_err(&wrong)?,
        renew_deadline: config.renew_deadline.to_std().map_err(&wrong)?,
        retry_period: config.retry_period.to_std().map_err(&wrong)?,
    }))
}

/// All servers listen before anything else happens: a port that is taken is found at once.
fn serve(
    config: &OperatorConfiguration,
    metrics: &Metrics,
    live: Checks,
    ready: Checks,
    stop: &CancellationToken,
) -> Result<JoinSet<std::io::Result<()>>, RunError> {
    let mut servers = JoinSet::new();
    let server = &config.server.health_probes;
    let listener =
        listener::bind(&server.bind_address, server.port).map_err(while_doing("server.healthProbes"))?;
    let (limits, routes) = (Limits::without_bodies(), health::health_routes(live, ready));
    servers.spawn(serve_routes(listener, "health", routes, limits, stop.clone()));
    let server = &config.server.metrics;
    let token = server.token_file.as_ref().map(TokenFile::open).transpose();
    let token = token.map_err(while_doing("server.metrics.tokenFile"))?;
    let listener =
        listener::bind(&server.bind_address, server.port).map_err(while_doing("server.metrics"))?;
    let routes = health::metrics_routes(metrics.clone(), token);
    servers.spawn(serve_routes(listener, "metrics", routes, limits, stop.clone()));
    if let Some(server) = config.debugging.as_ref().filter(|it| it.enable_profiling) {
        let listener = listener::bind(&server.pprof_bind_host, server.pprof_bind_port)
            .map_err(while_doing("debugging"))?;
        let (limits, routes) = (profiles::limits(), profiles::routes(stop.clone()));
        servers.spawn(serve_routes(listener, "profiles", routes, limits, stop.clone()));
    }
    Ok(servers)
}

fn concurrency(config: &Controllers) -> Concurrency {
    let workers = |it: grove_api::config::Controller| it.concurrent_syncs as usize;
    Concurrency {
        sets: workers(config.pod_clique_set),
        groups: workers(config.pod_clique_scaling_group),
        cliques: workers(config.pod_clique),
        gangs: workers(config.pod_gang),
    }
}

/// How long nodes may be in trouble, where anybody looks. The configuration was checked: every time can be read.
fn patience(config: &NodeLoss) -> Option<Patience> {
    let time = |it: &GoDuration| it.nanos().ok().map(SignedDuration::from_nanos);
    let patience =
        Patience { after: time(&config.after)?, replace_unit_after: time(&config.replace_unit_after)? };
    config.enabled.then_some(patience)
}

fn level(level: LogLevel) -> telemetry::Level {
    match level {
        LogLevel::Debug => telemetry::Level::Debug,
        LogLevel::Info => telemetry::Level::Info,
        LogLevel::Error => telemetry::Level::Error,
    }
}

fn format(format: LogFormat) -> telemetry::Format {
    match format {
        LogFormat::Json => telemetry::Format::Json,
        LogFormat::Text => telemetry::Format::Text,
    }
}

#[cfg(test)]
mod tests {
    use grove_api::{
        config::{self, Debugging},
        limits::{MAX_POD_CLIQUES_PER_SET, MAX_SCALING_GROUPS_PER_SET},
    };
    use grove_scheduler::builtin::builtin;
    use serde_json::json;

    use super::*;

    fn loaded(registry: &Registry) -> Loaded {
        let config = json!({ "apiVersion": config::API_VERSION, "kind": config::KIND });
        registry.with_known(|known| config::load(&config, known)).unwrap()
    }

    #[tokio::test]
    async fn profiles_are_served_where_the_configuration_says_so() {
        for (is_enabled, servers) in [(None, 2), (Some(false), 2), (Some(true), 3)] {
            let mut config = loaded(&builtin()).config;
            config.server.health_probes.port = 0;
            config.server.metrics.port = 0;
            config.debugging = is_enabled.map(|enable_profiling| Debugging {
                enable_profiling,
                pprof_bind_port: 0,
                ..Debugging::default()
            });
            let stop = CancellationToken::new();
            let running = serve(&config, &Metrics::new(), Checks::new(), Checks::new(), &stop).unwrap();
            assert_eq!(running.len(), servers, "{is_enabled:?}");
        }
    }

    #[test]
    fn a_set_may_have_what_admission_takes() {
        let registry = builtin();
        let caps = settings(&registry, &loaded(&registry), "grove").caps;
        let expected = Caps { cliques: MAX_POD_CLIQUES_PER_SET, groups: MAX_SCALING_GROUPS_PER_SET };
        assert_eq!(caps, expected);
    }
}
