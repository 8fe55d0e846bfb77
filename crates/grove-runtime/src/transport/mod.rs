//! The connection to the API server: HTTP/2 with pings, deadlines, throttling and metrics, and no retries.
//!
//! kube's own client speaks HTTP/1.1 only, so that every request in flight costs a connection, and repeats requests
//! that were answered with 429 or 5xx even if they create something.

mod deadline;
mod measure;
mod proxy;
#[cfg(test)]
mod tests;

use std::{path::PathBuf, time::Duration};

use http::header::USER_AGENT;
use http::uri::Scheme;
use http::{HeaderValue, Uri};
use hyper::rt::{Read, Write};
use hyper_rustls::{FixedServerNameResolver, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::{Body, ConfigExt as _};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use tower::{BoxError, Service, ServiceBuilder};

use crate::leader::FenceLayer;
use crate::metrics::RequestMetrics;
use crate::throttle::Throttle;
use deadline::DeadlineLayer;
use measure::MeasureLayer;

pub use deadline::TimedOut;
pub use proxy::without_proxy;

/// Pings find a dead connection within 50 s, which a watch alone would notice after minutes.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// For a host that swallows packets instead of refusing them.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Room for data in flight: lists are large, and all streams share a connection.
const STREAM_WINDOW: u32 = 2 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// Why a client could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Credentials or certificates cannot be used.
    #[error("connection to {url}: {source}")]
    Config {
        /// Address of the API server.
        url: String,
        /// What is wrong.
        source: Box<kube::Error>,
    },
    /// The name to expect in the server's certificate is not a host name.
    #[error("connection to {url}: {name:?} is not a server name")]
    ServerName {
        /// Address of the API server.
        url: String,
        /// The name.
        name: String,
    },
    /// A proxy is asked for.
    #[error("connection to {url}: proxies are not supported, but {proxy} is configured as one {origin}")]
    Proxy {
        /// Address of the API server.
        url: String,
        /// Host of the proxy; its address may contain a password.
        proxy: String,
        /// What configures it, and what to do.
        origin: String,
    },
    /// The user agent cannot be sent.
    #[error("{0:?} cannot be sent as a user agent")]
    UserAgent(String),
}

/// Where the cluster is: as the file says, or else as the usual places do.
pub async fn cluster_config(kubeconfig: Option<PathBuf>) -> Result<Config, String> {
    let Some(file) = kubeconfig else {
        return Config::infer().await.map_err(|error| format!("looking for a cluster: {error}"));
    };
    let wrong = |cause: &dyn std::fmt::Display| format!("kubeconfig {}: {cause}", file.display());
    let content = Kubeconfig::read_from(&file).map_err(|it| wrong(&it))?;
    let options = KubeConfigOptions::default();
    Config::from_custom_kubeconfig(content, &options).await.map_err(|it| wrong(&it))
}

/// A client for the server in `config`. Every write passes `throttle`.
pub fn connect(
    mut config: Config,
    user_agent: &str,
    throttle: Throttle,
    metrics: RequestMetrics,
) -> Result<Client, ConnectError> {
    let url = config.cluster_url.to_string();
    without_proxy(&mut config)?;
    let agent =
        HeaderValue::from_str(user_agent).map_err(|_| ConnectError::UserAgent(user_agent.to_owned()))?;
    config.headers.push((USER_AGENT, agent));

    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(config.connect_timeout.map_or(CONNECT_TIMEOUT, |t| t.min(CONNECT_TIMEOUT))));
    if config.cluster_url.scheme() != Some(&Scheme::HTTPS) {
        return stack(&config, tcp, throttle, metrics);
    }

    let wrong = |source| ConnectError::Config { url: url.clone(), source: Box::new(source) };
    let tls = config.rustls_client_config().map_err(wrong)?;
    let mut builder = HttpsConnectorBuilder::new().with_tls_config(tls).https_only();
    if let Some(name) = config.tls_server_name.clone() {
        let wrong = ConnectError::ServerName { url: url.clone(), name: name.clone() };
        let name = name.try_into().map_err(|_| wrong)?;
        builder = builder.with_server_name_resolver(FixedServerNameResolver::new(name));
    }
    let tls = builder.enable_http1().enable_http2().wrap_connector(tcp);
    stack(&config, tls, throttle, metrics)
}

/// Everything between the client and the connection, from the outside in.
fn stack<C>(
    config: &Config,
    connector: C,
    throttle: Throttle,
    metrics: RequestMetrics,
) -> Result<Client, ConnectError>
where
    C: Service<Uri> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Send + Unpin,
    C::Future: Send + Unpin,
    C::Error: Into<BoxError>,
{
    let http: legacy::Client<C, Body> = legacy::Client::builder(TokioExecutor::new())
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .http2_keep_alive_interval(PING_INTERVAL)
        .http2_keep_alive_timeout(PING_TIMEOUT)
        .http2_keep_alive_while_idle(true)
        .http2_initial_stream_window_size(STREAM_WINDOW)
        .http2_initial_connection_window_size(CONNECTION_WINDOW)
        .build(connector);
    let wrong =
        |source| ConnectError::Config { url: config.cluster_url.to_string(), source: Box::new(source) };
    let service = ServiceBuilder::new()
        // Waiting for the throttle is not the server's time.
        .layer(throttle)
        // After the wait, the last moment to hold back what only a leader may write.
        .layer(FenceLayer)
        .layer(MeasureLayer(metrics))
        .layer(DeadlineLayer)
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().map_err(wrong)?)
        .layer(config.extra_headers_layer().map_err(wrong)?)
        .map_err(BoxError::from)
        .service(http);
    Ok(Client::new(service, config.default_namespace.clone()))
}
