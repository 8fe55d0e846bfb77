//! Watches: what there is, if wanted, and then what happens. A watch is a position in the ring of events, so a slow
//! client costs nothing; one that falls behind the ring is told to list again.

mod options;
mod stream;

use bytes::{BufMut, Bytes, BytesMut};

pub(crate) use options::{Start, WatchOptions};
pub(crate) use stream::{Scope, watch};

/// A line of a watch. Clients that decode as they read need the type before the object.
pub(crate) fn line(kind: &str, object: &[u8]) -> Bytes {
    let mut line = BytesMut::with_capacity(object.len() + kind.len() + 24);
    line.put_slice(b"{\"type\":\"");
    line.put_slice(kind.as_bytes());
    line.put_slice(b"\",\"object\":");
    line.put_slice(object);
    line.put_slice(b"}\n");
    line.freeze()
}
