#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

use std::collections::BTreeSet;

use crate::{
    volcano::form::Tiers,
    workload::{
        SubGroup,
        fixture::{group, inside, leaf, parent, pod, topology},
    },
};

use super::*;

fn volcano(sub_groups: bool, network: bool) -> Installed {
    let tiers = Tiers::Named(BTreeMap::from([("rack".to_owned(), BTreeSet::from([1]))]));
    Installed { form: Form { sub_groups, network, tier_names: sub_groups, tiers } }
}

fn newest() -> Installed {
    volcano(true, true)
}

fn grouped(volcano: &Installed, group: &Group, existing: Option<&Value>) -> Grouped {
    match volcano.render(group, &pod("p"), existing) {
        Ok(Told::Grouped(grouped)) => *grouped,
        other => unreachable!("not grouped: {other:?}"),
    }
}

fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
}

fn policy(name: &str, size: u32, min: u32) -> Value {
    json!({
        "name": name,
        "labelSelector": { "matchLabels": { "grove.io/subgroup": name } },
        "matchLabelKeys": ["grove.io/subgroup"],
        "subGroupSize": size,
        "minSubGroups": min,
    })
}

#[test]
fn a_group_without_parts() {
    let annotations = [("kubectl.kubernetes.io/last-applied-configuration", "{}"), ("user", "ada")];
    let group = Group { labels: texts(&[("app", "x")]), annotations: texts(&annotations), ..group() };
    let name = Some("pg-train-u1".to_owned());
    let expected = Grouped {
        object: json!({
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "metadata": {
                "name": "pg-train-u1",
                "namespace": "ns",
                "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u1" }],
                "labels": { "app": "x" },
                "annotations": { "user": "ada" },
            },
            "spec": { "minMember": 2, "queue": "team-a", "priorityClassName": "train" },
        }),
        labels: BTreeMap::from([("grove.io/subgroup".to_owned(), None)]),
        annotations: BTreeMap::from([
            ("scheduling.k8s.io/group-name".to_owned(), name.clone()),
            ("scheduling.volcano.sh/group-name".to_owned(), name),
        ]),
        remarks: Vec::new(),
        pod_remarks: Vec::new(),
    };
    for volcano in [newest(), volcano(false, true), volcano(false, false)] {
        assert_eq!(grouped(&volcano, &group, None), expected);
        assert_eq!(grouped(&volcano, &group, Some(&expected.object)), expected);
    }
}

#[test]
fn the_queue_is_volcanos_own_word_or_the_groups() {
    for (annotation, queue, expected) in [
        (Some("scheduling.volcano.sh/queue-name"), "team-a", "b"),
        (Some("scheduling.grove.io/volcano-queue"), "team-a", "b"),
        (None, "team-a", "team-a"),
        (None, "default-queue", "default"),
        (None, "", "default"),
    ] {
        let annotations = annotation.map(|it| (it.to_owned(), "b".to_owned())).into_iter().collect();
        let group = Group { queue: queue.to_owned(), annotations, ..group() };
        assert_eq!(grouped(&newest(), &group, None).object["spec"]["queue"], expected);
    }
}

/// Volcano's webhook fills in that of the namespace.
#[test]
fn a_queue_that_nobody_named_stays_as_it_is() {
    let there = json!({ "spec": { "queue": "of-namespace" } });
    let silent = Group { queue: "default-queue".to_owned(), ..group() };
    for (group, expected) in [(silent, "of-namespace"), (group(), "team-a")] {
        assert_eq!(grouped(&newest(), &group, Some(&there)).object["spec"]["queue"], expected);
    }
}

#[test]
fn parts_are_policies_of_one_level() {
    let sub_groups = vec![
        parent("w", 2),
        inside("w", leaf("w-0", 4, &["p"])),
        SubGroup { topology: Some(topology(Some("rack"), None)), ..inside("w", leaf("w-1", 4, &[])) },
        leaf("elastic", 0, &[]),
    ];
    let group = Group { min_sub_groups: Some(2), sub_groups, ..group() };
    let grouped = grouped(&newest(), &group, None);
    let mut placed = policy("w-1", 4, 1);
    placed["networkTopology"] = json!({ "mode": "hard", "highestTierName": "rack" });
    let expected = json!([policy("w-0", 4, 1), placed, policy("elastic", 1, 0)]);
    assert_eq!(grouped.object["spec"]["subGroupPolicy"], expected);
    assert_eq!(grouped.object["spec"]["minMember"], 8);
    assert_eq!(grouped.labels, BTreeMap::from([("grove.io/subgroup".to_owned(), Some("w-0".to_owned()))]));
    assert_eq!(grouped.remarks, [""; 0]);
}

#[test]
fn some_parts_of_many_have_no_duty() {
    let sub_groups = vec![leaf("first", 3, &["p"]), leaf("second", 8, &[])];
    let group = Group { min_sub_groups: Some(1), sub_groups, ..group() };
    let expected = "the group needs only some of its parts, which Volcano does not support: any 3 of its pods are placed \
        together";
    let told = grouped(&newest(), &group, None);
    assert_eq!(told.object["spec"]["minMember"], 3);
    assert_eq!(told.object["spec"]["subGroupPolicy"], json!([policy("first", 3, 0), policy("second", 8, 0)]));
    assert_eq!(told.remarks, [expected]);
    assert_eq!(grouped(&volcano(false, true), &group, None).object["spec"].get("minTaskMember"), None);
}

#[test]
fn parts_are_tasks_before_1_14() {
    let sub_groups = vec![leaf("a", 1, &["p"]), leaf("b", 2, &[]), leaf("c", 0, &[])];
    let old = volcano(false, true);
    let told = grouped(&old, &Group { min_members: 3, sub_groups, ..group() }, None);
    assert_eq!(told.object["spec"]["minTaskMember"], json!({ "a": 1, "b": 2 }));
    assert_eq!(told.object["spec"].get("subGroupPolicy"), None);
    assert_eq!(told.annotations["volcano.sh/task-spec"].as_deref(), Some("a"));
    assert_eq!(told.labels["grove.io/subgroup"], None);
    // Of one part, the whole says it all.
    let told = grouped(&old, &Group { sub_groups: vec![leaf("a", 2, &["p"])], ..group() }, None);
    assert_eq!(told.object["spec"].get("minTaskMember"), None);
    assert_eq!(told.annotations.get("volcano.sh/task-spec"), None);
}

#[test]
fn placement_where_volcano_knows_the_level() {
    let old = volcano(false, true);
    let hard = json!({ "mode": "hard", "highestTierName": "rack" });
    let older = "\"rack\" cannot be required";
    let needs = "which has no effect: Volcano 1.12 or newer with HyperNodes is needed for it";
    let cases: [(Installed, Topology, Value, Option<&str>); 6] = [
        (newest(), topology(Some("rack"), Some("host")), hard, None),
        (newest(), topology(None, Some("rack")), json!({ "mode": "soft" }), None),
        (newest(), topology(Some("row"), None), Value::Null, Some("no HyperNode has the tierName \"row\"")),
        (volcano(false, true), topology(None, Some("rack")), json!({ "mode": "soft" }), None),
        (old, topology(Some("rack"), None), Value::Null, Some(older)),
        (volcano(false, false), topology(None, Some("rack")), Value::Null, Some(needs)),
    ];
    for (volcano, topology, network, remark) in cases {
        let told = grouped(&volcano, &Group { topology: Some(topology.clone()), ..group() }, None);
        assert_eq!(told.object["spec"]["networkTopology"], network, "{topology:?}");
        assert_eq!(told.remarks.len(), usize::from(remark.is_some()), "{:?}", told.remarks);
        assert!(told.remarks.iter().all(|it| it.contains(remark.unwrap_or_default())), "{:?}", told.remarks);
    }
    // Volcano writes a number in the place of the name.
    let group_in_rack = Group { topology: Some(topology(Some("rack"), None)), ..group() };
    let there = json!({ "spec": { "networkTopology": { "mode": "hard", "highestTierAllowed": 1 } } });
    let told = grouped(&newest(), &group_in_rack, Some(&there));
    assert_eq!(told.object["spec"]["networkTopology"], there["spec"]["networkTopology"]);
}

#[test]
fn placement_of_parts_that_cannot_be_told() {
    let placed = Some(topology(Some("rack"), None));
    let above =
        vec![SubGroup { topology: placed.clone(), ..parent("w", 1) }, inside("w", leaf("x", 2, &["p"]))];
    let told = grouped(&newest(), &Group { sub_groups: above, ..group() }, None).remarks;
    let expected =
        "placement of part \"w\" has no effect: Volcano has one level of sub-groups, and it has parts";
    assert_eq!(told, [expected]);
    let alone = vec![SubGroup { topology: placed, ..leaf("x", 2, &["p"]) }];
    let told = grouped(&volcano(false, true), &Group { sub_groups: alone, ..group() }, None).remarks;
    let expected =
        "placement of part \"x\" has no effect: Volcano before 1.14 cannot place a part of a gang on its own";
    assert_eq!(told, [expected]);
}

#[test]
fn preemption_as_far_as_volcano_knows_it() {
    let with = |preemptibility| Group { preemptibility: Some(preemptibility), ..group() };
    let told = grouped(&newest(), &with(Preemptibility::NonPreemptible), None);
    assert_eq!(told.object["metadata"]["annotations"], json!({ "volcano.sh/preemptable": "false" }));
    assert_eq!(told.annotations["volcano.sh/preemptable"].as_deref(), Some("false"));
    // It is what holds anyway.
    let told = grouped(&newest(), &with(Preemptibility::Preemptible), None);
    assert_eq!(told.object["metadata"].get("annotations"), None);
    assert_eq!(told.annotations.get("volcano.sh/preemptable"), None);

    let delays = Group {
        preemption_delay: Some("1s".to_owned()),
        staleness_grace_period: Some("1s".to_owned()),
        ..group()
    };
    let expected = ["Volcano has no preemption delay", "Volcano has no staleness grace period"];
    assert_eq!(grouped(&newest(), &delays, None).remarks, expected);
}

#[test]
fn groups_of_others_are_left_alone() {
    let named = |name: &str| json!({ "metadata": { "name": "p", "annotations": { "scheduling.k8s.io/group-name": name } } });
    for (name, is_ours) in
        [("pg-train-u1", true), ("pg-old-u0", true), ("podgroup-u1", true), ("", true), ("job-a-u7", false)]
    {
        let told = newest().render(&group(), &named(name), None);
        assert_eq!(matches!(told, Ok(Told::Grouped(_))), is_ours, "{name}");
        assert_eq!(matches!(told, Ok(Told::LeftAlone)), !is_ours, "{name}");
    }
    assert_eq!(newest().group_of(&named("a")), Some("a"));
    assert_eq!(newest().group_of(&named("")), None);
}

#[test]
fn what_others_wrote_into_the_spec_stays() {
    let there = json!({ "spec": { "minMember": 9, "minResources": { "cpu": "2" } } });
    let spec = grouped(&newest(), &group(), Some(&there)).object["spec"].clone();
    let expected = json!({
        "minMember": 2, "queue": "team-a", "priorityClassName": "train", "minResources": { "cpu": "2" },
    });
    assert_eq!(spec, expected);
}
