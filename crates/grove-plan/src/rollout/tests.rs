//! Whose turn it is, row by row.

use grove_api::wire::PodCliqueSet;
use serde_json::{Value, json};

use super::*;
use crate::fixture::at;

fn set(strategy: &Value, progress: &Value) -> PodCliqueSet {
    let mut status = json!({});
    if !progress.is_null() {
        status = json!({ "updateProgress": progress });
    }
    serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": {},
        "spec": { "replicas": 3, "updateStrategy": strategy, "template": { "cliques": [] } }, "status": status,
    }))
    .unwrap()
}

/// Replicas as letters: `o`utdated, `u`pdated, `n`ew (of the template, and not there yet); a capital is available.
fn replicas(text: &str) -> Vec<SetReplica> {
    let replica = |it: char| SetReplica {
        is_outdated: it.eq_ignore_ascii_case(&'o'),
        is_converged: it.eq_ignore_ascii_case(&'u'),
        is_available: it.is_ascii_uppercase(),
    };
    text.chars().map(replica).collect()
}

/// `none`, `open`, `ended`, or the index of the replica that has its turn.
fn after(strategy: &Value, before: &Value, seen: &str) -> String {
    match progress(&set(strategy, before), &replicas(seen), Totals::default(), at(9)) {
        None => "none".to_owned(),
        Some(it) if it.update_ended_at.is_some() => {
            assert!(it.currently_updating.is_empty());
            "ended".to_owned()
        }
        Some(it) => {
            it.currently_updating.first().map_or("open".to_owned(), |it| it.replica_index.to_string())
        }
    }
}

fn open(turn: Option<i32>) -> Value {
    let turns: Vec<Value> = turn.iter().map(|it| json!({ "replicaIndex": it })).collect();
    json!({ "updateStartedAt": "2026-01-01T00:00:00Z", "currentlyUpdating": turns })
}

#[test]
fn one_replica_after_the_other() {
    let rolling = json!({ "type": "RollingRecreate" });
    let ended = json!({ "updateStartedAt": "2026-01-01T00:00:00Z", "updateEndedAt": "2026-01-01T00:01:00Z" });
    for (before, seen, want) in [
        (Value::Null, "UUU", "none"),
        (ended.clone(), "UUU", "ended"),
        // What was left over by another strategy.
        (ended.clone(), "UOO", "1"),
        (Value::Null, "OOO", "0"),
        (open(None), "OOO", "0"),
        // One that has nothing to lose goes first.
        (open(None), "OOo", "2"),
        (open(Some(0)), "OOo", "0"),
        (open(Some(0)), "uOO", "0"),
        (open(Some(0)), "UOO", "1"),
        // A template that does not work stays where it is.
        (open(Some(1)), "UuO", "1"),
        // New ones, and ones that broke by themselves, are not waited for.
        (open(Some(0)), "Unn", "ended"),
        (open(Some(0)), "UuU", "ended"),
        (open(Some(0)), "UUU", "ended"),
        // It was scaled in.
        (open(Some(7)), "UUO", "2"),
        (open(Some(0)), "", "ended"),
    ] {
        assert_eq!(after(&rolling, &before, seen), want, "{before} {seen}");
    }
}

/// Those that were updated are looked at again: a template that works for a minute does not go through all replicas.
#[test]
fn as_many_have_to_be_available_as_when_it_began() {
    let rolling = json!({ "type": "RollingRecreate" });
    for (turn, available, seen, want) in [
        (Some(1), 3, "uUO", "1"),
        (Some(0), 3, "UOO", "1"),
        (Some(1), 2, "uUO", "2"),
        // What is not available has nothing to lose.
        (Some(1), 3, "UUo", "2"),
        (Some(1), 3, "uUoO", "2"),
        // Of what is new, nobody knows whether it has room.
        (Some(0), 3, "UOOnn", "1"),
        // It was scaled in.
        (Some(0), 5, "UOO", "1"),
        (Some(7), 3, "uUO", "open"),
        // Nothing is left to do.
        (Some(1), 3, "uUU", "ended"),
        // Of an older Grove, which noted nothing.
        (Some(1), 0, "uUO", "2"),
    ] {
        let mut before = open(turn);
        before["availableAtStart"] = available.into();
        assert_eq!(after(&rolling, &before, seen), want, "{before} {seen}");
    }
}

#[test]
fn what_was_available_is_noted_when_it_begins() {
    let noted = |available: i32, before: &Value| {
        let mut set = set(&json!({}), before);
        set.status.get_or_insert_default().available_replicas = available;
        started(&set, at(5)).available_at_start
    };
    assert_eq!(noted(3, &Value::Null), 3);
    let mut before = open(Some(1));
    before["availableAtStart"] = 3.into();
    assert_eq!(noted(2, &before), 3, "what serves less since the first change still does");
    before["updateEndedAt"] = "2026-01-01T00:01:00Z".into();
    assert_eq!(noted(2, &before), 2, "that update has ended");
}

#[test]
fn other_paces() {
    let (ondelete, paused) = (json!({ "type": "OnDelete" }), json!({ "paused": true }));
    assert_eq!(after(&ondelete, &open(Some(1)), "UOO"), "ended");
    assert_eq!(after(&ondelete, &Value::Null, "OOO"), "none");
    assert_eq!(after(&paused, &open(Some(1)), "UUO"), "1");
    assert_eq!(after(&paused, &Value::Null, "OOO"), "none");
}

fn clique(progress: &Value) -> PodClique {
    serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodClique",
        "metadata": { "labels": { "grove.io/pod-template-hash": "new" } },
        "spec": { "podSpec": { "containers": [] } }, "status": { "updateProgress": progress },
    }))
    .unwrap()
}

#[test]
fn pods_that_serve_go_in_their_turn_and_when_it_is_noted_how_many_serve() {
    let noted = json!({ "podCliqueSetGenerationHash": "g", "podTemplateHash": "new", "readyAtStart": 3 });
    let roll = |strategy: &Value, replica: u32, progress: &Value| {
        outdated_pods(&set(strategy, &open(Some(1))), replica, &clique(progress))
    };
    let rolling = json!({});
    assert_eq!(roll(&rolling, 1, &noted), Outdated::Replaced { ready_at_start: 3 });
    assert_eq!(roll(&rolling, 0, &noted), Outdated::Unbound);
    assert_eq!(roll(&rolling, 1, &Value::Null), Outdated::Unbound);
    let mut other = noted.clone();
    other["podTemplateHash"] = "old".into();
    assert_eq!(roll(&rolling, 1, &other), Outdated::Unbound, "that was another update");
    other = noted.clone();
    other["updateEndedAt"] = "2026-01-01T00:00:00Z".into();
    assert_eq!(roll(&rolling, 1, &other), Outdated::Unbound, "that update has ended");
    for strategy in [json!({ "type": "OnDelete" }), json!({ "paused": true })] {
        assert_eq!(roll(&strategy, 1, &noted), Outdated::Stay);
    }
}

#[test]
fn a_second_change_goes_on_where_the_first_was() {
    let begun = |strategy: &Value, before: &Value| started(&set(strategy, before), at(5));
    let merged = begun(&json!({}), &open(Some(2)));
    assert_eq!(merged.currently_updating[0].replica_index, 2);
    let since = merged.currently_updating[0].update_started_at.clone();
    assert_eq!(since.map(|it| it.0), Some(at(5)), "the time of the first is not held against the second");
    assert_eq!(merged.update_started_at.unwrap().0, at(5));
    assert!(merged.update_ended_at.is_none());
    let ended = begun(&json!({ "type": "OnDelete" }), &open(Some(2)));
    assert!(ended.currently_updating.is_empty());
    assert_eq!(ended.update_ended_at.unwrap().0, at(5));
}

/// Replicas of a group: `o`utdated, `b`egun, `u`pdated; a capital is available; `-` has no node.
fn group(text: &str) -> Vec<GroupReplica> {
    let replica = |(index, it): (u32, &str)| {
        let letter = it.chars().next().unwrap();
        GroupReplica {
            index,
            is_outdated: "obOB".contains(letter),
            has_begun: "bB".contains(letter),
            is_available: letter.is_ascii_uppercase(),
            is_bound: !it.contains('-'),
        }
    };
    (0..).zip(text.split_whitespace()).map(replica).collect()
}

#[test]
fn replicas_of_a_group_one_after_the_other() {
    for (seen, minimum, at_start, want) in [
        ("U U", 1, Some(2), vec![]),
        ("O O O", 1, Some(3), vec![0]),
        ("O O O", 1, None, vec![]),
        ("U O O", 1, Some(3), vec![1]),
        // As many have to be available as when it began.
        ("u O O", 1, Some(3), vec![]),
        ("u O O", 1, Some(2), vec![1]),
        ("O O", 1, Some(3), vec![0]),
        // What is begun is ended first.
        ("O B O", 1, Some(3), vec![1]),
        // What is not available costs nothing.
        ("O o o", 1, Some(1), vec![1, 2]),
        ("O o o-", 1, None, vec![2]),
        // All are needed: one, and only when all are available.
        ("O O", 2, Some(2), vec![0]),
        ("U O", 2, Some(2), vec![1]),
        ("u O", 2, Some(1), vec![]),
        // Two of three are needed.
        ("O O O", 2, Some(3), vec![0]),
        ("u O O", 2, Some(2), vec![]),
    ] {
        assert_eq!(
            replaced_now(&group(seen), minimum, at_start),
            want.into_iter().collect(),
            "{seen} {minimum}"
        );
    }
}
