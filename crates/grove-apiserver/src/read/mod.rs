//! What a read answers.

mod list;
mod revision;
mod token;

pub(crate) use list::{ListOptions, encode_list, list};
pub use revision::At;
pub(crate) use revision::{not_a_revision, wait_for};
