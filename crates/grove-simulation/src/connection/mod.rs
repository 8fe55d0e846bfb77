//! The connection between the operator and the API server, as unreliable as the weather says.
//!
//! Requests are on their way on their own: one that was sent arrives also if the operator dies meanwhile.

mod body;
mod request;
mod trouble;

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use grove_apiserver::{ApiServer, ApiService, TransportError};
use http::{Request, Response};
use kube::client::Body as RequestBody;
use parking_lot::Mutex;
use tokio::{
    sync::{Notify, oneshot},
    time::{Instant, sleep},
};
use tower::Service;

use self::{
    body::Body,
    request::{Asked, Kind},
    trouble::{Fate, Refusal, Trouble},
};
use crate::{
    plan::{SLOW, Weather},
    random::Random,
};

pub(crate) use self::trouble::Sent;

/// What is true of all connections to one server.
pub(crate) struct Lines {
    server: ApiServer,
    state: Mutex<Trouble>,
    /// The write came that the operator dies of.
    pub(crate) fatal: Notify,
    /// The server has seen a write of the operator, also one that changed nothing.
    pub(crate) written: Notify,
}

impl Lines {
    pub(crate) fn new(server: ApiServer, weather: Weather, random: Random) -> Arc<Self> {
        let state = Mutex::new(Trouble::new(weather, random));
        Arc::new(Self { server, state, fatal: Notify::new(), written: Notify::new() })
    }

    /// A connection of the operator with this number.
    pub(crate) fn open(self: &Arc<Self>, process: u32) -> Connection {
        Connection { lines: Arc::clone(self), inner: self.server.service(), process }
    }

    /// From now on nothing goes wrong.
    pub(crate) fn clear_up(&self) {
        self.state.lock().clear_up();
    }

    /// The operator dies with its `write`-th write from now on.
    pub(crate) fn kill_at(&self, write: u64) {
        self.state.lock().kill_at = Some(write);
    }

    /// Watches of some kinds show nothing for a while.
    pub(crate) fn stall(&self, kinds: u64, time: Duration) {
        self.state.lock().stall(kinds, Instant::now() + time);
    }

    /// The watch of a kind shows nothing for a while, or it may not be listed and watched.
    pub(crate) fn silence(&self, kind: &'static str, forbidden: bool, time: Duration) {
        self.state.lock().silence(kind, forbidden, Instant::now() + time);
        if forbidden {
            self.server.cut_watches();
        }
    }

    /// The watches of one operator show nothing for a while.
    pub(crate) fn hold_watches_of(&self, process: u32, time: Duration) {
        self.state.lock().hold_watches_of(process, Instant::now() + time);
    }

    /// Nothing reaches the server for a while.
    pub(crate) fn take_down(&self, time: Duration) {
        self.state.lock().take_down(Instant::now() + time);
        self.server.cut_watches();
    }

    /// Whether nothing reaches the server now.
    pub(crate) fn is_down(&self) -> bool {
        self.state.lock().is_down()
    }

    /// Notes how a write goes that the server knows by this number.
    pub(crate) fn note(&self, write: u64, sent: Sent) {
        self.state.lock().sent.insert(write, sent);
        self.written.notify_one();
    }

    /// How a write went that the server knows by this number: who sent it, and whether it was told of the end.
    pub(crate) fn sent(&self, write: u64) -> Option<Sent> {
        self.state.lock().sent.remove(&write)
    }

    /// Whether requests are on their way that the server has not seen.
    pub(crate) fn is_busy(&self) -> bool {
        self.state.lock().under_way > 0
    }
}

/// The operator's end of a connection.
#[derive(Clone)]
pub(crate) struct Connection {
    lines: Arc<Lines>,
    inner: ApiService,
    process: u32,
}

type Answer = Result<Response<Body>, TransportError>;

impl Service<Request<RequestBody>> for Connection {
    type Response = Response<Body>;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Answer> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<RequestBody>) -> Self::Future {
        let asked = Asked::of(&request);
        let fate = self.lines.state.lock().fate(asked.kind);
        let (answer, heard) = oneshot::channel();
        let trip = Trip { connection: self.clone(), asked, fate };
        tokio::spawn(async move {
            if let Some(result) = trip.make(request).await {
                // Nobody listens any more if the operator has died.
                drop(answer.send(result));
            }
        });
        Box::pin(async move {
            match heard.await {
                Ok(answer) => answer,
                // The operator is dead, and only waits to be buried.
                Err(_) => std::future::pending().await,
            }
        })
    }
}

/// One request, there and back.
struct Trip {
    connection: Connection,
    asked: Asked,
    fate: Fate,
}

impl Trip {
    /// The answer; none where the operator died of it.
    async fn make(mut self, request: Request<RequestBody>) -> Option<Answer> {
        let lines = Arc::clone(&self.connection.lines);
        if self.asked.kind == Kind::Write {
            lines.state.lock().under_way += 1;
        }
        sleep(self.fate.there).await;
        let arrived = self.arrive(&lines, request).await;
        if self.asked.kind == Kind::Write {
            let mut state = lines.state.lock();
            state.under_way -= 1;
            if state.is_fatal() {
                drop(state);
                lines.fatal.notify_one();
                return None;
            }
        }
        sleep(self.fate.back).await;
        Some(if self.fate.lost { Err(TransportError::Lost) } else { arrived })
    }

    async fn arrive(&mut self, lines: &Arc<Lines>, request: Request<RequestBody>) -> Answer {
        let (is_down, is_forbidden) = {
            let state = lines.state.lock();
            (state.is_down(), self.asked.kind != Kind::Write && state.is_forbidden(&self.asked.resource))
        };
        if self.fate.cut || is_down {
            return Err(TransportError::Cut);
        }
        if is_forbidden {
            return Ok(Refusal::Forbidden.answer());
        }
        if let Some(refusal) = self.fate.refusal {
            return Ok(refusal.answer());
        }
        let before = lines.server.store().write_count();
        let answer = self.connection.inner.call(request).await?;
        let after = lines.server.store().write_count();
        let sent = Sent { process: self.connection.process, heard: !self.fate.lost };
        (before + 1..=after).for_each(|write| lines.note(write, sent));
        let process = self.connection.process;
        let lines =
            (self.asked.kind == Kind::Watch).then(|| (Arc::clone(lines), self.asked.resource.clone()));
        Ok(answer.map(|body| match lines {
            Some((lines, resource)) => Body::late(body, lines, process, resource),
            None => Body::plain(body),
        }))
    }
}

/// When an event of a watch arrives that is sent now, and whether the watch ends after it.
pub(crate) fn arrival(lines: &Lines, process: u32, resource: &str) -> (Instant, bool) {
    lines.state.lock().arrival(process, resource)
}

/// How long a request takes at most.
pub(crate) fn longest_trip(weather: &Weather) -> Duration {
    if weather.slow > 0 { SLOW } else { weather.delay }
}

/// An answer that the server itself never gave.
pub(crate) fn made_up(code: u16, reason: &str, message: &str) -> Response<Body> {
    let status = serde_json::json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": message, "reason": reason, "code": code,
    });
    let mut response = Response::new(Body::whole(Bytes::from(status.to_string())));
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or_default();
    let json = http::HeaderValue::from_static("application/json");
    response.headers_mut().insert(http::header::CONTENT_TYPE, json);
    response
}
