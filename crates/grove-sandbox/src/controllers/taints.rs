//! Taints that the node lifecycle controller sets, and which pods tolerate taints.

use k8s_openapi::{
    api::core::v1::{Node, Taint, Toleration},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};

pub(super) const NO_EXECUTE: &str = "NoExecute";
const NO_SCHEDULE: &str = "NoSchedule";
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
const NOT_READY: &str = "node.kubernetes.io/not-ready";
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// How long a pod that says nothing stays on a node that is not ready: what the API server's admission adds to every pod.
const DEFAULT_TOLERATION_SECONDS: i64 = 300;

/// How long a pod tolerates a taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tolerated {
    Forever,
    Seconds(i64),
}

/// The taints that a node is to have, by its condition Ready; `None` where it has them.
pub(super) fn wanted_taints(node: &Node, ready: Option<&str>, now: Timestamp) -> Option<Vec<Taint>> {
    let spec = node.spec.clone().unwrap_or_default();
    let mut wanted: Vec<(&str, &str)> = Vec::new();
    match ready {
        Some("Unknown") => wanted.extend([(UNREACHABLE, NO_SCHEDULE), (UNREACHABLE, NO_EXECUTE)]),
        Some("False") => wanted.extend([(NOT_READY, NO_SCHEDULE), (NOT_READY, NO_EXECUTE)]),
        _ => {}
    }
    if spec.unschedulable.unwrap_or_default() {
        wanted.push((UNSCHEDULABLE, NO_SCHEDULE));
    }
    let known = spec.taints.unwrap_or_default();
    let is_ours = |it: &Taint| [UNREACHABLE, NOT_READY, UNSCHEDULABLE].contains(&it.key.as_str());
    let is_wanted = |it: &Taint| wanted.contains(&(it.key.as_str(), it.effect.as_str()));
    let mut taints: Vec<Taint> = known.iter().filter(|it| !is_ours(it) || is_wanted(it)).cloned().collect();
    for (key, effect) in wanted {
        if !taints.iter().any(|it| it.key == key && it.effect == effect) {
            let (key, effect) = (key.to_owned(), effect.to_owned());
            let time_added = (effect == NO_EXECUTE).then_some(Time(now));
            taints.push(Taint { key, effect, value: None, time_added });
        }
    }
    (taints != known).then_some(taints)
}

/// Taints that remove pods.
pub(super) fn no_execute(node: &Node) -> impl Iterator<Item = &Taint> {
    let taints = node.spec.as_ref().and_then(|it| it.taints.as_deref()).unwrap_or_default();
    taints.iter().filter(|it| it.effect == NO_EXECUTE)
}

/// How long a pod with these tolerations stays in spite of a taint; nothing where it does not stay at all.
pub(super) fn tolerated(taint: &Taint, tolerations: &[Toleration]) -> Option<Tolerated> {
    let matching: Vec<&Toleration> = tolerations.iter().filter(|it| tolerates(it, taint)).collect();
    if matching.is_empty() {
        let has_default = [UNREACHABLE, NOT_READY].contains(&taint.key.as_str());
        return has_default.then_some(Tolerated::Seconds(DEFAULT_TOLERATION_SECONDS));
    }
    let seconds = matching.iter().filter_map(|it| it.toleration_seconds).min();
    Some(seconds.map_or(Tolerated::Forever, |it| Tolerated::Seconds(it.max(0))))
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let text = |it: &Option<String>| it.clone().unwrap_or_default();
    let (key, effect) = (text(&toleration.key), text(&toleration.effect));
    let is_about = (effect.is_empty() || effect == taint.effect) && (key.is_empty() || key == taint.key);
    is_about
        && match toleration.operator.as_deref() {
            Some("Exists") => true,
            _ => !key.is_empty() && text(&toleration.value) == text(&taint.value),
        }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

    use serde_json::{Value, json};

    use super::*;

    fn taints(spec: Value, ready: &str) -> Option<Vec<String>> {
        let node: Node = serde_json::from_value(json!({ "metadata": {}, "spec": spec })).unwrap();
        let taints = wanted_taints(&node, Some(ready), Timestamp::UNIX_EPOCH)?;
        Some(taints.iter().map(|it| format!("{}:{}", it.key, it.effect)).collect())
    }

    #[test]
    fn taints_follow_ready_and_cordon() {
        let both = ["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"];
        assert_eq!(taints(json!({}), "True"), None);
        assert_eq!(taints(json!({}), "Unknown").unwrap(), both);
        let theirs = json!({ "taints": [{ "key": "gpu", "effect": "NoExecute" }] });
        assert_eq!(taints(theirs.clone(), "True"), None);
        assert_eq!(taints(theirs, "Unknown").unwrap(), ["gpu:NoExecute", both[0], both[1]]);
        let tainted = json!({ "taints": [
            { "key": "node.kubernetes.io/unreachable", "effect": "NoSchedule" },
            { "key": "node.kubernetes.io/unreachable", "effect": "NoExecute" },
        ] });
        assert_eq!(taints(tainted.clone(), "Unknown"), None);
        assert_eq!(taints(tainted, "True").unwrap(), [""; 0]);
        let cordoned = taints(json!({ "unschedulable": true }), "True").unwrap();
        assert_eq!(cordoned, ["node.kubernetes.io/unschedulable:NoSchedule"]);
    }

    #[test]
    fn tolerations() {
        use Tolerated::{Forever, Seconds};
        let unreachable = json!({ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute" });
        let gpu = json!({ "key": "gpu", "value": "a100", "effect": "NoExecute" });
        let rows = [
            (&unreachable, json!([]), Some(Seconds(300))),
            (&gpu, json!([]), None),
            (&gpu, json!([{ "operator": "Exists" }]), Some(Forever)),
            (&gpu, json!([{ "key": "gpu", "operator": "Exists", "tolerationSeconds": 5 }]), Some(Seconds(5))),
            (
                &gpu,
                json!([{ "key": "gpu", "operator": "Exists", "tolerationSeconds": -5 }]),
                Some(Seconds(0)),
            ),
            (&gpu, json!([{ "key": "gpu", "value": "a100" }]), Some(Forever)),
            (&gpu, json!([{ "key": "gpu", "value": "h100" }]), None),
            (&gpu, json!([{ "key": "gpu", "value": "a100", "effect": "NoSchedule" }]), None),
            (
                &gpu,
                json!([{ "key": "gpu", "operator": "Exists" }, { "operator": "Exists", "tolerationSeconds": 9 }]),
                Some(Seconds(9)),
            ),
            (
                &unreachable,
                json!([{ "key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 2 }]),
                Some(Seconds(2)),
            ),
        ];
        for (taint, tolerations, want) in rows {
            let taint: Taint = serde_json::from_value(taint.clone()).unwrap();
            let tolerations_read: Vec<Toleration> = serde_json::from_value(tolerations.clone()).unwrap();
            assert_eq!(tolerated(&taint, &tolerations_read), want, "{tolerations}");
        }
    }
}
