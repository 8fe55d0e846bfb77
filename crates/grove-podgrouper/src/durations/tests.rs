use super::*;
use crate::fixture::{annotated, object, pod};

fn with(object: Value, text: Option<&str>) -> Value {
    text.map_or(object.clone(), |it| annotated(object, &[("key", it)]))
}

fn said(owners: &[Option<&str>], of_pod: Option<&str>, may_be_negative: bool) -> (Option<String>, usize) {
    let owners: Vec<Owner> =
        owners.iter().map(|it| Owner::of(&with(object("batch/v1", "Job", "o", "1"), *it))).collect();
    let mut remarks = Vec::new();
    let said = duration("key", &owners, &with(pod("p", "2"), of_pod), may_be_negative, &mut remarks);
    (said, remarks.len())
}

#[test]
fn the_first_right_one_counts() {
    type Text = Option<&'static str>;
    let cases: &[(&[Text], Text, Text, usize)] = &[
        (&[None], None, None, 0),
        (&[Some("5m")], None, Some("5m"), 0),
        (&[None], Some("90s"), Some("90s"), 0),
        (&[Some("5m")], Some("90s"), Some("5m"), 0),
        (&[None, Some("1h30m")], Some("90s"), Some("1h30m"), 0),
        (&[Some("soon")], Some("90s"), Some("90s"), 1),
        (&[Some("5")], None, None, 1),
        (&[Some("")], None, None, 1),
        (&[Some("-5m")], Some("-1s"), None, 2),
        (&[Some("0s")], None, Some("0s"), 0),
    ];
    for (owners, of_pod, expected, remarks) in cases {
        let expected = (expected.map(str::to_owned), *remarks);
        assert_eq!(said(owners, *of_pod, false), expected, "{owners:?} {of_pod:?}");
    }
}

#[test]
fn a_grace_period_may_be_negative() {
    assert_eq!(said(&[Some("-1s")], None, true), (Some("-1s".to_owned()), 0));
}

#[test]
fn a_text_without_an_end_is_no_duration() {
    let long = format!("{}1s", "0".repeat(1000));
    let mut remarks = Vec::new();
    assert_eq!(duration("key", &[], &with(pod("p", "2"), Some(&long)), true, &mut remarks), None);
    assert!(remarks[0].len() < 300, "{remarks:?}");
}
