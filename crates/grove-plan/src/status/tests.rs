//! How soon a status is written.

mod zero;

use grove_api::wire::Time;

use super::*;
use crate::fixture::{Deployed, GENERATION, at};

fn condition(status: &str, reason: &str, message: &str, second: i64) -> Condition {
    Condition {
        type_: "T".to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: None,
        last_transition_time: Time(at(second)),
    }
}

fn gang(phase: &str, conditions: Vec<Condition>) -> PodGangStatus {
    PodGangStatus { phase: phase.to_owned(), conditions, placement_score: None }
}

#[test]
fn conditions_are_urgent_and_words_are_not() {
    let old = gang("Pending", vec![condition("False", "A", "1 of 2", 1)]);
    let rows = [
        (gang("Pending", vec![condition("False", "A", "1 of 2", 1)]), Urgency::Same),
        (gang("Pending", vec![condition("False", "A", "2 of 2", 1)]), Urgency::Soon),
        (gang("Pending", vec![condition("False", "B", "1 of 2", 1)]), Urgency::Now),
        (gang("Pending", vec![condition("True", "A", "1 of 2", 2)]), Urgency::Now),
        (gang("Pending", vec![]), Urgency::Now),
        (gang("Running", vec![condition("False", "A", "1 of 2", 1)]), Urgency::Now),
    ];
    for (new, want) in rows {
        assert_eq!(urgency(Some(&old), &new), want, "{new:?}");
    }
    assert_eq!(urgency(None, &old), Urgency::Now);
    assert_eq!(urgency(None, &PodCliqueSetStatus::default()), Urgency::Now);
    // Their pods come right after them: one write says both.
    assert_eq!(urgency(None, &PodCliqueStatus::default()), Urgency::Soon);
    assert_eq!(urgency(None, &PodCliqueScalingGroupStatus::default()), Urgency::Soon);
    assert!(Urgency::Same < Urgency::Soon && Urgency::Soon < Urgency::Now);
}

#[test]
fn counters_can_wait() {
    let counted = |ready_replicas| PodCliqueStatus { ready_replicas, ..PodCliqueStatus::default() };
    assert_eq!(urgency(Some(&counted(1)), &counted(2)), Urgency::Soon);
    assert_eq!(urgency(Some(&counted(2)), &counted(2)), Urgency::Same);
    let group = |available_replicas| PodCliqueScalingGroupStatus { available_replicas, ..Default::default() };
    assert_eq!(urgency(Some(&group(1)), &group(2)), Urgency::Soon);
    let set = |available_replicas| PodCliqueSetStatus { available_replicas, ..Default::default() };
    assert_eq!(urgency(Some(&set(1)), &set(2)), Urgency::Soon);
    let flipped =
        PodCliqueSetStatus { conditions: vec![condition("True", "A", "", 1)], ..Default::default() };
    assert_eq!(urgency(Some(&set(0)), &flipped), Urgency::Now);
}

/// A clique that was just made has said nothing yet. Its pods are of the template that it was made from, and do not go for
/// that; it is only outdated where somebody knows better.
#[test]
fn what_is_new_is_not_replaced_again() {
    let made = Deployed::new(1, "fe=2/1").all("r");
    assert!(!made.states()["inf-0-fe"].is_outdated(GENERATION));
    let behind = CliqueState { is_behind: true, ..made.states()["inf-0-fe"].clone() };
    assert!(behind.is_outdated(GENERATION));
    let noted = made.written();
    assert!(!noted.states()["inf-0-fe"].is_outdated(GENERATION));
    assert!(noted.states()["inf-0-fe"].is_outdated("gen-3"));
    assert!(noted.with("inf-0-fe", "0r 1ro").states()["inf-0-fe"].is_outdated(GENERATION));
}

#[test]
fn a_patch_of_the_status_says_what_changed_and_from_which_version() {
    let (one, two) = (gang("Pending", vec![]), gang("Running", vec![condition("True", "A", "m", 1)]));
    let scored = PodGangStatus { placement_score: Some(0.5), ..two.clone() };
    let rows = [
        (None, &one, json!({ "phase": "Pending" })),
        (Some(&one), &two, json!({ "phase": "Running", "conditions": two.conditions })),
        (Some(&scored), &one, json!({ "phase": "Pending", "conditions": null, "placementScore": null })),
        // Never `null`, which would remove it.
        (Some(&two), &two, json!({})),
    ];
    for (old, new, want) in rows {
        let patch = status_patch(old, new, "17");
        assert_eq!(patch, json!({ "metadata": { "resourceVersion": "17" }, "status": want }));
    }
}

/// Client operators drop the warnings of admission.
#[test]
fn settings_without_effect_are_said_in_a_condition() {
    let mut deployed = Deployed::new(1, "fe=1/1");
    let said = |deployed: &Deployed| {
        let all = super::set(&deployed.report()).conditions;
        all.into_iter().find(|it| it.type_ == "SettingsIgnored").map(|it| (it.reason, it.message))
    };
    assert_eq!(said(&deployed), None);
    let sharing = serde_json::json!([{ "name": "gpu", "scope": "AllReplicas" }]);
    deployed.set.spec.template.resource_sharing = serde_json::from_value(sharing).unwrap();
    let (reason, message) = said(&deployed).unwrap();
    assert_eq!(reason, "NotImplemented");
    assert!(message.starts_with("spec.template.resourceSharing: accepted but not implemented"), "{message}");
}
