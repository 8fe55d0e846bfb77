//! Calls a webhook over HTTPS. Connections are kept.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;
use tokio::net::TcpStream;

use super::Resolve;
use crate::object::encode;

/// As large as an answer may be.
const ANSWER_LIMIT: usize = 8 * 1024 * 1024;

/// A client of one webhook.
pub(super) struct Client {
    http: legacy::Client<HttpsConnector<Connector>, Full<Bytes>>,
    uri: Uri,
}

impl Client {
    /// A client as the configuration of a webhook wants it.
    pub(super) fn of(config: &Value, seconds: u64, resolve: &Resolve) -> Result<Self, String> {
        let (address, connector) = match (config["url"].as_str(), config["service"].as_object()) {
            (Some(url), None) => (url.to_owned(), Connector { service: None }),
            (None, Some(service)) => {
                let text = |field: &str| service.get(field).and_then(Value::as_str).unwrap_or_default();
                let port = service.get("port").and_then(Value::as_u64).unwrap_or(443);
                let port = u16::try_from(port).map_err(|_| format!("invalid port {port}"))?;
                let (namespace, name) = (text("namespace").to_owned(), text("name").to_owned());
                let path = text("path").trim_start_matches('/');
                let url = format!("https://{name}.{namespace}.svc:{port}/{path}");
                (
                    url,
                    Connector {
                        service: Some(Service { namespace, name, port, resolve: Arc::clone(resolve) }),
                    },
                )
            }
            _ => return Err("exactly one of url or service is required".to_owned()),
        };
        let and = if address.contains('?') { '&' } else { '?' };
        let uri: Uri = format!("{address}{and}timeout={seconds}s")
            .parse()
            .map_err(|_| format!("invalid url {address:?}"))?;
        if uri.scheme_str() != Some("https") {
            return Err(format!("'https' is the only allowed URL scheme; got {address:?}"));
        }
        let tls = tls(config["caBundle"].as_str().unwrap_or_default())?;
        let https =
            hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(tls).https_only().enable_http1();
        let http = legacy::Client::builder(TokioExecutor::new()).build(https.wrap_connector(connector));
        Ok(Self { http, uri })
    }

    /// Sends a review and waits for its answer.
    pub(super) async fn call(&self, review: &Value) -> Result<Value, String> {
        let failed = |why: String| format!("failed to call webhook: Post \"{}\": {why}", self.uri);
        let request = Request::post(self.uri.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(Full::new(encode(review)))
            .map_err(|it| failed(it.to_string()))?;
        let answer = self.http.request(request).await.map_err(|it| failed(causes(&it)))?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), ANSWER_LIMIT).collect().await;
        let body = body.map_err(|it| failed(it.to_string()))?.to_bytes();
        if !status.is_success() {
            let text: String = String::from_utf8_lossy(&body).chars().take(1024).collect();
            return Err(format!("the server responded with the status code {}: {text}", status.as_u16()));
        }
        serde_json::from_slice(&body)
            .map_err(|it| format!("couldn't get version/kind; json parse error: {it}"))
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("uri", &self.uri).finish_non_exhaustive()
    }
}

/// What is wrong, down to its cause: hyper itself says no more than "client error".
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}

fn tls(bundle: &str) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::empty();
    let pem = STANDARD.decode(bundle).map_err(|_| "caBundle is not base64")?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|it| format!("unable to load root certificates: {it}"))?;
        roots.add(certificate).map_err(|it| format!("unable to load root certificates: {it}"))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.map_err(|it| it.to_string())?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

/// Opens connections: to the host of the address, or to a service, whose address the embedding program knows.
#[derive(Clone)]
struct Connector {
    service: Option<Service>,
}

#[derive(Clone)]
struct Service {
    namespace: String,
    name: String,
    port: u16,
    resolve: Resolve,
}

impl Connector {
    async fn connect(self, uri: Uri) -> io::Result<TokioIo<TcpStream>> {
        let stream = if let Some(service) = self.service {
            let Service { namespace, name, port, resolve } = service;
            let address = resolve(&namespace, &name, port)
                .ok_or_else(|| io::Error::other(format!("no endpoints available for service {name:?}")))?;
            TcpStream::connect(address).await?
        } else {
            let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
            TcpStream::connect((host, uri.port_u16().unwrap_or(443))).await?
        };
        stream.set_nodelay(true)?;
        Ok(TokioIo::new(stream))
    }
}

impl tower::Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        Box::pin(self.clone().connect(uri))
    }
}
