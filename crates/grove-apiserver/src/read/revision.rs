//! Which moment a list or a watch asks for.

use std::num::ParseIntError;
use std::time::Duration;

use crate::failure::{Cause, Failure};
use crate::query::{self, Query};
use crate::store::Store;

/// How long a read waits for a revision that is yet to come.
const PATIENCE: Duration = Duration::from_secs(3);

/// Which moment a read asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Now.
    Now,
    /// Now, or whenever it is at least this revision.
    NotOlderThan(u64),
    /// This revision.
    Exactly(u64),
}

impl At {
    /// The moment that a list asks for. With a limit, a version means that very version: so it was before one could
    /// say which is meant.
    pub(crate) fn of_list(query: &Query, limited: bool) -> Result<Self, Failure> {
        let invalid = |cause| Err(Failure::invalid_options("ListOptions", cause));
        let matching = query.get("resourceVersionMatch");
        let Some(text) = query.get("resourceVersion") else {
            return match matching {
                None => Ok(Self::Now),
                Some(_) => invalid(Cause::forbidden(
                    "resourceVersionMatch",
                    "resourceVersionMatch is forbidden unless resourceVersion is provided",
                )),
            };
        };
        let revision = text.parse::<u64>().map_err(|it| {
            Failure::bad_request(format!("invalid resource version: {}", not_a_revision(text, &it)))
        })?;
        match (matching, revision) {
            (Some("Exact"), 0) => invalid(Cause::forbidden(
                "resourceVersionMatch",
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            )),
            (Some("Exact"), _) => Ok(Self::Exactly(revision)),
            (None, 1..) if limited => Ok(Self::Exactly(revision)),
            (None | Some("NotOlderThan"), _) => Ok(Self::NotOlderThan(revision)),
            (Some(other), _) => {
                let known = ["Exact", "NotOlderThan", ""];
                invalid(Cause::not_supported("resourceVersionMatch", other, &known))
            }
        }
    }
}

/// Why a text is no revision.
pub(crate) fn not_a_revision(text: &str, error: &ParseIntError) -> String {
    let why = query::not_a_number(error);
    format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: {why}")
}

/// Waits until the store is at a revision, though not for long.
pub(crate) async fn wait_for(store: &Store, at: At) -> Result<(), Failure> {
    let (At::NotOlderThan(wanted) | At::Exactly(wanted)) = at else { return Ok(()) };
    if store.revision() >= wanted {
        return Ok(());
    }
    let mut signal = store.subscribe();
    let reached = signal.wait_for(|it| it.revision >= wanted);
    let reached = tokio::time::timeout(PATIENCE, reached).await;
    reached.map_err(|_| Failure::too_large_revision(wanted, store.revision()))
}
