//! Counts requests and how long the server takes to answer.

use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::{Request, Response};
use tokio::time::Instant;
use tower::{Layer, Service};

use crate::metrics::RequestMetrics;

/// Counts what passes.
#[derive(Clone, Debug)]
pub(super) struct MeasureLayer(pub(super) RequestMetrics);

impl<S> Layer<S> for MeasureLayer {
    type Service = Measure<S>;

    fn layer(&self, inner: S) -> Measure<S> {
        Measure { inner, metrics: self.0.clone() }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Measure<S> {
    inner: S,
    metrics: RequestMetrics,
}

impl<S, A, B> Service<Request<A>> for Measure<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let (metrics, started) = (self.metrics.clone(), Instant::now());
        let method = request.method().clone();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let answer = answer.await;
            // client-go's word for no answer.
            let status = answer.as_ref().map(Response::status);
            let code = status.as_ref().map_or("<error>", |status| status.as_str());
            metrics.answered(method.as_str(), code, started.elapsed());
            answer
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tower::ServiceExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn answers_and_failures_are_counted() {
        let metrics = RequestMetrics::default();
        let service =
            MeasureLayer(metrics.clone()).layer(tower::service_fn(|request: Request<()>| async move {
                tokio::time::sleep(Duration::from_secs(2)).await;
                if request.uri().path() == "/broken" {
                    return Err("broken");
                }
                Ok(Response::builder().status(409).body(()).unwrap())
            }));
        for path in ["/a", "/b", "/broken"] {
            service.clone().oneshot(Request::post(path).body(()).unwrap()).await.ok();
        }
        assert_eq!(metrics.count("POST", "409"), 2);
        assert_eq!(metrics.count("POST", "<error>"), 1);
        assert!((metrics.seconds("POST") - 6.0).abs() < 0.1);
    }
}
