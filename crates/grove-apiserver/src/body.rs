//! The body of an answer: all at once, or line by line.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::stream::BoxStream;
use http_body::{Frame, SizeHint};

/// The body of an answer.
pub struct Body(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Lines(BoxStream<'static, Bytes>),
}

impl Body {
    pub(crate) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(Some(bytes.into())))
    }

    pub(crate) fn lines(lines: BoxStream<'static, Bytes>) -> Self {
        Self(Kind::Lines(lines))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.0 {
            Kind::Whole(bytes) => bytes.take(),
            Kind::Lines(lines) => match lines.as_mut().poll_next(cx) {
                Poll::Ready(line) => line,
                Poll::Pending => return Poll::Pending,
            },
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |it| it.len() as u64)),
            Kind::Lines(_) => SizeHint::default(),
        }
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Kind::Whole(bytes) => f.debug_tuple("Whole").field(bytes).finish(),
            Kind::Lines(_) => f.write_str("Lines"),
        }
    }
}
