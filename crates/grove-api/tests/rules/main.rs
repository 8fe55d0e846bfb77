//! The rules for our resources, seen from outside.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod properties;
mod rows;
mod table;
