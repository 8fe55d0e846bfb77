//! Accepts connections, speaks HTTP/1.1 on them, and lets none of them take more than its share. Admission, health and
//! metrics are served through it.
//!
//! HTTP/2 is not offered: an API server, a kubelet and a Prometheus do well without it here, and all that one client can do
//! is then bounded by the number of its connections. `connections` decides which connection goes when there are too many.

mod address;
mod connections;
mod routes;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Request, Response, header::CONNECTION};
use hyper::body::{Body, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::BoxError;
use tracing::{debug, info, warn};

use connections::{Connections, Held};

pub use address::{BindError, bind};
pub use connections::{Connection, Phase};
pub use routes::serve_routes;

/// Pause after the system could not accept: mostly files have run out, which pass.
const PAUSE: Duration = Duration::from_millis(100);
/// Bytes of headers, which our clients need few of.
const HEADER_BYTES: usize = 32 << 10;

/// How much any client may take. The default is that of admission.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections.
    pub connections: usize,
    /// Open connections of one address, while others want to come in.
    pub peer_connections: usize,
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
    /// How long requests are served as before when the server has to end: clients go on to call it until they have heard that
    /// it is not ready. Each answer closes its connection, so that the next request goes elsewhere.
    pub lame_duck_time: Duration,
    /// For requests under way, after that.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            peer_connections: 64,
            // An update has two objects, of each of which an API server takes 3 MiB, and an envelope.
            body_bytes: 7 << 20,
            handshake_time: Duration::from_secs(5),
            first_request_time: Duration::from_secs(10),
            idle_time: Duration::from_mins(3),
            body_time: Duration::from_secs(5),
            answer_time: Duration::from_secs(5),
            lame_duck_time: Duration::from_secs(5),
            drain_time: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// For questions without a body: health and metrics. They end with the process, after everything else.
    pub fn without_bodies() -> Self {
        Self { body_bytes: 4 << 10, lame_duck_time: Duration::ZERO, ..Self::default() }
    }
}

/// Serves until `stop` and for [`Limits::lame_duck_time`] after it, and then until what is under way is answered. `accept` turns a connection into one that speaks
/// HTTP, by TLS for example. `answer` says by [`Connection::enter`] how far it is with a request.
pub async fn serve<A, S, SFut, H, B, BFut>(
    listener: TcpListener,
    what: &'static str,
    accept: A,
    answer: H,
    limits: Limits,
    stop: CancellationToken,
) -> io::Result<()>
where
    A: Fn(TcpStream) -> SFut + Send + Sync + 'static,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    SFut: Future<Output = io::Result<S>> + Send + 'static,
    H: Fn(Arc<Connection>, Request<Incoming>) -> BFut + Send + Sync + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    BFut: Future<Output = Response<B>> + Send + 'static,
{
    info!(address = %listener.local_addr()?, what, "listening");
    let (accept, answer) = (Arc::new(accept), Arc::new(answer));
    let connections = Connections::new(limits.connections, limits.peer_connections);
    let tasks = TaskTracker::new();
    let end = End { announced: stop, now: CancellationToken::new() };
    let accepting = async {
        loop {
            let (stream, peer): (TcpStream, IpAddr) = match listener.accept().await {
                Ok((stream, address)) => (stream, address.ip().to_canonical()),
                Err(error) => {
                    warn!(%error, what, "cannot accept a connection");
                    sleep(PAUSE).await;
                    continue;
                }
            };
            // While this waits, others wait in the system's own queue.
            let held = connections.room(peer).await;
            let (accept, answer, end) = (Arc::clone(&accept), Arc::clone(&answer), end.clone());
            tasks.spawn(async move {
                // Answers are small and whole: nothing is gained by waiting for more.
                let _ = stream.set_nodelay(true);
                let accepted = timeout(limits.handshake_time, accept(stream));
                let accepted = held.closed.run_until_cancelled(accepted);
                match end.now.run_until_cancelled(accepted).await.flatten() {
                    Some(Ok(Ok(stream))) => attend(&held, stream, &*answer, limits, &end).await,
                    Some(Ok(Err(error))) => debug!(%error, what, "no TLS on a connection"),
                    Some(Err(_)) | None => {}
                }
            });
        }
    };
    let last_moment = async {
        end.announced.cancelled().await;
        sleep(limits.lame_duck_time).await;
    };
    tokio::select! {
        () = accepting => {}
        () = last_moment => {}
    }
    end.now.cancel();
    drop(listener);
    tasks.close();
    if timeout(limits.drain_time, tasks.wait()).await.is_err() {
        warn!(what, "the server ends in the middle of requests");
    }
    Ok(())
}

/// When a server ends.
#[derive(Clone)]
struct End {
    /// It has to, soon.
    announced: CancellationToken,
    /// It takes no more requests.
    now: CancellationToken,
}

/// One connection until its end.
async fn attend<S, H, B, BFut>(held: &Held, stream: S, answer: &H, limits: Limits, end: &End)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Fn(Arc<Connection>, Request<Incoming>) -> BFut,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
    BFut: Future<Output = Response<B>>,
{
    let service = service_fn(|request| {
        let answering = answer(Arc::clone(held), request);
        async move {
            let mut response = answering.await;
            held.enter(Phase::Idle);
            if end.announced.is_cancelled() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(limits.idle_time)
            .max_buf_size(HEADER_BYTES)
            .serve_connection(TokioIo::new(stream), service)
    );
    let mut overdue = pin!(sleep(limits.first_request_time));
    let mut ending = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => {
                if let Err(error) = ended {
                    debug!(%error, "a connection broke");
                }
                return;
            }
            () = held.closed.cancelled() => return,
            () = overdue.as_mut() => match next_look(held, limits) {
                Some(at) => overdue.set(sleep_until(at)),
                None => return,
            },
            () = end.now.cancelled(), if !ending => {
                ending = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// When a connection may be overdue again; nothing if it is. One that is answered has the limits of its answer.
fn next_look(connection: &Connection, limits: Limits) -> Option<Instant> {
    let now = Instant::now();
    match connection.state() {
        (Phase::New, _) => None,
        (Phase::Idle, since) => Some(since + limits.idle_time).filter(|end| *end > now),
        (Phase::Receiving | Phase::Working, _) => Some(now + limits.idle_time),
    }
}
