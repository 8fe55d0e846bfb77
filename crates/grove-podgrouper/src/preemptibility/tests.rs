use serde_json::json;

use super::*;
use crate::fixture::{classes, kind_default, labelled, object, pod, with_spec};

use Preemptibility::{NonPreemptible, Preemptible};

fn with(object: Value, text: Option<&str>) -> Value {
    text.map_or(object.clone(), |it| labelled(object, &[(LABEL, it)]))
}

fn owner(text: Option<&str>) -> Owner {
    Owner::of(&with(object("batch/v1", "Job", "o", "1"), text))
}

#[test]
fn labels_say_it_exactly() {
    type Text = Option<&'static str>;
    let cases: &[(&[Text], Text, Option<Preemptibility>)] = &[
        (&[None], None, None),
        (&[Some("preemptible")], None, Some(Preemptible)),
        (&[Some("non-preemptible")], None, Some(NonPreemptible)),
        (&[None], Some("preemptible"), Some(Preemptible)),
        (&[None], Some("non-preemptible"), Some(NonPreemptible)),
        (&[Some("Preemptible")], None, None),
        (&[None], Some("maybe"), None),
        (&[Some("preemptible")], Some("non-preemptible"), Some(Preemptible)),
        (&[Some("maybe")], Some("non-preemptible"), Some(NonPreemptible)),
        (&[Some("maybe"), Some("non-preemptible")], Some("preemptible"), Some(NonPreemptible)),
        (&[Some("preemptible"), Some("non-preemptible")], None, Some(Preemptible)),
        (&[Some("")], Some("preemptible"), None),
    ];
    for (owners, of_pod, expected) in cases {
        let owners: Vec<Owner> = owners.iter().map(|it| owner(*it)).collect();
        let said = preemptibility(&owners, &with(pod("p", "2"), *of_pod), &Settings::default());
        assert_eq!(said, *expected, "{owners:?} {of_pod:?}");
    }
}

#[test]
fn kinds_say_it_where_no_label_does() {
    let by_group = vec![
        kind_default("Job", "", "high", Some(Preemptible)),
        kind_default("Job", "batch", "high", Some(NonPreemptible)),
    ];
    let by_kind = vec![kind_default("Job", "", "high", Some(NonPreemptible))];
    let by_nobody = vec![kind_default("Job", "batch", "high", None)];
    let cases = [
        (&by_group, None, None, Some(NonPreemptible)),
        (&by_kind, None, None, Some(NonPreemptible)),
        (&by_kind, Some("preemptible"), None, Some(Preemptible)),
        (&by_kind, None, Some("preemptible"), Some(Preemptible)),
        (&by_kind, Some("maybe"), None, Some(NonPreemptible)),
        (&by_kind, Some(""), None, None),
        (&by_nobody, None, None, None),
    ];
    for (kinds, of_owner, of_pod, expected) in cases {
        let settings = Settings { kinds: kinds.clone(), ..classes(&["high"]) };
        let said = preemptibility(&[owner(of_owner)], &with(pod("p", "2"), of_pod), &settings);
        assert_eq!(said, expected, "{kinds:?} {of_owner:?} {of_pod:?}");
    }
}

/// A class from a label leaves preemptibility to the kind.
#[test]
fn priority_is_another_matter() {
    let kinds = vec![kind_default("Job", "batch", "high", Some(NonPreemptible))];
    let settings = Settings { kinds, ..classes(&["high", "low"]) };
    let class = [(crate::priority::LABEL, "low")];
    let plain = || pod("p", "2");
    let of_spec = with_spec(plain(), json!({ "priorityClassName": "low" }));
    let of_owner = Owner::of(&labelled(object("batch/v1", "Job", "o", "1"), &class));
    for (owner, pod) in
        [(owner(None), labelled(plain(), &class)), (owner(None), of_spec), (of_owner, plain())]
    {
        assert_eq!(preemptibility(&[owner], &pod, &settings), Some(NonPreemptible), "{pod}");
    }
}
