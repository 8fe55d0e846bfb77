//! The API server of a local cluster, on the loopback interface, with the credentials of an administrator.

use std::{io, net::SocketAddr};

use grove_apiserver::{StaticTokens, UserInfo};
use grove_sandbox::{Certificate, ControlPlane, ControlPlaneOptions};
use tokio::net::TcpListener;

use super::{
    credentials::{ServerCertificate, kubeconfig, random_token},
    folder::Folder,
};

/// Starts to listen, and writes the kubeconfig of an administrator.
pub(super) async fn start(address: SocketAddr, folder: &Folder) -> io::Result<ControlPlane> {
    let ServerCertificate { authority, certificate, key } = ServerCertificate::generate()?;
    let token = random_token()?;
    let administrator = UserInfo::new("admin", &["system:masters"]);
    let listener = TcpListener::bind(address).await.map_err(|it| {
        io::Error::new(it.kind(), format!("cannot listen on {address}: {it}; choose another --port"))
    })?;
    let control_plane = ControlPlane::start(ControlPlaneOptions {
        listener,
        certificate: Certificate { certificate: certificate.into_bytes(), key: key.into_bytes() },
        authority,
        has_client_certificates: false,
        tokens: StaticTokens::default().with(&token, administrator),
        audit: None,
    })?;
    let text = kubeconfig(control_plane.address(), control_plane.authority(), "admin", &token, "default");
    Folder::write_private(&folder.kubeconfig(), &text)?;
    Ok(control_plane)
}
