//! Keeps a process that does not lead from writing, whatever it was about to write.
//!
//! A client behind a fence reads at all times, and writes only while the fence is open. A write that waits or is under way
//! when the fence closes is dropped. The fence is asked once more after the throttle, just before a request is sent: a
//! process that was stopped for a while must not go on with what it had in hand.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use http::Request;
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tower::{BoxError, Layer, Service};

use crate::throttle::Lane;

/// Whether this process may write. Clones share it. It is closed at first.
#[derive(Clone, Debug, Default)]
pub struct Fence {
    term: Arc<Mutex<Option<Open>>>,
}

#[derive(Clone, Debug)]
struct Open {
    /// When it closes unless it is opened for longer; `None` for never.
    until: Option<Instant>,
    closed: CancellationToken,
}

/// A write that was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not sent: this process is not the leader")]
pub struct NotLeading;

impl Fence {
    /// Opens it for good: there is no leader election.
    pub fn open(&self) {
        self.set(None);
    }

    /// Opens it until `end`, or keeps it open until then.
    pub(super) fn open_until(&self, end: Instant) {
        self.set(Some(end));
    }

    pub(super) fn close(&self) {
        if let Some(open) = self.term.lock().take() {
            open.closed.cancel();
        }
    }

    fn set(&self, until: Option<Instant>) {
        let mut term = self.term.lock();
        match &mut *term {
            Some(open) => open.until = until,
            None => *term = Some(Open { until, closed: CancellationToken::new() }),
        }
    }

    /// Cancelled when the fence closes; nothing if it is closed.
    fn pass(&self) -> Result<CancellationToken, NotLeading> {
        let term = self.term.lock();
        let open = term.as_ref().filter(|it| it.until.is_none_or(|end| Instant::now() < end));
        open.map(|it| it.closed.clone()).ok_or(NotLeading)
    }

    #[cfg(test)]
    pub(super) fn is_open(&self) -> bool {
        self.pass().is_ok()
    }

    /// A client whose writes need the fence to be open.
    pub fn guard(&self, client: Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let fence = self.clone();
        let service = tower::service_fn(move |mut request: Request<Body>| {
            let (client, fence) = (client.clone(), fence.clone());
            async move {
                if !is_write(&request) {
                    return client.send(request).await.map_err(BoxError::from);
                }
                let closed = fence.pass()?;
                request.extensions_mut().insert(fence);
                let answer = closed.run_until_cancelled(client.send(request)).await;
                answer.ok_or(NotLeading)?.map_err(BoxError::from)
            }
        });
        Client::new(service, namespace)
    }
}

/// Leases are how leadership is won, and a dry run changes nothing.
fn is_write<B>(request: &Request<B>) -> bool {
    let is_dry = request.uri().query().is_some_and(|it| it.split('&').any(|it| it == "dryRun=All"));
    !is_dry && Lane::of(request).is_some()
}

/// Asks the fence of a request, where it has one, before the request goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FenceLayer;

impl<S> Layer<S> for FenceLayer {
    type Service = Fenced<S>;

    fn layer(&self, inner: S) -> Fenced<S> {
        Fenced { inner }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Fenced<S> {
    inner: S,
}

impl<S, B> Service<Request<B>> for Fenced<S>
where
    S: Service<Request<B>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<S::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if let Some(Err(refused)) = request.extensions().get::<Fence>().map(Fence::pass) {
            return Box::pin(async move { Err(refused.into()) });
        }
        let answer = self.inner.call(request);
        Box::pin(async move { answer.await.map_err(Into::into) })
    }
}
