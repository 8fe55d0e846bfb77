//! Counters, conditions and the list of gangs of a set.

mod templates;

use grove_api::wire::{
    Condition, PodGangStatus, PodGangStatusSummary, Time, UpdateStrategy, UpdateStrategyType,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::*;
use crate::{
    facts::Refusal,
    fixture::{Deployed, GENERATION, at, conditions, message},
};

/// Per replica: two `fe`, of which one is needed, and two copies of `pre` and `dec`, of which one is needed.
const SET: &str = "fe=2/1 pre=1/1 dec=2/2 | pd=2/1:pre,dec";

fn ready(replicas: i32) -> Deployed {
    Deployed::new(replicas, SET).all("r")
}

fn said(status: &PodCliqueSetStatus, type_: &str) -> Option<String> {
    conditions(&status.conditions).into_iter().find(|it| it.starts_with(type_))
}

#[test]
fn a_replica_is_available_when_every_clique_and_group_is() {
    // Available and updated, of two replicas; what the condition says of the first that is not.
    let rows = [
        (ready(2), 2, 2, ""),
        (ready(2).with("inf-1-fe", "0r 1g"), 2, 2, ""),
        (ready(2).with("inf-1-fe", "0n 1r!"), 1, 1, "inf-1-fe: 0 pods ready, at least 1 needed"),
        (ready(2).without("inf-0-fe"), 1, 1, "PodClique inf-0-fe does not exist"),
        (ready(2).leaving("inf-0-fe"), 1, 1, "PodClique inf-0-fe does not exist"),
        // One replica of the group is enough.
        (ready(2).with("inf-0-pd-0-dec", "0r"), 2, 2, ""),
        (
            ready(2).with("inf-0-pd-0-dec", "0r").without("inf-0-pd-1-pre"),
            1,
            1,
            "inf-0-pd: 0 replicas available, at least 1 needed",
        ),
        (ready(2).with("inf-1-fe", "0ro 1r"), 2, 1, ""),
        (ready(2).with("inf-1-pd-1-pre", "0ro"), 2, 1, ""),
        (Deployed::new(2, SET), 0, 0, "inf-0-fe: 0 pods ready, at least 1 needed"),
        (ready(0), 0, 0, ""),
    ];
    for (deployed, available, updated, missing) in rows {
        let deployed = deployed.written();
        let got = super::set(&deployed.report());
        assert_eq!((got.available_replicas, got.updated_replicas), (available, updated), "{missing}");
        let all = available == got.replicas;
        let want =
            if all { "Available=True/AllReplicasAvailable" } else { "Available=False/ReplicasUnavailable" };
        assert_eq!(said(&got, "Available").as_deref(), Some(want), "{missing}");
        let words = message(&got.conditions, "Available");
        assert!(words.ends_with(missing) && words.starts_with(&available.to_string()), "{words}");
    }
}

#[test]
fn a_group_that_is_gone_or_going_is_named() {
    let mut deployed = ready(1).written();
    deployed.groups.get_mut("inf-0-pd").unwrap().metadata.deletion_timestamp = Some(Time(at(1)));
    assert_eq!(super::set(&deployed.report()).available_replicas, 0);
    deployed.groups.clear();
    let got = super::set(&deployed.report());
    assert_eq!(got.available_replicas, 0);
    assert!(message(&got.conditions, "Available").ends_with("PodCliqueScalingGroup inf-0-pd does not exist"));
}

#[test]
fn progress_is_what_is_still_to_come() {
    let rows = [
        (ready(1), "False/Complete"),
        (Deployed::new(1, SET), "True/AwaitingPods"),
        (ready(1).with("inf-0-fe", "0r"), "True/AwaitingPods"),
        (ready(1).with("inf-0-fe", "0r 1r 2r"), "True/AwaitingPods"),
        (ready(1).with("inf-0-fe", "0r 1n"), "True/AwaitingPods"),
        (Deployed::new(1, SET).all("g"), "True/AwaitingPods"),
        // What is not even created is still to come too: also a copy of a group beyond its minimum.
        (ready(1).without("inf-0-fe"), "True/AwaitingPods"),
        (ready(1).without("inf-0-pd-1-dec"), "True/AwaitingPods"),
        (ready(1).leaving("inf-0-pd-1-dec"), "True/AwaitingPods"),
        (ready(0), "False/Complete"),
    ];
    for (at, (deployed, want)) in rows.into_iter().enumerate() {
        let got = super::set(&deployed.written().report());
        assert_eq!(said(&got, "Progressing"), Some(format!("Progressing={want}")), "row {at}");
    }
    let mut fresh = Deployed::new(1, "a=1/1 | g=1/1:a");
    fresh.cliques.clear();
    let got = super::set(&fresh.report());
    assert_eq!(
        said(&got, "Progressing").as_deref(),
        Some("Progressing=True/AwaitingPods"),
        "groups without members"
    );
    fresh.groups.clear();
    let got = super::set(&fresh.report());
    assert_eq!(said(&got, "Progressing").as_deref(), Some("Progressing=True/AwaitingPods"), "no group");
}

#[test]
fn progress_waits_for_the_generation_and_says_what_goes_wrong() {
    let deployed = ready(1).written();
    let behind = SetReport { acted: Some(0), ..deployed.report() };
    assert_eq!(said(&super::set(&behind), "Progressing").as_deref(), Some("Progressing=True/AwaitingPods"));
    let error = LastError {
        code: "ERR_SYNC_PODCLIQUE".to_owned(),
        description: "in the way".to_owned(),
        observed_at: Time(at(1)),
    };
    let failed = SetReport { errors: vec![error.clone()], ..deployed.report() };
    let got = super::set(&failed);
    assert_eq!(said(&got, "Progressing").as_deref(), Some("Progressing=True/Retrying"));
    assert_eq!(got.last_errors, [error]);
    let mut after = ready(1).written();
    after.set.status = Some(got);
    assert_eq!(super::set(&after.report()).last_errors, [], "forgotten when it is over");
}

#[test]
fn what_dynamo_and_autoscalers_read() {
    let mut deployed = ready(2).written();
    deployed.set.metadata.generation = Some(7);
    let got = super::set(&deployed.report());
    assert_eq!(
        (got.observed_generation, got.current_generation_hash.as_deref()),
        (Some(7), Some(GENERATION))
    );
    assert_eq!(got.replicas, 2);
    let selector = "app.kubernetes.io/managed-by=grove-operator,app.kubernetes.io/part-of=inf";
    assert_eq!(got.hpa_pod_selector.as_deref(), Some(selector));
    deployed.set.status = Some(got);
    let unacted = SetReport { acted: None, ..deployed.report() };
    assert_eq!(super::set(&unacted).observed_generation, Some(7), "it does not go back");
}

#[test]
fn a_refusal_is_quoted_while_it_lasts() {
    let mut deployed = ready(1).with("inf-0-fe", "0r").written();
    deployed
        .refusals
        .insert("inf-0-fe".to_owned(), Refusal { message: "exceeded quota".to_owned(), since: at(3) });
    let got = super::set(&deployed.report());
    assert_eq!(said(&got, "ReplicaFailure").as_deref(), Some("ReplicaFailure=True/FailedCreate"));
    assert_eq!(message(&got.conditions, "ReplicaFailure"), "inf-0-fe: exceeded quota");
    assert_eq!((got.last_errors[0].code.as_str(), got.last_errors.len()), ("ERR_CREATE_POD", 1));
    deployed.set.status = Some(got);
    deployed.refusals.clear();
    let got = super::set(&deployed.report());
    assert_eq!((said(&got, "ReplicaFailure"), got.last_errors.len()), (None, 0));
}

#[test]
fn a_pending_update_is_said_and_then_done() {
    let mut deployed = ready(1).written();
    deployed.set.spec.update_strategy =
        Some(UpdateStrategy { type_: UpdateStrategyType::OnDelete, ..UpdateStrategy::default() });
    assert_eq!(said(&super::set(&deployed.report()), "UpdatePending"), None, "nothing was ever pending");
    deployed = deployed.with("inf-0-fe", "0r 1ro").with("inf-0-pd-0-pre", "0ro 0r!");
    let got = super::set(&deployed.report());
    assert_eq!(said(&got, "UpdatePending").as_deref(), Some("UpdatePending=True/OldPodsKept"));
    assert!(message(&got.conditions, "UpdatePending").starts_with("2 of 8 pods"), "{:?}", got.conditions);
    deployed.set.status = Some(got);
    deployed = deployed.with("inf-0-fe", "0r 1r").with("inf-0-pd-0-pre", "0r 0ro!");
    let got = super::set(&deployed.report());
    assert_eq!(said(&got, "UpdatePending").as_deref(), Some("UpdatePending=False/AllPodsCurrent"));
}

/// Where a restart policy keeps it, nothing but its turn replaces it.
#[test]
fn a_pod_of_an_old_template_that_failed_is_waited_for() {
    let failed = ready(2).written().with("inf-1-fe", "0r 1Fo");
    let got = super::set(&failed.report());
    let progress = got.update_progress.clone().unwrap_or_default();
    assert_eq!(progress.currently_updating.first().map(|it| it.replica_index), Some(1));
    let words = message(&got.conditions, "UpdateInProgress");
    assert_eq!(words, "15 of 16 pods have the current template; updating replica 1");
    let made_before = ready(2).with("inf-1-fe", "0Fo").written();
    let known = made_before.cliques["inf-1-fe"].status.clone().unwrap().current_pod_template_hash;
    assert_eq!(known, None, "the clique is not of the template that none of its pods has");
}

/// One replica after the other; what it waits for is said, and when it is stuck.
#[test]
fn an_update_says_where_it_is() {
    let mut deployed = ready(2).written();
    let step = |deployed: &mut Deployed, update: UpdateSeen, now: i64| {
        let report = SetReport { update, state: deployed.state_at(now), ..deployed.report() };
        let got = super::set(&report);
        let progress = got.update_progress.clone().unwrap_or_default();
        let turn = progress.currently_updating.first().map(|it| it.replica_index);
        let text = format!("{:?} {}", turn, message(&got.conditions, "UpdateInProgress"));
        let said = said(&got, "UpdateInProgress").unwrap_or_default();
        deployed.set.status = Some(got);
        (said, text)
    };
    assert_eq!(step(&mut deployed, UpdateSeen::default(), 10).0, "", "there never was one");
    deployed = deployed.with("inf-0-fe", "0ro 1ro").with("inf-1-fe", "0ro 1ro");
    let (said, text) = step(&mut deployed, UpdateSeen::default(), 10);
    assert_eq!(said, "UpdateInProgress=True/ReplacingPods");
    assert_eq!(text, "Some(0) 12 of 16 pods have the current template; updating replica 0");
    let waits = || UpdateSeen {
        moved: Some(at(20)),
        waits_for: Some("pod x: why".to_owned()),
        ..UpdateSeen::default()
    };
    deployed = deployed.with("inf-0-fe", "0ro 1n");
    let (said, text) = step(&mut deployed, waits(), 619);
    assert_eq!(said, "UpdateInProgress=True/ReplacingPods");
    assert!(text.ends_with("; updating replica 0, waiting for pod x: why"), "{text}");
    assert_eq!(step(&mut deployed, waits(), 620).0, "UpdateInProgress=True/ProgressDeadlineExceeded");
    // A pause is no standstill: from its end on the time counts anew.
    let pause = |deployed: &mut Deployed, paused: bool| {
        deployed.set.spec.update_strategy = Some(UpdateStrategy { paused, ..UpdateStrategy::default() });
    };
    pause(&mut deployed, true);
    assert_eq!(step(&mut deployed, waits(), 621).0, "UpdateInProgress=True/UpdatePaused");
    pause(&mut deployed, false);
    for (now, want) in [(2000, "ReplacingPods"), (2599, "ReplacingPods"), (2600, "ProgressDeadlineExceeded")]
    {
        let want = format!("UpdateInProgress=True/{want}");
        assert_eq!(step(&mut deployed, waits(), now).0, want, "{now}");
    }
    deployed = deployed.with("inf-0-fe", "0r 1r").written();
    let (said, text) = step(&mut deployed, UpdateSeen::default(), 2630);
    assert_eq!((said.as_str(), &text[..7]), ("UpdateInProgress=True/ReplacingPods", "Some(1)"));
    deployed = deployed.with("inf-1-fe", "0r 1r").written();
    let (said, text) = step(&mut deployed, UpdateSeen::default(), 2640);
    assert_eq!(said, "UpdateInProgress=False/UpdateEnded");
    assert_eq!(text, "None 16 of 16 pods have the current template");
    let progress = deployed.set.status.unwrap().update_progress.unwrap();
    assert_eq!((progress.updated_pod_cliques_count, progress.total_pod_cliques_count), (2, 2));
    assert_eq!(
        (progress.updated_pod_clique_scaling_groups_count, progress.total_pod_clique_scaling_groups_count),
        (2, 2)
    );
}

/// What was updated broke after its turn: the update says that it waits for that, and goes on when it is mended.
#[test]
fn an_update_that_waits_for_a_replica_says_for_which() {
    let mut deployed = ready(3).written();
    let report = |deployed: &mut Deployed| {
        let got = super::set(&deployed.report());
        let text = message(&got.conditions, "UpdateInProgress").to_owned();
        deployed.set.status = Some(got);
        text
    };
    assert_eq!(report(&mut deployed), "");
    let old = |it: Deployed, replica: u32| it.with(&format!("inf-{replica}-fe"), "0ro 1ro");
    deployed = (0..3).fold(deployed, old);
    assert!(report(&mut deployed).ends_with("; updating replica 0"));
    deployed = deployed.with("inf-0-fe", "0r 1r").written();
    assert!(report(&mut deployed).ends_with("; updating replica 1"));
    deployed = deployed.with("inf-1-fe", "0r 1r").written().with("inf-0-fe", "0ne 1ne");
    let words = "; the next replica waits until 3 replicas are available, as before the update; 2 available: inf-0-fe: 0 pods ready, at least 1 needed";
    let text = report(&mut deployed);
    assert!(text.ends_with(words), "{text}");
    deployed = deployed.with("inf-0-fe", "0r 1n");
    assert!(report(&mut deployed).ends_with("; updating replica 2"));
}

#[test]
fn topology_is_said_and_forgotten() {
    let mut deployed = ready(1).written();
    let state = SetState { topology: crate::status::TopologySeen::On(None), ..deployed.state_at(10) };
    let on = SetReport { state, ..deployed.report() };
    let got = super::set(&on);
    assert_eq!(
        said(&got, "TopologyLevels").as_deref(),
        Some("TopologyLevelsUnavailable=False/AllClusterTopologyLevelsAvailable")
    );
    deployed.set.status = Some(got);
    assert_eq!(said(&super::set(&deployed.report()), "TopologyLevels"), None);
}

#[test]
fn what_the_scheduler_passes_over_is_said_until_it_does_not() {
    let mut deployed = ready(1).written();
    assert_eq!(said(&super::set(&deployed.report()), "SchedulerCapabilityGap"), None);
    let passed = |sentences: &[&str]| Some(sentences.iter().map(ToString::to_string).collect());
    let gap = SetReport { passed_over: passed(&["No gangs: too old.", "No queues."]), ..deployed.report() };
    let got = super::set(&gap);
    let want = "SchedulerCapabilityGap=True/FeaturesPassedOver";
    assert_eq!(said(&got, "SchedulerCapabilityGap").as_deref(), Some(want));
    assert_eq!(message(&got.conditions, "SchedulerCapabilityGap"), "No gangs: too old. No queues.");
    deployed.set.status = Some(got);
    // While the backend is not ready, nobody knows; a restart must not make the condition come and go.
    let unknown = SetReport { passed_over: None, ..deployed.report() };
    assert_eq!(
        message(&super::set(&unknown).conditions, "SchedulerCapabilityGap"),
        "No gangs: too old. No queues."
    );
    assert_eq!(said(&super::set(&deployed.report()), "SchedulerCapabilityGap"), None);
}

fn gang(name: &str, phase: &str, unhealthy: Option<&str>) -> PodGang {
    let condition = |status: &str| Condition {
        type_: "Unhealthy".to_owned(),
        status: status.to_owned(),
        reason: "R".to_owned(),
        message: String::new(),
        observed_generation: None,
        last_transition_time: Time(at(0)),
    };
    let conditions = unhealthy.map(condition).into_iter().collect();
    PodGang {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        status: Some(PodGangStatus { phase: phase.to_owned(), conditions, ..PodGangStatus::default() }),
        ..PodGang::default()
    }
}

fn listed(status: &PodCliqueSetStatus) -> Vec<String> {
    let entry = |it: &PodGangStatusSummary| format!("{}:{:?}:{}", it.name, it.phase, it.conditions.len());
    status.pod_gang_statuses.iter().map(entry).collect()
}

#[test]
fn gangs_in_need_of_attention_are_listed_first() {
    let mut deployed = ready(1).written();
    deployed.gangs = vec![
        gang("a", "Running", Some("False")),
        gang("b", "Pending", None),
        gang("d", "Running", Some("True")),
        gang("c", "Starting", Some("True")),
        gang("e", "Starting", Some("False")),
        gang("f", "Pending", None),
        PodGang { status: None, ..gang("g", "", None) },
    ];
    let got = super::set(&deployed.report());
    let want = [
        "c:Starting:1",
        "d:Running:1",
        "b:Pending:0",
        "f:Pending:0",
        "g:Pending:0",
        "e:Starting:1",
        "a:Running:0",
    ];
    assert_eq!(listed(&got), want);
    let words = message(&got.conditions, "Progressing");
    assert!(words.ends_with("gangs: 1 running, 1 starting, 3 pending, 2 unhealthy"), "{words}");
}

/// Whoever looks at the set need not look at its gangs to know what is missing.
#[test]
fn the_first_gang_without_a_place_says_why() {
    let said = |reason: &str| {
        let mut deployed = ready(1).written();
        let mut stuck = gang("b", "Pending", None);
        let scheduled = Condition {
            type_: "Scheduled".to_owned(),
            status: "False".to_owned(),
            reason: reason.to_owned(),
            message: "room for 1 of 4 pods".to_owned(),
            ..gang("x", "", Some("True")).status.unwrap().conditions[0].clone()
        };
        stuck.status.as_mut().unwrap().conditions = vec![scheduled];
        deployed.gangs = vec![gang("a", "Running", None), stuck];
        message(&super::set(&deployed.report()).conditions, "Progressing").to_owned()
    };
    let want = "gangs: 1 running, 0 starting, 1 pending, 0 unhealthy";
    for reason in ["Unschedulable", "SchedulerBackendNotReady", "SchedulerBackendFailed", "GangNotHonoured"] {
        assert!(said(reason).ends_with(&format!("{want}; b: room for 1 of 4 pods")), "{}", said(reason));
    }
    assert!(said("WaitingForBaseGang").ends_with(want), "it is not why the set has to wait");
}

#[test]
fn at_most_a_hundred_gangs_are_listed() {
    let mut deployed = ready(1).written();
    deployed.gangs = (0..150).map(|it| gang(&format!("g{it:03}"), "Running", None)).collect();
    deployed.gangs.push(gang("z", "Running", Some("True")));
    let got = super::set(&deployed.report());
    assert_eq!(got.pod_gang_statuses.len(), 100);
    assert_eq!(
        (got.pod_gang_statuses[0].name.as_str(), got.pod_gang_statuses[99].name.as_str()),
        ("z", "g098")
    );
    assert!(
        message(&got.conditions, "Progressing").contains("150 running, 0 starting, 0 pending, 1 unhealthy"),
        "the counts are of all"
    );
}

#[test]
fn an_unchanged_set_says_the_same() {
    let mut deployed = ready(2).written();
    deployed.gangs = vec![gang("inf-0", "Running", None)];
    let got = super::set(&deployed.report());
    deployed.set.status = Some(got.clone());
    assert_eq!(super::set(&SetReport { state: deployed.state_at(99), ..deployed.report() }), got);
    assert!(got.conditions.iter().all(|it| it.observed_generation == Some(1)));
}
