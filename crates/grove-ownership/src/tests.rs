//! What counts as owned, and what does not.

use k8s_openapi::api::apps::v1::ReplicaSet;
use k8s_openapi::api::core::v1::Node;

use super::*;

fn metadata(namespace: Option<&str>, references: &[(&str, &str, &str, bool)]) -> ObjectMeta {
    let reference = |(api_version, kind, uid, controller): &(&str, &str, &str, bool)| OwnerReference {
        api_version: (*api_version).to_owned(),
        kind: (*kind).to_owned(),
        name: "owner".to_owned(),
        uid: (*uid).to_owned(),
        controller: controller.then_some(true),
        ..OwnerReference::default()
    };
    ObjectMeta {
        namespace: namespace.map(str::to_owned),
        uid: Some("1".to_owned()),
        owner_references: Some(references.iter().map(reference).collect()),
        ..ObjectMeta::default()
    }
}

fn owner() -> OwnerKey {
    OwnerKey::of(&ReplicaSet { metadata: metadata(Some("a"), &[]), ..ReplicaSet::default() })
}

#[test]
fn namespace_group_kind_and_uid_are_compared_together() {
    for (namespace, reference, want) in [
        (Some("a"), ("apps/v1", "ReplicaSet", "1", true), true),
        (Some("a"), ("apps/v2", "ReplicaSet", "1", true), true),
        (Some("b"), ("apps/v1", "ReplicaSet", "1", true), false),
        (None, ("apps/v1", "ReplicaSet", "1", true), false),
        (Some("a"), ("nowhere.io/v1", "ReplicaSet", "1", true), false),
        (Some("a"), ("v1", "ReplicaSet", "1", true), false),
        (Some("a"), ("apps/v1", "X", "1", true), false),
        (Some("a"), ("apps/v1", "ReplicaSet", "2", true), false),
    ] {
        let child = metadata(namespace, &[reference]);
        assert_eq!(owner().controls(&child), want, "{namespace:?} {reference:?}");
        assert_eq!(owner().owns(&child), want, "{namespace:?} {reference:?}");
        let key = OwnerKey::of_controller(&child).unwrap();
        assert_eq!(key == owner(), want, "{namespace:?} {reference:?}");
        assert_eq!(key.to_string() == owner().to_string(), want, "{namespace:?} {reference:?}");
        assert_eq!(OwnerKey::of_owners(&child), [key]);
    }
}

#[test]
fn an_owner_that_is_no_controller_owns_and_does_not_control() {
    let child = metadata(Some("a"), &[("v1", "Pod", "2", true), ("apps/v1", "ReplicaSet", "1", false)]);
    assert!(owner().owns(&child));
    assert!(!owner().controls(&child));
}

#[test]
fn cluster_scoped_owners_own_cluster_scoped_objects() {
    let node = Node { metadata: metadata(None, &[]), ..Node::default() };
    let reference = [("v1", "Node", "1", true)];
    assert!(OwnerKey::of(&node).controls(&metadata(None, &reference)));
    assert!(!OwnerKey::of(&node).controls(&metadata(Some("a"), &reference)));
    assert!(OwnerKey::of(&node).is_a::<Node>() && !OwnerKey::of(&node).is_a::<ReplicaSet>());
}

/// Kinds and UIDs in a reference are free text, but the text of a key begins with the namespace.
#[test]
fn no_text_of_a_reference_leads_into_another_namespace() {
    for (kind, uid) in [("ReplicaSet", "1/../../a/apps/ReplicaSet/1"), ("/a/apps/ReplicaSet", "1")] {
        let forged = metadata(Some("evil"), &[("apps/v1", kind, uid, true)]);
        assert!(OwnerKey::of_controller(&forged).unwrap().to_string().starts_with("evil/"));
    }
}
