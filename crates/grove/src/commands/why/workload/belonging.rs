//! Which pods belong to a workload: those whose owners lead to it.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::{api::core::v1::Pod, apimachinery::pkg::apis::meta::v1::OwnerReference};

/// Owners above a pod. A chain that is longer is none: somebody made a circle.
pub(super) const MAX_DEPTH: usize = 8;

/// Owners of objects that are no pods, by UID.
pub(super) type Owners = BTreeMap<String, Vec<OwnerReference>>;

/// A kind that an owner reference names: API version and kind.
pub(super) type KindName = (String, String);

/// Whether the chain of a pod's owners leads to an object.
pub(super) fn belongs(pod: &Pod, uid: &str, owners: &Owners) -> bool {
    let mut level: BTreeSet<&str> = uids(pod.metadata.owner_references.as_deref());
    for _ in 0..MAX_DEPTH {
        if level.contains(uid) {
            return true;
        }
        level = level.iter().flat_map(|it| uids(owners.get(*it).map(Vec::as_slice))).collect();
    }
    pod.metadata.uid.as_deref() == Some(uid)
}

fn uids(references: Option<&[OwnerReference]>) -> BTreeSet<&str> {
    references.unwrap_or_default().iter().map(|it| it.uid.as_str()).collect()
}

/// Kinds of owners that are not known yet, of pods that are not known to belong to the object.
pub(super) fn unknown(pods: &[Pod], uid: &str, owners: &Owners) -> BTreeSet<KindName> {
    let mut kinds = BTreeSet::new();
    for pod in pods.iter().filter(|it| !belongs(it, uid, owners)) {
        let mut level: Vec<&OwnerReference> = pod.metadata.owner_references.iter().flatten().collect();
        for _ in 0..MAX_DEPTH {
            let is_unknown = |it: &&&OwnerReference| !owners.contains_key(&it.uid);
            kinds.extend(level.iter().filter(is_unknown).map(|it| (it.api_version.clone(), it.kind.clone())));
            level = level.iter().filter_map(|it| owners.get(&it.uid)).flatten().collect();
        }
    }
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(kind: &str, uid: &str) -> OwnerReference {
        OwnerReference {
            api_version: "example.com/v1".to_owned(),
            kind: kind.to_owned(),
            uid: uid.to_owned(),
            ..OwnerReference::default()
        }
    }

    fn pod(uid: &str, owners: Vec<OwnerReference>) -> Pod {
        let mut pod = Pod::default();
        pod.metadata.uid = Some(uid.to_owned());
        pod.metadata.owner_references = Some(owners);
        pod
    }

    #[test]
    fn the_chain_of_owners_decides() {
        let mut owners = Owners::new();
        owners.insert("replicas".to_owned(), vec![owner("Deployment", "deployment")]);
        owners.insert("round".to_owned(), vec![owner("A", "round")]);
        for number in 0..20 {
            owners.insert(format!("far-{number}"), vec![owner("A", &format!("far-{}", number + 1))]);
        }
        let rows = [
            ("its own", vec![], "p", true),
            ("directly", vec![owner("Job", "job")], "job", true),
            ("by another", vec![owner("Job", "job")], "job-2", false),
            ("through one", vec![owner("ReplicaSet", "replicas")], "deployment", true),
            ("the one between", vec![owner("ReplicaSet", "replicas")], "replicas", true),
            ("by the second", vec![owner("A", "x"), owner("ReplicaSet", "replicas")], "deployment", true),
            ("nobody knows", vec![owner("B", "unknown")], "deployment", false),
            ("a circle", vec![owner("A", "round")], "deployment", false),
            ("seven above", vec![owner("A", "far-0")], "far-7", true),
            ("too far", vec![owner("A", "far-0")], "far-8", false),
        ];
        for (what, references, uid, want) in rows {
            assert_eq!(belongs(&pod("p", references), uid, &owners), want, "{what}");
        }
    }

    #[test]
    fn only_what_may_lead_there_is_asked_for() {
        let mut owners = Owners::new();
        let pods = [
            pod("a", vec![owner("Job", "asked")]),
            pod("b", vec![owner("ReplicaSet", "replicas")]),
            pod("c", vec![]),
        ];
        let kinds = |owners: &Owners| -> Vec<String> {
            unknown(&pods, "asked", owners).into_iter().map(|it| it.1).collect()
        };
        assert_eq!(kinds(&owners), ["ReplicaSet"]);
        owners.insert("replicas".to_owned(), vec![owner("Deployment", "deployment")]);
        assert_eq!(kinds(&owners), ["Deployment"]);
        owners.insert("deployment".to_owned(), Vec::new());
        assert!(kinds(&owners).is_empty());
    }
}
