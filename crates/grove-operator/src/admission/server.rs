//! Accepts connections, speaks TLS and HTTP/1.1 on them, and lets none of them take more than its share.
//!
//! HTTP/2 is not offered: an API server does well without it here, and all that one client can do is then bounded by
//! the number of its connections.

use std::{convert::Infallible, io, pin::pin, sync::Arc, time::Duration};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::{ServerConfig, server::ResolvesServerCert};
use tokio::{
    net::{TcpListener, TcpStream},
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::{debug, info, warn};

use super::{
    connections::{Connections, Held},
    desk::Desk,
    intake::Intake,
};

/// Pause after the system could not accept: mostly files have run out, which pass.
const PAUSE: Duration = Duration::from_millis(100);
/// Bytes of headers, which an API server needs few of.
const HEADER_BYTES: usize = 32 << 10;

/// How much any client may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections.
    pub connections: usize,
    /// Bytes of a body.
    pub body_bytes: usize,
    /// From a connection to its TLS.
    pub handshake_time: Duration,
    /// From TLS to the first request.
    pub first_request_time: Duration,
    /// From one request to the next. Longer than the 90 s after which an API server closes its idle connections
    /// itself: where we close one, a request may just be on its way, and would fail.
    pub idle_time: Duration,
    /// Until a body is complete.
    pub body_time: Duration,
    /// Until there is an answer.
    pub answer_time: Duration,
    /// Until the API server says whether a topology exists; a part of the time for the answer.
    pub lookup_time: Duration,
    /// For requests under way, when the server ends.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            // An update has two objects, of each of which an API server takes 3 MiB, and an envelope.
            body_bytes: 7 << 20,
            handshake_time: Duration::from_secs(5),
            first_request_time: Duration::from_secs(10),
            idle_time: Duration::from_mins(3),
            body_time: Duration::from_secs(5),
            answer_time: Duration::from_secs(5),
            lookup_time: Duration::from_secs(2),
            drain_time: Duration::from_secs(5),
        }
    }
}

/// Serves until `stop`, and then until what is under way is answered.
pub async fn serve(
    listener: TcpListener,
    certificate: Arc<dyn ResolvesServerCert>,
    desk: Desk,
    limits: Limits,
    stop: CancellationToken,
) -> io::Result<()> {
    info!(address = %listener.local_addr()?, "listening for admission");
    let acceptor = acceptor(certificate)?;
    let (intake, connections) = (Arc::new(Intake::new(desk, limits)), Connections::new(limits.connections));
    let tasks = TaskTracker::new();
    let accepting = async {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    warn!(%error, "cannot accept a connection");
                    sleep(PAUSE).await;
                    continue;
                }
            };
            // While this waits, others wait in the system's own queue.
            let held = connections.room().await;
            let one = attend(held, stream, acceptor.clone(), Arc::clone(&intake), limits, stop.clone());
            tasks.spawn(one);
        }
    };
    stop.run_until_cancelled(accepting).await;
    drop(listener);
    tasks.close();
    if timeout(limits.drain_time, tasks.wait()).await.is_err() {
        warn!("admission ends in the middle of requests");
    }
    Ok(())
}

fn acceptor(certificate: Arc<dyn ResolvesServerCert>) -> io::Result<TlsAcceptor> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(io::Error::other)?
        .with_no_client_auth()
        .with_cert_resolver(certificate);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // An API server does not resume sessions: remembering them would be memory for nobody.
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// One connection from its beginning to its end.
async fn attend(
    held: Held,
    stream: TcpStream,
    acceptor: TlsAcceptor,
    intake: Arc<Intake>,
    limits: Limits,
    stop: CancellationToken,
) {
    // Answers are small and whole: nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let shaking = held.closed.run_until_cancelled(timeout(limits.handshake_time, acceptor.accept(stream)));
    let stream = match stop.run_until_cancelled(shaking).await.flatten() {
        Some(Ok(Ok(stream))) => stream,
        Some(Ok(Err(error))) => return debug!(%error, "no TLS on a connection"),
        Some(Err(_)) | None => return,
    };
    let service = service_fn(|request| {
        let (intake, connection) = (Arc::clone(&intake), Arc::clone(&held));
        async move { Ok::<_, Infallible>(intake.handle(&connection, request).await) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle_time)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    );
    let mut silent = pin!(sleep(limits.first_request_time));
    let (mut asked, mut ending) = (false, false);
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    debug!(%error, "a connection broke");
                }
                return;
            }
            () = held.closed.cancelled() => return,
            () = silent.as_mut(), if !asked => {
                if held.is_new() {
                    return;
                }
                asked = true;
            }
            () = stop.cancelled(), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}
