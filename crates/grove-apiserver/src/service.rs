//! The server as a tower service.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde_json::Value;

use crate::body::Body;
use crate::failure::Failure;
use crate::handler;
use crate::object::encode;
use crate::server::ApiServer;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// As large as a body may be.
pub(crate) const BODY_LIMIT: usize = 3 * 1024 * 1024;

/// The connection broke. Made by [`crate::Fault`], or the request could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TransportError {
    /// The connection broke before the write was done.
    #[error("connection reset before the request was handled")]
    Cut,
    /// The connection broke after the write was done.
    #[error("connection reset before the answer was received")]
    Lost,
    /// The request could not be read.
    #[error("the body of the request could not be read: {0}")]
    Body(#[source] BoxError),
}

/// The server as a service. Clones are the same server.
#[derive(Clone, Debug)]
pub struct ApiService {
    server: ApiServer,
}

impl ApiService {
    pub(crate) fn new(server: ApiServer) -> Self {
        Self { server }
    }
}

impl<B> tower::Service<Request<B>> for ApiService
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = TransportError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.server.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = match Limited::new(body, BODY_LIMIT).collect().await {
                Ok(body) => body.to_bytes(),
                Err(error) if error.is::<LengthLimitError>() => {
                    return Ok(refuse(&Failure::too_large(BODY_LIMIT)));
                }
                Err(error) => return Err(TransportError::Body(error)),
            };
            handler::handle(&server, &parts, &body).await
        })
    }
}

/// An answer in JSON.
pub(crate) fn answer(code: u16, json: Bytes) -> Response<Body> {
    with_type(code, "application/json", Body::whole(json))
}

/// An answer that is a small JSON value.
pub(crate) fn answer_value(code: u16, value: &Value) -> Response<Body> {
    answer(code, encode(value))
}

/// An answer that is not from the API, and so not a `Status`.
pub(crate) fn answer_text(code: u16, text: &'static str) -> Response<Body> {
    with_type(code, "text/plain; charset=utf-8", Body::whole(text))
}

/// Likewise, of a text that was put together.
pub(crate) fn answer_owned_text(code: u16, text: String) -> Response<Body> {
    with_type(code, "text/plain; charset=utf-8", Body::whole(text))
}

/// An open answer.
pub(crate) fn answer_lines(lines: futures::stream::BoxStream<'static, Bytes>) -> Response<Body> {
    with_type(200, "application/json", Body::lines(lines))
}

/// A refusal as a `Status`.
pub(crate) fn refuse(failure: &Failure) -> Response<Body> {
    let mut response = answer_value(failure.code, &failure.to_json());
    if let Some(seconds) = failure.details.as_ref().and_then(|it| it.retry_after_seconds) {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn with_type(code: u16, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
