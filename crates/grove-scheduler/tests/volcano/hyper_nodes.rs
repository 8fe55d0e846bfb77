//! HyperNodes, from the levels of a binding and the labels of nodes.

use std::collections::{BTreeMap, BTreeSet};

use grove_api::wire::ClusterTopologyBinding;
use grove_scheduler::{Domains, Object, SchedulerBackend, volcano::VolcanoBackend};
use serde_json::{Value, json};

use crate::cluster::{Volcano, cluster, volcano};

const HOST: &str = "kubernetes.io/hostname";

fn binding(name: &str, keys: &[&str]) -> ClusterTopologyBinding {
    let level = |(number, key): (usize, &&str)| json!({ "domain": format!("d{number}"), "key": key });
    let levels: Vec<_> = keys.iter().enumerate().map(level).collect();
    serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding",
        "metadata": { "name": name }, "spec": { "levels": levels },
    }))
    .unwrap()
}

/// Nodes by the values of their labels, in the order of the keys; a `-` is a label that is not there.
fn domains(keys: &[&str], nodes: &[&str]) -> Domains {
    let mut domains = Domains::new(keys.iter().copied());
    for node in nodes {
        let values: Vec<&str> = node.split(' ').collect();
        let label = |key: &str| keys.iter().position(|it| *it == key).map(|it| values[it]);
        domains.add(|key| label(key).filter(|it| *it != "-"));
    }
    domains
}

fn rendered(name: &str, keys: &[&str], nodes: &[&str]) -> Result<Vec<Object>, String> {
    VolcanoBackend.topology_tree().unwrap().render(&binding(name, keys), &domains(keys, nodes))
}

fn name(object: &Object) -> &str {
    object.value["metadata"]["name"].as_str().unwrap()
}

/// The tree in one line for each HyperNode: tier and its name, the domain, and the domains or labels below it.
fn lines(objects: &[Object], keys: &[&str]) -> Vec<String> {
    let domain = |object: &Object| {
        let labels = &object.value["metadata"]["labels"];
        let values = keys.iter().filter_map(|key| labels[*key].as_str());
        values.collect::<Vec<_>>().join("/")
    };
    let by_name: BTreeMap<&str, String> = objects.iter().map(|it| (name(it), domain(it))).collect();
    let member = |it: &Value| {
        let selector = &it["selector"];
        if it["type"] == "HyperNode" {
            return by_name[selector["exactMatch"]["name"].as_str().unwrap()].clone();
        }
        let labels = selector["labelMatch"]["matchLabels"].as_object().unwrap();
        let labels = labels.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap()));
        labels.collect::<Vec<_>>().join(" ")
    };
    let line = |object: &Object| {
        let spec = &object.value["spec"];
        let members: Vec<String> = spec["members"].as_array().unwrap().iter().map(member).collect();
        let (tier, level) = (&spec["tier"], spec["tierName"].as_str().unwrap());
        format!("{tier} {level} {}: {}", domain(object), members.join(", "))
    };
    objects.iter().map(line).collect()
}

/// A title, the levels, the nodes, and the lines of the tree.
type Row<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);

#[test]
fn there_is_one_for_each_domain() {
    let all = ["zone", "rack"];
    let rows: [Row<'_>; 6] = [
        ("no nodes", &all, &[], &[]),
        ("one level", &["rack"], &["a", "b", "a"], &["1 rack a: rack=a", "1 rack b: rack=b"]),
        (
            "two levels, and racks of one name in two zones",
            &all,
            &["x 1", "x 2", "y 1", "x 1"],
            &[
                "2 zone x: x/1, x/2",
                "1 rack x/1: zone=x rack=1",
                "1 rack x/2: zone=x rack=2",
                "2 zone y: y/1",
                "1 rack y/1: zone=y rack=1",
            ],
        ),
        (
            "nodes without a label are in none",
            &all,
            &["x 1", "x -", "- 2", "y -"],
            &["2 zone x: x/1", "1 rack x/1: zone=x rack=1"],
        ),
        (
            "a node is no HyperNode",
            &["zone", "rack", HOST],
            &["x 1 n0", "x 1 n1"],
            &["2 zone x: x/1", "1 rack x/1: zone=x rack=1"],
        ),
        ("nodes alone", &[HOST], &["n0", "n1"], &[]),
    ];
    for (title, keys, nodes, wanted) in rows {
        assert_eq!(lines(&rendered("hall", keys, nodes).unwrap(), keys), wanted, "{title}");
    }
}

#[test]
fn a_hyper_node_says_whose_it_is() {
    let objects = rendered("hall", &["zone", "rack"], &["z r_1"]).unwrap();
    // FNV-1a of `hall zone rack  z r_1`, each part with a zero byte behind it.
    let rack = "r-1-b77f755826de33a3";
    assert_eq!(
        objects[1].value,
        json!({
            "apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode",
            "metadata": {
                "name": rack,
                "labels": { "zone": "z", "rack": "r_1", "app.kubernetes.io/managed-by": "grove-operator" },
                "annotations": { "grove.io/topology-name": "hall" },
            },
            "spec": { "tier": 1, "tierName": "rack", "members": [
                { "type": "Node", "selector": { "labelMatch": { "matchLabels": { "zone": "z", "rack": "r_1" } } } },
            ] },
        })
    );
    assert_eq!(name(&objects[0]), "z-39d2ab44364f4c69");
    let member = json!([{ "type": "HyperNode", "selector": { "exactMatch": { "name": rack } } }]);
    assert_eq!(objects[0].value["spec"]["members"], member);
    assert!(objects.iter().all(|it| it.once.is_empty() && it.immutable.is_empty()));
}

#[test]
fn names_are_names_and_no_two_are_alike() {
    let long = "x".repeat(63);
    let odd = ["A.b_C", "a-b-c", "", "9", "___", &long, &format!("{}y", &long[1..])];
    let all = ["zone", "rack"];
    let mut names = BTreeSet::new();
    let mut count = 0;
    for (binding, keys) in [("hall", &all[..]), ("other", &all), ("hall", &["zone"]), ("hall", &["rack"])] {
        let nodes: Vec<String> = match keys.len() {
            1 => odd.iter().map(|it| (*it).to_owned()).collect(),
            _ => odd.iter().flat_map(|a| odd.iter().map(move |b| format!("{a} {b}"))).collect(),
        };
        let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        for object in rendered(binding, keys, &nodes).unwrap() {
            let name = name(&object).to_owned();
            let is_inner = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '-';
            assert!(name.len() <= 63 && name.chars().all(is_inner), "{name}");
            assert!(!name.starts_with('-') && !name.ends_with('-'), "{name}");
            names.insert(name);
            count += 1;
        }
    }
    // Two trees of 7 zones with 7 racks each, and two rows of 7.
    assert_eq!((count, names.len()), (2 * 56 + 14, 2 * 56 + 14));
}

#[test]
fn there_is_a_limit() {
    let nodes: Vec<String> = (0..2_001).map(|it| format!("r{it}")).collect();
    let nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
    assert_eq!(rendered("hall", &["rack"], &nodes[..2_000]).unwrap().len(), 2_000);
    let why = rendered("hall", &["rack"], &nodes).unwrap_err();
    let words =
        "there are 2001 domains, and HyperNodes are made for 2000 at most: take the narrowest level out of";
    assert!(why.starts_with(words), "{why}");
}

/// Names and numbers of tiers.
type Tiers<'a> = &'a [(&'a str, i64)];

#[test]
fn those_of_somebody_else_are_compared_by_their_tiers() {
    let there = |tiers: Tiers<'_>| {
        let node = |(name, tier): &(&str, i64)| json!({ "spec": { "tier": tier, "tierName": name } });
        tiers.iter().map(node).collect::<Vec<_>>()
    };
    let rows: [(Tiers<'_>, Option<&str>); 6] = [
        (&[("rack", 1), ("rack", 1), ("zone", 2)], None),
        (&[("rack", 1), ("block", 2), ("zone", 5)], None),
        (&[("rack", 1)], Some(r#"no HyperNode has the tierName "zone""#)),
        (&[], Some(r#"no HyperNode has the tierName "zone""#)),
        (
            &[("rack", 1), ("rack", 2), ("zone", 3)],
            Some(r#"HyperNodes of different tiers have the tierName "rack""#),
        ),
        (
            &[("rack", 2), ("zone", 1)],
            Some(r#"HyperNodes of "zone" are of tier 1, and those of "rack", which is narrower, of tier 2"#),
        ),
    ];
    let part = VolcanoBackend.topology_tree().unwrap();
    let binding = binding("hall", &["zone", "rack", HOST]);
    for (tiers, wanted) in rows {
        assert_eq!(part.drift(&binding, &there(tiers)).as_deref(), wanted, "{tiers:?}");
    }
}

#[test]
fn what_is_rendered_is_no_drift() {
    let keys = ["zone", "block", "rack"];
    let objects = rendered("hall", &keys, &["x 1 2", "y 1 2"]).unwrap();
    let there: Vec<Value> = objects.into_iter().map(|it| it.value).collect();
    assert_eq!(VolcanoBackend.topology_tree().unwrap().drift(&binding("hall", &keys), &there), None);
}

#[test]
fn a_volcano_that_knows_no_names_of_tiers_has_no_use_for_them() {
    for (release, lacks) in [(Volcano::V14, false), (Volcano::V12, true), (Volcano::V11, true)] {
        assert_eq!(volcano(&cluster(release)).lacks_tree().is_some(), lacks);
    }
}
