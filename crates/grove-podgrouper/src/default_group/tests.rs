use super::*;
use crate::{
    fixture::{annotated, classes, labelled, object, pod},
    group::{GroupOwner, Preemptibility},
};

fn set() -> Value {
    object("apps/v1", "StatefulSet", "web", "set-uid")
}

fn group(top: &Value, pod: &Value) -> Group {
    default_group(Workload { pod, top, owners: &[] }, &classes(&["high"]), TRAIN)
}

fn texts(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

const TOP: (&str, &str) = (
    "kai.scheduler/top-owner-metadata",
    "name: web\nuid: set-uid\ngroup: apps\nversion: v1\nkind: StatefulSet\n",
);

#[test]
fn one_group_for_the_owner_at_the_top() {
    let expected = Group {
        namespace: "ns".to_owned(),
        name: "pg-web-set-uid".to_owned(),
        owner: GroupOwner {
            api_version: "apps/v1".to_owned(),
            kind: "StatefulSet".to_owned(),
            name: "web".to_owned(),
            uid: "set-uid".to_owned(),
        },
        annotations: texts(&[TOP]),
        queue: "default-queue".to_owned(),
        priority_class: "train".to_owned(),
        min_members: 1,
        ..Group::default()
    };
    assert_eq!(group(&set(), &pod("web-0", "pod-uid")), expected);
}

#[test]
fn labels_and_annotations_are_those_of_the_owner() {
    let top = annotated(labelled(set(), &[("app", "web")]), &[("note", "x"), (LAST_APPLIED, "{}")]);
    let pod = annotated(
        labelled(pod("web-0", "1"), &[("pod", "l"), ("user", "u")]),
        &[("pod", "a"), ("user", "v")],
    );
    let group = group(&top, &pod);
    assert_eq!(group.labels, texts(&[("app", "web"), ("user", "u")]));
    assert_eq!(group.annotations, texts(&[("note", "x"), (LAST_APPLIED, "{}"), ("user", "v"), TOP]));
}

#[test]
fn the_owner_knows_its_user_better_than_the_pod() {
    let top = annotated(labelled(set(), &[("user", "a")]), &[("user", "b"), (TOP.0, "own")]);
    let pod = annotated(labelled(pod("web-0", "1"), &[("user", "u")]), &[("user", "v")]);
    let group = group(&top, &pod);
    assert_eq!(group.labels, texts(&[("user", "a")]));
    assert_eq!(group.annotations, texts(&[("user", "b"), (TOP.0, "own")]));
}

#[test]
fn settings_of_the_workload_reach_the_group() {
    let top = labelled(
        set(),
        &[
            ("kai.scheduler/queue", "q"),
            ("priorityClassName", "high"),
            ("kai.scheduler/preemptibility", "non-preemptible"),
        ],
    );
    let top = annotated(
        top,
        &[("kai.scheduler/preemption-delay", "5m"), ("kai.scheduler/staleness-grace-period", "-1s")],
    );
    let group = group(&top, &pod("web-0", "1"));
    assert_eq!(group.queue, "q");
    assert_eq!(group.priority_class, "high");
    assert_eq!(group.preemptibility, Some(Preemptibility::NonPreemptible));
    assert_eq!(group.preemption_delay.as_deref(), Some("5m"));
    assert_eq!(group.staleness_grace_period.as_deref(), Some("-1s"));
    assert_eq!(group.remarks, Vec::<String>::new());
}

#[test]
fn all_owners_are_asked_the_nearest_first() {
    let near = labelled(object("apps/v1", "ReplicaSet", "near", "1"), &[("priorityClassName", "low")]);
    let top = labelled(object("apps/v1", "Deployment", "top", "2"), &[("priorityClassName", "high")]);
    let owners = [Owner::of(&near), Owner::of(&top)];
    let workload = Workload { pod: &pod("p", "3"), top: &top, owners: &owners };
    assert_eq!(default_group(workload, &classes(&["high", "low"]), TRAIN).priority_class, "low");
    assert_eq!(default_group(workload, &classes(&["high"]), TRAIN).priority_class, "high");
}

#[test]
fn topology_is_in_annotations_of_the_owner() {
    const KEYS: [&str; 3] = [
        "kai.scheduler/topology",
        "kai.scheduler/topology-required-placement",
        "kai.scheduler/topology-preferred-placement",
    ];
    type Three = [&'static str; 3];
    // Annotations, what is in the group, and how many remarks there are.
    let cases: &[(Three, Option<Three>, usize)] = &[
        (["network", "zone", "rack"], Some(["network", "zone", "rack"]), 0),
        (["network", "zone", ""], Some(["network", "zone", ""]), 0),
        (["network", "", "rack"], Some(["network", "", "rack"]), 0),
        (["", "zone", ""], Some(["", "zone", ""]), 1),
        // KAI would never place it.
        (["network", "", ""], None, 1),
        (["", "", ""], None, 0),
    ];
    for (values, expected, remarks) in cases {
        let said: Vec<_> = KEYS.into_iter().zip(*values).filter(|it| !it.1.is_empty()).collect();
        let group = group(&annotated(set(), &said), &annotated(pod("p", "1"), &[(KEYS[1], "of-pod")]));
        let level = |text: &str| Some(text.to_owned()).filter(|it| !it.is_empty());
        let expected = expected.map(|[name, required, preferred]| Topology {
            name: name.to_owned(),
            required: level(required),
            preferred: level(preferred),
        });
        assert_eq!(group.topology, expected, "{values:?}");
        assert_eq!(group.remarks.len(), *remarks, "{values:?}");
    }
}

#[test]
fn no_more_is_copied_than_an_object_may_have() {
    type Texts<'a> = &'a [(&'a str, &'a str)];
    let (half, most, all) = ("h".repeat(100_000), "m".repeat(200_000), "a".repeat(1_000_000));
    // Annotations besides `small`, and what is left out.
    let cases: &[(Texts<'_>, &[&str])] = &[
        (&[("half", &half), (LAST_APPLIED, &half)], &[]),
        (&[("half", &half), ("most", &most), (LAST_APPLIED, "{}")], &[LAST_APPLIED, "most"]),
        (&[("most", &most), (LAST_APPLIED, &half)], &[LAST_APPLIED]),
        (&[("half", &half), ("all", &all)], &["all"]),
        (&[("most", &most), ("all", &all), ("half", &half)], &["all", "most"]),
    ];
    for (added, left_out) in cases {
        let top = annotated(annotated(set(), &[("small", "x")]), added);
        let group = group(&top, &pod("p", "1"));
        let mut keys: Vec<&str> = vec!["small", TOP.0];
        keys.extend(added.iter().map(|it| it.0).filter(|it| !left_out.contains(it)));
        keys.sort_unstable();
        assert_eq!(group.annotations.keys().collect::<Vec<_>>(), keys);
        assert_eq!(group.remarks.len(), left_out.len());
        for (remark, key) in group.remarks.iter().zip(*left_out) {
            assert!(remark.starts_with(&format!("{key} is not copied")), "{remark}");
        }
    }
}
