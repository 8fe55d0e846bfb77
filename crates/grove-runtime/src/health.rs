//! What a kubelet and a Prometheus ask: whether we live, whether we are ready, and how we are doing.

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use parking_lot::RwLock;

use crate::bearer::TokenFile;
use crate::scrape::Scrape;
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

/// `/metrics`, for everyone or for those who have the token.
pub fn metrics_routes(metrics: Metrics, token: Option<TokenFile>) -> Router {
    let scrape = Scrape::new(metrics);
    Router::new().route(
        "/metrics",
        get(|headers: HeaderMap| async move {
            if let Some(Err(refusal)) = token.as_ref().map(|it| it.check(&headers)) {
                return refusal.into_response();
            }
            match scrape.text() {
                Ok(text) => ([(header::CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
                Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
            }
        }),
    )
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
        let (code, text) = ask(&metrics_routes(metrics, None), "/metrics").await;
        assert_eq!(code, 200);
        assert!(text.contains("informer_objects{kind=\"Pod\"} 7\n"), "{text}");
        assert!(text.ends_with("# EOF\n"));
    }
}
