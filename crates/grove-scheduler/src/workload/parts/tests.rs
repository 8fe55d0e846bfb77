use super::*;

fn leaf(name: &str, min_members: u32) -> SubGroup {
    SubGroup { name: name.to_owned(), min_members, ..SubGroup::default() }
}

fn parent(name: &str, min: Option<u32>) -> SubGroup {
    SubGroup { name: name.to_owned(), min_sub_groups: min, ..SubGroup::default() }
}

fn inside(parent: &str, part: SubGroup) -> SubGroup {
    SubGroup { parent: Some(parent.to_owned()), ..part }
}

fn group(min_sub_groups: Option<u32>, sub_groups: Vec<SubGroup>) -> Group {
    Group { min_members: 7, min_sub_groups, sub_groups, ..Group::default() }
}

#[test]
fn the_pods_that_a_group_needs() {
    let tree = |min: Option<u32>, of_a: Option<u32>| {
        let in_a = |it| inside("a", it);
        let parts = vec![parent("a", of_a), in_a(leaf("x", 4)), in_a(leaf("y", 2)), leaf("b", 3)];
        group(min, parts)
    };
    for (group, needed) in [
        // What the group says counts where it says so.
        (group(None, vec![]), 7),
        (group(None, vec![leaf("a", 1)]), 7),
        (group(Some(2), vec![leaf("a", 1), leaf("b", 5)]), 6),
        (group(Some(1), vec![leaf("a", 5), leaf("b", 1)]), 1),
        (group(Some(0), vec![leaf("a", 5)]), 0),
        // More than there are is all of them.
        (group(Some(3), vec![leaf("a", 5), leaf("b", 1)]), 6),
        (tree(Some(2), Some(2)), 9),
        (tree(Some(2), Some(1)), 5),
        (tree(Some(2), None), 9),
        (tree(Some(1), Some(1)), 2),
        (tree(Some(1), Some(2)), 3),
        (group(Some(2), vec![leaf("a", u32::MAX), leaf("b", 1)]), u32::MAX),
    ] {
        assert_eq!(Parts::of(&group).expect("they are right").needed(), needed, "{group:?}");
    }
}

#[test]
fn parts_that_are_too_many_or_too_few() {
    let below = |min| vec![parent("a", min), inside("a", leaf("x", 1)), inside("a", leaf("y", 1))];
    let (whole, part) = ("the group", "part \"a\"");
    for (group, spare, lacking) in [
        (group(None, below(None)), None, None),
        (group(Some(1), below(Some(2))), None, None),
        (group(Some(0), below(Some(2))), Some(whole), None),
        (group(Some(2), below(Some(2))), None, Some(whole)),
        (group(None, below(Some(1))), Some(part), None),
        (group(None, below(Some(3))), None, Some(part)),
    ] {
        let parts = Parts::of(&group).expect("they are right");
        assert_eq!((parts.spare().as_deref(), parts.lacking().as_deref()), (spare, lacking), "{group:?}");
    }
}

#[test]
fn wrong_parts_are_named() {
    let long = "a".repeat(64);
    let bad_name = |name: &str| {
        format!(
            "{name:?} cannot name a part of the group, which pods carry as a label: use at most 63 lower case \
             letters, digits and dashes, with no dash at either end"
        )
    };
    let circle = || vec![inside("b", parent("a", None)), inside("a", parent("b", None)), leaf("c", 1)];
    let cases = [
        (vec![leaf("", 1)], bad_name("")),
        (vec![leaf("a", 1), leaf("A", 1)], bad_name("A")),
        (vec![leaf("-a", 1)], bad_name("-a")),
        (vec![leaf("a.b", 1)], bad_name("a.b")),
        (vec![leaf(&long, 1)], bad_name(&long)),
        (vec![leaf("a", 1), leaf("b", 1), leaf("a", 2)], "two parts of the group are named \"a\"".to_owned()),
        (vec![inside("b", leaf("a", 1))], "part \"a\" of the group is in \"b\", which is no part".to_owned()),
        (vec![inside("a", leaf("a", 1))], "part \"a\" of the group is inside of itself".to_owned()),
        (circle(), "part \"a\" of the group is inside of itself".to_owned()),
        (
            vec![parent("a", Some(1))],
            "part \"a\" of the group needs parts, and has none: say how many pods it needs".to_owned(),
        ),
    ];
    for (parts, expected) in cases {
        let group = group(None, parts);
        assert_eq!(Parts::of(&group).expect_err("one is wrong").0, expected);
    }
}

#[test]
fn there_is_an_end_to_parts() {
    let chain = |count: usize| {
        let part = |it: usize| match it {
            0 => parent("p-0", None),
            _ => inside(&format!("p-{}", it - 1), leaf(&format!("p-{it}"), 1)),
        };
        group(Some(1), (0..count).map(part).collect())
    };
    let longest = chain(10_000);
    let parts = Parts::of(&longest).expect("so many are right");
    assert_eq!(parts.needed(), 1);
    assert_eq!(parts.leaves().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["p-9999"]);
    let expected = "the group has 10001 parts, more than 10000: ask for fewer";
    assert_eq!(Parts::of(&chain(10_001)).expect_err("one too many").0, expected);
}
