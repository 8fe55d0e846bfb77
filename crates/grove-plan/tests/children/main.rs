//! Which children a set and its groups get, change and lose.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod cap;
#[path = "../common/mod.rs"]
mod common;
mod laws;
mod scaling;
mod templates;

use common::{World, lines, metadata_mut, set};
use grove_api::wire::Time;
use grove_plan::children::Kind;
use k8s_openapi::jiff::Timestamp;

/// The worked example: a front end, and a group of which one of three copies is in the base gang.
const INF: &str = "fe=2/1 pre=1/1 dec=2/2 | pd=3/1:pre,dec";

fn settled(text: &str) -> World {
    let mut world = World::new(set(text));
    world.settle();
    world
}

fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[track_caller]
fn assert_lines(got: Vec<String>, want: &[&str]) {
    assert_eq!(sorted(got), sorted(want.iter().map(ToString::to_string).collect()));
}

#[test]
fn everything_that_is_missing_is_created() {
    let mut world = World::new(set(INF));
    let plan = world.plan_set();
    let want = [
        "create PodGang inf-0",
        "create PodGang inf-0-pd-0",
        "create PodGang inf-0-pd-1",
        "create Service inf-0",
        "create PodClique inf-0-fe",
        "create PodCliqueScalingGroup inf-0-pd",
    ];
    assert_lines(lines(&plan), &want);
    world.apply(plan);
    let plan = world.plan_group("inf-0-pd");
    let want = ["0-pre", "0-dec", "1-pre", "1-dec", "2-pre", "2-dec"]
        .map(|it| format!("create PodClique inf-0-pd-{it}"));
    assert_lines(lines(&plan), &want.each_ref().map(String::as_str));
    world.apply(plan);
    assert_eq!(lines(&world.plan_set()), [""; 0]);
    assert_eq!(lines(&world.plan_group("inf-0-pd")), [""; 0]);
}

/// A clique makes no pod before its gang is there.
#[test]
fn gangs_come_before_the_cliques_of_their_replica() {
    let mut set = set(INF);
    set.spec.replicas = 2;
    let got = lines(&World::new(set).plan_set());
    let at =
        |line: &str| got.iter().position(|it| it == line).unwrap_or_else(|| panic!("no {line} in {got:?}"));
    for replica in 0..2 {
        let clique = at(&format!("create PodClique inf-{replica}-fe"));
        let group = at(&format!("create PodCliqueScalingGroup inf-{replica}-pd"));
        for gang in ["", "-pd-0", "-pd-1"] {
            let gang = at(&format!("create PodGang inf-{replica}{gang}"));
            assert!(gang < clique && gang < group, "{got:?}");
        }
    }
}

#[test]
fn what_was_deleted_by_hand_is_made_again() {
    for (kind, name) in [
        (Kind::Service, "inf-0"),
        (Kind::Clique, "inf-0-fe"),
        (Kind::Group, "inf-0-pd"),
        (Kind::Gang, "inf-0"),
        (Kind::Gang, "inf-0-pd-1"),
    ] {
        let mut world = settled(INF);
        world.remove(kind, name);
        assert_eq!(lines(&world.plan_set()), [format!("create {} {name}", kind.as_str())]);
    }
}

#[test]
fn holes_in_a_group_are_filled_where_they_are() {
    let mut world = settled(INF);
    world.remove(Kind::Clique, "inf-0-pd-1-pre");
    world.remove(Kind::Clique, "inf-0-pd-1-dec");
    world.remove(Kind::Clique, "inf-0-pd-2-dec");
    let want = [
        "create PodClique inf-0-pd-1-pre",
        "create PodClique inf-0-pd-1-dec",
        "create PodClique inf-0-pd-2-dec",
    ];
    assert_lines(lines(&world.plan_group("inf-0-pd")), &want);
    assert_eq!(lines(&world.plan_set()), [""; 0], "members are none of the set's business");
}

/// Kinds and names of one child of each kind.
const ONE_OF_EACH: [(Kind, &str); 4] =
    [(Kind::Service, "inf-0"), (Kind::Clique, "inf-0-fe"), (Kind::Group, "inf-0-pd"), (Kind::Gang, "inf-0")];

#[test]
fn what_belongs_to_somebody_else_is_left_alone_and_reported() {
    for (kind, name) in ONE_OF_EACH {
        for owner in [None, Some("uid-other")] {
            let mut world = settled(INF);
            let metadata = metadata_mut(world.get_mut(kind, name).unwrap());
            match owner {
                None => metadata.owner_references = None,
                Some(uid) => uid.clone_into(&mut metadata.owner_references.as_mut().unwrap()[0].uid),
            }
            let plan = world.plan_set();
            assert_eq!(lines(&plan), [format!("blocked {} {name}", kind.as_str())]);
            assert!(
                plan.blocked[0].message().contains(name) && plan.blocked[0].message().contains(kind.as_str())
            );
        }
    }
    let mut world = settled(INF);
    metadata_mut(world.get_mut(Kind::Clique, "inf-0-pd-2-dec").unwrap()).owner_references = None;
    assert_eq!(lines(&world.plan_group("inf-0-pd")), ["blocked PodClique inf-0-pd-2-dec"]);
}

/// An owner that does not control is none.
#[test]
fn only_the_controller_owns() {
    let mut world = settled(INF);
    let metadata = metadata_mut(world.get_mut(Kind::Clique, "inf-0-fe").unwrap());
    metadata.owner_references.as_mut().unwrap()[0].controller = Some(false);
    assert_eq!(lines(&world.plan_set()), ["blocked PodClique inf-0-fe"]);
}

#[test]
fn a_namesake_on_its_way_out_is_waited_for() {
    for (kind, name) in ONE_OF_EACH {
        for foreign in [false, true] {
            let mut world = settled(INF);
            let metadata = metadata_mut(world.get_mut(kind, name).unwrap());
            metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
            if foreign {
                metadata.owner_references = None;
            }
            assert_eq!(lines(&world.plan_set()), ["waiting"], "{name}, foreign: {foreign}");
        }
    }
    let mut world = settled(INF);
    let metadata = metadata_mut(world.get_mut(Kind::Clique, "inf-0-pd-2-dec").unwrap());
    metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    assert_eq!(lines(&world.plan_group("inf-0-pd")), ["waiting"]);
}
