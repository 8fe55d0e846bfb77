//! The harness's own line to an API server.

use std::path::Path;

use anyhow::Result;
use http::{Method, Request, Response};
use kube::{
    Client, Config,
    client::{Body, ClientBuilder, retry::RetryPolicy},
    config::{KubeConfigOptions, Kubeconfig},
};
use tower::{
    BoxError,
    buffer::BufferLayer,
    retry::{Policy, RetryLayer},
};

/// Requests on their way at once.
const IN_FLIGHT: usize = 1024;

/// A client by a kubeconfig file.
pub async fn client(kubeconfig: &Path) -> Result<Client> {
    build(kubeconfig, None).await
}

/// A client that the API server takes for this user; the file has to be an admin's.
pub async fn client_as(kubeconfig: &Path, user: &str) -> Result<Client> {
    build(kubeconfig, Some(user.to_owned())).await
}

async fn build(kubeconfig: &Path, user: Option<String>) -> Result<Client> {
    let file = Kubeconfig::read_from(kubeconfig)?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    config.default_retry = false;
    config.auth_info.impersonate = user;
    let reads = RetryLayer::new(Reads(RetryPolicy::default()));
    let builder =
        ClientBuilder::try_from(config)?.with_layer(&BufferLayer::new(IN_FLIGHT)).with_layer(&reads);
    Ok(builder.build())
}

/// Asks again where a machine that stood still for a while let a question time out. What is written is never repeated: a
/// scenario wants to see the server's own answer.
#[derive(Clone)]
struct Reads(RetryPolicy);

impl<B> Policy<Request<Body>, Response<B>, BoxError> for Reads {
    type Future = tokio::time::Sleep;

    fn retry(
        &mut self,
        request: &mut Request<Body>,
        result: &mut Result<Response<B>, BoxError>,
    ) -> Option<Self::Future> {
        self.0.retry(request, result)
    }

    fn clone_request(&mut self, request: &Request<Body>) -> Option<Request<Body>> {
        let is_read = request.method() == Method::GET;
        is_read.then(|| Policy::<_, Response<B>, BoxError>::clone_request(&mut self.0, request)).flatten()
    }
}
