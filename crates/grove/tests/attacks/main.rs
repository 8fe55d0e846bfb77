//! Attacks over the network on every port that the programs open, while an honest client asks the same port.
//!
//! Each program is the real one, with its own limits, in a process of its own that may have only so much memory: one that wants
//! more ends, and the honest client gets no answer. The API server is in the test's process.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "functions that tests share are tests too"
)]

mod bodies;
mod client;
mod connections;
mod forged;
mod forged_reviews;
mod honest;
mod program;
mod slow;
