//! The certificate of admission: made by us and kept in a Secret (`auto`), or given as files (`manual`).
//!
//! In the order data flows: `content` is what the Secret holds; `facts` is what can be told from it; `plan` decides what
//! is to be done, as a pure function; `mint` makes certificates; `keeper` reads, decides and writes; `trust` puts the
//! authority into the webhook configurations; `served` is what TLS uses, swapped while it runs. `files` is the other mode.

mod content;
mod facts;
mod files;
mod keeper;
mod mint;
mod names;
mod plan;
mod served;
#[cfg(test)]
mod tests;
mod trust;

use std::time::Duration;

pub use self::{content::Content, facts::Facts, files::follow, keeper::Keeper, names::Names, served::Served};

const DAY: Duration = Duration::from_hours(24);
/// Clocks differ: a certificate holds from a bit before it is made.
const LONGEST_SKEW: Duration = Duration::from_mins(5);

/// How long before it is made a certificate with this life holds: never much of its life.
fn skew(life: Duration) -> Duration {
    LONGEST_SKEW.min(life / 10)
}

/// How long certificates live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Of the authority.
    pub authority: Duration,
    /// Of the server's certificate.
    pub leaf: Duration,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self { authority: 3650 * DAY, leaf: 365 * DAY }
    }
}

impl Lifetimes {
    /// How long two authorities are trusted side by side before and after the leaf goes over to the new one. Short enough
    /// that a leaf that is due can wait for it.
    pub(crate) fn overlap(&self) -> Duration {
        DAY.min(self.authority / 10).min(self.leaf / 6)
    }
}
