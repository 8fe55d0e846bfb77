//! KAI's own pod grouper beside us.
//!
//! From 0.15 on it leaves pods alone that ask for it. Before, it writes a PodGroup of the same name and, from 0.13 on,
//! of the same content, so that both agree. The one of 0.12 knows neither placement nor bundles and takes them off
//! again whenever a pod changes: KAI would place the gang anywhere. That must be told, and not be fought over.

use serde_json::Value;

use super::TOP_OWNER_KEY;

const TOLD: &str = "KAI's own pod grouper takes the placement off the PodGroup: \
    update KAI to 0.13 or newer, or run it without the pod grouper";

/// Fails if somebody else writes the PodGroup that is there, and what was there before us or after us lacks the
/// placement that the gang asks for.
pub(super) fn check(wanted: &Value, there: Option<&Value>) -> Result<(), String> {
    let Some(there) = there.filter(|it| it["metadata"]["annotations"].get(TOP_OWNER_KEY).is_some()) else {
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
