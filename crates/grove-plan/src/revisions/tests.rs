//! Which templates are kept.

use serde_json::json;

use super::*;
use crate::fixture::set;

/// The template of this hash as the set kept it under this number.
fn kept(set: &PodCliqueSet, hash: &str, number: i64) -> ControllerRevision {
    let mut revision = objects::revision(set, hash, number);
    revision.metadata.uid = Some(format!("uid-{hash}"));
    revision
}

fn steps(set: &PodCliqueSet, hash: &str, seen: &[ControllerRevision]) -> Vec<Step> {
    plan(set, hash, &seen.iter().collect::<Vec<_>>(), true)
}

fn delete(hash: &str) -> Step {
    Step::Delete { name: format!("inf-{hash}"), uid: format!("uid-{hash}") }
}

#[test]
fn the_first_template_is_number_one() {
    let set = set("fe=2/1");
    let want = json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {
            "name": "inf-h1", "namespace": "ml",
            "labels": { "app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "inf",
                        "app.kubernetes.io/component": "pcs-revision" },
            "ownerReferences": [{ "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "inf", "uid": "uid-inf",
                                  "controller": true, "blockOwnerDeletion": true }],
        },
        "data": { "template": serde_json::to_string(&set.spec.template).unwrap() },
        "revision": 1,
    });
    let [Step::Create(made)] = &steps(&set, "h1", &[])[..] else { panic!("one create") };
    assert_eq!(serde_json::to_value(made).unwrap(), want);
}

#[test]
fn a_template_in_use_that_is_kept_needs_nothing() {
    let set = set("fe=2/1");
    assert_eq!(steps(&set, "h1", &[kept(&set, "h1", 1)]), []);
    assert_eq!(steps(&set, "h2", &[kept(&set, "h1", 1), kept(&set, "h2", 2)]), []);
}

#[test]
fn another_template_gets_the_next_number() {
    let set = set("fe=2/1");
    let [Step::Create(made)] = &steps(&set, "h3", &[kept(&set, "h2", 7), kept(&set, "h1", 3)])[..] else {
        panic!("one create")
    };
    assert_eq!((made.metadata.name.as_deref(), made.revision), (Some("inf-h3"), Some(8)));
}

#[test]
fn a_template_that_comes_back_gets_the_next_number_too() {
    let set = set("fe=2/1");
    let raise = |number| vec![Step::Raise { name: "inf-h1".to_owned(), number }];
    assert_eq!(steps(&set, "h1", &[kept(&set, "h1", 1), kept(&set, "h2", 2)]), raise(3));
    // Also where two have the same one, which somebody else did.
    assert_eq!(steps(&set, "h1", &[kept(&set, "h1", 2), kept(&set, "h2", 2)]), raise(3));
}

#[test]
fn the_oldest_go_and_never_the_one_in_use() {
    let set = set("fe=2/1");
    let ten: Vec<ControllerRevision> = (1..=10).map(|it| kept(&set, &format!("h{it}"), it)).collect();
    assert_eq!(steps(&set, "h10", &ten), []);
    let after = steps(&set, "h11", &ten);
    assert!(matches!(&after[0], Step::Create(made) if made.revision == Some(11)), "{after:?}");
    assert_eq!(after[1..], [delete("h1")]);
    // More than ten, of which the oldest is in use again.
    let twelve: Vec<ControllerRevision> = (1..=12).map(|it| kept(&set, &format!("h{it}"), it)).collect();
    let raise = Step::Raise { name: "inf-h1".to_owned(), number: 13 };
    assert_eq!(steps(&set, "h1", &twelve), [raise, delete("h2"), delete("h3")]);
}

#[test]
fn what_is_somebody_elses_stays() {
    let (set, mut foreign) = (set("fe=2/1"), kept(&set("fe=2/1"), "h1", 40));
    foreign.metadata.owner_references.as_mut().unwrap()[0].uid = "other".to_owned();
    assert_eq!(steps(&set, "h1", std::slice::from_ref(&foreign)), [], "the name is taken");
    let [Step::Create(made)] = &steps(&set, "h2", &[foreign])[..] else { panic!("one create") };
    assert_eq!(made.revision, Some(1), "its number is none of ours");
}

#[test]
fn what_is_being_deleted_is_waited_for() {
    let set = set("fe=2/1");
    let mut leaving = kept(&set, "h1", 1);
    leaving.metadata.deletion_timestamp =
        Some(serde_json::from_value(json!("2027-01-01T00:00:00Z")).unwrap());
    assert_eq!(steps(&set, "h1", std::slice::from_ref(&leaving)), []);
}

#[test]
fn a_template_is_not_kept_under_the_hash_of_another() {
    assert_eq!(plan(&set("fe=2/1"), "h1", &[], false), []);
}

#[test]
fn a_template_that_is_too_large_is_not_kept() {
    let mut set = set("fe=2/1");
    let notes = &mut set.spec.template.cliques[0].annotations;
    notes.insert("blob".to_owned(), "x".repeat(LARGEST / 2));
    assert_eq!(steps(&set, "h1", &[]).len(), 1);
    set.spec.template.cliques[0].annotations.insert("blob".to_owned(), "x".repeat(LARGEST));
    assert_eq!(steps(&set, "h1", &[]), []);
}
