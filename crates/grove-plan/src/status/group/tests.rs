//! Replicas of a group, counted, and what follows from it.

use grove_api::wire::{ScalingGroupUpdateProgress, Time};

use super::*;
use crate::{
    facts::Refusal,
    fixture::{Deployed, GENERATION, at, conditions},
};

/// One of three replicas is needed; a replica is one `pre` and two `dec`.
const GROUP: &str = "pre=1/1 dec=2/2 | pd=3/1:pre,dec";

fn ready() -> Deployed {
    Deployed::new(1, GROUP).all("r")
}

#[test]
fn a_replica_counts_when_every_member_does() {
    // Scheduled, available, updated; whether enough is not in breach.
    let rows = vec![
        ("all", ready(), [3, 3, 3], true),
        ("not all bound", ready().with("inf-0-pd-2-dec", "0r 1g"), [2, 2, 2], true),
        ("not all ready", ready().with("inf-0-pd-1-pre", "0b"), [3, 2, 2], true),
        ("old template", ready().with("inf-0-pd-2-pre", "0ro"), [3, 3, 2], true),
        ("member gone", ready().without("inf-0-pd-0-pre"), [2, 2, 2], true),
        ("member leaving", ready().leaving("inf-0-pd-0-dec"), [2, 2, 2], true),
        (
            "all leaving",
            ready().leaving("inf-0-pd-0-dec").leaving("inf-0-pd-1-dec").leaving("inf-0-pd-2-pre"),
            [0, 0, 0],
            false,
        ),
        ("pod leaving", ready().with("inf-0-pd-0-dec", "0r 1r!"), [2, 2, 2], true),
        ("more than the minimum", ready().with("inf-0-pd-0-dec", "0r 1r 2g"), [3, 3, 3], true),
        ("two gone", ready().without("inf-0-pd-0-pre").without("inf-0-pd-2-dec"), [1, 1, 1], true),
        ("starting", Deployed::new(1, GROUP).all("b"), [3, 0, 0], true),
        ("failing", Deployed::new(1, GROUP).all("ne"), [3, 0, 0], false),
        ("held back", Deployed::new(1, GROUP).all("g"), [0, 0, 0], false),
        ("no pods", Deployed::new(1, GROUP), [0, 0, 0], false),
    ];
    for (what, deployed, counts, enough) in rows {
        let deployed = deployed.written();
        let got = super::group(&deployed.group("inf-0-pd"));
        assert_eq!([got.scheduled_replicas, got.available_replicas, got.updated_replicas], counts, "{what}");
        let condition = if enough {
            "MinAvailableBreached=False/SufficientAvailablePodCliqueScalingGroupReplicas"
        } else {
            "MinAvailableBreached=True/InsufficientAvailablePodCliqueScalingGroupReplicas"
        };
        assert_eq!(conditions(&got.conditions), [condition], "{what}");
        assert_eq!(got.replicas, 3, "{what}");
    }
}

/// A clique's hashes say what was; its pods say what is.
#[test]
fn replicas_whose_pods_went_back_are_not_updated() {
    let deployed = ready().written().with("inf-0-pd-2-dec", "0ro 1ro");
    let got = super::group(&deployed.group("inf-0-pd"));
    assert_eq!([got.available_replicas, got.updated_replicas], [3, 2]);
    // Nor is one whose clique was given another template since.
    let mut deployed = ready().written();
    let labels = deployed.cliques.get_mut("inf-0-pd-0-dec").unwrap().metadata.labels.as_mut().unwrap();
    labels.insert("grove.io/pod-template-hash".to_owned(), "newer".to_owned());
    let got = super::group(&deployed.group("inf-0-pd"));
    assert_eq!([got.available_replicas, got.updated_replicas], [3, 2]);
}

/// What belongs to replicas that the group no longer has does not count.
#[test]
fn replicas_outside_the_specification_are_ignored() {
    let mut deployed = ready();
    deployed.groups.get_mut("inf-0-pd").unwrap().spec.replicas = 1;
    let deployed = deployed.written();
    let got = super::group(&deployed.group("inf-0-pd"));
    assert_eq!(
        [got.replicas, got.scheduled_replicas, got.available_replicas, got.updated_replicas],
        [1, 1, 1, 1]
    );
}

#[test]
fn the_hash_is_that_of_every_member() {
    let hash = |deployed: Deployed| {
        let deployed = deployed.written();
        super::group(&deployed.group("inf-0-pd")).current_pod_clique_set_generation_hash
    };
    assert_eq!(hash(ready()).as_deref(), Some(GENERATION));
    assert_eq!(hash(ready().with("inf-0-pd-2-pre", "0ro")), None);
    assert_eq!(hash(ready().without("inf-0-pd-2-pre")), None);
    assert_eq!(hash(ready().leaving("inf-0-pd-2-pre")), None);
    let mut none = ready();
    none.groups.get_mut("inf-0-pd").unwrap().spec.replicas = 0;
    assert_eq!(hash(none).as_deref(), Some(GENERATION), "nothing is of another template");
}

#[test]
fn an_update_suspends_judgement() {
    let mut deployed = Deployed::new(1, GROUP);
    let status = |ended: Option<i64>| PodCliqueScalingGroupStatus {
        update_progress: Some(ScalingGroupUpdateProgress {
            update_started_at: Time(at(1)),
            update_ended_at: ended.map(|it| Time(at(it))),
            pod_clique_set_generation_hash: "gen-1".to_owned(),
            updated_pod_cliques_count: 0,
            total_pod_cliques_count: 0,
            available_at_start: 0,
            ready_replica_indices_selected_to_update: None,
        }),
        ..PodCliqueScalingGroupStatus::default()
    };
    for (ended, want) in [
        (None, "Unknown/UpdateInProgress"),
        (Some(2), "True/InsufficientAvailablePodCliqueScalingGroupReplicas"),
    ] {
        deployed.groups.get_mut("inf-0-pd").unwrap().status = Some(status(ended));
        let got = super::group(&GroupReport { has_turn: true, ..deployed.group("inf-0-pd") });
        assert_eq!(conditions(&got.conditions), [format!("MinAvailableBreached={want}")]);
    }
}

/// Neither before as much serves as when it began, nor never because it was scaled in meanwhile.
#[test]
fn an_update_ends_when_as_many_are_available_as_when_it_began() {
    let rolling =
        |deployed: &Deployed| super::group(&GroupReport { has_turn: true, ..deployed.group("inf-0-pd") });
    let mut deployed = ready().with("inf-0-pd-0-pre", "0ro").written();
    let begun = rolling(&deployed);
    let ended = |it: &PodCliqueScalingGroupStatus| {
        it.update_progress.as_ref().and_then(|it| it.update_ended_at.clone()).is_some()
    };
    assert_eq!((ended(&begun), begun.update_progress.as_ref().unwrap().available_at_start), (false, 3));
    deployed = deployed.with("inf-0-pd-0-pre", "0b").written();
    deployed.groups.get_mut("inf-0-pd").unwrap().status = Some(begun);
    assert!(!ended(&rolling(&deployed)), "one is of the new template, and does not serve yet");
    let mut whole = deployed.with("inf-0-pd-0-pre", "0r");
    assert!(ended(&rolling(&whole)));
    whole.groups.get_mut("inf-0-pd").unwrap().spec.replicas = 2;
    assert!(ended(&rolling(&whole)), "three will never be there");
}

/// It is for the template that is wanted now, and as many have to be available as when the first one began.
#[test]
fn a_second_change_is_taken_up_in_the_middle() {
    let rolling =
        |deployed: &Deployed| super::group(&GroupReport { has_turn: true, ..deployed.group("inf-0-pd") });
    let mut deployed = ready().with("inf-0-pd-0-pre", "0ro").written();
    let mut begun = rolling(&deployed);
    let first = begun.update_progress.as_mut().unwrap();
    let wanted = std::mem::replace(&mut first.pod_clique_set_generation_hash, "another".to_owned());
    deployed = deployed.with("inf-0-pd-1-pre", "0no").written();
    deployed.groups.get_mut("inf-0-pd").unwrap().status = Some(begun);
    let progress = rolling(&deployed).update_progress.unwrap();
    assert_eq!((progress.pod_clique_set_generation_hash, progress.available_at_start), (wanted, 3));
}

#[test]
fn selector_generation_and_errors() {
    let mut deployed = Deployed::new(1, GROUP);
    deployed
        .refusals
        .insert("inf-0-pd-1-dec".to_owned(), Refusal { message: "quota".to_owned(), since: at(3) });
    let unacted = super::group(&GroupReport { acted: None, ..deployed.group("inf-0-pd") });
    assert_eq!((unacted.observed_generation, unacted.conditions.len()), (None, 0));
    let got = super::group(&deployed.group("inf-0-pd"));
    let of_set = "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=inf";
    let selector = format!("{of_set},grove.io/podcliquescalinggroup=inf-0-pd");
    assert_eq!((got.observed_generation, got.selector.as_deref()), (Some(1), Some(selector.as_str())));
    assert_eq!(got.last_errors.iter().map(|it| it.description.as_str()).collect::<Vec<_>>(), ["quota"]);
    deployed.groups.get_mut("inf-0-pd").unwrap().status = Some(got);
    deployed.refusals.clear();
    assert_eq!(super::group(&deployed.group("inf-0-pd")).last_errors, []);
}

#[test]
fn without_a_minimum_one_replica_is_needed() {
    let mut deployed = ready().without("inf-0-pd-1-pre").without("inf-0-pd-2-pre");
    deployed.groups.get_mut("inf-0-pd").unwrap().spec.min_available = None;
    let breached =
        |deployed: &Deployed| super::group(&deployed.group("inf-0-pd")).conditions[0].status.clone();
    assert_eq!(breached(&deployed), "False");
    assert_eq!(breached(&deployed.without("inf-0-pd-0-pre")), "True");
}
