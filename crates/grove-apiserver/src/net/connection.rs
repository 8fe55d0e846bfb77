//! One connection: its TLS handshake, its requests, its end.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::connections::{Activity, Connection};
use super::limits::Limits;
use super::request::{Peer, RequestHandler};
use crate::auth::certificate_user;

/// A client that does not answer this often and within [`PING_TIMEOUT`] is gone, with its watches.
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// Attends to connections.
pub(super) struct Attendant {
    handler: Arc<RequestHandler>,
    acceptor: Option<TlsAcceptor>,
    limits: Limits,
    stop: CancellationToken,
    http: Builder<TokioExecutor>,
}

impl Attendant {
    pub(super) fn new(
        handler: Arc<RequestHandler>,
        acceptor: Option<TlsAcceptor>,
        limits: Limits,
        stop: CancellationToken,
    ) -> Self {
        let mut http = Builder::new(TokioExecutor::new());
        http.http1()
            .timer(TokioTimer::new())
            // Also counts while a connection waits for its next request.
            .header_read_timeout(limits.idle_time)
            .max_buf_size(usize::try_from(limits.header_bytes).unwrap_or(usize::MAX).max(8 << 10));
        http.http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(limits.streams)
            .max_header_list_size(limits.header_bytes)
            .keep_alive_interval(PING_INTERVAL)
            .keep_alive_timeout(PING_TIMEOUT);
        Self { handler, acceptor, limits, stop, http }
    }

    /// Serves a connection until its end.
    pub(super) async fn attend(&self, stream: TcpStream, address: SocketAddr, connection: &Arc<Connection>) {
        let Some(acceptor) = &self.acceptor else {
            return self.serve(stream, Peer { address, certificate: None }, connection).await;
        };
        let Ok(Ok(stream)) = timeout(self.limits.handshake_time, acceptor.accept(stream)).await else {
            return;
        };
        let (_, session) = stream.get_ref();
        let certificate = session.peer_certificates().and_then(|chain| certificate_user(chain.first()?));
        self.serve(stream, Peer { address, certificate }, connection).await;
    }

    async fn serve<S>(&self, stream: S, peer: Peer, connection: &Arc<Connection>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let peer = Arc::new(peer);
        let service = service_fn(|request| {
            let (handler, peer) = (Arc::clone(&self.handler), Arc::clone(&peer));
            let in_flight = connection.begin_request();
            async move { handler.handle(&peer, request, in_flight).await }
        });
        let mut http = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        let mut overdue = pin!(sleep(self.limits.first_request_time));
        let mut ending = false;
        loop {
            tokio::select! {
                // Whether a connection ends well or breaks makes no difference to anybody here.
                _ = http.as_mut() => return,
                () = overdue.as_mut() => match self.next_look(connection) {
                    Some(at) => overdue.set(sleep_until(at)),
                    None => return,
                },
                () = self.stop.cancelled(), if !ending => {
                    ending = true;
                    http.as_mut().graceful_shutdown();
                }
            }
        }
    }

    /// When the connection may be overdue again; none if it is.
    fn next_look(&self, connection: &Connection) -> Option<Instant> {
        let now = Instant::now();
        match connection.activity() {
            Activity::New => None,
            Activity::Idle(since) => Some(since + self.limits.idle_time).filter(|end| *end > now),
            Activity::Busy => Some(now + self.limits.idle_time),
        }
    }
}
