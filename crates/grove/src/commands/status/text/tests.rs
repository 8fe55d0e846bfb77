use anstream::adapter::strip_str;
use serde_json::json;

use super::*;
use crate::commands::status::{
    fixture::{chat, clique, gang, objects, pod, ready, set},
    seen::Seen,
};

const DOCUMENTATION: &str = include_str!("../../../../../../docs/status-command.md");

fn plain(text: &str) -> String {
    strip_str(text).to_string()
}

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).unwrap()
}

#[test]
fn one_screen() {
    let got = plain(&screen(&Screen::of(&chat(), "chat").unwrap(), now()));
    let want = "\
chat in namespace default: 0 of 1 replicas available, in progress
  0 of 1 replicas are available; chat-0-decode: 0 pods ready, at least 1 needed
  1 of 3 pods are ready; gangs: 0 running, 0 starting, 1 pending, 0 unhealthy

GANG     PHASE     PODS READY
chat-0   Pending   1 of 3       the scheduler cannot place it: chat-0-decode-0: 0/2 nodes are available

GROUP         AVAILABLE   MINIMUM
chat-0-pool   1 of 2      1

ROLE            GANG     READY    MINIMUM
chat-0-decode   chat-0   0 of 2   1
    2 pods: the scheduler cannot place it: 0/2 nodes are available
chat-0-router   chat-0   1 of 1   1
";
    assert_eq!(got, want);
    assert!(DOCUMENTATION.contains(want), "docs/status-command.md does not show it:\n{got}");
}

#[test]
fn all_sets() {
    let seen = Seen { pods: std::collections::BTreeMap::default(), ..chat() };
    let line =
        "in progress: gang chat-0: the scheduler cannot place it: chat-0-decode-0: 0/2 nodes are available";
    assert_eq!(
        plain(&overview(&Overview::of(&seen, true))),
        format!(
            "NAMESPACE   NAME   REPLICAS   PODS     GANGS    STATE\n\
             default     chat   0 of 1     0 of 3   0 of 1   {line}\n"
        )
    );
    assert_eq!(
        plain(&overview(&Overview::of(&seen, false))),
        format!(
            "NAME   REPLICAS   PODS     GANGS    STATE\n\
             chat   0 of 1     0 of 3   0 of 1   {line}\n"
        )
    );
    assert_eq!(overview(&Overview::of(&Seen::default(), false)), "no PodCliqueSets found\n");
}

/// A set of 500 replicas, of which the last has no pod.
fn many() -> Seen {
    let each = 0..500;
    Seen {
        sets: objects(vec![set(500, json!({ "availableReplicas": 499 }))]),
        cliques: objects(
            each.clone().map(|it| clique(&format!("chat-{it}-a"), &format!("chat-{it}"), 1, 1)).collect(),
        ),
        gangs: objects(
            each.clone()
                .map(|it| gang(&format!("chat-{it}"), if it == 499 { "Pending" } else { "Running" }, &[]))
                .collect(),
        ),
        pods: objects(each.take(499).map(|it| pod(&format!("chat-{it}-a"), 0, &ready())).collect()),
        ..Seen::default()
    }
}

#[test]
fn a_large_set_fits_and_what_is_missing_is_seen() {
    let text = plain(&screen(&Screen::of(&many(), "chat").unwrap(), now()));
    assert!(text.lines().count() < 50, "{text}");
    let lines: Vec<&str> = text.lines().collect();
    let role = lines.iter().position(|it| it.starts_with("chat-499-a ")).unwrap();
    assert!(lines[role - 1].starts_with("ROLE"), "{text}");
    assert_eq!(lines[role + 1], "    1 pod: not created yet");
    assert!(lines.contains(&"… and 490 more, all running"), "{text}");
    assert_eq!(lines.last(), Some(&"… and 480 more, all ready"));
}

#[test]
fn what_is_left_out_is_counted_if_it_is_not_well() {
    let mut seen = many();
    seen.pods.clear();
    let text = plain(&screen(&Screen::of(&seen, "chat").unwrap(), now()));
    assert!(text.ends_with("… and 480 more, 480 of them not ready\n"), "{text}");
}

#[test]
fn what_others_wrote_stays_in_its_line() {
    let long = format!("a\nb\x1b[31m{}", "x".repeat(1000));
    let got = short(&long);
    assert!(!got.contains(char::is_control), "{got}");
    assert_eq!(got.chars().count(), MAX_REASON + 1);
}

#[test]
fn colours_are_there_to_be_dropped() {
    let text = screen(&Screen::of(&chat(), "chat").unwrap(), now());
    assert_ne!(text, plain(&text));
}
