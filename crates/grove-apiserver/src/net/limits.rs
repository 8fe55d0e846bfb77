//! How much one client may take, and all of them together.

use std::time::Duration;

/// How much one client may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Open connections. At the limit, the one that has been idle for longest is closed; while all are busy, new ones wait.
    pub connections: usize,
    /// Bytes of the headers of a request.
    pub header_bytes: u32,
    /// Bytes of the body of a request.
    pub body_bytes: usize,
    /// Bytes of the bodies of all requests together, from their arrival until they are answered. Beyond it, requests are refused with 429.
    pub all_bodies_bytes: usize,
    /// Requests at a time on one HTTP/2 connection. A watch is one of them.
    pub streams: u32,
    /// From a connection to the end of its TLS handshake.
    pub handshake_time: Duration,
    /// From the handshake to the first complete headers.
    pub first_request_time: Duration,
    /// From one request to the next. Longer than the 90 s after which Go's clients close their idle connections, because
    /// a request may be on its way when the server closes one.
    pub idle_time: Duration,
    /// From the headers of a request to the end of its body.
    pub body_time: Duration,
    /// For requests in flight at shutdown. Watches end at once.
    pub drain_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            header_bytes: 64 << 10,
            body_bytes: crate::service::BODY_LIMIT,
            all_bodies_bytes: 64 << 20,
            streams: 250,
            handshake_time: Duration::from_secs(5),
            first_request_time: Duration::from_secs(10),
            idle_time: Duration::from_mins(3),
            body_time: Duration::from_secs(30),
            drain_time: Duration::from_secs(5),
        }
    }
}
