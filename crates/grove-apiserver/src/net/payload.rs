//! Reads the body of a request: so many bytes, in so much time, and all of them together in so much memory.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::{CONTENT_LENGTH, EXPECT};
use http_body::Body;
use http_body_util::BodyExt as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::limits::Limits;
use crate::failure::Failure;
use crate::service::TransportError;

/// How much of a body that is refused is read and thrown away. A client that still sends would otherwise see a broken
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

/// A body, which counts against the memory of all bodies until this is dropped.
pub(super) struct Payload {
    pub(super) bytes: Bytes,
    pub(super) memory: Option<OwnedSemaphorePermit>,
}

/// The memory of all bodies, a permit for a byte.
pub(super) fn memory(limits: &Limits) -> Arc<Semaphore> {
    // One of them always has room.
    let bytes = limits.all_bodies_bytes.max(limits.body_bytes);
    Arc::new(Semaphore::new(bytes.min(Semaphore::MAX_PERMITS)))
}

/// Reads a body.
pub(super) async fn read_body<B>(
    headers: &HeaderMap,
    body: B,
    limits: &Limits,
    memory: &Arc<Semaphore>,
) -> Result<Payload, PayloadError>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let announced = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<usize>().ok());
    let mut body = body;
    if announced.is_some_and(|it| it > limits.body_bytes) {
        // A client that asks first is told, and sends nothing.
        if !headers.contains_key(EXPECT) {
            discard(body).await;
        }
        return Err(PayloadError::Refused(Failure::too_large(limits.body_bytes)));
    }
    let reading = async {
        // Grows with what comes: what a client announces costs it nothing.
        let mut bytes = BytesMut::new();
        let mut taken: Option<OwnedSemaphorePermit> = None;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|it| PayloadError::Broken(TransportError::Body(it.into())))?;
            let Ok(data) = frame.into_data() else { continue };
            if bytes.len() + data.len() > limits.body_bytes {
                return Ok(Err(Failure::too_large(limits.body_bytes)));
            }
            let more = u32::try_from(data.len()).ok();
            let Some(more) = more.and_then(|it| Arc::clone(memory).try_acquire_many_owned(it).ok()) else {
                return Ok(Err(Failure::too_many_bodies()));
            };
            match &mut taken {
                Some(taken) => taken.merge(more),
                None => taken = Some(more),
            }
            bytes.extend_from_slice(&data);
        }
        Ok(Ok(Payload { bytes: bytes.freeze(), memory: taken }))
    };
    match timeout(limits.body_time, reading).await {
        Ok(Ok(Ok(payload))) => Ok(payload),
        Ok(Ok(Err(failure))) => {
            discard(body).await;
            Err(PayloadError::Refused(failure))
        }
        Ok(Err(error)) => Err(error),
        Err(_) => Err(PayloadError::Refused(slow(limits.body_time))),
    }
}

/// Reads the rest of a body that is refused. However that ends, the answer is the same.
async fn discard<B: Body<Data = Bytes> + Unpin>(mut body: B) {
    let discarding = async {
        let mut discarded = 0;
        while discarded < MOST_DISCARDED {
            match body.frame().await {
                Some(Ok(frame)) => discarded += frame.data_ref().map_or(0, Bytes::len),
                _ => return,
            }
        }
    };
    drop(timeout(DISCARD_TIME, discarding).await);
}

fn slow(time: Duration) -> Failure {
    let message = format!("the body of the request did not arrive within {} s", time.as_secs_f32());
    Failure::new(408, "Timeout", message)
}
