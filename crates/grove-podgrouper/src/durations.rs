//! How long a group waits, and is waited for: durations in annotations.

use grove_api::wire::GoDuration;
use serde_json::Value;

use crate::{metadata::annotation, workload::Owner};

/// How long a group waits before others are preempted for it.
pub(crate) const PREEMPTION_DELAY: &str = "kai.scheduler/preemption-delay";
/// How long a group may miss pods; below zero for ever.
pub(crate) const STALENESS: &str = "kai.scheduler/staleness-grace-period";

/// Longer texts are no durations. Without an end, zeros would make one of any length.
const MAX_LENGTH: usize = 64;

/// The first that the owners or the pod say rightly; each wrong one is a remark.
pub(crate) fn duration(
    key: &str,
    owners: &[Owner],
    pod: &Value,
    may_be_negative: bool,
    remarks: &mut Vec<String>,
) -> Option<String> {
    let of_owners = owners.iter().filter_map(|it| it.annotations.get(key).map(String::as_str));
    for text in of_owners.chain(annotation(pod, key)) {
        if text.len() <= MAX_LENGTH
            && GoDuration::from(text).nanos().is_ok_and(|nanos| may_be_negative || nanos >= 0)
        {
            return Some(text.to_owned());
        }
        let sign = if may_be_negative { "" } else { ", and not negative" };
        let shown: String = text.chars().take(MAX_LENGTH).collect();
        remarks.push(format!(
            "annotation {key} is not used: {shown:?} must be a duration such as 30s, 15m or 1h30m{sign}"
        ));
    }
    None
}

#[cfg(test)]
mod tests;
