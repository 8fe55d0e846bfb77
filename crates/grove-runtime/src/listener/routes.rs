//! Questions without a body, answered by routes.

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, Request, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use tokio::net::TcpListener;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::{Connection, Limits, Phase, serve};

/// Serves `routes` until `stop`, and then until the requests that run are answered. Bodies of requests are not read.
pub async fn serve_routes(
    listener: TcpListener,
    what: &'static str,
    routes: Router,
    limits: Limits,
    stop: CancellationToken,
) -> io::Result<()> {
    let answer = move |connection: Arc<Connection>, request: Request<Incoming>| {
        let routes = routes.clone();
        async move {
            connection.enter(Phase::Working);
            respond(routes, request, limits).await
        }
    };
    serve(listener, what, |stream| std::future::ready(Ok(stream)), answer, limits, stop).await
}

async fn respond(routes: Router, request: Request<Incoming>, limits: Limits) -> Response {
    if request.body().size_hint().lower() > limits.body_bytes as u64 {
        return refused(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large\n");
    }
    let has_body = !request.body().is_end_stream();
    match timeout(limits.answer_time, routes.oneshot(request.map(|_| Body::empty()))).await {
        Ok(Ok(mut response)) => {
            if has_body {
                close(&mut response);
            }
            response
        }
        Ok(Err(never)) => match never {},
        Err(_) => refused(StatusCode::GATEWAY_TIMEOUT, "no answer in time\n"),
    }
}

fn refused(code: StatusCode, why: &'static str) -> Response {
    let mut response = (code, why).into_response();
    close(&mut response);
    response
}

/// What is left of the request is not worth reading.
fn close(response: &mut Response) {
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
}
