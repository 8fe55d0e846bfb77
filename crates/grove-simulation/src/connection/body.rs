//! Answers. Those of watches arrive late, line by line and in order.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body as _, Frame};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Lines, arrival};

/// The body of an answer.
pub(crate) struct Body(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Plain(grove_apiserver::Body),
    Late(Box<Late>),
}

/// An open watch.
struct Late {
    inner: grove_apiserver::Body,
    lines: Arc<Lines>,
    /// Whose watch it is.
    process: u32,
    resource: String,
    /// Lines on their way; none is the end.
    on_their_way: VecDeque<(Instant, Option<Bytes>)>,
    /// Nothing more is sent.
    ended: bool,
    alarm: Pin<Box<Sleep>>,
}

impl Body {
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self(Kind::Whole(Some(bytes)))
    }

    pub(super) fn plain(inner: grove_apiserver::Body) -> Self {
        Self(Kind::Plain(inner))
    }

    pub(super) fn late(
        inner: grove_apiserver::Body,
        lines: Arc<Lines>,
        process: u32,
        resource: String,
    ) -> Self {
        let (on_their_way, ended) = (VecDeque::new(), false);
        let alarm = Box::pin(sleep_until(Instant::now()));
        Self(Kind::Late(Box::new(Late { inner, lines, process, resource, on_their_way, ended, alarm })))
    }
}

impl Late {
    /// Takes what the server sends now.
    fn take(&mut self, context: &mut Context<'_>) {
        while !self.ended {
            let Poll::Ready(sent) = Pin::new(&mut self.inner).poll_frame(context) else { return };
            let line = sent.and_then(Result::ok).and_then(|it| it.into_data().ok());
            let (at, is_last) = arrival(&self.lines, self.process, &self.resource);
            // Nothing overtakes anything within a watch.
            let at = self.on_their_way.back().map_or(at, |(before, _)| at.max(*before));
            self.ended = line.is_none();
            self.on_their_way.push_back((at, line));
            if is_last && !self.ended {
                self.ended = true;
                self.on_their_way.push_back((at, None));
            }
        }
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.take(context);
        let Some((at, _)) = self.on_their_way.front() else {
            return if self.ended { Poll::Ready(None) } else { Poll::Pending };
        };
        if *at > Instant::now() {
            let at = *at;
            self.alarm.as_mut().reset(at);
            if self.alarm.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
        Poll::Ready(self.on_their_way.pop_front().and_then(|(_, line)| line))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut self.0 {
            Kind::Plain(inner) => return Pin::new(inner).poll_frame(context),
            Kind::Whole(bytes) => bytes.take(),
            Kind::Late(late) => match late.poll(context) {
                Poll::Ready(line) => line,
                Poll::Pending => return Poll::Pending,
            },
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }
}
