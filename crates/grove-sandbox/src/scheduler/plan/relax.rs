//! Pods that differ in labels alone are alike for placement, unless a selector looks at these labels. Every pod of a
//! StatefulSet or PodClique has its number as a label: without this, no two pods would be interchangeable.

use std::collections::BTreeSet;

use grove_placement::PodRequirements;

use crate::scheduler::observe::{
    pod_view::PodView,
    snapshot::{label_keys, selector_keys},
};

/// Labels that the pods themselves look at, and those of `others`.
pub(super) fn labels<'a>(
    pods: impl Iterator<Item = &'a PodView>,
    others: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut labels = others.clone();
    for pod in pods.filter_map(|it| it.requirements.as_ref().ok()) {
        let terms = pod.affinity.iter().chain(&pod.anti_affinity).flat_map(label_keys);
        let spread = pod.spread.iter().flat_map(|it| selector_keys(&it.selector));
        for key in terms.chain(spread) {
            if !labels.contains(key) {
                labels.insert(key.to_owned());
            }
        }
    }
    labels
}

/// The requirements with these labels only.
pub(super) fn without_labels(pod: &PodRequirements, labels: &BTreeSet<String>) -> PodRequirements {
    let mut pod = pod.clone();
    pod.labels.retain(|key, _| labels.contains(key));
    pod
}
