//! What a read answers.

mod list;
mod revision;
mod token;

pub(crate) use list::{ListOptions, encode_list, list};
pub(crate) use revision::{At, not_a_revision, wait_for};
