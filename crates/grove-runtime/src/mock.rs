//! A server for tests: each request is a [`Call`] that the test answers when it likes.

use futures::stream;
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::convert::Infallible;
use tokio::sync::{mpsc, oneshot};

use crate::throttle::Lane;

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// One request that waits for its answer.
pub(crate) struct Call {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) content_type: String,
    pub(crate) lane: Option<Lane>,
    pub(crate) body: Value,
    reply: oneshot::Sender<Answer>,
}

/// A client and the calls that it makes.
pub(crate) fn server() -> (Client, mpsc::UnboundedReceiver<Call>) {
    let (calls, received) = mpsc::unbounded_channel();
    let service = tower::service_fn(move |request: Request<Body>| {
        let calls = calls.clone();
        async move {
            let (head, body) = request.into_parts();
            let body = body.collect().await?.to_bytes();
            let (reply, answer) = oneshot::channel();
            let call = Call {
                method: head.method.to_string(),
                target: head.uri.to_string(),
                content_type: head
                    .headers
                    .get("content-type")
                    .map(|v| v.to_str().unwrap().to_owned())
                    .unwrap_or_default(),
                lane: head.extensions.get().copied(),
                body: serde_json::from_slice(&body).unwrap_or(Value::Null),
                reply,
            };
            calls.send(call).map_err(|_| "the test has ended")?;
            answer.await.map_err(|_| tower::BoxError::from("connection lost"))
        }
    });
    (Client::new(service, "default"), received)
}

impl Call {
    /// `"METHOD target"`.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }

    pub(crate) fn answer(self, body: &Value) {
        self.answer_with(StatusCode::OK, body);
    }

    pub(crate) fn answer_with(self, code: StatusCode, body: &Value) {
        let body = Full::from(body.to_string()).boxed_unsync();
        self.reply.send(Response::builder().status(code).body(body).unwrap()).ok();
    }

    /// Answers as an API server does when it says no.
    pub(crate) fn refuse(self, code: u16, reason: &str, message: &str) {
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {},
            "status": "Failure", "code": code, "reason": reason, "message": message,
        });
        self.answer_with(StatusCode::from_u16(code).unwrap(), &status);
    }

    /// Answers with a stream of lines that lasts until the sender is dropped.
    pub(crate) fn stream(self) -> mpsc::UnboundedSender<Value> {
        let (lines, received) = mpsc::unbounded_channel::<Value>();
        let frames = stream::unfold(received, |mut received| async {
            let line = received.recv().await?;
            Some((Ok(Frame::data(Bytes::from(format!("{line}\n")))), received))
        });
        self.reply.send(Response::new(StreamBody::new(frames).boxed_unsync())).ok();
        lines
    }
}
