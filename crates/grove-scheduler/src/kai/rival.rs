//! KAI's own pod grouper beside us.
//!
//! From 0.15 on it leaves pods alone that ask for it. Before, it writes a PodGroup of the same name and, from 0.13 on,
//! of the same content, but for the parents that we give to groups beside bundles: there we follow it. The one of 0.12
//! knows neither placement nor bundles and takes them off again whenever a pod changes: KAI would place the gang
//! anywhere. That must be told, and not be fought over.

use serde_json::Value;

use super::TOP_OWNER_KEY;

const TOLD: &str = "KAI's own pod grouper takes the placement off the PodGroup: \
    update KAI to 0.13 or newer, or run it without the pod grouper";

/// Whether it writes the PodGroup that is there, and knows bundles: groups are in them, and others at the root. Such a KAI
/// is 0.13 or newer, and takes both side by side.
pub(super) fn knows_bundles(there: &Value) -> bool {
    let sub_groups = there["spec"]["subGroups"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has = |it: &Value, field: &str| it.get(field).is_some();
    is_written(there)
        && sub_groups.iter().any(|it| has(it, "parent"))
        && sub_groups.iter().any(|it| has(it, "minMember") && !has(it, "parent"))
}

fn is_written(there: &Value) -> bool {
    there["metadata"]["annotations"].get(TOP_OWNER_KEY).is_some()
}

/// Fails if somebody else writes the PodGroup that is there, and what was there before us or after us lacks the
/// placement that the gang asks for.
pub(super) fn check(wanted: &Value, there: Option<&Value>) -> Result<(), String> {
    let Some(there) = there.filter(|it| is_written(it)) else {
        return Ok(());
    };
    let is_lost = |field: &str, wanted: &Value, there: &Value| {
        let is_empty = |it: &Value| it.as_object().is_none_or(serde_json::Map::is_empty) && !it.is_string();
        wanted.get(field).is_some() && there.get(field).is_none_or(is_empty)
    };
    let there = &there["spec"];
    let sub_groups = |spec: &Value| spec["subGroups"].as_array().cloned().unwrap_or_default();
    let has = sub_groups(there);
    let lost_below = sub_groups(wanted).iter().any(|wanted| {
        let same = has.iter().find(|it| it["name"] == wanted["name"]);
        same.is_some_and(|it| is_lost("parent", wanted, it) || is_lost("topologyConstraint", wanted, it))
    });
    if lost_below || is_lost("topologyConstraint", wanted, there) { Err(TOLD.to_owned()) } else { Ok(()) }
}
