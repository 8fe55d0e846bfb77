//! The server of admission: TLS with the certificate of the moment, and what one client may take.

use std::{io, sync::Arc};

use grove_runtime::listener::{self, Limits};
use rustls::{ServerConfig, server::ResolvesServerCert};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::{desk::Desk, intake::Intake};

/// Serves until `stop` and for [`Limits::lame_duck_time`] after it, and then until what is under way is answered.
pub async fn serve(
    listener: TcpListener,
    certificate: Arc<dyn ResolvesServerCert>,
    desk: Desk,
    limits: Limits,
    stop: CancellationToken,
) -> io::Result<()> {
    let acceptor = acceptor(certificate)?;
    let intake = Arc::new(Intake::new(desk, limits));
    let answer = move |connection, request| {
        let intake = Arc::clone(&intake);
        async move { intake.handle(connection, request).await }
    };
    listener::serve(listener, "admission", move |it| acceptor.accept(it), answer, limits, stop).await
}

fn acceptor(certificate: Arc<dyn ResolvesServerCert>) -> io::Result<TlsAcceptor> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_cert_resolver(certificate);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // An API server does not resume sessions: remembering them would be memory for nothing.
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
