//! What the picture finds, and what it lets pass.

use std::time::Duration;

use super::*;
use crate::scenarios::{
    operator::{stage, wanted::Wanted},
    updates::{rules::Replaced, workload::Workload},
};

fn pod(name: &str, ready: bool) -> PodState {
    // `0-a.1`: clique and index; what follows a `'` makes another pod of it.
    let clique = format!("s-{}", name.split('.').next().unwrap());
    let labels = [(labels::PART_OF, "s".to_owned()), (labels::POD_CLIQUE, clique)];
    PodState {
        name: name.to_owned(),
        uid: name.to_owned(),
        ready,
        labels: labels.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        ..PodState::default()
    }
}

/// `+pod` is created, `*pod` is ready, `~pod` is marked for deletion, `-pod` is gone.
fn changes(text: &str, from: u64) -> Vec<Change<PodState>> {
    let change = |(version, it): (u64, &str)| {
        let (kind, name) = it.split_at(1);
        let state = pod(name, kind == "*");
        let after = match kind {
            "-" => None,
            "~" => Some(PodState { terminating: true, ..state }),
            _ => Some(state),
        };
        let (namespace, name, uid) = (String::new(), name.to_owned(), name.to_owned());
        Change { at: Duration::ZERO, version, name, namespace, uid, after }
    };
    (from..).zip(text.split_whitespace()).map(change).collect()
}

fn all(set_replicas: i32) -> Vec<PodState> {
    let of_replica = |replica: i32| {
        let group = (0..2)
            .flat_map(move |it| ["b.0", "c.0", "c.1", "c.2"].map(|pod| format!("{replica}-x-{it}-{pod}")));
        [format!("{replica}-a.0"), format!("{replica}-a.1")].into_iter().chain(group)
    };
    (0..set_replicas).flat_map(of_replica).map(|it| pod(&it, true)).collect()
}

fn sizes(workload: Workload, replicas: i32, scaled: &[(&str, i32)]) -> Wanted {
    Wanted::scaled(&stage::defaulted(workload.set("s", replicas)).unwrap(), scaled)
}

fn told(result: &Result<()>) -> String {
    result.as_ref().map_or_else(|it| it.root_cause().to_string(), |()| "fine".to_owned())
}

/// Two set replicas, all roles replaced.
fn of_two(workload: Workload, text: &str) -> String {
    let rules = Rules::new(&[sizes(workload, 2, &[])], &["a", "b", "c"], Replaced::Once);
    told(&Picture::new(all(2)).go_on(&changes(text, 1), &rules))
}

#[test]
fn one_pod_of_a_clique_after_the_other() {
    let one_by_one = "-0-a.0 +0-a.0' *0-a.0' ~0-a.1 -0-a.1 +0-a.1' *0-a.1'";
    assert_eq!(of_two(Workload::Full, one_by_one), "fine");
    assert_eq!(of_two(Workload::Minimum, one_by_one), "fine");
    let both = "-0-a.0 +0-a.0' -0-a.1";
    assert_eq!(of_two(Workload::Full, both), "0 pods of s-0-a are left, not 1");
    assert_eq!(of_two(Workload::Minimum, both), "0 pods of s-0-a are left, not 1");
    // What is not ready costs nothing.
    assert_eq!(of_two(Workload::Full, "+0-a.0 +0-a.1 -0-a.0 -0-a.1"), "fine");
}

#[test]
fn each_pod_once() {
    let twice = "-0-a.0 +0-a.0' *0-a.0' -0-a.0'";
    assert_eq!(of_two(Workload::Full, twice), "a pod of s-0-a was taken that is new");
    let rules = Rules::new(&[sizes(Workload::Full, 2, &[])], &["b"], Replaced::Once);
    let other = Picture::new(all(2)).go_on(&changes("-0-a.0", 1), &rules);
    assert_eq!(told(&other), "a pod of s-0-a was taken that is not to be replaced");
    let rules = Rules::new(&[sizes(Workload::Full, 2, &[])], &["a"], Replaced::Freely);
    assert_eq!(told(&Picture::new(all(2)).go_on(&changes(twice, 1), &rules)), "fine");
}

#[test]
fn one_replica_of_a_group_after_the_other() {
    let first = "-0-x-0-b.0 -0-x-0-c.0 -0-x-0-c.1 -0-x-0-c.2";
    assert_eq!(of_two(Workload::Full, first), "fine");
    let second = format!("{first} -0-x-1-b.0");
    assert_eq!(of_two(Workload::Full, &second), "0 replicas of s-0-x are left, not 1");
    let back = "*0-x-0-b.0' *0-x-0-c.0' *0-x-0-c.1'";
    assert_eq!(
        of_two(Workload::Full, &format!("{first} {back} -0-x-1-b.0")),
        "0 replicas of s-0-x are left, not 1",
        "a pod is missing"
    );
    assert_eq!(of_two(Workload::Minimum, &format!("{first} {back} -0-x-1-b.0")), "fine");
    assert_eq!(of_two(Workload::Full, &format!("{first} {back} *0-x-0-c.2' -0-x-1-b.0")), "fine");
}

#[test]
fn one_replica_of_the_set_after_the_other() {
    let rules = Rules::new(&[sizes(Workload::Full, 2, &[])], &["a"], Replaced::Once);
    let told_of = |text: &str| told(&Picture::new(all(2)).go_on(&changes(text, 1), &rules));
    let half = "-1-a.0 *1-a.0'";
    assert_eq!(
        told_of(&format!("{half} -0-a.0")),
        "replica 0 of the set is taken from, and Some(1) is not done",
        "an old pod is left"
    );
    assert_eq!(
        told_of(&format!("{half} -1-a.1 +1-a.1' -0-a.0")),
        "replica 0 of the set is taken from, and Some(1) is not done",
        "the last one is not ready"
    );
    assert_eq!(told_of(&format!("{half} -1-a.1 *1-a.1' -0-a.0")), "fine");
    // Where several updates meet, what counts is that nothing is missing.
    let rules = Rules::new(&[sizes(Workload::Full, 2, &[])], &["a"], Replaced::Freely);
    let freely = |text: &str| told(&Picture::new(all(2)).go_on(&changes(text, 1), &rules));
    assert_eq!(freely(&format!("{half} -0-a.0")), "fine");
    assert_eq!(freely("-1-a.0 -0-a.0"), "replica 0 of the set is taken from, and Some(1) is not done");
}

#[test]
fn what_is_scaled_in_may_go() {
    let three = sizes(Workload::Full, 1, &[("s-0-a", 3)]);
    let rules = Rules::new(&[three, sizes(Workload::Full, 1, &[])], &[], Replaced::Once);
    let mut pods = all(1);
    pods.push(pod("0-a.2", true));
    let told_of = |text: &str| told(&Picture::new(pods.clone()).go_on(&changes(text, 1), &rules));
    assert_eq!(told_of("-0-a.1"), "fine");
    assert_eq!(told_of("-0-a.1 -0-a.2"), "a pod of s-0-a was taken that is not to be replaced");
    let rules =
        Rules::new(&[sizes(Workload::Full, 2, &[]), sizes(Workload::Full, 1, &[])], &[], Replaced::Never);
    let mut picture = Picture::new(all(2));
    picture.go_on(&changes("-1-a.0 -1-a.1 -1-x-0-b.0", 1), &rules).unwrap();
    assert!(picture.losses().is_empty(), "nobody misses them");
}

#[test]
fn what_others_delete_is_not_held_against_us() {
    let rules = Rules::new(&[sizes(Workload::Full, 1, &[])], &[], Replaced::Never);
    let mut picture = Picture::new(all(1));
    picture.they_delete("0-a.0");
    picture.go_on(&changes("-0-a.0 +0-a.0' *0-a.0'", 1), &rules).unwrap();
    assert!(picture.losses().is_empty());
    assert!(picture.go_on(&changes("-0-a.1", 9), &rules).is_err());
}

#[test]
fn complete_with_the_last_minimum() {
    let rules = Rules::new(&[sizes(Workload::Full, 1, &[])], &["a"], Replaced::Once);
    let mut picture = Picture::new(all(1));
    let history = changes("-0-a.0 *0-a.0' -0-a.1 +0-a.1' *0-a.1' *0-a.0'", 11);
    picture.go_on(&history[..4], &rules).unwrap();
    assert_eq!(picture.complete(), None);
    picture.go_on(&history, &rules).unwrap();
    assert_eq!(picture.complete(), Some((15, "s-0-a had 1 of 2")));
    let versions: Vec<(u64, bool)> = picture.losses().iter().map(|it| (it.version, it.is_missed)).collect();
    assert_eq!(versions, [(11, true), (13, true)], "nothing is seen twice");
    picture.go_on(&changes("+0-a.1'", 17), &rules).unwrap();
    assert_eq!(picture.complete().map(|it| it.0), Some(15), "a pod that fails afterwards is another story");
    picture.begin();
    picture.go_on(&[], &rules).unwrap();
    assert_eq!(picture.complete(), None, "the next update");
}
