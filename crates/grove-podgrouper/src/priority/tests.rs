use serde_json::json;

use super::*;
use crate::fixture::{classes, kind_default, labelled, object, pod, with_spec};

/// Owners with these labels; the nearest is a `Runner` of group `a.io`, the others are `Job`s of `batch`.
fn owners(labels: &[Option<&str>]) -> Vec<Owner> {
    let owner = |(index, class): (usize, Option<&str>)| {
        let (api_version, kind) = if index == 0 { ("a.io/v1", "Runner") } else { ("batch/v1", "Job") };
        let class = class.map(|it| (LABEL, it));
        Owner::of(&labelled(object(api_version, kind, "o", "1"), class.as_slice()))
    };
    labels.iter().copied().enumerate().map(owner).collect()
}

/// A pod with this label and this class in its spec.
fn pod_with(label: Option<&str>, spec: Option<&str>) -> Value {
    let pod = pod("p", "2");
    let pod = label.map_or(pod.clone(), |it| labelled(pod, &[(LABEL, it)]));
    spec.map_or(pod.clone(), |it| with_spec(pod, json!({ "priorityClassName": it })))
}

#[test]
fn owners_then_pods() {
    type Text = Option<&'static str>;
    let cases: &[(&[Text], Text, Text, &str)] = &[
        (&[None], None, None, "train"),
        (&[Some("high")], Some("low"), Some("low"), "high"),
        (&[None], Some("high"), Some("low"), "high"),
        (&[None], None, Some("high"), "high"),
        (&[None], Some(""), Some("high"), "high"),
        (&[Some("")], Some("high"), None, "high"),
        // One name for each owner: the wrong one of the only owner leaves nothing.
        (&[Some("nobody")], None, Some("high"), "train"),
        (&[Some("nobody"), None], None, Some("high"), "high"),
        (&[None], Some("nobody"), Some("high"), "train"),
        // What the pod says stands before the labels of all owners but the first.
        (&[None, Some("low")], None, Some("high"), "high"),
        (&[Some("low"), Some("high")], None, None, "low"),
        (&[None, Some("high")], None, None, "high"),
    ];
    let settings = classes(&["high", "low"]);
    for (labels, label, spec, expected) in cases {
        let class = priority_class(&owners(labels), &pod_with(*label, *spec), &settings, "train");
        assert_eq!(class, *expected, "{labels:?} {label:?} {spec:?}");
    }
}

#[test]
fn then_kinds() {
    let entry = |kind, group, class| kind_default(kind, group, class, None);
    let cases = [
        (vec![entry("Runner", "a.io", "high")], "high"),
        (vec![entry("Runner", "", "low")], "low"),
        (vec![entry("Runner", "b.io", "high")], "train"),
        (vec![entry("Runner", "", "low"), entry("Runner", "a.io", "high")], "high"),
        (vec![entry("Runner", "a.io", "nobody")], "train"),
        (vec![entry("Job", "batch", "low"), entry("Runner", "", "high")], "high"),
        (vec![entry("Job", "batch", "low"), entry("Runner", "", "nobody")], "low"),
        (vec![entry("Runner", "a.io", "low"), entry("Runner", "a.io", "high")], "high"),
    ];
    for (kinds, expected) in cases {
        let settings = Settings { kinds, ..classes(&["high", "low"]) };
        let class = |owners: &[Owner], pod: &Value| priority_class(owners, pod, &settings, "train");
        assert_eq!(class(&owners(&[None, None]), &pod("p", "2")), expected, "{:?}", settings.kinds);
        assert_eq!(class(&owners(&[Some("nobody"), None]), &pod("p", "2")), expected, "wrong label");
        assert_eq!(class(&owners(&[None, None]), &pod_with(None, Some("low"))), "low", "of the pod's spec");
        assert_eq!(class(&owners(&[None, None]), &pod_with(Some("low"), None)), "low", "of the pod's label");
    }
}

/// Who does not say of which kind it is gets nothing for its kind.
#[test]
fn a_kind_that_is_not_known_has_no_default() {
    let kinds = vec![kind_default("Runner", "a.io", "high", None), kind_default("Job", "", "low", None)];
    let settings = Settings { kinds, ..classes(&["high", "low"]) };
    for (api_version, kind) in [("", ""), ("a.io/v1", ""), ("", "Runner"), ("a.io/v1", "Walker")] {
        let owners = [Owner::of(&object(api_version, kind, "o", "1"))];
        let class = priority_class(&owners, &pod("p", "2"), &settings, "train");
        assert_eq!(class, "train", "{api_version} {kind}");
    }
}

#[test]
fn the_fallback_need_not_be_there() {
    assert_eq!(priority_class(&owners(&[None]), &pod("p", "2"), &classes(&[]), "inference"), "inference");
}
