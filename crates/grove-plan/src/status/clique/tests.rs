//! Counters, conditions and hashes of a clique.

use grove_api::wire::{Condition, LossReason, LostNode, Time};

use super::*;
use crate::{
    fixture::{HASH, at, conditions, message, pods, set},
    layout,
    objects::{self, Context},
    status::CliqueState,
};

mod updates;

/// The first clique of a set, standalone or member, with the hash that fixtures have.
fn first(text: &str) -> PodClique {
    let set = set(text);
    let context =
        Context { set: &set, default_scheduler: "", form: "", gang_names: &crate::gang_names::OurNames };
    let members = set.spec.template.scaling_groups.iter().flat_map(|it| layout::members(&set, 0, it, 0));
    let wanted = layout::standalone(&set, 0).chain(members).next().unwrap();
    let mut clique = objects::clique(context, &wanted, None);
    clique.metadata.labels.as_mut().unwrap().insert(labels::POD_TEMPLATE_HASH.to_owned(), HASH.to_owned());
    clique
}

fn report<'a>(clique: &'a PodClique, pods: &str) -> CliqueReport<'a> {
    let tally = Tally::of(&self::pods(pods), HASH);
    let (acted, now) = (Some(1), at(10));
    CliqueReport {
        clique,
        tally,
        was_scheduled: false,
        refusal: None,
        set: "inf",
        generation_hash: "gen-2",
        is_current: true,
        pace: Pace::Rolling,
        has_turn: false,
        replacing: None,
        restarts: None,
        lost: &[],
        acted,
        now,
    }
}

#[test]
fn counters_leave_out_what_is_leaving() {
    let clique = first("fe=9/1");
    // Pods, then how many are there, ready, updated, gated, scheduled.
    let rows = [
        ("", [0, 0, 0, 0, 0]),
        ("0g 1g 2p", [3, 0, 3, 2, 0]),
        ("0r 1r! 2n 3bo", [3, 1, 2, 0, 3]),
        ("0r! 1g! 2p!", [0, 0, 0, 0, 0]),
        ("0ro 1ro 2u", [3, 2, 1, 0, 3]),
        // Held back by somebody else is held back too.
        ("0ph 1bh", [2, 0, 2, 1, 1]),
        // It failed, and is about to be replaced.
        ("0r 1F", [1, 1, 1, 0, 1]),
    ];
    for (pods, want) in rows {
        let got = super::clique(&report(&clique, pods));
        let counters = [
            got.replicas,
            got.ready_replicas,
            got.updated_replicas,
            got.schedule_gated_replicas,
            got.scheduled_replicas,
        ];
        assert_eq!(counters, want, "{pods}");
    }
}

/// The rules in their order; two of three pods are needed.
#[test]
fn breach_of_the_minimum() {
    let clique = first("fe=3/2");
    let (few, many) = (
        "PodCliqueScheduled=False/InsufficientScheduledPods",
        "PodCliqueScheduled=True/SufficientScheduledPods",
    );
    let below = "MinAvailableBreached=True/ScheduledReplicasBelowMinAvailable";
    let unready = "MinAvailableBreached=True/InsufficientReadyPods";
    let fine = "MinAvailableBreached=False/SufficientReadyPods";
    let rows = [
        ("", few, below),
        ("0g 1g 2g", few, below),
        ("0b 1p", few, below),
        ("0r 1r! 2r!", few, below),
        ("0r 1F", few, below),
        // Pods that start count as fine.
        ("0b 1b", many, fine),
        ("0n 1n 2p", many, fine),
        ("0r 1r 2r!", many, fine),
        ("0r 1r 2ne", many, fine),
        ("0r 1ne", many, unready),
        ("0r 1r 2nw", many, fine),
        ("0r 1nw", many, unready),
        ("0r 1ne 2nw", many, unready),
        // Failing and running without being ready is counted once.
        ("0r 1r 2new", many, fine),
        // Ready again is ready.
        ("0re 1rw", many, fine),
    ];
    for (pods, scheduled, breached) in rows {
        let got = super::clique(&report(&clique, pods));
        assert_eq!(conditions(&got.conditions), [scheduled, breached], "{pods}");
    }
}

#[test]
fn who_is_waited_for_is_said() {
    let mut clique = first("fe=3/2");
    clique.spec.starts_after = ["inf-0-a", "inf-0-b"].map(str::to_owned).to_vec();
    let mut said = |pods: &str, more: &str| {
        clique.spec.starts_after.extend(more.split_whitespace().map(str::to_owned));
        let got = super::clique(&report(&clique, pods));
        assert_eq!(conditions(&got.conditions)[1], "MinAvailableBreached=False/SufficientReadyPods");
        message(&got.conditions, "MinAvailableBreached").split_once("; ").unwrap().1.to_owned()
    };
    assert_eq!(said("0ba 1ba 2b 3ba!", ""), "at least 2 needed; 2 wait for inf-0-a, inf-0-b");
    assert_eq!(said("0r 1r", ""), "at least 2 needed");
    assert_eq!(said("0ba 1r", "c d"), "at least 2 needed; 1 wait for inf-0-a, inf-0-b, c, …");
}

#[test]
fn an_update_suspends_judgement() {
    let mut clique = first("fe=3/2");
    let progress = |ended: Option<i64>| PodCliqueUpdateProgress {
        update_ended_at: ended.map(|it| Time(at(it))),
        ..PodCliqueUpdateProgress::default()
    };
    let mut breached = |ended| {
        clique.status =
            Some(PodCliqueStatus { update_progress: Some(progress(ended)), ..PodCliqueStatus::default() });
        let got = super::clique(&CliqueReport { has_turn: true, ..report(&clique, "0r") });
        (conditions(&got.conditions)[1].clone(), got.current_pod_template_hash)
    };
    assert_eq!(breached(None), ("MinAvailableBreached=Unknown/UpdateInProgress".to_owned(), None));
    assert_eq!(breached(Some(5)).0, "MinAvailableBreached=True/ScheduledReplicasBelowMinAvailable");
}

/// Dynamo and the set wait for `observedGeneration`; before it nothing is judged.
#[test]
fn conditions_come_with_the_first_generation() {
    let mut clique = first("fe=1/1");
    let unacted = CliqueReport { acted: None, ..report(&clique, "") };
    let got = super::clique(&unacted);
    assert_eq!((got.observed_generation, got.conditions.len()), (None, 0));
    let rows = [
        (None, Some(3), Some(3)),
        (Some(2), Some(3), Some(3)),
        (Some(3), Some(2), Some(3)),
        (Some(3), None, Some(3)),
    ];
    for (before, acted, want) in rows {
        clique.status = Some(PodCliqueStatus { observed_generation: before, ..PodCliqueStatus::default() });
        let got = super::clique(&CliqueReport { acted, ..report(&clique, "") });
        assert_eq!(got.observed_generation, want, "{before:?} {acted:?}");
        assert_eq!(got.conditions.len(), 2);
    }
}

#[test]
fn hashes_advance_when_every_pod_is_updated() {
    let mut clique = first("fe=2/1");
    let before = PodCliqueStatus {
        current_pod_clique_set_generation_hash: Some("gen-1".to_owned()),
        current_pod_template_hash: Some("old".to_owned()),
        ..PodCliqueStatus::default()
    };
    clique.status = Some(before);
    let rows = [
        ("0r 1ro", true, ("gen-1", "old")),
        ("0ro 1ro", true, ("gen-1", "old")),
        // The clique is not of the set's template.
        ("0r 1r", false, ("gen-1", "old")),
        ("0r 1r", true, ("gen-2", HASH)),
        ("0r 1ro!", true, ("gen-2", HASH)),
        ("", true, ("gen-2", HASH)),
    ];
    for (pods, is_current, (generation, template)) in rows {
        let got = super::clique(&CliqueReport { is_current, ..report(&clique, pods) });
        assert_eq!(got.current_pod_clique_set_generation_hash.as_deref(), Some(generation), "{pods}");
        assert_eq!(got.current_pod_template_hash.as_deref(), Some(template), "{pods}");
    }
}

#[test]
fn only_standalone_cliques_have_a_selector() {
    let selector = |text: &str| super::clique(&report(&first(text), "")).hpa_pod_selector;
    let want = "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=inf,grove.io/podclique=inf-0-fe";
    assert_eq!(selector("fe=1/1").as_deref(), Some(want));
    assert_eq!(selector("fe=1/1 | g=1/1:fe"), None);
}

#[test]
fn a_refusal_is_said_and_then_forgotten() {
    let mut clique = first("fe=1/1");
    // Written and read again it is the same, so that it is written once.
    let since = at(7) + std::time::Duration::from_millis(300);
    let refusal = Refusal { message: "exceeded quota".to_owned(), since };
    let got = super::clique(&CliqueReport { refusal: Some(&refusal), ..report(&clique, "") });
    let error = &got.last_errors[0];
    assert_eq!(
        (error.code.as_str(), error.description.as_str(), error.observed_at.0),
        ("ERR_CREATE_POD", "exceeded quota", at(7))
    );
    assert_eq!(conditions(&got.conditions)[2], "ReplicaFailure=True/FailedCreate");
    assert_eq!(message(&got.conditions, "ReplicaFailure"), "exceeded quota");
    clique.status = Some(got);
    let got = super::clique(&report(&clique, "0g"));
    assert_eq!((got.last_errors.len(), got.conditions.len()), (0, 2));
}

#[test]
fn an_unchanged_clique_says_the_same_and_conditions_of_others_stay() {
    let mut clique = first("fe=1/1");
    let mut status = super::clique(&report(&clique, "0r"));
    status.conditions.push(Condition {
        type_: "Theirs".to_owned(),
        status: "True".to_owned(),
        reason: "X".to_owned(),
        message: String::new(),
        observed_generation: None,
        last_transition_time: Time(at(1)),
    });
    clique.status = Some(status.clone());
    assert_eq!(super::clique(&CliqueReport { now: at(99), ..report(&clique, "0r") }), status);
}

/// Without a minimum, all are needed.
#[test]
fn the_minimum_defaults_to_the_replicas() {
    let mut clique = first("fe=2/1");
    clique.spec.min_available = None;
    let got = super::clique(&report(&clique, "0r"));
    assert_eq!(conditions(&got.conditions)[0], "PodCliqueScheduled=False/InsufficientScheduledPods");
}

#[test]
fn a_lost_node_is_told_until_the_minimum_has_its_place_again() {
    let lost = |name: &str, at: Option<i64>| LostNode {
        name: name.to_owned(),
        reason: LossReason::Unreachable,
        since: Time(super::tests::at(1)),
        lost_at: at.map(|it| Time(super::tests::at(it))),
    };
    let mut clique = first("fe=3/2");
    let said = |status: &PodCliqueStatus| {
        conditions(&status.conditions).into_iter().filter(|it| it.starts_with("NodeLost")).collect::<Vec<_>>()
    };
    // Pods, nodes, and whether it is told.
    let rows: [(&str, Vec<LostNode>, bool); 6] = [
        ("0r 1r 2r", vec![lost("a", None)], false),
        ("0r 1r 2r", vec![lost("a", Some(9)), lost("b", None)], true),
        // The pods are gone, and those that come have no place.
        ("0r 1p 2p", vec![], true),
        ("0r 1b 2p", vec![], false),
        ("0r 1p 2p", vec![], false),
        // One that hangs there is still told of.
        ("0r 1r 2r 3r!", vec![lost("a", Some(9))], true),
    ];
    for (pods, nodes, told) in rows {
        let status = super::clique(&CliqueReport { lost: &nodes, ..report(&clique, pods) });
        let want: &[&str] = if told { &["NodeLost=True/PodsOnLostNodes"] } else { &[] };
        assert_eq!(said(&status), want, "{pods}");
        assert_eq!(status.lost_nodes, nodes);
        if told {
            assert_eq!(message(&status.conditions, "NodeLost"), "pods on a (Unreachable) count as lost");
        }
        clique.status = Some(status);
    }
    let many: Vec<LostNode> = ["a", "b", "c", "d", "e"].map(|it| lost(it, Some(9))).into();
    let status = super::clique(&CliqueReport { lost: &many, ..report(&clique, "0r") });
    let words = "pods on a (Unreachable), b (Unreachable), c (Unreachable) and 2 more count as lost";
    assert_eq!(message(&status.conditions, "NodeLost"), words);
}
