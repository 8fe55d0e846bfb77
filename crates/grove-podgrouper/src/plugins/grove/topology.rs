//! Where a PodGang and its parts go.

use std::{collections::BTreeMap, fmt::Arguments};

use grove_api::constants::annotations::TOPOLOGY_NAME;
use serde_json::Value;

use crate::{
    fields::{map, text},
    group::Topology,
    plugin::Refused,
    topology_annotations::{NAME, PREFERRED, REQUIRED, complete, said},
};

/// The topology that all levels of a PodGang are of; empty where it names none.
pub(super) fn name(gang: &Value) -> &str {
    said(gang, TOPOLOGY_NAME).or_else(|| said(gang, NAME)).unwrap_or_default()
}

/// What a part asks for; `None` where it asks for nothing.
pub(super) fn constraint(
    part: &Value,
    topology: &str,
    field: Arguments<'_>,
) -> Result<Option<Topology>, Refused> {
    Ok(levels(part, topology, field)?
        .and_then(|levels| complete(Some(topology), levels.required, levels.preferred)))
}

/// What the PodGang asks for, and, where it leaves something open, what annotations ask for.
pub(super) fn root(
    gang: &Value,
    topology: &str,
    annotations: &BTreeMap<String, String>,
) -> Result<Option<Topology>, Refused> {
    let levels = levels(&gang["spec"], topology, format_args!("spec"))?;
    // Where the PodGang has levels they are of its topology; else annotations name their own.
    let topology = levels.as_ref().map(|_| topology);
    let levels = levels.unwrap_or_default();
    let annotation = |key: &str| annotations.get(key).map(String::as_str).filter(|it| !it.is_empty());
    Ok(complete(
        topology.or_else(|| annotation(NAME)),
        levels.required.or_else(|| annotation(REQUIRED)),
        levels.preferred.or_else(|| annotation(PREFERRED)),
    ))
}

#[derive(Default)]
struct Levels<'a> {
    required: Option<&'a str>,
    preferred: Option<&'a str>,
}

/// Levels of a pack constraint; `None` where there are none.
fn levels<'a>(part: &'a Value, topology: &str, field: Arguments<'_>) -> Result<Option<Levels<'a>>, Refused> {
    let field = format!("{field}.topologyConstraint");
    map(&part["topologyConstraint"], format_args!("{field}"))?;
    let pack = &part["topologyConstraint"]["packConstraint"];
    let field = format!("{field}.packConstraint");
    map(pack, format_args!("{field}"))?;
    let level = |key: &str| -> Result<Option<&'a str>, Refused> {
        Ok(text(&pack[key], format_args!("{field}.{key}"))?.filter(|it| !it.is_empty()))
    };
    let levels = Levels { required: level("required")?, preferred: level("preferred")? };
    if levels.required.is_none() && levels.preferred.is_none() {
        return Ok(None);
    }
    if topology.is_empty() {
        return Err(Refused(format!(
            "{field} names a level, but the topology name cannot be empty: name the topology in annotation \
             {TOPOLOGY_NAME} or {NAME} of the PodGang"
        )));
    }
    Ok(Some(levels))
}
