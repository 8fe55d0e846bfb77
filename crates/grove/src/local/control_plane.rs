//! The API server of a local cluster, on the loopback interface, over TLS and with credentials.

use std::{io, net::SocketAddr, sync::Arc};

use grove_apiserver::{
    ApiServer, Authentication, Authorization, Resources, ServeOptions, ServerHandle, ServiceAccountTokens,
    StaticTokens, UserInfo, bootstrap_roles, serve, tls_config,
};
use k8s_openapi::jiff::Timestamp;
use tokio::net::TcpListener;

use super::{
    credentials::{ServerCertificate, kubeconfig, random_token},
    folder::Folder,
};

/// An API server that listens.
pub(super) struct ControlPlane {
    server: ApiServer,
    handle: ServerHandle,
    authority: String,
}

impl ControlPlane {
    /// Starts to listen, and writes the kubeconfig of an administrator.
    pub(super) async fn start(address: SocketAddr, folder: &Folder) -> io::Result<Self> {
        let server = ApiServer::new(Resources::cluster().with_definitions(), Timestamp::now, seed()?);
        bootstrap_roles(&server).map_err(|it| io::Error::other(it.message))?;
        // The operator's webhooks are reached by their URL. No pod serves anything here, so no Service has an address.
        server.call_webhooks(|_, _, _| None);
        let certificate = ServerCertificate::generate()?;
        let tls = tls_config(certificate.certificate.as_bytes(), certificate.key.as_bytes(), None)?;
        let token = random_token()?;
        let administrator = UserInfo::new("admin", &["system:masters"]);
        let options = ServeOptions {
            tls: Some(Arc::new(tls)),
            authentication: Authentication {
                tokens: StaticTokens::default().with(&token, administrator),
                service_accounts: Some(ServiceAccountTokens::generate()?),
                anonymous: false,
            },
            authorization: Authorization::Rbac,
            ..ServeOptions::default()
        };
        let listener = TcpListener::bind(address).await.map_err(|it| {
            io::Error::new(it.kind(), format!("cannot listen on {address}: {it}; choose another --port"))
        })?;
        let handle = serve(listener, server.clone(), options)?;
        let text = kubeconfig(handle.address(), &certificate.authority, "admin", &token, "default");
        Folder::write_private(&folder.kubeconfig(), &text)?;
        Ok(Self { server, handle, authority: certificate.authority })
    }

    /// The server itself, for the garbage collector.
    pub(super) fn server(&self) -> ApiServer {
        self.server.clone()
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.handle.address()
    }

    /// PEM of the authority that signed the server's certificate.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    pub(super) async fn stop(self) {
        self.handle.shutdown().await;
    }
}

/// UIDs differ from one cluster to the next.
fn seed() -> io::Result<u64> {
    u64::from_str_radix(&random_token()?[..16], 16).map_err(io::Error::other)
}
