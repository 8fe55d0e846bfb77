//! The API server of a sandbox, on the network as a real one: over TLS, with users, RBAC and an audit log.

use std::{io, net::SocketAddr, sync::Arc};

use grove_apiserver::{
    ApiServer, AuditSink, Authentication, Authorization, Resources, ServeOptions, ServerHandle,
    ServiceAccountTokens, StaticTokens, bootstrap_roles, serve, tls_config,
};
use k8s_openapi::jiff::Timestamp;
use tokio::net::TcpListener;

/// How an API server is reached, and by whom.
pub struct ControlPlaneOptions {
    /// Where it listens.
    pub listener: TcpListener,
    /// Its certificate and key. PEM.
    pub certificate: Certificate,
    /// PEM of the authority that signed the certificate. Pods find it in the ConfigMap `kube-root-ca.crt`.
    pub authority: String,
    /// Whether that authority signs certificates of clients, too.
    pub has_client_certificates: bool,
    /// Bearer tokens of users. ServiceAccounts have tokens of their own.
    pub tokens: StaticTokens,
    /// Gets a line for every request.
    pub audit: Option<AuditSink>,
}

/// PEM.
pub struct Certificate {
    /// With those that signed it, if they are not known to clients.
    pub certificate: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

/// An API server that listens, with nothing in it but what every cluster has.
pub struct ControlPlane {
    server: ApiServer,
    handle: ServerHandle,
    authority: String,
}

impl ControlPlane {
    /// Starts to serve. To be called inside a tokio runtime.
    pub fn start(options: ControlPlaneOptions) -> io::Result<Self> {
        let ControlPlaneOptions { listener, certificate, authority, has_client_certificates, tokens, audit } =
            options;
        let server = ApiServer::new(Resources::cluster().with_definitions(), Timestamp::now, seed());
        bootstrap_roles(&server).map_err(|it| io::Error::other(it.message))?;
        // Webhooks are reached by their URL: no pod serves anything here, so that no Service has an address.
        server.call_webhooks(|_, _, _| None);
        let clients = has_client_certificates.then_some(authority.as_bytes());
        let tls = tls_config(&certificate.certificate, &certificate.key, clients)?;
        let options = ServeOptions {
            tls: Some(Arc::new(tls)),
            authentication: Authentication {
                tokens,
                service_accounts: Some(ServiceAccountTokens::generate()?),
                anonymous: false,
            },
            authorization: Authorization::Rbac,
            audit,
            ..ServeOptions::default()
        };
        let handle = serve(listener, server.clone(), options)?;
        Ok(Self { server, handle, authority })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.handle.address()
    }

    /// PEM of the authority that signed its certificate.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The server itself, for the garbage collector.
    pub(crate) fn server(&self) -> ApiServer {
        self.server.clone()
    }

    /// Ends connections and stops to listen.
    pub async fn stop(self) {
        self.handle.shutdown().await;
    }
}

/// UIDs differ from one cluster to the next.
fn seed() -> u64 {
    let nanoseconds = Timestamp::now().as_nanosecond().unsigned_abs();
    u64::try_from(nanoseconds & u128::from(u64::MAX)).unwrap_or_default()
}
