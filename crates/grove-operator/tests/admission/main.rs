//! Admission over TLS on loopback, and certificates over the in-memory API: what a bad client can do, and that a good one
//! never notices.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "functions that tests share are tests too"
)]

mod client;
mod files;
mod keeper;
mod limits;
mod lookups;
mod reviews;
mod rotation;
mod shutdown;
mod stage;
