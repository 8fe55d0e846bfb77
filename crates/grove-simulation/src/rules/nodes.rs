//! Pods go because of their node only where it is lost, and by force only where nobody else ends them.

use grove_apiserver::Object;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use super::{Broken, Rule, SECOND};
use crate::{
    clock,
    cluster::{number, text},
    past::Past,
};

/// How much longer than its time of grace a pod may take to go.
const MARGIN: SignedDuration = SignedDuration::from_secs(30);
/// Grace of a pod that says nothing.
const DEFAULT_GRACE: i64 = 30;
/// Whether the operator may believe that a node is lost.
pub(super) fn is_lost(past: &Past, node: &str) -> bool {
    let (Some(after), Some(silent)) = (past.lost_after, past.nodes.get(node)) else { return false };
    let now = Instant::now();
    let is_due = |since: Instant| now.duration_since(since) + SECOND + past.skew >= after;
    silent.had(past.node_start(), |it| it.is_some_and(is_due))
}

/// A pod is gone with a write of the operator; this is how it was before.
pub(crate) fn pod_removed(past: &Past, pod: &Object) -> Result<(), Broken> {
    let node = text(pod, "/spec/nodeName");
    // Who has no node, or has ended, has nobody to wait for.
    if node.is_empty() || matches!(text(pod, "/status/phase"), "Failed" | "Succeeded") {
        return Ok(());
    }
    let broken =
        |why: &str| Err(Rule::Force.broken(format!("pod {} was removed from {node}, {why}", pod.name())));
    if !is_lost(past, node) {
        return broken("which is not lost");
    }
    // Its last state tells of the deletion by force, so that only the time at which it was asked to go is left of the first.
    let end = pod.meta("deletionTimestamp").and_then(|it| it.parse::<Timestamp>().ok());
    let seconds = |field: &str| number(pod, field).and_then(|it| i64::try_from(it).ok());
    let asked = end.map(|it| {
        it - SignedDuration::from_secs(seconds("/metadata/deletionGracePeriodSeconds").unwrap_or_default())
    });
    let grace =
        SignedDuration::from_secs(seconds("/spec/terminationGracePeriodSeconds").unwrap_or(DEFAULT_GRACE));
    let latest = clock::now() + past.skew;
    if asked.is_some_and(|it| it + grace + MARGIN <= latest) {
        Ok(())
    } else {
        broken("which may still end it")
    }
}
