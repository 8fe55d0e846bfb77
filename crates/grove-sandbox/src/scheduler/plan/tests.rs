//! Units: when they are ready, and what is decided for them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use grove_placement::{Cluster, topology};
use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    attempt::{Decision, decide},
    unit::{Member, Stage, Unit, UnitContext},
};
use crate::scheduler::observe::{
    group_view::{GroupKey, GroupObject},
    pod_view::{DEFAULT_SCHEDULER, PodView},
};

fn pod(name: &str, change: &Value) -> Member {
    let mut pod = json!({
        "metadata": { "name": name, "namespace": "ns", "uid": name, "labels": { "index": name } },
        "spec": { "containers": [{ "name": "c", "resources": { "limits": { "nvidia.com/gpu": "4" } } }] },
    });
    for (part, fields) in change.as_object().unwrap() {
        for (field, value) in fields.as_object().unwrap() {
            pod[part.as_str()][field.as_str()] = value.clone();
        }
    }
    let pod: PodView = serde_json::from_value(pod).unwrap();
    Member { node: pod.node_name.clone(), pod: Arc::new(pod) }
}

fn pods(names: &[&str]) -> Vec<Member> {
    names.iter().map(|it| pod(it, &json!({}))).collect()
}

fn group(name: &str, spec: Value) -> GroupObject {
    let is_composite = spec["schedulingPolicy"]["gang"]["minGroupCount"].is_number();
    let key = GroupKey { is_composite, ..GroupKey::leaf("ns", name) };
    GroupObject { key, uid: name.to_owned(), created: Timestamp::UNIX_EPOCH, spec }
}

fn leaf(name: &str, parent: Option<&str>, min: u32) -> GroupObject {
    group(
        name,
        json!({ "parentCompositePodGroupName": parent, "schedulingPolicy": { "gang": { "minCount": min } } }),
    )
}

fn unit(groups: Vec<GroupObject>, pods: &[(&str, Vec<Member>)]) -> Unit {
    let pods: BTreeMap<String, Vec<Member>> = pods.iter().map(|it| (it.0.to_owned(), it.1.clone())).collect();
    let context =
        UnitContext { scheduler: DEFAULT_SCHEDULER, labels: BTreeSet::new(), has_node: &|it| it != "gone" };
    Unit::of_gang(groups, pods, &context).unwrap()
}

fn flat(min: u32, pods: Vec<Member>) -> Unit {
    unit(vec![leaf("g", None, min)], &[("g", pods)])
}

fn nested(min_groups: u32, of_a: Vec<Member>, of_b: Vec<Member>) -> Unit {
    let root = group("root", json!({ "schedulingPolicy": { "gang": { "minGroupCount": min_groups } } }));
    let groups = vec![root, leaf("a", Some("root"), 2), leaf("b", Some("root"), 1)];
    unit(groups, &[("a", of_a), ("b", of_b)])
}

fn faulty(message: &str) -> Stage {
    Stage::Faulty(message.to_owned())
}

#[test]
fn a_gang_is_ready_when_its_minima_exist_and_no_pod_is_gated() {
    let gated = || pod("x", &json!({ "spec": { "schedulingGates": [{ "name": "g" }] } }));
    let bound = |name: &str, node: &str| pod(name, &json!({ "spec": { "nodeName": node } }));
    let going =
        |name: &str| pod(name, &json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } }));
    let mut basic = leaf("g", None, 9);
    basic.spec["schedulingPolicy"] = json!({ "basic": {} });
    let with = |mut all: Vec<Member>, more: Member| {
        all.push(more);
        all
    };
    let rows = [
        ("no pods", flat(2, Vec::new()), Stage::Settled),
        ("all bound", flat(1, vec![bound("a", "n")]), Stage::Settled),
        ("too few pods", flat(2, pods(&["a"])), Stage::Incomplete),
        ("enough pods", flat(2, pods(&["a", "b"])), Stage::Ready),
        ("one is bound", flat(2, vec![bound("a", "n"), pod("b", &json!({}))]), Stage::Ready),
        ("its node is gone", flat(2, vec![bound("a", "gone"), pod("b", &json!({}))]), Stage::Incomplete),
        ("one is about to go", flat(2, vec![going("a"), pod("b", &json!({}))]), Stage::Incomplete),
        ("one more is gated", flat(2, with(pods(&["a", "b"]), gated())), Stage::Incomplete),
        ("no minimum", unit(vec![basic], &[("g", pods(&["a"]))]), Stage::Ready),
        ("both groups", nested(2, pods(&["a", "b"]), pods(&["c"])), Stage::Ready),
        ("one group lacks a pod", nested(2, pods(&["a"]), pods(&["c"])), Stage::Incomplete),
        ("one group is enough", nested(1, pods(&["a"]), pods(&["c"])), Stage::Ready),
    ];
    for (title, unit, want) in rows {
        assert_eq!(unit.stage(DEFAULT_SCHEDULER), want, "{title}");
    }
}

#[test]
fn pods_of_a_gang_have_to_be_alike() {
    let other = |spec: Value| vec![pod("a", &json!({})), pod("b", &json!({ "spec": spec }))];
    let mut policy = leaf("g", None, 2);
    policy.spec["preemptionPolicy"] = json!("PreemptLowerPriority");
    let mut priority = leaf("g", None, 2);
    priority.spec["priority"] = json!(7);
    let same = "all pods in a single pod group should have the same";
    let rows = [
        // It waits for another scheduler.
        (flat(2, other(json!({ "schedulerName": "kai" }))), Stage::Incomplete),
        (flat(1, other(json!({ "schedulerName": "kai" }))), Stage::Ready),
        (
            flat(2, other(json!({ "schedulerName": "kai", "nodeName": "n" }))),
            faulty(&format!("{same} .spec.schedulerName set, got: \"kai\" and \"default-scheduler\"")),
        ),
        (
            flat(2, other(json!({ "priority": 3 }))),
            faulty(&format!("{same} priority as the pod group's priority, got 3 and 0")),
        ),
        (
            unit(vec![priority], &[("g", pods(&["a", "b"]))]),
            faulty(&format!("{same} priority as the pod group's priority, got 0 and 7")),
        ),
        (
            unit(vec![policy], &[("g", other(json!({ "preemptionPolicy": "Never" })))]),
            faulty(&format!("{same} preemption policy as the pod group's preemption policy")),
        ),
        (
            flat(2, other(json!({ "overhead": { "cpu": "x" } }))),
            faulty(
                "pod b: cpu: \"x\" is not a quantity that can be counted: use a number such as 500m, 4 or 16Gi",
            ),
        ),
        // All are somebody else's.
        (flat(1, vec![pod("a", &json!({ "spec": { "schedulerName": "kai" } }))]), Stage::Settled),
    ];
    for (unit, want) in rows {
        assert_eq!(unit.stage(DEFAULT_SCHEDULER), want);
    }
}

#[test]
fn a_gang_of_too_many_kinds_is_refused() {
    let kind = |number: usize| {
        pod(&format!("p{number}"), &json!({ "spec": { "nodeSelector": { "n": number.to_string() } } }))
    };
    let gang = |kinds: usize| flat(1, (0..kinds).map(kind).collect()).stage(DEFAULT_SCHEDULER);
    assert_eq!(gang(200), Stage::Ready);
    assert_eq!(gang(201), faulty("the pods of a gang ask for 201 different things; at most 200"));
}

fn cluster() -> Cluster {
    topology::parse("racks=2,hosts=2,gpus=4").unwrap()
}

fn bound_to(decision: Decision) -> BTreeSet<String> {
    match decision {
        Decision::Bind(bind) => bind.pods.into_iter().map(|it| it.1).collect(),
        Decision::Refuse(refusal) => panic!("{refusal:?}"),
    }
}

#[test]
fn pods_that_differ_in_labels_alone_are_alike() {
    let unit = flat(2, pods(&["a", "b"]));
    let kinds: BTreeSet<_> = unit.tree.pods().iter().map(|it| it.requirements.clone()).collect();
    assert_eq!(kinds.len(), 1);
    // Unless one of them looks at the label.
    let term = json!({ "topologyKey": "kubernetes.io/hostname", "labelSelector": { "matchLabels": { "index": "a" } } });
    let anti = json!({ "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [term] } });
    let members = vec![pod("a", &json!({})), pod("b", &json!({ "spec": { "affinity": anti } }))];
    let apart = flat(2, members);
    let labels: Vec<usize> = apart.tree.pods().iter().map(|it| it.requirements.labels.len()).collect();
    assert_eq!(labels, [1, 1]);
    assert_eq!(bound_to(decide(&apart, &cluster(), 1_000)).len(), 2);
}

#[test]
fn preferred_affinity_of_pods_to_their_own_group_is_a_preferred_level() {
    let term = |label: &str, value: &str| {
        json!({ "weight": 100, "podAffinityTerm": {
        "topologyKey": topology::RACK, "labelSelector": { "matchLabels": { label: value } } } })
    };
    let member = |name: &str, terms: Value| {
        pod(
            name,
            &json!({
                "metadata": { "labels": { "gang": "g", "index": name } },
                "spec": { "affinity": { "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": terms } } },
            }),
        )
    };
    let gang = |terms: &Value| flat(2, vec![member("a", terms.clone()), member("b", terms.clone())]);
    let preferred = gang(&json!([term("gang", "g")]));
    assert_eq!(preferred.tree.preferred.as_deref(), Some(topology::RACK));
    // Other pods are meant.
    assert_eq!(gang(&json!([term("gang", "other")])).tree.preferred, None);
    assert_eq!(gang(&json!([term("index", "a")])).tree.preferred, None);
    let mut cluster = cluster();
    cluster.node_mut("rack-0-node-0").unwrap().used.set("nvidia.com/gpu", 4);
    let racks = |unit: &Unit| bound_to(decide(unit, &cluster, 1_000));
    let in_rack_1 = ["rack-1-node-0", "rack-1-node-1"].map(str::to_owned);
    assert_eq!(racks(&preferred), BTreeSet::from(in_rack_1));
}

#[test]
fn what_is_left_over_is_named() {
    let decision = decide(&flat(4, pods(&["a", "b", "c", "d", "e"])), &cluster(), 1_000);
    let Decision::Bind(bind) = decision else { panic!("{decision:?}") };
    assert_eq!((bind.pods.len(), bind.unplaced), (4, vec!["e".to_owned()]));
    let decision = decide(&flat(5, pods(&["a", "b", "c", "d", "e"])), &cluster(), 1_000);
    let Decision::Refuse(refusal) = decision else { panic!("{decision:?}") };
    assert_eq!(refusal.group, "g");
    assert!(refusal.is_certain && refusal.message.contains("needs 5 pods"), "{}", refusal.message);
}
