//! The server on the network: HTTP/1.1 and HTTP/2, with or without TLS.
//!
//! ```text
//! accept → (TLS handshake) → HTTP → authenticate → impersonate → authorize → read the body → handler
//!    └ connections: at most so many                                              └ limits: size, time, nesting
//! ```
//!
//! A request that fails at any step gets a `Status`, and an audit event if wanted. A panic in the handler is a 500.

mod connection;
mod connections;
mod limits;
mod payload;
mod request;
mod response;
mod tls;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use limits::Limits;
pub use tls::tls_config;

use crate::audit::AuditSink;
use crate::auth::{Authentication, Authorization};
use crate::server::ApiServer;
use connection::Attendant;
use connections::Connections;
use request::RequestHandler;

/// Pause after the system could not accept a connection: mostly it has run out of files, which passes.
const PAUSE: Duration = Duration::from_millis(100);

/// How a server is to be served.
#[derive(Clone, Debug, Default)]
pub struct ServeOptions {
    /// TLS, as [`tls_config`] makes it; plain TCP without it.
    pub tls: Option<Arc<ServerConfig>>,
    /// How much one client may take.
    pub limits: Limits,
    /// Who clients are. By default nobody is known, so every request is refused.
    pub authentication: Authentication,
    /// What they may do.
    pub authorization: Authorization,
    /// Gets an `audit.k8s.io/v1` event for each request.
    pub audit: Option<AuditSink>,
}

/// A server that listens. It goes on when this is dropped.
#[derive(Debug)]
pub struct ServerHandle {
    address: SocketAddr,
    stop: CancellationToken,
    ended: JoinHandle<()>,
}

/// Serves `server` on `listener` until [`ServerHandle::shutdown`].
pub fn serve(listener: TcpListener, server: ApiServer, options: ServeOptions) -> io::Result<ServerHandle> {
    let address = listener.local_addr()?;
    let stop = CancellationToken::new();
    let limits = options.limits;
    let acceptor = options.tls.clone().map(TlsAcceptor::from);
    let handler = RequestHandler::new(server, options, stop.clone());
    let attendant = Attendant::new(Arc::new(handler), acceptor, limits, stop.clone());
    let ended = tokio::spawn(accept(listener, Arc::new(attendant), limits, stop.clone()));
    Ok(ServerHandle { address, stop, ended })
}

impl ServerHandle {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening, ends all watches, and waits for the requests in flight, for at most [`Limits::drain_time`].
    pub async fn shutdown(self) {
        self.stop.cancel();
        // The task ends by itself; an error is a panic in it, which has ended it too.
        drop(self.ended.await);
    }
}

async fn accept(listener: TcpListener, attendant: Arc<Attendant>, limits: Limits, stop: CancellationToken) {
    let connections = Connections::new(limits.connections);
    let tasks = TaskTracker::new();
    let abort = CancellationToken::new();
    let accepting = async {
        loop {
            let Ok((stream, peer)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            // Small messages go at once; a socket that refuses this works all the same.
            drop(stream.set_nodelay(true));
            // While this waits, others wait in the queue of the system.
            let connection = connections.admit().await;
            let (attendant, abort) = (Arc::clone(&attendant), abort.clone());
            tasks.spawn(async move {
                tokio::select! {
                    () = attendant.attend(stream, peer, &connection) => {}
                    () = connection.closed() => {}
                    () = abort.cancelled() => {}
                }
            });
        }
    };
    tokio::select! {
        () = accepting => {}
        () = stop.cancelled() => {}
    }
    drop(listener);
    tasks.close();
    if tokio::time::timeout(limits.drain_time, tasks.wait()).await.is_err() {
        abort.cancel();
        tasks.wait().await;
    }
}
