//! Required levels that cannot be kept.

use crate::{backend::RenderError, tree::Gang};

/// Refuses a gang that requires a topology level anywhere: it would be placed without, and nobody would know.
pub(super) fn refuse_required(gang: &Gang, why: &str) -> Result<(), RenderError> {
    let of_nodes =
        gang.nodes().into_iter().filter_map(|it| Some((it.name.as_str(), it.pack.required.as_ref()?)));
    let of_gang = gang.pack.required.iter().map(|level| (gang.name.as_str(), level));
    match of_gang.chain(of_nodes).next() {
        None => Ok(()),
        Some((name, level)) => Err(RenderError(format!(
            "{name} requires the topology level {level}, which is not possible: {why}"
        ))),
    }
}
