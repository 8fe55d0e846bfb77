//! What is special about pods: how they begin, and how long they have to end.

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::DeleteOptions;
use super::delete::{Grace, bump_generation};
use crate::metadata;
use crate::store::time;

/// What the real server fills in when the spec says nothing.
const DEFAULT_GRACE: i64 = 30;

/// The status of a new pod. Its conditions have a time where that is wanted.
pub(super) fn begin(pod: &mut Value, now: Option<Value>) {
    let mut status = json!({"phase": "Pending", "qosClass": quality(pod)});
    if has_gates(pod) {
        status["conditions"] = json!([{
            "type": "PodScheduled", "status": "False", "reason": "SchedulingGated",
            "message": "Scheduling is blocked due to non-empty scheduling gates",
        }]);
        if let Some(now) = now {
            status["conditions"][0]["lastProbeTime"] = Value::Null;
            status["conditions"][0]["lastTransitionTime"] = now;
        }
    }
    metadata::map_mut(pod).insert("status".to_owned(), status);
}

/// Whether the pod waits for somebody to remove its scheduling gates.
pub(super) fn has_gates(pod: &Value) -> bool {
    pod.pointer("/spec/schedulingGates").and_then(Value::as_array).is_some_and(|it| !it.is_empty())
}

/// Guaranteed if every container asks for exactly what it is limited to, BestEffort if none asks for anything.
fn quality(pod: &Value) -> &'static str {
    let containers = ["/spec/initContainers", "/spec/containers"];
    let containers = containers.iter().filter_map(|it| pod.pointer(it)?.as_array()).flatten();
    let (mut any, mut all) = (false, true);
    for container in containers {
        let amount = |list: &str, name: &str| container.pointer(&format!("/resources/{list}/{name}"));
        for name in ["cpu", "memory"] {
            let (limit, request) = (amount("limits", name), amount("requests", name));
            any |= limit.is_some() || request.is_some();
            all &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (any, all) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

/// How long the pod has, written into it. A node confirms the end by a deletion without grace.
pub(super) fn grace(pod: &mut Value, options: &DeleteOptions, now: Timestamp) -> Grace {
    let end =
        |from: Timestamp, seconds: i64| from.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(from);
    if let Some(until) = metadata::text(pod, "deletionTimestamp") {
        // One whose grace is over was marked, and its removal failed: it is removed now.
        let left = metadata::number(pod, "deletionGracePeriodSeconds").filter(|it| *it > 0);
        let Some(left) = left else { return Grace::Unknown };
        // Grace can only become shorter.
        let Some(seconds) = options.grace_period_seconds.filter(|it| *it < left) else {
            return Grace::Pending;
        };
        let seconds = seconds.max(0);
        let since = until.parse().map_or(now, |until| end(until, -left));
        metadata::set(pod, "deletionTimestamp", Some(time(end(since, seconds))));
        metadata::set(pod, "deletionGracePeriodSeconds", Some(seconds.into()));
        return Grace::Seconds(seconds);
    }
    let in_spec = pod.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_i64);
    let seconds = if is_on_no_node(pod) || is_over(pod) {
        0
    } else {
        options.grace_period_seconds.or(in_spec).unwrap_or(DEFAULT_GRACE)
    };
    let seconds = if seconds < 0 { 1 } else { seconds };
    metadata::set(pod, "deletionTimestamp", Some(time(end(now, seconds))));
    metadata::set(pod, "deletionGracePeriodSeconds", Some(seconds.into()));
    bump_generation(pod);
    Grace::Seconds(seconds)
}

fn is_on_no_node(pod: &Value) -> bool {
    pod.pointer("/spec/nodeName").and_then(Value::as_str).is_none_or(str::is_empty)
}

fn is_over(pod: &Value) -> bool {
    matches!(pod.pointer("/status/phase").and_then(Value::as_str), Some("Succeeded" | "Failed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_of_service() {
        for (resources, expected) in [
            (json!([{}]), "BestEffort"),
            (json!([{"resources": {"requests": {"cpu": "1"}}}]), "Burstable"),
            (json!([{"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}]), "Guaranteed"),
            (json!([{"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}, {}]), "Burstable"),
        ] {
            assert_eq!(quality(&json!({"spec": {"containers": resources}})), expected, "{resources}");
        }
    }
}
