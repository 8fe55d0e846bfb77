//! A server on a port of its own, with certificates, and short ways to talk to it.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use grove_apiserver::{
    ApiServer, AuditSink, Authentication, Authorization, Limits, Resources, ServeOptions, ServerHandle,
    ServiceAccountTokens, StaticTokens, UserInfo, serve, tls_config,
};
use http::{Method, Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject as _};
use rustls::{ClientConfig, RootCertStore};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// The token of a member of `system:masters`.
pub(crate) const ADMIN: &str = "admin-token";
/// The token of `jane` of the group `dev`.
pub(crate) const JANE: &str = "jane-token";

/// How a test wants its server.
pub(crate) struct Setup {
    pub(crate) tls: bool,
    pub(crate) authorization: Authorization,
    pub(crate) anonymous: bool,
    pub(crate) limits: Limits,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            tls: false,
            authorization: Authorization::AlwaysAllow,
            anonymous: false,
            limits: Limits::default(),
        }
    }
}

/// A server that listens.
pub(crate) struct Stage {
    pub(crate) server: ApiServer,
    pub(crate) handle: ServerHandle,
    pub(crate) address: SocketAddr,
    pub(crate) ca: Authority,
    /// Lines of the audit log.
    pub(crate) audit: Arc<Mutex<Vec<Value>>>,
}

/// An authority that signs certificates.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) pem: String,
}

/// A certificate and its key, in PEM.
pub(crate) struct Leaf {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(params, key), pem }
    }

    /// A certificate of a server on this machine, or of a user with this name and group.
    pub(crate) fn sign(&self, name: &str, group: &str) -> Leaf {
        let mut params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.distinguished_name.push(DnType::OrganizationName, group);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Leaf { certificate, key: key.serialize_pem() }
    }
}

fn widgets() -> Value {
    json!({"spec": {
        "group": "example.com", "scope": "Namespaced",
        "names": {"kind": "Widget", "plural": "widgets", "shortNames": ["wd"], "categories": ["all"]},
        "versions": [{"name": "v1", "served": true, "storage": true,
            "schema": {"openAPIV3Schema": {"type": "object", "description": "A Widget turns.", "properties": {
                "spec": {"type": "object", "description": "What is wanted.", "properties": {
                    "replicas": {"type": "integer", "description": "How many."}}}}}},
            "subresources": {"status": {}, "scale": {
                "specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}}}]}})
}

pub(crate) fn new_server() -> ApiServer {
    ApiServer::new(Resources::kubernetes().with_crd(&widgets()).unwrap(), Timestamp::now, 7)
}

impl Stage {
    pub(crate) async fn new(setup: Setup) -> Self {
        let server = new_server();
        let ca = Authority::new();
        let tls = setup.tls.then(|| {
            let leaf = ca.sign("kube-apiserver", "");
            let config =
                tls_config(leaf.certificate.as_bytes(), leaf.key.as_bytes(), Some(ca.pem.as_bytes()))
                    .unwrap();
            Arc::new(config)
        });
        let tokens = StaticTokens::default()
            .with(ADMIN, UserInfo::new("admin", &["system:masters"]))
            .with(JANE, UserInfo::new("jane", &["dev"]));
        let audit = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&audit);
        let options = ServeOptions {
            tls,
            limits: setup.limits,
            authentication: Authentication {
                tokens,
                service_accounts: Some(ServiceAccountTokens::with_secret(b"secret")),
                anonymous: setup.anonymous,
            },
            authorization: setup.authorization,
            audit: Some(AuditSink::new(move |line| lines.lock().push(serde_json::from_str(line).unwrap()))),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let handle = serve(listener, server.clone(), options).unwrap();
        let address = handle.address();
        Self { server, handle, address, ca, audit }
    }

    /// With everything as it is by default.
    pub(crate) async fn plain() -> Self {
        Self::new(Setup::default()).await
    }

    /// Plain TCP, and nothing said yet.
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// TLS with these protocols on offer, and nothing said yet.
    pub(crate) async fn connect_tls(&self, protocols: &[&str], leaf: Option<&Leaf>) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.ca.pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots);
        let mut config = match leaf {
            None => builder.with_no_client_auth(),
            Some(leaf) => builder
                .with_client_auth_cert(
                    vec![CertificateDer::from_pem_slice(leaf.certificate.as_bytes()).unwrap()],
                    PrivateKeyDer::from_pem_slice(leaf.key.as_bytes()).unwrap(),
                )
                .unwrap(),
        };
        config.alpn_protocols = protocols.iter().map(|it| it.as_bytes().to_vec()).collect();
        let name = ServerName::from(self.address.ip());
        TlsConnector::from(Arc::new(config)).connect(name, self.connect().await).await.unwrap()
    }

    /// A configuration for kube's client.
    pub(crate) fn config(&self, scheme: &str) -> kube::Config {
        let mut config = kube::Config::new(format!("{scheme}://{}", self.address).parse().unwrap());
        config.root_cert =
            Some(vec![CertificateDer::from_pem_slice(self.ca.pem.as_bytes()).unwrap().to_vec()]);
        config
    }

    /// Sends a request over a connection of its own.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        let io = TokioIo::new(self.connect().await);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await.unwrap()
    }

    /// Sends JSON with a token; the status and what came back.
    pub(crate) async fn ask(&self, token: &str, method: &str, path: &str, body: Value) -> (u16, Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = request(method, path, token).header("content-type", "application/json");
        read(self.send(request.body(Full::from(body)).unwrap()).await).await
    }

    pub(crate) async fn get(&self, token: &str, path: &str) -> (u16, Value) {
        self.ask(token, "GET", path, Value::Null).await
    }

    /// Creates an object as an administrator.
    pub(crate) async fn create(&self, path: &str, body: Value) -> Value {
        let (code, said) = self.ask(ADMIN, "POST", path, body).await;
        assert_eq!(code, 201, "{said}");
        said
    }
}

/// A request with a token, if there is one.
pub(crate) fn request(method: &str, path: &str, token: &str) -> http::request::Builder {
    let request = Request::builder()
        .method(Method::from_bytes(method.as_bytes()).unwrap())
        .uri(path)
        .header("host", "kubernetes");
    if token.is_empty() { request } else { request.header("authorization", format!("Bearer {token}")) }
}

pub(crate) async fn read(response: Response<Incoming>) -> (u16, Value) {
    let code = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8_lossy(&body).into_owned();
    (code, serde_json::from_slice(&body).unwrap_or(Value::String(text)))
}

/// A connection that speaks HTTP/2.
pub(crate) async fn http2<S>(stream: S) -> hyper::client::conn::http2::SendRequest<Full<Bytes>>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

/// What comes until the other side closes; fails if it never does.
pub(crate) async fn rest(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    use tokio::io::AsyncReadExt as _;
    let mut bytes = Vec::new();
    let reading = tokio::time::timeout(std::time::Duration::from_secs(20), stream.read_to_end(&mut bytes));
    // A reset is an end, too.
    drop(reading.await.expect("the connection is still open"));
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";

pub(crate) fn config_map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})
}
