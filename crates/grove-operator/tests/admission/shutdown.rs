//! A server that stops loses no request: API servers hear of it later than it does.

use std::time::Duration;

use grove_api::constants::webhooks::SET_VALIDATING;
use grove_operator::admission::Limits;
use http_body_util::Full;

use crate::stage::{Stage, set};

const PATIENCE: Duration = Duration::from_mins(1);

/// Connections that were there, and new ones, are served after the server was told; each answer closes its connection.
#[tokio::test(flavor = "multi_thread")]
async fn requests_are_served_after_the_server_was_told_to_end() {
    let stage = Stage::new(Limits { lame_duck_time: PATIENCE, ..Limits::default() }).await;
    let object = set(1);
    let mut old = stage.client.keep().await.unwrap();
    old.review(SET_VALIDATING.path, &object).await.unwrap();
    stage.stop.cancel();
    let mut new = stage.client.keep().await.expect("a handshake failed");
    for kept in [&mut old, &mut new] {
        kept.review(SET_VALIDATING.path, &object).await.expect("a review failed");
        let again = http::Request::post(SET_VALIDATING.path).body(Full::default()).unwrap();
        kept.send(again).await.expect_err("the connection is kept");
    }
    stage.serving.abort();
}
