use super::*;

#[test]
fn a_pod_is_in_the_part_that_lists_it() {
    let part = |name: &str, pods: &[&str]| SubGroup {
        name: name.to_owned(),
        pods: pods.iter().map(|it| (*it).to_owned()).collect(),
        ..SubGroup::default()
    };
    let cases: &[(Vec<SubGroup>, Option<&str>)] = &[
        (vec![part("a", &["x", "p"]), part("b", &["y"])], Some("a")),
        (vec![part("a", &["x"]), part("b", &["p"])], Some("b")),
        (vec![part("a", &["x"]), part("b", &["pp"])], None),
        (vec![part("a", &[])], None),
        (vec![], None),
    ];
    for (sub_groups, expected) in cases {
        let group = Group { sub_groups: sub_groups.clone(), ..Group::default() };
        assert_eq!(group.sub_group_of("p").map(|it| it.name.as_str()), *expected, "{sub_groups:?}");
    }
}

#[test]
fn preemptibility_is_read_as_it_is_written() {
    for (text, expected) in [
        ("preemptible", Some(Preemptibility::Preemptible)),
        ("non-preemptible", Some(Preemptibility::NonPreemptible)),
        ("Preemptible", None),
        ("", None),
    ] {
        assert_eq!(Preemptibility::parse(text), expected, "{text}");
    }
}
