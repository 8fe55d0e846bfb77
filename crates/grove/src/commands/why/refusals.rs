//! How many nodes a scheduler refuses for which reason: `0/8 nodes are available: 3 node(s) were unschedulable, 5
//! Insufficient cpu. …` of kube-scheduler and Volcano, and KAI's `no nodes with enough resources were found: …`.

use std::collections::BTreeMap;

/// Nodes by what is wrong with them. Each message is about one pod, so the largest number counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Refusals {
    pub(super) cordoned: u64,
    pub(super) tainted: u64,
    pub(super) not_selected: u64,
    /// By resource.
    pub(super) insufficient: BTreeMap<String, u64>,
}

/// As `node_unschedulable.go` words it, and KAI.
const CORDONED: [&str; 2] = ["node(s) were unschedulable", "node is unschedulable"];
/// As `taint_toleration.go` words it: `untolerated taint(s)`, and `untolerated taint {key: value}` before 1.37.
const TAINTED: [&str; 2] = ["untolerated taint", "had taints that the pod didn't tolerate"];
/// As `node_affinity.go` words it.
const NOT_SELECTED: [&str; 2] = ["didn't match Pod's node affinity", "didn't match the requested node name"];

/// What KAI calls resources that have another name in a pod.
const KAI_NAMES: [(&str, &str); 3] = [("GPUs", "nvidia.com/gpu"), ("CPU cores", "cpu"), ("memory", "memory")];

impl Refusals {
    pub(super) fn read(messages: &[&str]) -> Self {
        let mut all = Self::default();
        for message in messages {
            // What preemption could do is counted over the same nodes again.
            let message = message.split("preemption:").next().unwrap_or_default();
            // Names of resources have points in them, but no blank after it.
            let message =
                [". ", "; ", ": "].iter().fold(message.to_owned(), |text, it| text.replace(it, ", "));
            let mut short = None;
            for part in message.split(", ").map(|it| it.trim().trim_end_matches('.')) {
                match counted(part) {
                    Some((count, reason)) => {
                        short = reason.ends_with("didn't have enough resources").then_some(count);
                        all.add(count, reason);
                    }
                    // `3 node(s) didn't have enough resources: GPUs`
                    None => all.is_short_of(part, short),
                }
            }
        }
        all
    }

    fn add(&mut self, count: u64, reason: &str) {
        let is = |marks: &[&str]| marks.iter().any(|it| reason.contains(it));
        if is(&CORDONED) {
            self.cordoned = self.cordoned.max(count);
        } else if is(&TAINTED) {
            self.tainted = self.tainted.max(count);
        } else if is(&NOT_SELECTED) {
            self.not_selected = self.not_selected.max(count);
        } else if let Some(resource) = reason.strip_prefix("Insufficient ") {
            self.is_short_of(resource, Some(count));
        } else if reason == "Too many pods" {
            self.is_short_of("pods", Some(count));
        }
    }

    fn is_short_of(&mut self, resource: &str, count: Option<u64>) {
        let Some(count) = count.filter(|_| !resource.is_empty()) else { return };
        let name = KAI_NAMES.iter().find(|it| it.0 == resource).map_or(resource, |it| it.1);
        let most = self.insufficient.entry(name.to_owned()).or_default();
        *most = count.max(*most);
    }
}

/// `3 node(s) were unschedulable`, and `up to 3 node(s) …`, which folds several messages into one.
fn counted(part: &str) -> Option<(u64, &str)> {
    let (count, reason) = part.strip_prefix("up to ").unwrap_or(part).split_once(' ')?;
    Some((count.parse().ok()?, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusals(counts: [u64; 3], insufficient: &[(&str, u64)]) -> Refusals {
        let [cordoned, tainted, not_selected] = counts;
        let insufficient = insufficient.iter().map(|it| (it.0.to_owned(), it.1)).collect();
        Refusals { cordoned, tainted, not_selected, insufficient }
    }

    /// As `FitError` of kube-scheduler 1.37 and its plugins word it, and KAI 0.12, folded by the operator.
    #[test]
    fn nodes_are_counted_by_reason() {
        let rows: [(&[&str], Refusals); 9] = [
            (
                &[
                    "0/16 nodes are available: 3 node(s) were unschedulable, 13 Insufficient nvidia.com/gpu. preemption: 0/16 \
                   nodes are available: 3 Preemption is not helpful for scheduling, 13 No preemption victims found for \
                   incoming pod.",
                ],
                refusals([3, 0, 0], &[("nvidia.com/gpu", 13)]),
            ),
            (
                &[
                    "0/4 nodes are available: 1 Too many pods, 2 Insufficient cpu, 2 Insufficient memory, 1 node(s) had \
                   untolerated taint(s).",
                ],
                refusals([0, 1, 0], &[("cpu", 2), ("memory", 2), ("pods", 1)]),
            ),
            // Before 1.37 the taint is named.
            (
                &[
                    "0/2 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }, 1 node(s) \
                   didn't match Pod's node affinity/selector.",
                ],
                refusals([0, 1, 1], &[]),
            ),
            // Each message is about one pod: the nodes are the same.
            (
                &[
                    "0/4 nodes are available: 2 node(s) were unschedulable, 2 Insufficient cpu.",
                    "0/4 nodes are available: 2 \
                   node(s) were unschedulable, 1 Insufficient cpu.",
                ],
                refusals([2, 0, 0], &[("cpu", 2)]),
            ),
            (
                &["pod group is unschedulable, minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"],
                Refusals::default(),
            ),
            (
                &[
                    "resources for at most 3 pods were found, sub-group web-0-b requires 2 (tried 6 times): no nodes with enough \
                   resources were found: up to 4 node(s) didn't have enough resources: GPUs, 1 node(s) had untolerated taint",
                ],
                refusals([0, 1, 0], &[("nvidia.com/gpu", 4)]),
            ),
            (
                &[
                    "no nodes with enough resources were found: 1 node is unschedulable, 7 node(s) didn't have enough resources: \
                   CPU cores, memory",
                ],
                refusals([1, 0, 0], &[("cpu", 7), ("memory", 7)]),
            ),
            (&["queue 'x' does not exist"], Refusals::default()),
            (&[""], Refusals::default()),
        ];
        for (messages, want) in rows {
            assert_eq!(Refusals::read(messages), want, "{messages:?}");
        }
    }
}
