//! Who belongs to which gang, and who starts after whom.

use grove_api::wire::CliqueStartupType::{self, AnyOrder, Explicit, InOrder};

use super::*;
use crate::fixture::set;

/// `b` and `c` scale together, two of three replicas in the base gang.
const CHAIN: &str = "a=1/1 b=1/1 c=1/1 d=1/1 | g=3/2:b,c";

fn ordered(text: &str, order: CliqueStartupType, after: &[(&str, &[&str])]) -> PodCliqueSet {
    let mut set = set(text);
    set.spec.template.startup_type = Some(order);
    for clique in &mut set.spec.template.cliques {
        let list = after.iter().find(|(name, _)| *name == clique.name);
        clique.spec.starts_after = list.into_iter().flat_map(|it| it.1).map(ToString::to_string).collect();
    }
    set
}

/// What the clique object called `name` waits for, in replica `replica` of the set.
fn after(set: &PodCliqueSet, replica: u32, name: &str) -> String {
    let members = |config| (0..group_replicas(config)).flat_map(move |it| members(set, replica, config, it));
    let groups = set.spec.template.scaling_groups.iter().flat_map(members);
    let clique = standalone(set, replica).chain(groups).find(|it| it.name == name).unwrap();
    let parents: Vec<String> = parents(set, &clique).into_iter().map(|it| it.name).collect();
    parents.join(" ")
}

#[test]
fn in_order_each_waits_for_the_one_before_it() {
    let set = ordered(CHAIN, InOrder, &[]);
    let rows = [
        ("inf-0-a", ""),
        ("inf-0-g-0-b", "inf-0-a"),
        ("inf-0-g-1-b", "inf-0-a"),
        // A parent in a group means all its replicas of the base gang.
        ("inf-0-g-0-c", "inf-0-g-0-b inf-0-g-1-b"),
        ("inf-0-g-1-c", "inf-0-g-0-b inf-0-g-1-b"),
        ("inf-0-d", "inf-0-g-0-c inf-0-g-1-c"),
        // A scaled gang starts after the base gang: only its own replica counts.
        ("inf-0-g-2-b", ""),
        ("inf-0-g-2-c", "inf-0-g-2-b"),
    ];
    for (name, want) in rows {
        assert_eq!(after(&set, 0, name), want, "{name}");
    }
    assert_eq!(after(&set, 1, "inf-1-g-0-b"), "inf-1-a", "parents are of the same set replica");
}

#[test]
fn explicit_each_waits_for_those_it_names() {
    let set = ordered(CHAIN, Explicit, &[("d", &["c", "a"]), ("c", &["a", "b"])]);
    let rows = [
        ("inf-0-a", ""),
        ("inf-0-d", "inf-0-g-0-c inf-0-g-1-c inf-0-a"),
        ("inf-0-g-1-c", "inf-0-a inf-0-g-0-b inf-0-g-1-b"),
        ("inf-0-g-2-c", "inf-0-g-2-b"),
        ("inf-0-g-2-b", ""),
    ];
    for (name, want) in rows {
        assert_eq!(after(&set, 0, name), want, "{name}");
    }
}

/// The parent's minimum, not its size, and not that of the one that waits.
#[test]
fn so_many_have_to_be_ready() {
    let set = ordered("a=5/3 b=4/2 c=1/1 | g=3/2:b", Explicit, &[("c", &["b", "a"])]);
    let clique = standalone(&set, 0).find(|it| it.name == "inf-0-c").unwrap();
    let parent = |name: &str, minimum| Parent { name: name.to_owned(), minimum };
    assert_eq!(
        parents(&set, &clique),
        [parent("inf-0-g-0-b", 2), parent("inf-0-g-1-b", 2), parent("inf-0-a", 3)]
    );
}

#[test]
fn in_any_order_nobody_waits() {
    let set = ordered(CHAIN, AnyOrder, &[("d", &["a"])]);
    for name in ["inf-0-a", "inf-0-g-0-b", "inf-0-g-2-c", "inf-0-d"] {
        assert_eq!(after(&set, 0, name), "", "{name}");
    }
}

/// A dropped parent's own parent does not take its place.
#[test]
fn nothing_jumps_over_a_parent_outside_the_group() {
    let set = ordered("a=1/1 x=1/1 b=1/1 | g=2/1:a,b", InOrder, &[]);
    assert_eq!(after(&set, 0, "inf-0-g-0-b"), "inf-0-x");
    assert_eq!(after(&set, 0, "inf-0-g-1-b"), "");
    let other = ordered("a=1/1 b=1/1 | g=2/1:a h=2/1:b", InOrder, &[]);
    assert_eq!(after(&other, 0, "inf-0-h-0-b"), "inf-0-g-0-a");
    assert_eq!(after(&other, 0, "inf-0-h-1-b"), "", "another group is outside too");
}

/// Upstream looks for names that end alike.
#[test]
fn cliques_are_told_apart_by_their_whole_name() {
    let set = ordered("worker=1/1 prefill-worker=1/1 x=1/1", Explicit, &[("x", &["prefill-worker"])]);
    assert_eq!(after(&set, 0, "inf-0-x"), "inf-0-prefill-worker");
}

#[test]
fn gangs_have_their_cliques_in_the_order_of_the_wire() {
    let set = set("b=1/1 x=1/1 c=1/1 y=1/1 e=1/1 | g=3/2:c,b h=1/1:e");
    let names =
        |place| -> Vec<String> { cliques_of(&set, place).into_iter().flatten().map(|it| it.name).collect() };
    let base =
        ["inf-1-x", "inf-1-y", "inf-1-g-0-c", "inf-1-g-0-b", "inf-1-g-1-c", "inf-1-g-1-b", "inf-1-h-0-e"];
    assert_eq!(names(Place::Base { replica: 1 }), base);
    let scaled = |group, group_replica| Place::Scaled { replica: 1, group, group_replica };
    assert_eq!(names(scaled("g", 2)), ["inf-1-g-2-c", "inf-1-g-2-b"]);
    assert_eq!(cliques_of(&set, scaled("z", 2)), None);
}

#[test]
fn scaled_gangs_count_from_the_minimum() {
    let set = set(CHAIN);
    let config = &set.spec.template.scaling_groups[0];
    let rows = [
        (0, "inf-0", None),
        (1, "inf-0", None),
        (2, "inf-0-g-0", Some("inf-0")),
        (5, "inf-0-g-3", Some("inf-0")),
    ];
    for (replica, name, base) in rows {
        let want = Gang { name: name.to_owned(), base: base.map(str::to_owned) };
        assert_eq!(gang_of_member(&set, 0, config, replica), want, "{replica}");
        assert!(members(&set, 0, config, replica).all(|it| it.gang == want), "{replica}");
    }
}

/// Live objects count, whatever the template says; what does not exist is as the template says.
#[test]
fn scaled_to_zero_by_itself_or_with_its_group() {
    let set = set("a=2/1 z=0/1 b=1/1 c=2/2 | g=3/2:b,c h=0/1:d");
    let zero = |cliques: &[(&str, i32)], groups: &[(&str, i32)]| {
        let of = |all: &[(&str, i32)], name: &str| all.iter().find(|it| it.0 == name).map(|it| it.1);
        let names =
            scaled_to_zero(&set, Place::Base { replica: 0 }, |it| of(cliques, it), |it| of(groups, it));
        names.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(zero(&[], &[]), "inf-0-z");
    assert_eq!(zero(&[("inf-0-z", 3), ("inf-0-a", 0)], &[]), "inf-0-a");
    let group = "inf-0-g-0-b inf-0-g-0-c inf-0-g-1-b inf-0-g-1-c inf-0-z";
    assert_eq!(zero(&[], &[("inf-0-g", 0)]), group);
    assert_eq!(zero(&[("inf-0-g-1-b", 0)], &[("inf-0-g", 1)]), "inf-0-g-1-b inf-0-z");
}

#[test]
fn what_is_scaled_to_zero_needs_nothing() {
    for (text, minimum, spec) in [("a=0/2", 2, 0), ("a=3/2", 2, 2), ("a=2/2", 2, 2)] {
        let set = set(text);
        let template = &set.spec.template.cliques[0];
        assert_eq!((clique_minimum(template), spec_minimum(&template.spec)), (minimum, spec), "{text}");
    }
    let set = set("a=1/1 | g=0/2:a");
    let context = crate::objects::Context {
        set: &set,
        default_scheduler: "",
        form: "",
        gang_names: &crate::gang_names::OurNames,
    };
    let mut group = crate::objects::group(context, 0, &set.spec.template.scaling_groups[0]);
    assert_eq!(required_replicas(&group), 0);
    group.spec.replicas = 2;
    assert_eq!(required_replicas(&group), 2);
}
