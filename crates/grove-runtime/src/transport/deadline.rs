//! How long each request may take. The server is asked once, and retries are the queue's business.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::future::BoxFuture;
use http::{Method, Request, Response};
use hyper::body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};
use tower::{BoxError, Layer, Service};

const READ: Duration = Duration::from_secs(15);
const WRITE: Duration = Duration::from_secs(30);

/// The server itself gives up after a minute.
const DELETE_COLLECTION: Duration = Duration::from_secs(65);

/// Until a watch begins. After that it lasts as long as it likes: pings find out when its connection is dead.
const WATCH_HEAD: Duration = Duration::from_secs(30);

/// A request took too long.
#[derive(Debug, thiserror::Error)]
#[error("{method} {path} took longer than {} s", after.as_secs())]
pub struct TimedOut {
    method: Method,
    path: String,
    after: Duration,
}

/// What of a request is limited, and to how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Head(Duration),
    Whole(Duration),
}

impl Limit {
    fn of<B>(request: &Request<B>) -> Self {
        let streams = |pair: &str| matches!(pair, "watch=true" | "watch=1" | "follow=true");
        match *request.method() {
            Method::GET if request.uri().query().is_some_and(|query| query.split('&').any(streams)) => {
                Self::Head(WATCH_HEAD)
            }
            Method::GET | Method::HEAD | Method::OPTIONS => Self::Whole(READ),
            Method::DELETE if is_collection(request.uri().path()) => Self::Whole(DELETE_COLLECTION),
            _ => Self::Whole(WRITE),
        }
    }

    fn duration(self) -> Duration {
        match self {
            Self::Head(duration) | Self::Whole(duration) => duration,
        }
    }
}

/// Whether the path is that of a collection and not of one object in it.
fn is_collection(path: &str) -> bool {
    let mut segments: Vec<_> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let prefix = if segments.first() == Some(&"apis") { 3 } else { 2 };
    segments.drain(..prefix.min(segments.len()));
    if segments.len() > 2 && segments[0] == "namespaces" {
        segments.drain(..2);
    }
    segments.len() == 1
}

/// Gives each request its deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeadlineLayer;

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Deadline<S> {
        Deadline { inner }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Deadline<S> {
    inner: S,
}

impl<S, A, B> Service<Request<A>> for Deadline<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Future: Send + 'static,
    S::Error: Into<BoxError>,
{
    type Response = Response<Timed<B>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, request: Request<A>) -> Self::Future {
        let limit = Limit::of(&request);
        let late = TimedOut {
            method: request.method().clone(),
            path: request.uri().path().to_owned(),
            after: limit.duration(),
        };
        let end = Instant::now() + limit.duration();
        let answer = self.inner.call(request);
        Box::pin(async move {
            let Ok(answer) = timeout_at(end, answer).await else { return Err(late.into()) };
            let limits_body = matches!(limit, Limit::Whole(_));
            let rest = limits_body.then(|| (Box::pin(sleep_until(end)), Some(late)));
            Ok(answer.map_err(Into::into)?.map(|body| Timed { body, rest }))
        })
    }
}

/// A body that must end before the deadline of its request, if it has one.
#[derive(Debug)]
pub(super) struct Timed<B> {
    body: B,
    rest: Option<(Pin<Box<Sleep>>, Option<TimedOut>)>,
}

impl<B> Body for Timed<B>
where
    B: Body + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = B::Data;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) {
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let Some((sleep, late)) = &mut self.rest else { return Poll::Pending };
        ready!(sleep.as_mut().poll(cx));
        // Told once; a body that is polled after its error has nothing more to say.
        Poll::Ready(late.take().map(|late| Err(late.into())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::{StreamExt as _, stream};
    use http_body_util::{BodyExt as _, StreamBody};
    use hyper::body::Bytes;
    use tokio::time::sleep;
    use tower::ServiceExt as _;

    use super::*;

    #[test]
    fn each_request_has_its_limit() {
        for (method, target, want) in [
            ("GET", "/api/v1/pods?limit=500", Limit::Whole(READ)),
            ("GET", "/api/v1/pods?&watch=true&resourceVersion=5", Limit::Head(WATCH_HEAD)),
            ("GET", "/api/v1/pods?&labelSelector=watch%3Dtrue", Limit::Whole(READ)),
            ("GET", "/api/v1/namespaces/ns/pods/x/log?follow=true", Limit::Head(WATCH_HEAD)),
            ("POST", "/api/v1/namespaces/ns/pods", Limit::Whole(WRITE)),
            ("PATCH", "/api/v1/namespaces/ns/pods/x", Limit::Whole(WRITE)),
            ("DELETE", "/api/v1/namespaces/ns/pods/x", Limit::Whole(WRITE)),
            ("DELETE", "/api/v1/namespaces/ns/pods?", Limit::Whole(DELETE_COLLECTION)),
            ("DELETE", "/apis/grove.io/v1alpha1/namespaces/ns/podcliques", Limit::Whole(DELETE_COLLECTION)),
            ("DELETE", "/apis/grove.io/v1alpha1/namespaces/ns/podcliques/x", Limit::Whole(WRITE)),
            ("DELETE", "/api/v1/nodes", Limit::Whole(DELETE_COLLECTION)),
            ("DELETE", "/api/v1/nodes/x", Limit::Whole(WRITE)),
            ("DELETE", "/api/v1/namespaces/ns", Limit::Whole(WRITE)),
            ("DELETE", "/", Limit::Whole(WRITE)),
        ] {
            let request = Request::builder().method(method).uri(target).body(()).unwrap();
            assert_eq!(Limit::of(&request), want, "{method} {target}");
        }
    }

    /// A server that needs `head` until it answers, and then sends a byte after each of `pauses`.
    async fn exchange(target: &str, head: u64, pauses: &[u64]) -> Result<usize, String> {
        let pauses: Vec<_> = pauses.to_vec();
        let service = DeadlineLayer.layer(tower::service_fn(move |_: Request<()>| {
            let pauses = pauses.clone();
            async move {
                sleep(Duration::from_secs(head)).await;
                let frames = stream::iter(pauses).then(|pause| async move {
                    sleep(Duration::from_secs(pause)).await;
                    Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"x")))
                });
                Ok::<_, Infallible>(Response::new(StreamBody::new(Box::pin(frames))))
            }
        }));
        let answer = service.oneshot(Request::get(target).body(()).unwrap()).await;
        let body = answer.map_err(|error| error.to_string())?.into_body();
        body.collect().await.map(|body| body.to_bytes().len()).map_err(|error| error.to_string())
    }

    #[tokio::test(start_paused = true)]
    async fn head_and_body_share_one_deadline() {
        let late = Err("GET /pods took longer than 15 s".to_owned());
        assert_eq!(exchange("/pods", 5, &[5, 4]).await, Ok(2));
        assert_eq!(exchange("/pods", 16, &[]).await, late);
        assert_eq!(exchange("/pods", 5, &[5, 6]).await, late);
    }

    #[tokio::test(start_paused = true)]
    async fn a_watch_is_limited_until_it_begins() {
        assert_eq!(exchange("/pods?watch=true", 29, &[600, 600]).await, Ok(2));
        let late = Err("GET /pods took longer than 30 s".to_owned());
        assert_eq!(exchange("/pods?watch=true", 31, &[]).await, late);
    }
}
