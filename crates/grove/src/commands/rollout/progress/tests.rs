use serde_json::{Value, json};

use super::*;
use crate::commands::status::fixture::{clique, conditions, group, objects, pod, ready, set};

/// The set with this status, as the operator left it when it saw generation 2.
fn seen(status: &Value, spec: &Value) -> Seen {
    let mut whole = json!({ "observedGeneration": 2, "currentGenerationHash": "new" });
    for (key, value) in status.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let mut set = set(3, whole);
    if !spec.is_null() {
        set.spec.update_strategy = serde_json::from_value(spec.clone()).unwrap();
    }
    Seen { sets: objects(vec![set]), ..Seen::default() }
}

fn state(status: &Value, spec: &Value) -> State {
    Progress::of(&seen(status, spec), "chat").unwrap().state
}

const START: &str = "2027-01-01T00:00:00Z";

#[test]
fn every_state_has_its_sign() {
    let started = json!({ "updateProgress": { "updateStartedAt": START } });
    let ended = json!({ "updateProgress": { "updateStartedAt": START, "updateEndedAt": START } });
    let with = |reason: &str, status: &str| {
        let mut it = started.clone();
        it["conditions"] = conditions(&[("UpdateInProgress", status, reason, "chat-0-a")]);
        it
    };
    let old = json!({ "observedGeneration": 1, "updateProgress": { "updateEndedAt": START } });
    let rows = [
        (json!({}), Value::Null, State::Never, true),
        (old, Value::Null, State::Unseen, false),
        (started.clone(), Value::Null, State::Running, false),
        (started.clone(), json!({ "paused": true }), State::Paused, false),
        (started.clone(), json!({ "paused": false }), State::Running, false),
        (with("ReplacingPods", "True"), Value::Null, State::Running, false),
        (with("PodTemplateRefused", "True"), Value::Null, State::Blocked, false),
        (with("PodTemplateRefused", "True"), json!({ "paused": true }), State::Paused, false),
        (with("ProgressDeadlineExceeded", "True"), Value::Null, State::Stuck, true),
        (with("ProgressDeadlineExceeded", "False"), Value::Null, State::Running, false),
        (ended, Value::Null, State::Ended, true),
    ];
    for (status, spec, want, is_final) in rows {
        let got = state(&status, &spec);
        assert_eq!((got, got.is_final()), (want, is_final), "{status} {spec}");
    }
}

/// A clique of this replica of the set, with this hash of the set and so many pods of the new template.
fn role(name: &str, replica: &str, hash: &str, updated: i32) -> PodClique {
    let mut clique = clique(name, "chat-0", 2, 1);
    clique.labels_mut().insert(labels::SET_REPLICA_INDEX.to_owned(), replica.to_owned());
    let status = clique.status.as_mut().unwrap();
    status.current_pod_clique_set_generation_hash = Some(hash.to_owned());
    status.updated_replicas = updated;
    clique
}

fn pool(name: &str, replica: &str, hash: &str, updated: i32) -> PodCliqueScalingGroup {
    let mut group = group(name, 2, 1);
    group.labels_mut().insert(labels::SET_REPLICA_INDEX.to_owned(), replica.to_owned());
    let status = group.status.as_mut().unwrap();
    status.current_pod_clique_set_generation_hash = Some(hash.to_owned());
    status.updated_replicas = updated;
    group
}

/// Replica 1 of 3 is being updated: one pod of `a` ends, and the member of the pool's second replica starts.
pub(in crate::commands::rollout) fn under_way() -> Seen {
    let status = json!({
        "updatedReplicas": 1,
        "updateProgress": { "updateStartedAt": START, "currentlyUpdating": [{ "replicaIndex": 1 }] },
        "conditions": conditions(&[("UpdateInProgress", "True", "ReplacingPods", "replica 1: chat-1-a has 1 of 2 pods updated")]),
    });
    let mut seen = seen(&status, &Value::Null);
    let mut second = role("chat-1-a", "1", "old", 1);
    second.status.as_mut().unwrap().update_progress = serde_json::from_value(json!({
        "podCliqueSetGenerationHash": "new", "podTemplateHash": "t",
        "readyPodsSelectedToUpdate": { "current": "chat-1-a-1" },
    }))
    .unwrap();
    let mut third = role("chat-2-a", "2", "old", 0);
    third.status.as_mut().unwrap().update_progress = second.status.as_ref().unwrap().update_progress.clone();
    let mut member = role("chat-1-pool-1-w", "1", "old", 0);
    member.labels_mut().insert(labels::SCALING_GROUP.to_owned(), "chat-1-pool".to_owned());
    seen.cliques = objects(vec![role("chat-0-a", "0", "new", 2), second, third, member]);
    let mut second = pool("chat-1-pool", "1", "old", 1);
    second.status.as_mut().unwrap().update_progress = serde_json::from_value(json!({
        "updateStartedAt": START, "podCliqueSetGenerationHash": "new",
        "readyReplicaIndicesSelectedToUpdate": { "current": 1 },
    }))
    .unwrap();
    seen.groups = objects(vec![pool("chat-0-pool", "0", "new", 2), second]);
    let ending = json!({ "metadata": { "deletionTimestamp": START } });
    let starting = json!({ "spec": { "nodeName": "node" } });
    seen.pods = objects(vec![
        pod("chat-1-a", 0, &ready()),
        pod("chat-1-a", 1, &ending),
        pod("chat-1-pool-1-w", 0, &starting),
        pod("chat-1-pool-1-w", 1, &starting),
        pod("chat-2-a", 0, &ready()),
        pod("chat-2-a", 1, &ending),
    ]);
    seen
}

#[test]
fn each_unit_has_its_turn() {
    let progress = Progress::of(&under_way(), "chat").unwrap();
    let rows: Vec<(&str, Kind, usize, Turn, usize, usize)> = progress
        .units
        .iter()
        .map(|it| (it.name.as_str(), it.kind, it.replica, it.state, it.updated, it.wanted))
        .collect();
    let (clique, group) = (Kind::PodClique, Kind::PodCliqueScalingGroup);
    assert_eq!(
        rows,
        [
            ("chat-1-a", clique, 1, Turn::Updating, 1, 2),
            ("chat-1-pool", group, 1, Turn::Updating, 1, 2),
            ("chat-2-a", clique, 2, Turn::Waiting, 0, 2),
            ("chat-0-a", clique, 0, Turn::Done, 2, 2),
            ("chat-0-pool", group, 0, Turn::Done, 2, 2),
        ]
    );
    assert_eq!((progress.updated_replicas, progress.wanted_replicas), (1, 3));
    assert_eq!(progress.updating_replicas, [1]);
}

#[test]
fn what_is_being_replaced_and_awaited_is_said_where_it_is_its_turn() {
    let progress = Progress::of(&under_way(), "chat").unwrap();
    let unit = |name: &str| progress.units.iter().find(|it| it.name == name).unwrap();
    assert_eq!(unit("chat-1-a").replacing.as_deref(), Some("pod chat-1-a-1"));
    assert_eq!(unit("chat-1-pool").replacing.as_deref(), Some("replica 1"));
    assert_eq!(unit("chat-2-a").replacing, None, "a note of an earlier update");
    let why = |name: &str| {
        unit(name).awaited.iter().map(|it| format!("{} {}", it.pods, it.why)).collect::<Vec<_>>()
    };
    assert_eq!(why("chat-1-a"), ["1 being deleted", "1 not created yet"]);
    assert_eq!(why("chat-1-pool"), ["2 starting"]);
    assert_eq!(why("chat-2-a"), Vec::<String>::new());
}

/// A clique all of whose pods are new, and that has not been seen with them.
#[test]
fn done_is_what_the_operator_says_is() {
    let mut seen = under_way();
    seen.cliques = objects(vec![role("chat-1-a", "1", "old", 2), role("chat-1-b", "1", "new", 1)]);
    let progress = Progress::of(&seen, "chat").unwrap();
    let turns: Vec<Turn> =
        progress.units.iter().filter(|it| it.kind == Kind::PodClique).map(|it| it.state).collect();
    assert_eq!(turns, [Turn::Updating, Turn::Updating]);
}

#[test]
fn pods_that_stay_on_purpose_are_told() {
    let status = json!({
        "updateProgress": { "updateStartedAt": START, "updateEndedAt": START },
        "conditions": conditions(&[("UpdatePending", "True", "OldPodsKept", "3 pods are old")]),
    });
    let progress = Progress::of(&seen(&status, &json!({ "type": "OnDelete" })), "chat").unwrap();
    assert_eq!((progress.state, progress.message.as_str()), (State::Ended, "3 pods are old"));
    assert_eq!(progress.strategy, UpdateStrategyType::OnDelete);
    assert_eq!(Progress::of(&Seen::default(), "chat"), None);
}

/// The template changed while updates are paused: what runs is of the template in use, and nothing has the change.
#[test]
fn a_change_that_waits_for_a_resume_has_reached_nothing() {
    let pending = |reason: &str, paused: bool| {
        let status = json!({
            "updatedReplicas": 3,
            "conditions": conditions(&[("UpdatePending", "True", reason, "the template changed")]),
        });
        let mut seen = seen(&status, &json!({ "paused": paused }));
        seen.cliques = objects(vec![role("chat-0-a", "0", "new", 2)]);
        seen.groups = objects(vec![pool("chat-0-pool", "0", "new", 2)]);
        Progress::of(&seen, "chat").unwrap()
    };
    let held = pending("UpdatePaused", true);
    assert_eq!((held.state, held.change_pending), (State::Paused, true));
    assert_eq!((held.updated_replicas, held.message.as_str()), (0, "the template changed"));
    let units: Vec<(Turn, usize)> = held.units.iter().map(|it| (it.state, it.updated)).collect();
    assert_eq!(units, [(Turn::Waiting, 0), (Turn::Waiting, 0)]);
    for other in [pending("OldPodsKept", true), pending("UpdatePaused", false)] {
        assert_eq!((other.change_pending, other.updated_replicas), (false, 3));
    }
}
