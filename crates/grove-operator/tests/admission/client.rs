//! An API server as far as webhooks go: it trusts a bundle, and posts reviews.

use std::{net::SocketAddr, sync::Arc};

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject as _},
};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// Whom a client trusts, and where it connects.
#[derive(Clone)]
pub(crate) struct Client {
    connector: TlsConnector,
    address: SocketAddr,
}

/// A connection that is kept.
pub(crate) struct Kept {
    sender: http1::SendRequest<Full<Bytes>>,
}

impl Client {
    /// A client that trusts the authorities of a PEM text.
    pub(crate) fn new(bundle: &[u8], address: SocketAddr) -> Self {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(bundle) {
            roots.add(certificate.unwrap()).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        Self { connector: TlsConnector::from(Arc::new(config)), address }
    }

    /// TLS, and nothing said yet.
    pub(crate) async fn connect(&self) -> std::io::Result<TlsStream<TcpStream>> {
        let stream = TcpStream::connect(self.address).await?;
        let name = ServerName::from(self.address.ip());
        self.connector.connect(name, stream).await
    }

    /// A connection for several requests.
    pub(crate) async fn keep(&self) -> std::io::Result<Kept> {
        Kept::over(self.connect().await?).await
    }
}

impl Kept {
    /// HTTP over a connection with TLS.
    pub(crate) async fn over(stream: TlsStream<TcpStream>) -> std::io::Result<Self> {
        let (sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(std::io::Error::other)?;
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    /// Posts a body; the status and what came back.
    pub(crate) async fn post(&mut self, path: &str, body: impl Into<Bytes>) -> hyper::Result<(u16, String)> {
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Full::new(body.into())).unwrap()).await
    }

    /// Posts a review; the response in it.
    pub(crate) async fn review(&mut self, path: &str, object: &Value) -> hyper::Result<Value> {
        let (code, text) = self.post(path, review("CREATE", object, &Value::Null)).await?;
        assert_eq!(code, 200, "{text}");
        let mut review: Value = serde_json::from_str(&text).unwrap();
        Ok(review["response"].take())
    }

    /// Sends anything.
    pub(crate) async fn send(&mut self, request: Request<Full<Bytes>>) -> hyper::Result<(u16, String)> {
        let mut request = request;
        request.headers_mut().insert(header::HOST, header::HeaderValue::from_static("grove"));
        if request.method() != Method::POST {
            request.headers_mut().remove(header::CONTENT_TYPE);
        }
        self.sender.ready().await?;
        let response = self.sender.send_request(request).await?;
        let code = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        Ok((code, String::from_utf8(body.to_vec()).unwrap()))
    }
}

/// An AdmissionReview as an API server sends it.
pub(crate) fn review(operation: &str, object: &Value, old: &Value) -> String {
    let subject = if object.is_null() { old } else { object };
    let (group, version) =
        subject["apiVersion"].as_str().unwrap_or_default().split_once('/').unwrap_or_default();
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "0000-1111",
            "kind": { "group": group, "version": version, "kind": subject["kind"] },
            "resource": { "group": group, "version": version, "resource": "podcliquesets" },
            "name": subject["metadata"]["name"],
            "namespace": "ml",
            "operation": operation,
            "userInfo": { "username": "alice", "groups": ["system:authenticated"] },
            "object": object,
            "oldObject": old,
            "dryRun": false,
            "options": { "kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1" },
        },
    })
    .to_string()
}
