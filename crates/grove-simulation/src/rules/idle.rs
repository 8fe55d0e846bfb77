//! Nothing is written that changes nothing: a write without effect is only right where the operator cannot know better.

use grove_apiserver::{Key, WriteRecord};
use tokio::time::Instant;

use super::{Broken, Rule};
use crate::{cluster::KAI_TOPOLOGIES, past::Past};

/// The operator wrote, and nothing changed. `started` is when it was started.
pub(crate) fn no_effect(past: &Past, write: &WriteRecord, started: Instant) -> Result<(), Broken> {
    // Known: each operator applies the topology once after its start, before it has seen it (docs/status.md).
    let is_known = write.resource == KAI_TOPOLOGIES;
    let is_change = matches!(write.verb, "patch" | "update") && write.code == 200 && !is_known;
    let key = Key::new(write.resource.as_str(), &write.namespace, &write.name);
    let Some(changed) = past.changed.get(&key).filter(|_| is_change) else { return Ok(()) };
    if *changed >= past.start() && *changed >= started {
        return Ok(());
    }
    let of = write.subresource.map(|it| format!(" {it} of")).unwrap_or_default();
    let words = format!(
        "{}{of} {} {} changed nothing, {:.0?} after its last change",
        write.verb,
        write.resource,
        write.name,
        changed.elapsed()
    );
    Err(Rule::NoEffect.broken(words))
}
