//! What pods are created with.

use grove_scheduler::{Gang, backend::prepare};
use k8s_openapi::api::core::v1::{Pod, PodSchedulingGroup};
use serde_json::{Value, json};

use crate::{
    Cluster, FLAT, FLAT_TOPOLOGY, PLAIN, TREE,
    common::{config, gang, group, placed, pod, preferred, required},
};

const ZONE: &str = "topology.kubernetes.io/zone";
const RACK: &str = "topology.example.com/rack";
const HOST: &str = "kubernetes.io/hostname";

/// The spec of a pod after the backend saw it, twice: the second time must change nothing.
fn prepared(cluster: Cluster, gang: &Gang, mut pod: Pod) -> Value {
    let scheduler = cluster.scheduler();
    prepare(scheduler.as_ref(), &mut pod, gang).unwrap();
    let once = pod.clone();
    prepare(scheduler.as_ref(), &mut pod, gang).unwrap();
    assert_eq!(once, pod);
    serde_json::to_value(pod.spec).unwrap()
}

fn refusal(cluster: Cluster, gang: &Gang, mut pod: Pod) -> String {
    prepare(cluster.scheduler().as_ref(), &mut pod, gang).unwrap_err().0
}

fn two() -> Gang {
    gang(json!({ "podgroups": [group("web-0-a", 2, 4), group("web-0-b", 1, 2)] }))
}

fn lifted() -> Gang {
    gang(json!({ "podgroups": [group("web-0-a", 0, 4), group("web-0-b", 0, 2)] }))
}

#[test]
fn which_group_a_pod_is_in() {
    let one = gang(json!({ "podgroups": [group("web-0-a", 2, 4)] }));
    let table: Vec<(Cluster, Gang, &str, u32, Option<&str>)> = vec![
        (TREE, two(), "web-0-a", 0, Some("web-0-a")),
        (TREE, two(), "web-0-a", 1, Some("web-0-a")),
        (TREE, two(), "web-0-a", 2, None),
        (TREE, two(), "web-0-b", 0, Some("web-0-b")),
        (TREE, two(), "web-0-b", 1, None),
        (TREE, lifted(), "web-0-a", 3, Some("web-0-a")),
        (FLAT, lifted(), "web-0-a", 0, None),
        (FLAT, two(), "web-0-a", 0, Some("web-0")),
        (FLAT, two(), "web-0-a", 1, Some("web-0")),
        (FLAT, two(), "web-0-a", 2, None),
        (FLAT, two(), "web-0-b", 0, Some("web-0")),
        (FLAT, two(), "web-0-b", 1, None),
        (FLAT, one.clone(), "web-0-a", 1, Some("web-0")),
        (FLAT, one, "web-0-a", 3, None),
        (PLAIN, two(), "web-0-a", 0, None),
        (FLAT, Gang { form: "plain".to_owned(), ..two() }, "web-0-a", 0, None),
        (TREE, Gang { form: "flat".to_owned(), ..two() }, "web-0-a", 1, Some("web-0")),
        (TREE, Gang { form: "adopted".to_owned(), ..two() }, "web-0-a", 1, None),
    ];
    for (number, (cluster, gang, clique, index, group)) in table.into_iter().enumerate() {
        let spec = prepared(cluster, &gang, pod(clique, index));
        assert_eq!(spec["schedulingGroup"]["podGroupName"].as_str(), group, "row {number}: {spec}");
    }
}

#[test]
fn a_further_pod_is_in_no_group_whatever_its_template_says() {
    let mut further = pod("web-0-a", 2);
    further.spec.as_mut().unwrap().scheduling_group =
        Some(PodSchedulingGroup { pod_group_name: Some("web-0".to_owned()) });
    assert_eq!(prepared(FLAT, &two(), further)["schedulingGroup"], Value::Null);
}

#[test]
fn a_pod_that_cannot_be_placed_is_not_made() {
    let stranger = refusal(TREE, &two(), pod("web-0-c", 0));
    assert_eq!(stranger, r#"the pod is of PodClique "web-0-c", which is not in gang web-0"#);
    let mut unnumbered = pod("web-0-a", 0);
    unnumbered.metadata.labels.as_mut().unwrap().remove("grove.io/podclique-pod-index");
    for cluster in [TREE, FLAT] {
        let why = refusal(cluster, &two(), unnumbered.clone());
        assert_eq!(why, "the pod has no number in its label grove.io/podclique-pod-index");
    }
    prepared(PLAIN, &two(), unnumbered);
}

#[test]
fn all_pods_have_the_priority_of_the_gang() {
    let with = |class: &str| Gang { priority_class: class.to_owned(), ..two() };
    let of_class = |class: Option<&str>| {
        let mut it = pod("web-0-a", 0);
        it.spec.as_mut().unwrap().priority_class_name = class.map(str::to_owned);
        it
    };
    for cluster in [TREE, FLAT, PLAIN] {
        for (gang, own, expected) in [
            (with("high"), None, Some("high")),
            (with("high"), Some("high"), Some("high")),
            (with(""), None, None),
        ] {
            let spec = prepared(cluster, &gang, of_class(own));
            assert_eq!(spec["priorityClassName"].as_str(), expected);
        }
    }
    for gang in [with("high"), with("")] {
        let why = refusal(TREE, &gang, of_class(Some("low")));
        assert!(why.starts_with(r#"the pod's priorityClassName is "low" and that of its gang "#), "{why}");
        // Pods alone may have what they like.
        assert_eq!(prepared(PLAIN, &gang, of_class(Some("low")))["priorityClassName"], "low");
    }
}

#[test]
fn preferred_levels_are_soft_affinity_by_weight() {
    let term = |weight: i32, key: &str, selector: Value| json!({ "weight": weight, "podAffinityTerm": { "topologyKey": key, "labelSelector": selector } });
    let everything = gang(json!({
        "podgroups": [placed(group("web-0-g-0-p", 1, 1), preferred(HOST)), group("web-0-g-0-d", 1, 1)],
        "topologyConstraint": preferred(ZONE),
        "topologyConstraintGroupConfigs": [
            placed(config("web-0-g-0", &["web-0-g-0-p", "web-0-g-0-d"]), preferred(RACK)),
        ],
    }));
    let of_gang = || term(100, ZONE, json!({ "matchLabels": { "grove.io/podgang": "web-0" } }));
    let of_replica = || {
        let labels = json!({ "grove.io/podcliquescalinggroup": "web-0-g",
            "grove.io/podcliquescalinggroup-replica-index": "0" });
        term(50, RACK, json!({ "matchLabels": labels }))
    };
    let of_cliques = || {
        let cliques = json!([{ "key": "grove.io/podclique", "operator": "In",
            "values": ["web-0-g-0-p", "web-0-g-0-d"] }]);
        term(50, RACK, json!({ "matchExpressions": cliques }))
    };
    let of_clique = || term(25, HOST, json!({ "matchLabels": { "grove.io/podclique": "web-0-g-0-p" } }));
    let member = |clique: &str, group: &str| {
        let mut it = pod(clique, 0);
        let labels = it.metadata.labels.as_mut().unwrap();
        labels.insert("grove.io/podcliquescalinggroup".to_owned(), group.to_owned());
        labels.insert("grove.io/podcliquescalinggroup-replica-index".to_owned(), "0".to_owned());
        it
    };
    for cluster in [TREE, FLAT, PLAIN] {
        for (pod, expected) in [
            (member("web-0-g-0-p", "web-0-g"), vec![of_gang(), of_replica(), of_clique()]),
            (member("web-0-g-0-d", "web-0-g"), vec![of_gang(), of_replica()]),
            // A bundle that is not a replica of the pod's scaling group is known by its cliques.
            (member("web-0-g-0-d", "web-0-h"), vec![of_gang(), of_cliques()]),
            (pod("web-0-g-0-d", 0), vec![of_gang(), of_cliques()]),
        ] {
            let spec = prepared(cluster, &everything, pod);
            let affinity =
                json!({ "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": expected } });
            assert_eq!(spec["affinity"], affinity);
        }
    }
}

#[test]
fn what_the_template_says_stays() {
    let gang = gang(json!({ "podgroups": [group("web-0-a", 1, 1)], "topologyConstraint": preferred(RACK) }));
    let own = json!({ "weight": 1, "podAffinityTerm": { "topologyKey": "mine",
        "labelSelector": { "matchLabels": { "a": "b" } } } });
    let mut it = pod("web-0-a", 0);
    it.spec.as_mut().unwrap().affinity = serde_json::from_value(json!({
        "podAffinity": { "preferredDuringSchedulingIgnoredDuringExecution": [own] },
        "nodeAffinity": {},
    }))
    .unwrap();
    let affinity = prepared(TREE, &gang, it)["affinity"].clone();
    let terms = &affinity["podAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"];
    assert_eq!((&terms[0], terms.as_array().unwrap().len()), (&own, 2));
    assert_eq!(affinity["nodeAffinity"], json!({}));
    // Without a preference nothing is added.
    assert_eq!(prepared(TREE, &two(), pod("web-0-a", 0))["affinity"], Value::Null);
}

#[test]
fn a_pod_outside_of_the_group_goes_where_the_gang_is() {
    let spec = |min: i32| {
        json!({
            "podgroups": [group("web-0-a", min, 4), group("web-0-b", min, 2)],
            "topologyConstraint": required(RACK),
        })
    };
    let follows = json!({ "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
        "topologyKey": RACK,
        "labelSelector": { "matchLabels": {
            "grove.io/podclique": "web-0-a", "grove.io/podclique-pod-index": "0",
        } },
    }] } });
    assert_eq!(prepared(FLAT_TOPOLOGY, &gang(spec(1)), pod("web-0-a", 1))["affinity"], follows);
    assert_eq!(prepared(FLAT_TOPOLOGY, &gang(spec(1)), pod("web-0-a", 0))["affinity"], Value::Null);
    // While the duty is lifted no pod is in the group: there is nobody to follow.
    assert_eq!(prepared(FLAT_TOPOLOGY, &gang(spec(0)), pod("web-0-a", 0))["affinity"], Value::Null);
    assert_eq!(prepared(TREE, &gang(spec(0)), pod("web-0-a", 0))["affinity"], Value::Null);
    assert_eq!(prepared(TREE, &gang(spec(1)), pod("web-0-a", 1))["affinity"], follows);
    assert_eq!(prepared(TREE, &gang(spec(1)), pod("web-0-a", 0))["affinity"], Value::Null);
}

/// In a tree there are levels inside of levels, and a further pod keeps them all.
#[test]
fn a_further_pod_keeps_every_level_of_its_group() {
    let nested = gang(json!({
        "podgroups": [placed(group("web-0-g-0-p", 1, 2), required(HOST)), group("web-0-g-0-d", 1, 2)],
        "topologyConstraint": required(ZONE),
        "topologyConstraintGroupConfigs": [
            placed(config("web-0-g-0", &["web-0-g-0-p", "web-0-g-0-d"]), required(RACK)),
        ],
    }));
    for (clique, want) in [("web-0-g-0-p", vec![ZONE, RACK, HOST]), ("web-0-g-0-d", vec![ZONE, RACK])] {
        let spec = prepared(TREE, &nested, pod(clique, 1));
        let terms = spec.pointer("/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution");
        let levels: Vec<&str> =
            terms.unwrap().as_array().unwrap().iter().map(|it| it["topologyKey"].as_str().unwrap()).collect();
        assert_eq!(levels, want);
    }
}

/// Who is in a group may not wait for others; who is in none has to.
#[test]
fn further_pods_wait_where_there_are_groups() {
    let first = |cluster: Cluster, gang: Gang| cluster.scheduler().places_minima_first(&gang);
    assert!(!first(TREE, two()) && !first(FLAT, two()) && !first(FLAT_TOPOLOGY, two()));
    assert!(first(PLAIN, two()), "there are no gangs");
    assert!(first(TREE, Gang { form: "adopted".to_owned(), ..two() }), "it was there before");
}
