//! What a watch asks for.

use std::time::Duration;

use crate::failure::{Cause, Failure};
use crate::query::Query;
use crate::read::{At, not_a_revision};

/// The real server ends watches after half an hour to an hour if the client does not say when.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(30);

/// What a watch asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WatchOptions {
    /// Where it begins.
    pub(crate) start: Start,
    /// Whether it wants to be told revisions even if nothing happens.
    pub(crate) bookmarks: bool,
    /// When it ends.
    pub(crate) timeout: Duration,
}

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// With what happens after a revision.
    After(u64),
    /// With what happens from now on.
    Now,
    /// With all that is there, as if it came just now.
    Everything,
    /// The same, at least as new as the moment says, and with a bookmark that tells where it ends.
    List(At),
}

impl WatchOptions {
    pub(crate) fn parse(query: &Query) -> Result<Self, Failure> {
        let timeout =
            query.number("timeoutSeconds")?.and_then(|it| u64::try_from(it).ok()).filter(|it| *it > 0);
        Ok(Self {
            start: Start::parse(query)?,
            bookmarks: query.flag("allowWatchBookmarks"),
            timeout: timeout.map_or(DEFAULT_TIMEOUT, Duration::from_secs),
        })
    }
}

impl Start {
    fn parse(query: &Query) -> Result<Self, Failure> {
        let invalid = |cause| Err(Failure::invalid_options("ListOptions", cause));
        let wants_list = query.get("sendInitialEvents").map(|_| query.flag("sendInitialEvents"));
        match (wants_list, query.get("resourceVersionMatch")) {
            (None, None) | (Some(_), Some("NotOlderThan")) => {}
            (Some(_), None) => {
                let detail = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
                return invalid(Cause::forbidden("resourceVersionMatch", detail));
            }
            (Some(_), Some(other)) => {
                return invalid(Cause::not_supported("resourceVersionMatch", other, &["NotOlderThan"]));
            }
            (None, Some(_)) => {
                let detail =
                    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
                return invalid(Cause::forbidden("resourceVersionMatch", detail));
            }
        }
        let revision = match query.get("resourceVersion") {
            None => None,
            // A server error by its number, where a list says 400. So says the real server.
            Some(text) => {
                Some(text.parse::<u64>().map_err(|it| Failure::new(500, "", not_a_revision(text, &it)))?)
            }
        };
        Ok(match (wants_list, revision) {
            (Some(true), None) => Self::List(At::Now),
            (Some(true), Some(revision)) => Self::List(At::NotOlderThan(revision)),
            (Some(false), None | Some(0)) => Self::Now,
            (None, None | Some(0)) => Self::Everything,
            (_, Some(revision)) => Self::After(revision),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_watch_begins() {
        let list = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
        for (query, expected) in [
            ("", Ok(Start::Everything)),
            ("resourceVersion=0", Ok(Start::Everything)),
            ("resourceVersion=7", Ok(Start::After(7))),
            (list, Ok(Start::List(At::Now))),
            (&format!("{list}&resourceVersion=7"), Ok(Start::List(At::NotOlderThan(7)))),
            ("sendInitialEvents=false&resourceVersionMatch=NotOlderThan", Ok(Start::Now)),
            ("sendInitialEvents=true", Err(422)),
            ("sendInitialEvents=true&resourceVersionMatch=Exact", Err(422)),
            ("resourceVersionMatch=NotOlderThan&resourceVersion=1", Err(422)),
            ("resourceVersion=abc", Err(500)),
        ] {
            let got = WatchOptions::parse(&Query::parse(query)).map(|it| it.start).map_err(|it| it.code);
            assert_eq!(got, expected, "{query}");
        }
    }
}
