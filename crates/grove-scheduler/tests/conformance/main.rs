//! The conformance kit: what is right passes, and each thing that is wrong is caught.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

#[path = "../common/mod.rs"]
mod common;

#[path = "../kai/cluster.rs"]
#[allow(dead_code, reason = "only its clusters are needed here")]
mod kai;
#[path = "../volcano/cluster.rs"]
#[allow(dead_code, reason = "only its clusters are needed here")]
mod volcano;

mod builtin;
mod toy;

use grove_scheduler::{
    Object, Probed,
    conformance::{Conformance, Membership, Rule, Violation, assert_conforms, check},
};
use k8s_openapi::api::core::v1::Pod;
use serde_json::json;
use toy::{Defect, Toy};

#[test]
fn a_backend_that_keeps_everything_passes() {
    assert_conforms(&Toy::with(Defect::None), &json!({}), &Probed::default());
}

#[test]
fn each_defect_is_caught_by_its_rule() {
    let table = [
        (Defect::NamedTwice, Rule::Names),
        (Defect::TakesAnySetting, Rule::Settings),
        (Defect::NoReason, Rule::Resources),
        (Defect::DeclaredTwice, Rule::Resources),
        (Defect::InitFails, Rule::Init),
        (Defect::InitVaries, Rule::Init),
        (Defect::ExampleFails, Rule::Init),
        (Defect::ExamplesAlike, Rule::Init),
        (Defect::EmptyNote, Rule::Answers),
        (Defect::PassesRequired, Rule::Answers),
        (Defect::RejectsPreferred, Rule::Answers),
        (Defect::RefusesLargeGangs, Rule::Renders),
        (Defect::RefusesWithoutAWord, Rule::Renders),
        (Defect::Counts, Rule::Deterministic),
        (Defect::LooksAtForm, Rule::Deterministic),
        (Defect::GrowsWithExisting, Rule::Idempotent),
        (Defect::ForwardsZero, Rule::Lifted),
        (Defect::UndeclaredKind, Rule::Objects),
        (Defect::OtherKind, Rule::Objects),
        (Defect::BadName, Rule::Objects),
        (Defect::NamelessObject, Rule::Objects),
        (Defect::TwiceTheSame, Rule::Objects),
        (Defect::ForeignNamespace, Rule::Objects),
        (Defect::HasOwners, Rule::Objects),
        (Defect::HasStatus, Rule::Objects),
        (Defect::BadPointer, Rule::Objects),
        (Defect::SharesAnObject, Rule::Apart),
        (Defect::HasFinalizer, Rule::Deletes),
        (Defect::DeletesAnything, Rule::Deletes),
        (Defect::RefusesPods, Rule::Pods),
        (Defect::TouchesTheGate, Rule::Pods),
        (Defect::PreparesTwice, Rule::Pods),
        (Defect::LosesToleration, Rule::Pods),
        (Defect::OtherScheduler, Rule::Pods),
        (Defect::ForgetsAPod, Rule::Complete),
        (Defect::OnlyTheSum, Rule::Reflected),
        (Defect::ForgetsTheLevel, Rule::Reflected),
        (Defect::ForgetsThePreference, Rule::Reflected),
        (Defect::ForgetsThePriority, Rule::Reflected),
        (Defect::TellsWhatItRejects, Rule::Reflected),
    ];
    for (defect, rule) in table {
        let found = check(&Toy::with(defect), &json!({}), &Probed::default());
        assert!(found.iter().any(|it| it.rule == rule), "{defect:?}: {found:#?}");
        let others: Vec<_> = found.iter().filter(|it| it.rule != rule).collect();
        assert!(others.is_empty(), "{defect:?} is blamed for more: {others:#?}");
    }
}

#[test]
fn settings_that_are_refused_are_told() {
    let found = check(&Toy::with(Defect::None), &json!({ "herds": 3 }), &Probed::default());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].rule, Rule::Settings);
    assert!(found[0].what.starts_with("the settings of this test are refused: config.herds: "), "{found:?}");
}

#[test]
fn the_words_name_rule_shape_and_fault() {
    let violation =
        Violation { rule: Rule::Lifted, shape: Some("two groups"), what: "its objects change".to_owned() };
    assert_eq!(violation.to_string(), "Lifted, gang of two groups: its objects change");
    let violation = Violation { rule: Rule::Names, shape: None, what: "there twice".to_owned() };
    assert_eq!(violation.to_string(), "Names: there twice");
}

#[test]
#[should_panic(
    expected = "backend \"toy-scheduler\" does not keep what it has to:\n  Init: it cannot be initialised"
)]
fn the_assertion_fails_with_all_of_it() {
    assert_conforms(&Toy::with(Defect::InitFails), &json!({}), &Probed::default());
}

/// Pods are found by a label with the number of letters of the object's name.
#[derive(Debug)]
struct ByLength;

impl Membership for ByLength {
    fn is_member(&self, _: &Pod, pod: &Pod, objects: &[Object]) -> bool {
        let label = pod.metadata.labels.as_ref().and_then(|it| it.get("toy.example.com/length"));
        let length =
            |it: &Object| it.value["metadata"]["name"].as_str().unwrap_or_default().len().to_string();
        objects.iter().any(|it| label == Some(&length(it)))
    }
}

#[test]
fn an_author_may_say_how_pods_are_found() {
    let (backend, config, cluster) = (Toy::with(Defect::FindsByLength), json!({}), Probed::default());
    let kit = || Conformance::new(&backend, &config, &cluster);
    assert!(kit().check().iter().any(|it| it.rule == Rule::Complete));
    kit().with_membership(&ByLength).assert();
}

#[test]
fn an_author_may_say_what_gangs_have() {
    let (backend, config, cluster) = (Toy::with(Defect::WantsQueueAndLevels), json!({}), Probed::default());
    let kit = || Conformance::new(&backend, &config, &cluster);
    assert!(!kit().check().is_empty());
    assert!(!kit().with_label("queue", "a").with_annotation("tenant", "b").check().is_empty());
    kit().with_label("queue", "a").with_annotation("tenant", "b").with_levels(["l1", "l2", "l3"]).assert();
}
