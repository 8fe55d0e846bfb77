use std::collections::BTreeMap;

use grove_scheduler::workload::SeenPart;
use serde_json::json;

use super::*;
use crate::commands::why::workload::fixture::{KAI, facts, gated, phase, placed, pod, with};

const fn pods(count: u64) -> Minimum {
    Minimum { pods: Some(count), parts: None }
}

const fn parts(count: u64) -> Minimum {
    Minimum { pods: None, parts: Some(count) }
}

fn part(name: &str, parent: &str, minimum: Minimum) -> SeenPart {
    let parent = Some(parent.to_owned()).filter(|it| !it.is_empty());
    SeenPart { name: name.to_owned(), parent, minimum }
}

fn group(minimum: Minimum, parts: Vec<SeenPart>) -> SeenGroup {
    SeenGroup { minimum, parts, ..SeenGroup::default() }
}

fn short(part: &str, have: u64, need: u64, of_parts: bool) -> Shortfall {
    Shortfall { part: Some(part.to_owned()).filter(|it| !it.is_empty()), have, need, of_parts }
}

#[test]
fn minima_of_groups_and_their_parts() {
    let flat = group(pods(3), vec![]);
    let roles = group(parts(2), vec![part("master", "", pods(1)), part("worker", "", pods(2))]);
    let either = group(parts(1), vec![part("a", "", pods(2)), part("b", "", pods(2))]);
    let deep = group(
        parts(1),
        vec![part("top", "", parts(2)), part("x", "top", pods(1)), part("y", "top", pods(2))],
    );
    let both = group(Minimum { pods: Some(4), parts: Some(1) }, vec![part("a", "", pods(1))]);
    let more_than_there_are = group(parts(3), vec![part("a", "", pods(0))]);
    let circle = group(parts(1), vec![part("a", "", parts(1)), part("a", "a", parts(1))]);
    let rows = [
        ("enough", &flat, vec![("", 3)], None),
        ("too few", &flat, vec![("", 2)], Some(short("", 2, 3, false))),
        ("no duty", &group(Minimum::default(), vec![]), vec![], None),
        ("both roles", &roles, vec![("master", 1), ("worker", 2)], None),
        ("one is short", &roles, vec![("master", 1), ("worker", 1)], Some(short("worker", 1, 2, false))),
        ("the first that is short", &roles, vec![], Some(short("master", 0, 1, false))),
        ("one of two is enough", &either, vec![("b", 2)], None),
        ("neither", &either, vec![("b", 1)], Some(short("a", 0, 2, false))),
        ("a part of a part", &deep, vec![("x", 1), ("y", 1)], Some(short("y", 1, 2, false))),
        ("all of it", &deep, vec![("x", 1), ("y", 2)], None),
        ("the whole as well", &both, vec![("", 3), ("a", 1)], Some(short("", 3, 4, false))),
        ("parts that are not there", &more_than_there_are, vec![], Some(short("", 1, 3, true))),
        ("a circle ends", &circle, vec![], None),
    ];
    for (what, group, counts, want) in rows {
        let counts: BTreeMap<&str, u64> = counts.into_iter().collect();
        let count = |it: Option<&str>| counts.get(it.unwrap_or_default()).copied().unwrap_or_default();
        assert_eq!(shortfall(group, &count), want, "{what}");
    }
}

#[test]
fn pods_are_counted() {
    let deleted = json!({ "metadata": { "deletionTimestamp": "2027-01-01T00:00:00Z" } });
    let pods = vec![
        pod("a", KAI, &placed()),
        pod("b", KAI, &json!({})),
        pod("c", KAI, &gated()),
        pod("d", KAI, &phase("Succeeded")),
        pod("e", KAI, &phase("Failed")),
        pod("f", KAI, &deleted),
        pod("g", KAI, &with(placed(), &deleted)),
    ];
    let count = Count::of(&facts(pods, &[]).members);
    assert_eq!(count, Count { pods: 3, placed: 1, gated: 1, succeeded: 1, failed: 1 });
    assert_eq!((count.waiting(), count.there(), count.free(), count.settled()), (2, 4, 3, 2));
}
