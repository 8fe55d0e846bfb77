//! Nodes, kubelets and controllers on the in-memory API server, in virtual time.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "functions that tests share are tests too"
)]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

mod budget;
mod collection;
mod controllers;
mod events;
mod faults;
mod jobs;
mod namespaces;
mod nodes;
mod parts;
mod pods;
mod world;
