//! The body of a response on the network: a watch ends when the server shuts down, and whoever waits for the end of the
//! response is told.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::connections::InFlight;
use crate::audit::PendingEvent;
use crate::body::Body;

/// The body of a response on the network.
pub(super) struct ResponseBody {
    body: Body,
    /// Ends a body of unknown length, which is a watch.
    shutdown: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// Dropped with the response: the connection is busy until then, and the audit event is complete.
    _until_end: (InFlight, Option<PendingEvent>),
}

impl ResponseBody {
    pub(super) fn new(
        body: Body,
        shutdown: WaitForCancellationFutureOwned,
        in_flight: InFlight,
        event: Option<PendingEvent>,
    ) -> Self {
        let is_watch = body.size_hint().exact().is_none();
        Self { body, shutdown: is_watch.then(|| Box::pin(shutdown)), _until_end: (in_flight, event) }
    }
}

impl http_body::Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(shutdown) = &mut self.shutdown
            && shutdown.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
