//! What a kubelet and a Prometheus ask: whether we live, whether we are ready, and how we are doing.

use std::fmt;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use parking_lot::RwLock;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::telemetry::Metrics;

/// Prometheus chooses its parser by this.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Check = Box<dyn Fn() -> Result<(), String> + Send + Sync>;

/// Named conditions that must all hold. Clones share them, so that they can be added while the server runs.
#[derive(Clone, Default)]
pub struct Checks {
    checks: Arc<RwLock<Vec<(String, Check)>>>,
}

impl Checks {
    /// No conditions: all is well.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a condition. It is asked on every request, so it must be cheap; its error says what is missing.
    pub fn add(
        &self,
        name: impl Into<String>,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        self.checks.write().push((name.into(), Box::new(check)));
    }

    /// What is missing, as `name: why`.
    pub fn failing(&self) -> Vec<String> {
        let checks = self.checks.read();
        checks.iter().filter_map(|(name, check)| Some(format!("{name}: {}", check().err()?))).collect()
    }

    fn answer(&self) -> Response {
        let failing = self.failing();
        if failing.is_empty() {
            return "ok\n".into_response();
        }
        (StatusCode::SERVICE_UNAVAILABLE, failing.join("\n") + "\n").into_response()
    }
}

impl fmt::Debug for Checks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.checks.read().iter().map(|(name, _)| name)).finish()
    }
}

/// `/healthz` and `/readyz`.
pub fn health_routes(live: Checks, ready: Checks) -> Router {
    Router::new()
        .route("/healthz", get(|| async move { live.answer() }))
        .route("/readyz", get(|| async move { ready.answer() }))
}

/// `/metrics`.
pub fn metrics_routes(metrics: Metrics) -> Router {
    Router::new().route(
        "/metrics",
        get(|| async move {
            match metrics.encode() {
                Ok(text) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
                Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
            }
        }),
    )
}

/// An address on which we cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The host is not an IP address.
    #[error("cannot listen on {host:?}: not an IP address")]
    Host {
        /// What was configured.
        host: String,
    },
    /// The system refuses, mostly because another process listens there.
    #[error("cannot listen on address {host}, port {port}: {source}")]
    Refused {
        /// Address.
        host: IpAddr,
        /// Port.
        port: u16,
        /// What the system says.
        source: std::io::Error,
    },
}

/// Listens on `host` (`""` for all addresses) and `port` (0 for any free one).
pub async fn bind(host: &str, port: u16) -> Result<TcpListener, BindError> {
    let host = match host.trim_start_matches('[').trim_end_matches(']') {
        "" => match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
            // One socket for both families.
            Ok(listener) => return Ok(listener),
            Err(source) if source.kind() == ErrorKind::AddrInUse => {
                return Err(BindError::Refused { host: Ipv6Addr::UNSPECIFIED.into(), port, source });
            }
            // There is no IPv6 here.
            Err(_) => IpAddr::from([0, 0, 0, 0]),
        },
        host => host.parse().map_err(|_| BindError::Host { host: host.to_owned() })?,
    };
    TcpListener::bind((host, port)).await.map_err(|source| BindError::Refused { host, port, source })
}

/// Serves until `stop` is cancelled, and then until the requests that run are answered.
pub async fn serve(listener: TcpListener, routes: Router, stop: CancellationToken) -> std::io::Result<()> {
    info!(address = %listener.local_addr()?, "listening");
    axum::serve(listener, routes).with_graceful_shutdown(stop.cancelled_owned()).await
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use http_body_util::BodyExt as _;
    use tower::ServiceExt as _;

    use super::*;

    async fn ask(routes: &Router, path: &str) -> (u16, String) {
        let request = axum::http::Request::get(path).body(axum::body::Body::empty()).unwrap();
        let answer = routes.clone().oneshot(request).await.unwrap();
        let code = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (code, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn readiness_says_what_is_missing() {
        let (live, ready, synced) = (Checks::new(), Checks::new(), Arc::new(AtomicBool::new(false)));
        let routes = health_routes(live, ready.clone());
        assert_eq!(ask(&routes, "/readyz").await, (200, "ok\n".into()));
        let flag = synced.clone();
        ready.add(
            "pods",
            move || {
                if flag.load(Ordering::Relaxed) { Ok(()) } else { Err("not synced".into()) }
            },
        );
        ready.add("webhook", || Err("no certificate".into()));
        ready.add("fine", || Ok(()));
        let want = (503, "pods: not synced\nwebhook: no certificate\n".into());
        assert_eq!(ask(&routes, "/readyz").await, want);
        synced.store(true, Ordering::Relaxed);
        assert_eq!(ask(&routes, "/readyz").await, (503, "webhook: no certificate\n".into()));
        assert_eq!(ask(&routes, "/healthz").await, (200, "ok\n".into()), "alive all the time");
        assert_eq!(ask(&routes, "/other").await.0, 404);
    }

    #[tokio::test]
    async fn metrics_are_those_of_the_registry() {
        let metrics = Metrics::new();
        metrics.informers.of_kind("Pod").objects(7);
        let (code, text) = ask(&metrics_routes(metrics), "/metrics").await;
        assert_eq!(code, 200);
        assert!(text.contains("informer_objects{kind=\"Pod\"} 7\n"), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }

    #[tokio::test]
    async fn serves_until_stopped() {
        let listener = bind("127.0.0.1", 0).await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let routes = health_routes(Checks::new(), Checks::new());
        let serving = tokio::spawn(serve(listener, routes, stop.clone()));
        let taken = bind("127.0.0.1", address.port()).await.unwrap_err().to_string();
        let want = format!("cannot listen on address 127.0.0.1, port {}: ", address.port());
        assert!(taken.starts_with(&want), "{taken}");
        stop.cancel();
        serving.await.unwrap().unwrap();
        bind("127.0.0.1", address.port()).await.expect("free again");
    }

    #[tokio::test]
    async fn hosts_are_addresses_or_all_of_them() {
        assert!(bind("", 0).await.unwrap().local_addr().unwrap().ip().is_unspecified());
        assert_eq!(
            bind("localhost:", 0).await.unwrap_err().to_string(),
            "cannot listen on \"localhost:\": not an IP address"
        );
    }
}
