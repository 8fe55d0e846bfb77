use serde_json::json;

use super::*;
use crate::commands::status::fixture::{chat, clique, conditions, gang, objects, pod, ready, set};

#[test]
fn a_set_its_gangs_and_its_roles() {
    let screen = Screen::of(&chat(), "chat").unwrap();
    assert_eq!(screen.state, State::Progressing);
    assert_eq!((screen.available_replicas, screen.wanted_replicas), (0, 1));
    let gang = &screen.gangs[0];
    assert_eq!((gang.ready_pods, gang.wanted_pods, gang.phase.as_str()), (1, 3, "Pending"));
    assert_eq!(gang.awaited, "the scheduler cannot place it: chat-0-decode-0: 0/2 nodes are available");
    let roles: Vec<_> = screen
        .roles
        .iter()
        .map(|it| (it.name.as_str(), it.ready_pods, it.wanted_pods, it.minimum_pods))
        .collect();
    assert_eq!(
        roles,
        [("chat-0-decode", 0, 2, 1), ("chat-0-router", 1, 1, 1)],
        "what is missing comes first"
    );
    assert_eq!(screen.roles[0].awaited[0].pods, 2);
    assert!(screen.roles[1].is_well());
}

#[test]
fn who_preempted_a_gang_is_said_until_it_has_a_place() {
    let mut seen = chat();
    let key = ("default".to_owned(), "chat-0".to_owned());
    seen.preemptions.insert(key, "preempted by default/high".to_owned());
    let awaited = |seen: &Seen| Screen::of(seen, "chat").unwrap().gangs[0].awaited.clone();
    assert!(
        awaited(&seen).ends_with("nodes are available; it was preempted by default/high"),
        "{}",
        awaited(&seen)
    );
    let placed = [("Scheduled", "True", "", ""), ("Ready", "False", "", "not ready")];
    seen.gangs = objects(vec![gang("chat-0", "Starting", &placed)]);
    assert_eq!(awaited(&seen), "not ready");
}

#[test]
fn a_set_that_is_not_there() {
    assert!(Screen::of(&chat(), "other").is_none());
}

#[test]
fn what_belongs_to_others_is_left_out() {
    let mut seen = chat();
    let mut stranger = clique("other-0-a", "other-0", 1, 1);
    stranger.labels_mut().insert(labels::PART_OF.to_owned(), "other".to_owned());
    let mut elsewhere = clique("chat-0-x", "chat-0", 1, 1);
    elsewhere.metadata.namespace = Some("elsewhere".to_owned());
    seen.cliques.extend(objects(vec![stranger, elsewhere]));
    assert_eq!(Screen::of(&seen, "chat").unwrap().roles.len(), 2);
}

#[test]
fn states() {
    let says = |available: &str, progressing: &str| {
        let all = conditions(&[("Available", available, "", ""), ("Progressing", progressing, "", "")]);
        json!({ "conditions": all })
    };
    let rows = [
        (says("True", "False"), State::Available),
        (says("True", "True"), State::AvailableProgressing),
        (says("False", "True"), State::Progressing),
        (says("False", "False"), State::Unavailable),
        // Upstream's operator writes no such conditions.
        (json!({ "availableReplicas": 1 }), State::Available),
        (json!({ "availableReplicas": 0 }), State::Progressing),
        (json!(null), State::Unseen),
    ];
    for (status, want) in rows {
        assert_eq!(State::of(&set(1, status.clone())), want, "{status}");
    }
    let mut going = set(1, says("True", "False"));
    going.metadata.deletion_timestamp = serde_json::from_value(json!("2027-01-01T00:00:00Z")).unwrap();
    assert_eq!(State::of(&going), State::Deleting);
}

/// The old pods serve on, so that nothing else shows it.
#[test]
fn an_update_that_does_not_get_on_is_said() {
    let rows = [
        ("PodTemplateRefused", "available, but its update is refused", "blocked: its update is refused"),
        (
            "ProgressDeadlineExceeded",
            "available, but its update makes no progress",
            "blocked: its update makes no progress",
        ),
    ];
    for (reason, well, unwell) in rows {
        for (available, want) in [("True", well), ("False", unwell)] {
            let all = conditions(&[
                ("Available", available, "", "x"),
                ("Progressing", "True", "", "y"),
                ("UpdateInProgress", "True", reason, "RuntimeClass not found"),
            ]);
            let set = set(1, json!({ "conditions": all }));
            let seen = Seen { sets: objects(vec![set]), ..Seen::default() };
            let screen = Screen::of(&seen, "chat").unwrap();
            assert_eq!(screen.state.words(screen.blocked), want);
            assert!(
                screen.notes.contains(&"update: RuntimeClass not found".to_owned()),
                "{:?}",
                screen.notes
            );
            let line = &super::super::overview::Overview::of(&seen, true).sets[0];
            assert_eq!(line.awaited, "RuntimeClass not found");
            for value in [json!(screen), json!(line)] {
                assert_eq!(value["blocked"], true, "as for rejected pods: {value}");
            }
        }
    }
    let going = conditions(&[("UpdateInProgress", "True", "ReplacingPods", "replica 0")]);
    let set = set(1, json!({ "availableReplicas": 1, "conditions": going }));
    assert_eq!(Blocked::of(&set), None);
}

#[test]
fn what_is_not_done_is_noted() {
    let all = conditions(&[
        ("SettingsIgnored", "True", "NotImplemented", "resourceSharing: accepted but not implemented"),
        ("SizeLimitExceeded", "True", "NotAllCreated", "9984 of 96000 PodCliques are created"),
    ]);
    let seen = Seen { sets: objects(vec![set(1, json!({ "conditions": all }))]), ..Seen::default() };
    let notes = Screen::of(&seen, "chat").unwrap().notes;
    assert_eq!(
        notes,
        ["9984 of 96000 PodCliques are created", "resourceSharing: accepted but not implemented"]
    );
}

/// A rejected pod does not come by itself: a set that waits for one is not in progress.
#[test]
fn a_set_whose_pods_are_rejected_is_blocked() {
    let says = |available: &str, refused: &str| {
        let all = conditions(&[
            ("Available", available, "", ""),
            ("Progressing", "True", "", ""),
            ("ReplicaFailure", refused, "FailedCreate", "exceeded quota"),
        ]);
        let set = set(1, json!({ "conditions": all }));
        State::of(&set).words(Blocked::of(&set))
    };
    assert_eq!(says("False", "True"), "blocked: pods cannot be created");
    assert_eq!(says("True", "True"), "available, but more pods cannot be created");
    assert_eq!(says("False", "False"), "in progress");
    let mut seen = chat();
    let status = seen.sets.values_mut().next().unwrap().status.as_mut().unwrap();
    status.conditions.push(crate::commands::status::fixture::condition(
        "ReplicaFailure",
        "True",
        "FailedCreate",
        "quota",
    ));
    assert_eq!(Screen::of(&seen, "chat").unwrap().blocked, Some(Blocked::PodsRefused));
    let line = &super::super::overview::Overview::of(&seen, true).sets[0];
    assert_eq!((line.blocked, line.awaited.as_str()), (Some(Blocked::PodsRefused), "quota"));
}

/// A gang that fell below its minimum does not count as one that runs, also where its phase is still Running.
#[test]
fn an_unhealthy_gang_does_not_count_as_running() {
    let mut seen = chat();
    let unhealthy = gang("d", "Running", &[("Unhealthy", "True", "PodsLost", "")]);
    seen.gangs = objects(vec![gang("a", "Running", &[]), gang("b", "Succeeded", &[]), unhealthy]);
    let line = &super::super::overview::Overview::of(&seen, true).sets[0];
    assert_eq!((line.running_gangs, line.gangs), (2, 3));
}

/// A changed template that waits because updates are paused is said in the list of sets, too.
#[test]
fn a_paused_change_is_told() {
    let all = conditions(&[
        ("Available", "True", "", ""),
        ("Progressing", "False", "", ""),
        ("UpdatePending", "True", "UpdatePaused", "the template changed"),
    ]);
    let mut seen = chat();
    seen.sets = objects(vec![set(1, json!({ "observedGeneration": 2, "conditions": all }))]);
    let line = &super::super::overview::Overview::of(&seen, true).sets[0];
    assert_eq!((line.state, line.awaited.as_str()), (State::Available, "the template changed"));
}

/// A gang that waits for another one is not the reason, and `chat-2` comes before `chat-10`.
#[test]
fn the_list_of_sets_has_the_reason_first() {
    let mut seen = chat();
    let no_place = |name: &str| gang(name, "Pending", &[("Scheduled", "False", "Unschedulable", "no room")]);
    let waits = gang("a-0", "Pending", &[("Scheduled", "False", "WaitingForBaseGang", "waiting for b-2")]);
    seen.gangs = objects(vec![waits.clone(), no_place("b-10"), no_place("b-2"), gang("a", "Running", &[])]);
    let awaited = |seen: &Seen| super::super::overview::Overview::of(seen, true).sets[0].awaited.clone();
    assert_eq!(awaited(&seen), "gang b-2: the scheduler cannot place it: no room");
    seen.gangs = objects(vec![waits]);
    assert_eq!(awaited(&seen), "gang a-0: waiting for b-2");
    seen.gangs.clear();
    assert_eq!(awaited(&seen), "chat-0-decode: 0 pods ready, at least 1 needed");
}

#[test]
fn gangs_and_roles_are_in_natural_order() {
    let mut seen = chat();
    seen.gangs = objects(["g-10", "g-9", "g-1"].map(|it| gang(it, "Pending", &[])).into());
    seen.cliques = objects(["c-10", "c-9", "c-1"].map(|it| clique(it, "g-1", 1, 1)).into());
    let screen = Screen::of(&seen, "chat").unwrap();
    let gangs: Vec<&str> = screen.gangs.iter().map(|it| it.name.as_str()).collect();
    let roles: Vec<&str> = screen.roles.iter().map(|it| it.name.as_str()).collect();
    assert_eq!((gangs, roles), (vec!["g-1", "g-9", "g-10"], vec!["c-1", "c-9", "c-10"]));
}

#[test]
fn notes_say_only_what_is_amiss() {
    let all = conditions(&[
        ("Available", "True", "", "fine"),
        ("Progressing", "False", "", "done"),
        ("TopologyLevelsUnavailable", "False", "", "has every level"),
        ("UpdatePending", "False", "", "current"),
    ]);
    assert!(notes(&set(1, json!({ "observedGeneration": 2, "conditions": all }))).is_empty());
    let all = conditions(&[
        ("Available", "False", "", "a is missing"),
        ("Progressing", "True", "", "1 of 2"),
        ("ReplicaFailure", "True", "", "quota"),
        ("RestartBudgetExhausted", "True", "", "clique a was restarted 2 times"),
        ("TopologyLevelsUnavailable", "Unknown", "", "no binding"),
        ("SchedulerCapabilityGap", "True", "", "topology"),
        ("UpdatePending", "True", "", "1 old pod"),
    ]);
    let error = json!({ "code": "ERR_X", "description": "no", "observedAt": "2027-01-01T00:00:00Z" });
    let status = json!({ "observedGeneration": 1, "conditions": all, "lastErrors": [error] });
    assert_eq!(
        notes(&set(1, status)),
        [
            "a is missing",
            "1 of 2",
            "pods cannot be created: quota",
            "clique a was restarted 2 times",
            "topology: no binding",
            "ignored by the scheduler: topology",
            "1 old pod",
            "error ERR_X: no",
            "the operator has not acted on the last change yet",
        ]
    );
}

#[test]
fn a_gang_says_what_comes_first() {
    type Said<'a> = &'a [(&'a str, &'a str, &'a str, &'a str)];
    let rows: [(Said<'_>, &str); 6] = [
        (&[("Ready", "True", "", "x"), ("Unhealthy", "False", "", "y")], ""),
        (
            &[("Initialized", "False", "PodsNotCreated", "a"), ("Scheduled", "False", "PodsNotCreated", "b")],
            "a",
        ),
        (
            &[("Scheduled", "False", "WaitingForScheduler", "w: 0 pods scheduled, at least 1 needed")],
            "waiting for the scheduler: w: 0 pods scheduled, at least 1 needed",
        ),
        (
            &[("Scheduled", "False", "WaitingForBaseGang", "the base gang goes first")],
            "the base gang goes first",
        ),
        (
            &[("Ready", "False", "PodsNotReady", "r"), ("Unhealthy", "True", "PodsLost", "u")],
            "below minAvailable: u",
        ),
        (
            &[("Unhealthy", "True", "PodsLost", "u"), ("ReplicaFailure", "True", "FailedCreate", "q")],
            "pods cannot be created: q",
        ),
    ];
    for (all, want) in rows {
        assert_eq!(awaited(&gang("g", "Pending", all).status.unwrap().conditions), want, "{all:?}");
    }
}

#[test]
fn gangs_that_need_attention_come_first() {
    let mut seen = chat();
    seen.gangs = objects(vec![
        gang("a", "Running", &[]),
        gang("b", "Starting", &[]),
        gang("c", "Pending", &[]),
        gang("d", "Running", &[("Unhealthy", "True", "PodsLost", "")]),
        gang("e", "", &[]),
    ]);
    let screen = Screen::of(&seen, "chat").unwrap();
    let names: Vec<&str> = screen.gangs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["d", "c", "e", "b", "a"]);
    assert_eq!(screen.gangs[2].phase, "Pending", "a gang without a status");
}

#[test]
fn parents_that_are_not_ready_are_awaited() {
    let mut seen = chat();
    let mut late = clique("chat-0-late", "chat-0", 1, 1);
    late.spec.starts_after = ["chat-0-router", "chat-0-decode", "chat-0-none"].map(str::to_owned).to_vec();
    seen.cliques.extend(objects(vec![late]));
    seen.pods.extend(objects(vec![pod("chat-0-late", 0, &json!({ "spec": { "nodeName": "node" } }))]));
    let screen = Screen::of(&seen, "chat").unwrap();
    let late = screen.roles.iter().find(|it| it.name == "chat-0-late").unwrap();
    assert_eq!(late.awaited[0].why, "waiting for chat-0-decode, chat-0-none to be ready first");
}

#[test]
fn a_pod_counts_for_the_clique_that_owns_it() {
    let mut seen = chat();
    let owner = json!([{ "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "chat-0-decode", "uid": "u", "controller": true }]);
    let mut stolen = pod("chat-0-router", 1, &ready());
    stolen.metadata.owner_references = serde_json::from_value(owner).unwrap();
    seen.pods.extend(objects(vec![stolen]));
    let screen = Screen::of(&seen, "chat").unwrap();
    assert_eq!(screen.roles.iter().find(|it| it.name == "chat-0-decode").unwrap().ready_pods, 1);
}

/// Machines read it: a field that is renamed breaks them.
#[test]
fn json_is_stable() {
    let value = serde_json::to_value(Screen::of(&chat(), "chat").unwrap()).unwrap();
    let keys = |value: &serde_json::Value| {
        let keys = value.as_object().unwrap().keys().map(String::as_str);
        keys.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(value["state"], "progressing");
    assert_eq!(
        keys(&value),
        "namespace name state availableReplicas wantedReplicas notes gangs groups roles"
    );
    assert_eq!(keys(&value["gangs"][0]), "name phase healthy readyPods wantedPods awaited");
    assert_eq!(keys(&value["groups"][0]), "name availableReplicas wantedReplicas minimumReplicas");
    assert_eq!(keys(&value["roles"][0]), "name role gang readyPods wantedPods minimumPods awaited");
    assert_eq!(keys(&value["roles"][0]["awaited"][0]), "pods why");
    let all = serde_json::to_value(super::super::overview::Overview::of(&chat(), true)).unwrap();
    assert_eq!(
        keys(&all["sets"][0]),
        "namespace name state availableReplicas wantedReplicas readyPods wantedPods runningGangs gangs awaited"
    );
}
