//! Preferred topology levels. PodGroups have none; the kube backend writes them as preferred affinity of the pods to each other,
//! and that is how they are recognised, whoever wrote them.

use std::collections::{BTreeMap, BTreeSet};

use grove_placement::{Group, Members, pod::PodTerm};

use super::unit::Member;

/// Sets the preferred level of each group whose pods would all rather be near each other.
pub(super) fn set(tree: &mut Group, members: &BTreeMap<String, Member>) {
    set_below(tree, members, &BTreeSet::new());
}

/// `taken` are terms that already are those of a group around it.
fn set_below(group: &mut Group, members: &BTreeMap<String, Member>, taken: &BTreeSet<PodTerm>) {
    let pods: Vec<&Member> = group.pods().iter().filter_map(|it| members.get(&it.name)).collect();
    let shared = |term: &PodTerm| {
        pods.iter().all(|it| {
            let is_meant =
                it.pod.requirements.as_ref().is_ok_and(|pod| term.matches(&pod.namespace, &pod.labels));
            is_meant && it.pod.near.iter().any(|own| own.1 == *term)
        })
    };
    let Some(first) = pods.first() else { return };
    let terms = first.pod.near.iter().filter(|it| !taken.contains(&it.1) && shared(&it.1));
    let terms: Vec<&(i32, PodTerm)> = terms.collect();
    group.preferred = terms.iter().max_by_key(|it| it.0).map(|it| it.1.topology_key.clone());
    let taken = taken.iter().cloned().chain(terms.into_iter().map(|it| it.1.clone())).collect();
    if let Members::Groups(groups) = &mut group.members {
        for it in groups {
            set_below(it, members, &taken);
        }
    }
}
