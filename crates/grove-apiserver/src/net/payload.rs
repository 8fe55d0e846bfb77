//! Reads the body of a request: so many bytes, in so much time.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use super::limits::Limits;
use crate::failure::Failure;
use crate::service::TransportError;

/// How much of a body that is too large is read and thrown away. A client that still sends would otherwise see a broken
/// connection instead of the answer.
const MOST_DISCARDED: usize = 128 << 20;
/// For how long.
const DISCARD_TIME: Duration = Duration::from_secs(10);

/// Why there is no body.
pub(super) enum PayloadError {
    /// The client is told.
    Refused(Failure),
    /// The connection broke.
    Broken(TransportError),
}

/// Reads a body.
pub(super) async fn read_body<B>(headers: &HeaderMap, body: B, limits: &Limits) -> Result<Bytes, PayloadError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let announced = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    let mut body = body;
    if announced.is_some_and(|it| it > limits.body_bytes) {
        // A client that asks first is told, and sends nothing.
        if headers.contains_key(EXPECT) {
            return Err(PayloadError::Refused(Failure::too_large(limits.body_bytes)));
        }
        return Err(too_large(body, limits).await);
    }
    let reading = async {
        // Grows with what comes: what a client announces costs it nothing.
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|it| PayloadError::Broken(TransportError::Body(it.into())))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > limits.body_bytes {
                return Ok(None);
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Some(bytes.freeze()))
    };
    match timeout(limits.body_time, reading).await {
        Ok(Ok(Some(bytes))) => Ok(bytes),
        Ok(Ok(None)) => Err(too_large(body, limits).await),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(PayloadError::Refused(slow(limits.body_time))),
    }
}

async fn too_large<B: Body<Data = Bytes> + Unpin>(mut body: B, limits: &Limits) -> PayloadError {
    let discarding = async {
        let mut discarded = 0;
        while discarded < MOST_DISCARDED {
            match body.frame().await {
                Some(Ok(frame)) => discarded += frame.data_ref().map_or(0, Bytes::len),
                _ => return,
            }
        }
    };
    // However it ends, the answer is the same.
    drop(timeout(DISCARD_TIME, discarding).await);
    PayloadError::Refused(Failure::too_large(limits.body_bytes))
}

fn slow(time: Duration) -> Failure {
    let message = format!("the body of the request did not arrive within {} s", time.as_secs_f32());
    Failure::new(408, "Timeout", message)
}
