//! Why Volcano does not place a gang, in one line.

use serde_json::Value;

use crate::words::{clean, cut};

/// Longest line.
const MAX_LINE: usize = 400;

/// What the PodGroup's conditions say, or else its phase.
pub(super) fn explain(objects: &[Value]) -> Option<String> {
    let object = objects.iter().find(|it| it["apiVersion"] == super::API_VERSION)?;
    let status = &object["status"];
    let newest = status["conditions"].as_array().into_iter().flatten().filter(|it| it["status"] == "True");
    // Times of one second are in the order of the list.
    let newest = newest.max_by_key(|it| it["lastTransitionTime"].as_str().unwrap_or_default());
    let line = match newest {
        Some(it) if it["type"] == "Unschedulable" => unschedulable(it)?,
        Some(_) => return None,
        None => phase(status["phase"].as_str()?, object["spec"]["queue"].as_str().unwrap_or_default())?,
    };
    Some(cut(&line, MAX_LINE))
}

/// `3/4 tasks in gang unschedulable: pod group is not ready, 4 Pending, 4 minAvailable; Pending: 3 Unschedulable. Origin
/// reason is a-0: 0/2 nodes are unavailable: 2 Insufficient cpu.`
fn unschedulable(condition: &Value) -> Option<String> {
    let message = clean(condition["message"].as_str().unwrap_or_default());
    let parts = || {
        let (count, rest) = message.split_once(" tasks in gang unschedulable: ")?;
        let (missing, all) = count.split_once('/')?;
        let (_, origin) = rest.split_once(". Origin reason is")?;
        Some(format!("{missing} of {all} pods cannot be placed: {}", origin.trim_start_matches([':', ' '])))
    };
    let fallback = || Some(message.clone()).filter(|it| !it.is_empty());
    let reason = || condition["reason"].as_str().map(str::to_owned);
    parts().or_else(fallback).or_else(reason)
}

fn phase(phase: &str, queue: &str) -> Option<String> {
    match phase {
        "" | "Pending" => Some(format!("not yet admitted to queue {queue:?}")),
        "Inqueue" => Some(format!("queued in {queue:?}; Volcano gives no reason")),
        "Unknown" => Some("some of its pods run and others cannot be placed".to_owned()),
        _ => None,
    }
}
