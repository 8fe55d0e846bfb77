//! What a gang says of itself, from its first pod to the loss of one.

use grove_api::wire::{Condition, Time};

use super::*;
use crate::{
    fixture::{Scene, at, conditions, message},
    layout::Place,
};

const PAIR: &str = "fe=2/1 dec=2/2";
const COMPLETE: &str = "Initialized=True/AllPodsCreated";

fn say(scene: &mut Scene, initialized: bool, now: i64) -> String {
    scene.report(initialized, now);
    let status = scene.gang.status.as_ref().unwrap();
    format!("{} {}", status.phase, conditions(&status.conditions).join(" "))
}

fn words<'a>(scene: &'a Scene, type_: &str) -> &'a str {
    message(&scene.gang.status.as_ref().unwrap().conditions, type_)
}

/// Pods of both cliques; then the phase, and the conditions Scheduled, Ready and Unhealthy.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str);

fn check(scene: &mut Scene, initialized: &str, rows: &[Row]) {
    for (fe, dec, phase, scheduled, ready, unhealthy) in rows {
        scene.pods(&[("fe", fe), ("dec", dec)]);
        let mut want = format!("{phase} Initialized={initialized} Scheduled={scheduled} Ready={ready}");
        if !unhealthy.is_empty() {
            want.push_str(" Unhealthy=");
            want.push_str(unhealthy);
        }
        assert_eq!(say(scene, false, 1), want, "{fe} / {dec}");
    }
}

#[test]
fn every_step_has_its_phase_and_reasons() {
    let mut scene = Scene::base(PAIR);
    let rows = [
        ("", "", "Pending", "False/PodsNotCreated", "False/NotScheduled", ""),
        ("0g", "0g 1g", "Pending", "False/PodsNotCreated", "False/NotScheduled", ""),
        // All are there, and the status that says so is not written yet.
        ("0g 1g", "0g 1g", "Pending", "False/PodsNotCreated", "False/NotScheduled", ""),
        // Deleted by hand and made again, it has to list its pods first.
        ("0r 1r", "0r 1r", "Pending", "False/PodsNotCreated", "False/NotScheduled", ""),
    ];
    check(&mut scene, "False/PodsNotCreated", &rows);
    scene.pods(&[("fe", "0g 1g"), ("dec", "0g 1g")]);
    scene.report(true, 1);
    let rows = [
        ("0g 1g", "0g 1g", "Pending", "False/WaitingForScheduler", "False/NotScheduled", ""),
        ("0b 1b", "0b 1p", "Pending", "False/WaitingForScheduler", "False/NotScheduled", ""),
        // Only the minimum counts: one pod of `fe`.
        ("0b 1p", "0b 1n", "Starting", "True/MinimumBound", "False/PodsNotReady", "False/Healthy"),
        ("0r 1p", "0r 1n", "Starting", "True/MinimumBound", "False/PodsNotReady", "False/Healthy"),
        ("0r 1p", "0r 1r", "Running", "True/MinimumBound", "True/MinimumReady", "False/Healthy"),
        ("0r 1p", "0r 1ne", "Starting", "True/MinimumBound", "False/PodsNotReady", "True/PodsFailing"),
        ("0r 1p", "0r 1nw", "Starting", "True/MinimumBound", "False/PodsNotReady", "True/PodsFailing"),
        ("0r 1ne", "0r 1r", "Running", "True/MinimumBound", "True/MinimumReady", "False/Healthy"),
        ("0r", "0r 1r!", "Pending", "False/WaitingForScheduler", "False/NotScheduled", "True/PodsLost"),
        ("0r", "0r 1g", "Pending", "False/WaitingForScheduler", "False/NotScheduled", "True/PodsLost"),
        ("0r", "0r 1b", "Starting", "True/MinimumBound", "False/PodsNotReady", "False/Healthy"),
    ];
    check(&mut scene, "True/AllPodsCreated", &rows);
}

/// What never had its place cannot lose it.
#[test]
fn only_what_was_placed_is_unhealthy() {
    let mut scene = Scene::base("fe=2/2");
    for pods in ["0g 1g", "0b 1p", "0ne", ""] {
        scene.pods(&[("fe", pods)]);
        let said = say(&mut scene, true, 1);
        assert!(!said.contains("Unhealthy"), "{pods}: {said}");
    }
    scene.pods(&[("fe", "0b 1b")]);
    assert!(say(&mut scene, false, 2).ends_with("Unhealthy=False/Healthy"));
    // It is kept up to date, also after Scheduled has gone back to False.
    for (now, pods, bound) in [(3, "0b", 1), (4, "", 0)] {
        scene.pods(&[("fe", pods)]);
        assert!(say(&mut scene, false, now).ends_with("Unhealthy=True/PodsLost"));
        assert_eq!(
            words(&scene, "Unhealthy"),
            format!("inf-0-fe: {bound} pods scheduled, at least 2 needed")
        );
    }
    scene.pods(&[("fe", "0b 1b")]);
    assert!(say(&mut scene, false, 5).ends_with("Unhealthy=False/Healthy"));
}

/// Times of the last place and of the last readiness, which a later outage does not take away.
#[test]
fn the_last_place_is_noted_and_stays() {
    let mut scene = Scene::base("fe=2/2");
    let last = |scene: &Scene| {
        let status = scene.gang.status.clone().unwrap();
        [status.last_scheduled, status.last_ready].map(|it| it.map(|it| it.0.as_second()))
    };
    let rows = [
        (1, "0g 1g", [None, None]),
        (2, "0b 1p", [None, None]),
        (3, "0b 1b", [Some(3), None]),
        (4, "0r 1r", [Some(3), Some(4)]),
        (5, "0r 1r", [Some(3), Some(4)]),
        (6, "0r", [Some(3), Some(4)]),
        (7, "", [Some(3), Some(4)]),
        (8, "0b 1b", [Some(8), Some(4)]),
        (9, "0r 1r", [Some(8), Some(9)]),
    ];
    for (now, pods, want) in rows {
        scene.pods(&[("fe", pods)]);
        scene.report(true, now);
        assert_eq!(last(&scene), want, "{pods} at {now}");
    }
    // Another version noted nothing: nothing is written for it, and the times come when they are over.
    let status = scene.gang.status.as_mut().unwrap();
    (status.last_scheduled, status.last_ready) = (None, None);
    scene.report(true, 10);
    assert_eq!(last(&scene), [None, None]);
    scene.pods(&[("fe", "0r")]);
    scene.report(true, 11);
    assert_eq!(last(&scene), [Some(8), Some(9)]);
}

#[test]
fn the_scheduler_is_quoted() {
    let mut scene = Scene::base(PAIR);
    scene.pods(&[("fe", "0p 1p"), ("dec", "0p 1p")]);
    scene.role("dec").pods[1].unschedulable = Some("0/8 nodes are available".to_owned());
    assert!(say(&mut scene, true, 1).contains("Scheduled=False/Unschedulable"));
    assert_eq!(words(&scene, "Scheduled"), "dec:1p: 0/8 nodes are available");
    // Not that of a pod on its way out.
    scene.role("dec").pods[1].terminating = true;
    assert!(say(&mut scene, false, 2).contains("Scheduled=False/WaitingForScheduler"));
    assert_eq!(words(&scene, "Scheduled"), "inf-0-dec: 0 pods scheduled, at least 2 needed");
}

/// The scheduler's words about the whole gang say more than those about one pod; and where it was never told, neither
/// is true.
#[test]
fn the_backend_is_quoted_first() {
    let mut scene = Scene::base(PAIR);
    scene.pods(&[("fe", "0p 1p"), ("dec", "0p 1p")]);
    scene.role("dec").pods[1].unschedulable = Some("0/8 nodes are available".to_owned());
    scene.words = Some(("Unschedulable", "room for 1 of 4 pods"));
    assert!(say(&mut scene, true, 1).contains("Scheduled=False/Unschedulable"));
    assert_eq!(words(&scene, "Scheduled"), "room for 1 of 4 pods");
    scene.told = Told::Failed("SchedulerBackendFailed", "refused by policy");
    assert!(say(&mut scene, false, 2).contains("Scheduled=False/SchedulerBackendFailed"));
    assert_eq!(words(&scene, "Scheduled"), "refused by policy");
    // Also before there is any pod: none is created.
    let mut scene = Scene::base(PAIR);
    scene.told = Told::Failed("SchedulerBackendNotReady", "no CRD");
    assert!(say(&mut scene, false, 3).contains("Scheduled=False/SchedulerBackendNotReady"));
}

#[test]
fn a_scaled_gang_says_that_it_waits() {
    let mut scene = Scene::new("a=1/1 | g=2/1:a", Place::Scaled { replica: 0, group: "g", group_replica: 1 });
    scene.may_go = false;
    scene.pods(&[("a", "0g")]);
    let want = format!("Pending {COMPLETE} Scheduled=False/WaitingForBaseGang Ready=False/NotScheduled");
    assert_eq!(say(&mut scene, true, 1), want);
}

/// Who waits for others is not the reason: `dec` would be named first otherwise.
#[test]
fn those_that_start_later_are_told_apart() {
    let mut scene = Scene::base("dec=2/2 fe=1/1 pre=1/1");
    let rows = [
        ("0b", "0ba 1ba", "0n", "inf-0-fe: 0 pods ready, at least 1 needed; inf-0-dec starts later"),
        ("0r", "0ba 1b", "0n", "inf-0-pre: 0 pods ready, at least 1 needed; inf-0-dec starts later"),
        ("0n", "0ba 1ba", "0ba", "inf-0-fe: 0 pods ready, at least 1 needed; 2 cliques start later"),
        ("0r", "0b 1b", "0r", "inf-0-dec: 0 pods ready, at least 2 needed"),
        // Those before it are ready: it will be told at once.
        ("0r", "0ba 1ba", "0r", "inf-0-dec: 0 pods ready, at least 2 needed"),
    ];
    for (fe, dec, pre, want) in rows {
        scene.pods(&[("fe", fe), ("dec", dec), ("pre", pre)]);
        say(&mut scene, true, 1);
        assert_eq!(words(&scene, "Ready"), want, "{fe} / {dec} / {pre}");
        assert_eq!(words(&scene, "Unhealthy"), "every PodClique has minAvailable healthy pods");
    }
}

#[test]
fn a_refusal_is_quoted_while_it_lasts() {
    let mut scene = Scene::base(PAIR);
    scene.refuse("dec", Some("exceeded quota: gpus"));
    assert!(say(&mut scene, false, 1).ends_with("ReplicaFailure=True/FailedCreate"));
    for type_ in ["ReplicaFailure", "Initialized"] {
        assert_eq!(words(&scene, type_), "inf-0-dec: exceeded quota: gpus", "{type_}");
    }
    scene.refuse("dec", None);
    assert!(!say(&mut scene, false, 2).contains("ReplicaFailure"));
}

#[test]
fn a_missing_clique_is_named() {
    let mut scene = Scene::base("fe=1/1");
    scene.pods(&[("fe", "0r")]);
    say(&mut scene, true, 1);
    scene.pods(&[("fe", "")]);
    scene.role("fe").clique = None;
    assert!(say(&mut scene, false, 2).starts_with(&format!("Pending {COMPLETE}")));
    assert!(words(&scene, "Unhealthy").starts_with("PodClique inf-0-fe does not exist"));
}

#[test]
fn what_others_say_stays_and_times_move_with_the_status() {
    let mut scene = Scene::base("fe=1/1");
    let target = Condition {
        type_: "DisruptionTarget".to_owned(),
        status: "True".to_owned(),
        reason: "Preempted".to_owned(),
        message: String::new(),
        observed_generation: None,
        last_transition_time: Time(at(0)),
    };
    scene.gang.status = Some(PodGangStatus {
        conditions: vec![target],
        placement_score: Some(0.5),
        ..PodGangStatus::default()
    });
    scene.pods(&[("fe", "0g")]);
    scene.report(true, 10);
    scene.pods(&[("fe", "0r")]);
    scene.report(false, 20);
    scene.report(false, 30);
    let status = scene.gang.status.unwrap();
    let times: Vec<_> = status
        .conditions
        .iter()
        .map(|it| (it.type_.as_str(), it.last_transition_time.0.as_second()))
        .collect();
    assert_eq!(
        times,
        [("DisruptionTarget", 0), ("Initialized", 10), ("Scheduled", 20), ("Ready", 20), ("Unhealthy", 20)]
    );
    assert_eq!(status.placement_score, Some(0.5));
}

/// Grove preferred a level for gangs of sets with a `topologyConstraint` once: what was said of that goes with it.
#[test]
fn a_missed_level_that_is_no_longer_preferred_is_not_told() {
    let mut scene = Scene::base("fe=1/1");
    let missed = Condition {
        type_: "PreferredPlacement".to_owned(),
        status: "False".to_owned(),
        reason: "PreferredLevelsMissed".to_owned(),
        message: String::new(),
        observed_generation: None,
        last_transition_time: Time(at(0)),
    };
    scene.gang.status = Some(PodGangStatus {
        conditions: vec![missed],
        placement_score: Some(0.5),
        ..PodGangStatus::default()
    });
    scene.pods(&[("fe", "0r")]);
    scene.report(true, 10);
    let status = scene.gang.status.unwrap();
    assert!(!status.conditions.iter().any(|it| it.type_ == "PreferredPlacement"));
    assert_eq!(status.placement_score, None);
}
