#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

use crate::workload::{
    SubGroup,
    fixture::{group, inside, leaf, parent, pod, topology},
};

use super::*;

mod carried_over;
mod older_releases;
mod parts;
mod webhook;

const NEWEST: Installed =
    Installed { form: Form::Delays, least: 0, has_topologies: true, default_queue: None };
const V15: Installed =
    Installed { form: Form::MinSubGroup, least: 1, has_topologies: true, default_queue: None };
const V12: Installed =
    Installed { form: Form::SubGroups, least: 1, has_topologies: true, default_queue: None };

fn grouped(kai: &Installed, group: &Group, existing: Option<&Value>) -> Grouped {
    match kai.render(group, &pod("p"), existing) {
        Ok(Told::Grouped(grouped)) => *grouped,
        other => unreachable!("not grouped: {other:?}"),
    }
}

fn spec(kai: &Installed, group: &Group) -> Value {
    grouped(kai, group, None).object["spec"].clone()
}

/// What there is in every case, and what is added to it.
fn with(mut base: Value, more: Value) -> Value {
    for (key, value) in more.as_object().into_iter().flatten() {
        base[key] = value.clone();
    }
    base
}

fn plain() -> Value {
    json!({ "minMember": 2, "queue": "team-a", "priorityClassName": "train", "topologyConstraint": {} })
}

#[test]
fn a_group_without_parts() {
    let grouped = grouped(&NEWEST, &group(), None);
    let expected = Grouped {
        object: json!({
            "apiVersion": "scheduling.run.ai/v2alpha2",
            "kind": "PodGroup",
            "metadata": {
                "name": "pg-train-u1",
                "namespace": "ns",
                "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u1" }],
            },
            "spec": {
                "minMember": 2,
                "queue": "team-a",
                "priorityClassName": "train",
                "topologyConstraint": {},
            },
        }),
        labels: BTreeMap::from([("kai.scheduler/subgroup-name".to_owned(), None)]),
        annotations: BTreeMap::from([("pod-group-name".to_owned(), Some("pg-train-u1".to_owned()))]),
        remarks: Vec::new(),
        pod_remarks: Vec::new(),
    };
    assert_eq!(grouped, expected);
    let resource = NEWEST.resource();
    assert_eq!(
        (resource.api_version.as_str(), resource.plural.as_str()),
        ("scheduling.run.ai/v2alpha2", "podgroups")
    );
}

#[test]
fn labels_and_annotations_are_those_of_the_group() {
    let texts = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let group = Group {
        labels: texts(&[("app", "x"), ("kai.scheduler/node-pool", "a100")]),
        annotations: texts(&[("kubectl.kubernetes.io/last-applied-configuration", "{}"), ("user", "ada")]),
        ..group()
    };
    let metadata = grouped(&NEWEST, &group, None).object["metadata"].clone();
    assert_eq!(metadata["labels"], json!({ "app": "x", "kai.scheduler/node-pool": "a100" }));
    let annotations = json!({ "kubectl.kubernetes.io/last-applied-configuration": "{}", "user": "ada" });
    assert_eq!(metadata["annotations"], annotations);
}

#[test]
fn every_field_of_the_whole_group() {
    type Change = fn(&mut Group);
    let cases: &[(Change, Value)] = &[
        (|it| it.min_members = 0, json!({ "minMember": 0 })),
        (
            |it| it.preemptibility = Some(Preemptibility::NonPreemptible),
            json!({ "preemptibility": "non-preemptible" }),
        ),
        (|it| it.preemption_delay = Some("90s".to_owned()), json!({ "preemptionDelay": "1m30s" })),
        (|it| it.preemption_delay = Some("1500ms".to_owned()), json!({ "preemptionDelay": "1500ms" })),
        (|it| it.staleness_grace_period = Some("-1m".to_owned()), json!({ "stalenessGracePeriod": "-1m0s" })),
        (|it| it.staleness_grace_period = Some("0".to_owned()), json!({ "stalenessGracePeriod": "0s" })),
        (
            |it| it.topology = Some(topology(Some("rack"), Some("rack"))),
            json!({ "topologyConstraint": {
                "topology": "dc", "requiredTopologyLevel": "rack", "preferredTopologyLevel": "rack",
            } }),
        ),
        (
            |it| it.topology = Some(Topology { required: Some("rack".to_owned()), ..Topology::default() }),
            json!({ "topologyConstraint": { "requiredTopologyLevel": "rack" } }),
        ),
    ];
    for (change, more) in cases {
        let mut group = group();
        change(&mut group);
        assert_eq!(spec(&NEWEST, &group), with(plain(), more.clone()));
        assert_eq!(grouped(&NEWEST, &group, None).remarks, [""; 0]);
    }
}

#[test]
fn what_has_no_name_is_left_out() {
    let nameless = grouped(&NEWEST, &Group { queue: String::new(), ..group() }, None);
    let expected = json!({ "minMember": 2, "priorityClassName": "train", "topologyConstraint": {} });
    assert_eq!(nameless.object["spec"], expected);
    assert_eq!(nameless.remarks, ["the workload names a queue that has no name: KAI does not place it"]);
    let classless = spec(&NEWEST, &Group { priority_class: String::new(), ..group() });
    assert_eq!(classless, json!({ "minMember": 2, "queue": "team-a", "topologyConstraint": {} }));
}

#[test]
fn a_topology_of_no_level_is_refused() {
    let group = Group { topology: Some(topology(None, None)), ..group() };
    let error = NEWEST.render(&group, &pod("p"), None).expect_err("KAI would never place it");
    let expected =
        "the group is placed by topology \"dc\", but no level of it is named: KAI would never place it";
    assert_eq!(error.0, expected);
}

#[test]
fn a_pod_says_its_group_in_an_annotation() {
    let annotated = |name: &str| json!({ "metadata": { "annotations": { "pod-group-name": name } } });
    assert_eq!(NEWEST.group_of(&annotated("pg-a")), Some("pg-a"));
    assert_eq!(NEWEST.group_of(&annotated("")), None);
    assert_eq!(NEWEST.group_of(&pod("p")), None);
}
