//! Health for those who ask, and a few metrics.

use std::fmt::Write as _;

use http::Response;

use crate::body::Body;
use crate::query::Query;
use crate::server::ApiServer;
use crate::service::{answer_owned_text, answer_text};

/// The only thing that can be wrong with a server in memory is that it does not answer at all.
const CHECKS: [&str; 2] = ["ping", "store"];

/// `/livez`, `/livez?verbose`, `/livez/ping`.
pub(crate) fn health(endpoint: &str, check: Option<&str>, query: &Query) -> Response<Body> {
    let is_verbose = query.flag("verbose");
    match check {
        None if is_verbose => {
            let mut text = String::new();
            for check in CHECKS {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "[+]{check} ok");
            }
            let _ = writeln!(text, "{endpoint} check passed");
            answer_owned_text(200, text)
        }
        Some(check) if !CHECKS.contains(&check) => answer_text(404, "404 page not found\n"),
        _ => answer_text(200, "ok"),
    }
}

/// `/metrics`
pub(crate) fn metrics(server: &ApiServer) -> Response<Body> {
    let mut text = String::from(
        "# HELP apiserver_storage_objects Number of stored objects by resource.\n# TYPE apiserver_storage_objects gauge\n",
    );
    let (store, resources) = (server.store(), server.resources());
    for resource in resources.iter() {
        let count = store.list(resource.id(), None).len();
        let _ = writeln!(text, "apiserver_storage_objects{{resource=\"{}\"}} {count}", resource.id());
    }
    text.push_str("# HELP apiserver_storage_revision Revision of the last write.\n# TYPE apiserver_storage_revision counter\n");
    let _ = writeln!(text, "apiserver_storage_revision {}", store.revision());
    answer_owned_text(200, text)
}
