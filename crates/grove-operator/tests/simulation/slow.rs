//! A connection on which requests take their time. The server goes on with a request that its client has given up.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use grove_apiserver::ApiService;
use http::{Method, Request};
use kube::client::Body;
use tower::Service;

/// The server, behind such a connection.
#[derive(Clone)]
pub(crate) struct Slow {
    pub(crate) service: ApiService,
    pub(crate) delay: fn(&Method, &str) -> Duration,
}

impl Service<Request<Body>> for Slow {
    type Response = <ApiService as Service<Request<Body>>>::Response;
    type Error = <ApiService as Service<Request<Body>>>::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        <ApiService as Service<Request<Body>>>::poll_ready(&mut self.service, context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let target = request.uri().path_and_query().map(|it| it.as_str().to_owned()).unwrap_or_default();
        let delay = (self.delay)(request.method(), &target);
        let mut service = self.service.clone();
        if delay.is_zero() {
            return Box::pin(async move { service.call(request).await });
        }
        let handling = tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            service.call(request).await
        });
        Box::pin(async move { handling.await.unwrap() })
    }
}
