//! Protects the API server from us: a rate with bursts, a bound on writes in flight, and the urgent ones first. Among those that are equally
//! urgent, namespaces take turns.
//!
//! Reads, watches and leases pass untouched. Who passes next is the decision of `line`; this module waits and wakes.

mod lane;
mod line;
mod metrics;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::Request;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use tower::util::ServiceExt as _;
use tower::{Layer, Service};

use line::{Line, Next};

pub use lane::Lane;
pub use metrics::ThrottleMetrics;

/// Limits on writes, shared by everything it is a layer of. Clones share the limits.
#[derive(Clone)]
pub struct Throttle {
    gate: Arc<Gate>,
}

impl Throttle {
    /// At most `qps` writes a second after a burst of `burst`, and `in_flight` at a time.
    ///
    /// `qps <= 0` means no rate limit, `in_flight == 0` no bound.
    pub fn new(qps: f64, burst: u32, in_flight: usize) -> Self {
        Self::with_metrics(qps, burst, in_flight, ThrottleMetrics::default())
    }

    /// Likewise; `metrics` learn how long writes wait.
    pub fn with_metrics(qps: f64, burst: u32, in_flight: usize, metrics: ThrottleMetrics) -> Self {
        let state = State { line: Line::new(qps, burst, in_flight), has_clock: false };
        Self { gate: Arc::new(Gate { state: Mutex::new(state), metrics }) }
    }
}

impl fmt::Debug for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttle").finish_non_exhaustive()
    }
}

impl<S> Layer<S> for Throttle {
    type Service = Throttled<S>;

    fn layer(&self, inner: S) -> Throttled<S> {
        Throttled { inner, gate: self.gate.clone() }
    }
}

/// A service whose writes are throttled.
#[derive(Clone)]
pub struct Throttled<S> {
    inner: S,
    gate: Arc<Gate>,
}

impl<S, B> Service<Request<B>> for Throttled<S>
where
    S: Service<Request<B>> + Clone + Send + 'static,
    S::Future: Send,
    B: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<S::Response, S::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        // Always ready: a write that waits must not keep a read behind it waiting. The inner service is asked later.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (inner, lane) = (self.inner.clone(), Lane::of(&request));
        let gate = self.gate.clone();
        Box::pin(async move {
            let _permit = match lane {
                Some(lane) => Some(gate.pass(lane, lane::namespace(request.uri().path())).await),
                None => None,
            };
            inner.oneshot(request).await
        })
    }
}

struct Gate {
    state: Mutex<State>,
    metrics: ThrottleMetrics,
}

struct State {
    line: Line<(Lane, oneshot::Sender<Permit>)>,
    /// A task sleeps until the next token comes.
    has_clock: bool,
}

impl Gate {
    /// Waits for a permit. Whoever stops waiting leaves the line.
    async fn pass(self: &Arc<Self>, lane: Lane, namespace: &str) -> Permit {
        let started = Instant::now();
        loop {
            let (sender, receiver) = oneshot::channel();
            let place = self.state.lock().line.join(lane, namespace, Instant::now(), (lane, sender));
            let ticket = Ticket { gate: self, place };
            self.serve();
            let permit = receiver.await;
            drop(ticket);
            // A ticket stays in line until it gets its permit; without one, it would have to be asked for again.
            if let Ok(permit) = permit {
                self.metrics.waited(lane, started.elapsed());
                return permit;
            }
        }
    }

    /// Lets pass whoever can, and sees to it that the next token finds somebody awake.
    fn serve(self: &Arc<Self>) {
        loop {
            let next = self.state.lock().line.next(Instant::now());
            match next {
                // Outside of the lock, because a permit that nobody takes comes back at once.
                Next::Grant((lane, ticket)) => drop(ticket.send(Permit { gate: self.clone(), lane })),
                Next::Token(_) => return self.start_clock(),
                Next::Nothing => return,
            }
        }
    }

    fn start_clock(self: &Arc<Self>) {
        // A permit may be dropped after the runtime; then nobody is left to be served.
        let Ok(runtime) = Handle::try_current() else { return };
        if std::mem::replace(&mut self.state.lock().has_clock, true) {
            return;
        }
        let gate = self.clone();
        runtime.spawn(async move {
            loop {
                let next = {
                    let mut state = gate.state.lock();
                    let next = state.line.next(Instant::now());
                    // Decided under the lock: whoever needs a token after this starts a new clock.
                    state.has_clock = !matches!(next, Next::Nothing);
                    next
                };
                match next {
                    Next::Grant((lane, ticket)) => drop(ticket.send(Permit { gate: gate.clone(), lane })),
                    Next::Token(at) => sleep_until(at).await,
                    Next::Nothing => return,
                }
            }
        });
    }
}

/// The right to have one write in flight.
struct Permit {
    gate: Arc<Gate>,
    lane: Lane,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.gate.state.lock().line.release(self.lane);
        self.gate.serve();
    }
}

/// A place in the line, given up when dropped.
struct Ticket<'a> {
    gate: &'a Gate,
    place: (Lane, u64),
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.gate.state.lock().line.leave(self.place);
    }
}
