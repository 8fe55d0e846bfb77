//! Templates that reach no pod: held back, or refused.

use std::collections::BTreeSet;

use super::*;
use crate::status::SetState;

#[test]
fn a_changed_template_that_waits_is_said() {
    let mut deployed = ready(1).written();
    deployed.set.spec.update_strategy = Some(UpdateStrategy { paused: true, ..UpdateStrategy::default() });
    let said = |unknown: &[&str]| {
        let held = Some(unknown.iter().map(|it| (*it).to_owned()).collect::<BTreeSet<String>>());
        let update = UpdateSeen { held, ..UpdateSeen::default() };
        let got = crate::status::set(&SetReport { update, ..deployed.report() });
        (said(&got, "UpdatePending").unwrap(), message(&got.conditions, "UpdatePending").to_owned())
    };
    assert_eq!(said(&[]).0, "UpdatePending=True/UpdatePaused");
    let (reason, words) = said(&["fe", "pre"]);
    assert_eq!(reason, "UpdatePending=True/TemplateInUseUnknown");
    assert!(words.contains("No PodClique is created from fe, pre:"), "{words}");
}

/// The server's words, and that no pod was deleted for them; a deadline that has passed is said all the same.
#[test]
fn a_refused_template_is_said() {
    let deployed = ready(2).written().with("inf-0-fe", "0ro 1ro");
    let said = |now: i64| {
        let update =
            UpdateSeen { refused: Some("PodClique inf-0-fe: no".to_owned()), ..UpdateSeen::default() };
        let begun = crate::status::set(&SetReport { state: deployed.state_at(10), ..deployed.report() });
        let mut set = deployed.set.clone();
        set.status = Some(begun);
        let got = crate::status::set(&SetReport {
            state: SetState { set: &set, ..deployed.state_at(now) },
            update,
            ..deployed.report()
        });
        (said(&got, "UpdateInProgress").unwrap(), message(&got.conditions, "UpdateInProgress").to_owned())
    };
    let (reason, words) = said(11);
    assert_eq!(reason, "UpdateInProgress=True/PodTemplateRefused");
    let expected =
        "No pod is deleted for it: the API server refuses the new pods of PodClique inf-0-fe: no. Change";
    assert!(words.contains(expected), "{words}");
    assert_eq!(said(610).0, "UpdateInProgress=True/ProgressDeadlineExceeded");
}
