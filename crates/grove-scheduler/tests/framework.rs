//! The framework without any real scheduler: trees, what they ask for, and the contract of `prepare_pod`.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

use std::collections::{BTreeMap, BTreeSet};

use grove_api::wire::PodGang;
use grove_scheduler::{
    Answer, Capabilities, Feature, Gang, Object, PrepareError, RenderError, Scheduler,
    backend::prepare,
    judge::{features_of, judge},
    tree::{Content, Template, from_pod_gang},
};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

fn gang(spec: Value) -> PodGang {
    let gang = json!({
        "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
        "metadata": {
            "name": "web-0", "namespace": "ns", "uid": "u", "labels": { "a": "b" },
            "annotations": { "grove.io/topology-name": "dc" },
        },
        "spec": spec,
    });
    serde_json::from_value(gang).unwrap()
}

fn group(name: &str, min: i32, pods: &[&str]) -> Value {
    let references: Vec<_> = pods.iter().map(|it| json!({ "namespace": "ns", "name": it })).collect();
    json!({ "name": name, "minReplicas": min, "podReferences": references })
}

fn required(key: &str) -> Value {
    json!({ "packConstraint": { "required": key } })
}

#[test]
fn bundles_stand_where_their_first_group_stands() {
    let tree = from_pod_gang(&gang(json!({
        "podgroups": [
            group("lead", 1, &["l"]),
            group("p", 2, &["p1", "p2"]),
            group("router", 1, &[]),
            group("d", 1, &["d1"]),
        ],
        "topologyConstraint": required("zone"),
        "topologyConstraintGroupConfigs": [
            { "name": "pd", "podGroupNames": ["d", "p", "gone"], "topologyConstraint": required("rack") },
            { "name": "nothing", "podGroupNames": ["gone"] },
        ],
        "priorityClassName": "high",
    })))
    .unwrap();
    let names: Vec<&str> = tree.children.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["lead", "pd", "router"]);
    let Content::Bundle(groups) = &tree.children[1].content else { panic!("not a bundle") };
    assert_eq!(groups.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["p", "d"]);
    let leaves: Vec<_> = tree.leaves().iter().map(|it| (it.name, it.min, it.parent)).collect();
    assert_eq!(leaves, [("lead", 1, None), ("p", 2, Some("pd")), ("d", 1, Some("pd")), ("router", 1, None)]);
    assert_eq!((tree.min(), tree.topology.as_str(), tree.priority_class.as_str()), (5, "dc", "high"));
    assert_eq!(tree.pack.required.as_deref(), Some("zone"));
    assert_eq!(tree.children[1].pack.required.as_deref(), Some("rack"));
}

#[test]
fn the_form_of_a_gang_is_what_was_noted_on_it() {
    let mut it = gang(json!({ "podgroups": [] }));
    assert_eq!(from_pod_gang(&it).unwrap().form, "");
    let annotations = it.metadata.annotations.get_or_insert_default();
    annotations.insert("grove.io/scheduler-form".to_owned(), "tree".to_owned());
    assert_eq!(from_pod_gang(&it).unwrap().form, "tree");
}

#[test]
fn a_gang_that_contradicts_itself_is_told_by_field() {
    let foreign = json!({ "name": "a", "minReplicas": 1,
        "podReferences": [{ "namespace": "ns", "name": "x" }, { "namespace": "other", "name": "y" }] });
    let config = |name: &str, groups: &[&str]| json!({ "name": name, "podGroupNames": groups });
    for (spec, path) in [
        (json!({ "podgroups": [foreign] }), "spec.podgroups[0].podReferences[1].namespace"),
        (json!({ "podgroups": [group("a", 1, &[]), group("a", 1, &[])] }), "spec.podgroups[1].name"),
        (json!({ "podgroups": [group("", 1, &[])] }), "spec.podgroups[0].name"),
        (json!({ "podgroups": [group("a", -1, &[])] }), "spec.podgroups[0].minReplicas"),
        (
            json!({ "podgroups": [group("a", 1, &[])],
                "topologyConstraintGroupConfigs": [config("x", &["a"]), config("y", &["a"])] }),
            "spec.topologyConstraintGroupConfigs[1].podGroupNames",
        ),
        (
            json!({ "podgroups": [group("a", 1, &[])], "topologyConstraintGroupConfigs": [config("a", &["a"])] }),
            "spec.topologyConstraintGroupConfigs[0].name",
        ),
        (
            json!({ "podgroups": [group("a", 1, &[])],
                "topologyConstraintGroupConfigs": [config("x", &[]), config("x", &[])] }),
            "spec.topologyConstraintGroupConfigs[1].name",
        ),
    ] {
        assert_eq!(from_pod_gang(&gang(spec)).unwrap_err().path, path);
    }
}

#[test]
fn what_a_gang_asks_for() {
    use Feature::*;
    let with = |mut group: Value, constraint: Value| {
        group["topologyConstraint"] = constraint;
        group
    };
    let both = json!({ "packConstraint": { "required": "rack", "preferred": "host" } });
    for (spec, asked) in [
        (json!({ "podgroups": [group("a", 1, &["x"])] }), vec![SingleGroupGang]),
        (json!({ "podgroups": [group("a", 1, &["x", "y"])] }), vec![SingleGroupGang, BestEffortAboveMinimum]),
        (json!({ "podgroups": [group("a", 1, &[]), group("b", 1, &[])] }), vec![MultiGroupGang]),
        (
            json!({ "podgroups": [group("a", 1, &[])], "priorityClassName": "high",
                "reuseReservationRef": { "namespace": "ns", "name": "old" } }),
            vec![SingleGroupGang, PriorityClass, GangPreemptor, GangVictim, ReservationReuse],
        ),
        (
            json!({ "podgroups": [with(group("a", 1, &[]), both)] }),
            vec![SingleGroupGang, RequiredTopologyGroup, PreferredTopology, RequiredAndPreferredTopology],
        ),
        (
            json!({
                "podgroups": [group("a", 1, &[]), group("b", 1, &[])],
                "topologyConstraint": required("zone"),
                "topologyConstraintGroupConfigs": [
                    { "name": "x", "podGroupNames": ["a"], "topologyConstraint": required("rack") },
                ],
            }),
            vec![
                MultiGroupGang,
                HierarchicalGang,
                RequiredTopologyGang,
                RequiredTopologyBundle,
                NestedRequiredTopology,
            ],
        ),
    ] {
        let tree = from_pod_gang(&gang(spec)).unwrap();
        assert_eq!(features_of(&tree), BTreeSet::from_iter(asked));
    }
}

/// The scheduler that the gang goes to may have no queues: then its user has to hear of it.
#[test]
fn a_queue_is_asked_for_under_every_key_and_in_every_place() {
    let tree = || from_pod_gang(&gang(json!({ "podgroups": [group("a", 1, &[])] }))).unwrap();
    let entry = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
    let asks = |it: &Gang| features_of(it).contains(&Feature::Queue);
    assert!(!asks(&tree()));
    let keys =
        ["kai.scheduler/queue", "scheduling.grove.io/volcano-queue", "scheduling.volcano.sh/queue-name"];
    for key in keys {
        assert!(asks(&Gang { annotations: entry(key, "q"), ..tree() }), "{key}");
        let mut of_group = tree();
        of_group.describe_group("a", BTreeMap::new(), entry(key, "q"));
        assert!(asks(&of_group), "{key}");
        let sibling = Template { annotations: entry(key, "q"), ..Template::default() };
        assert!(asks(&Gang { siblings: vec![sibling], ..tree() }), "{key}");
        assert!(!asks(&Gang { annotations: entry(key, " "), ..tree() }), "{key} says nothing");
        // Only KAI reads labels.
        assert_eq!(asks(&Gang { labels: entry(key, "q"), ..tree() }), key == keys[0], "{key}");
    }
}

const ALL_NATIVE: Capabilities = Capabilities {
    single_group_gang: Answer::Native,
    multi_group_gang: Answer::Native,
    hierarchical_gang: Answer::Native,
    best_effort_above_minimum: Answer::Native,
    minimum_change: Answer::Native,
    required_topology_gang: Answer::Native,
    required_topology_bundle: Answer::Native,
    required_topology_group: Answer::Native,
    nested_required_topology: Answer::Native,
    preferred_topology: Answer::Native,
    required_and_preferred_topology: Answer::Native,
    priority_class: Answer::Native,
    gang_preemptor: Answer::Native,
    gang_victim: Answer::Native,
    reservation_reuse: Answer::Native,
    scaled_after_base: Answer::Native,
    queue: Answer::Native,
    group_status: Answer::Native,
};

#[test]
fn only_what_is_asked_for_is_judged() {
    let capabilities = Capabilities {
        multi_group_gang: Answer::Emulated("split"),
        required_topology_gang: Answer::Reject("no levels"),
        preferred_topology: Answer::Pass("no levels"),
        queue: Answer::Reject("no queues"),
        ..ALL_NATIVE
    };
    let asked = [Feature::MultiGroupGang, Feature::RequiredTopologyGang, Feature::PreferredTopology];
    let gaps = judge(&BTreeSet::from(asked), &capabilities);
    assert_eq!(gaps.refused, [(Feature::RequiredTopologyGang, "no levels")]);
    assert_eq!(gaps.passed, [(Feature::PreferredTopology, "no levels")]);
}

/// A scheduler that changes what `change` says.
#[derive(Debug)]
struct Meddler {
    change: fn(&mut Pod),
}

impl Scheduler for Meddler {
    fn capabilities(&self) -> Capabilities {
        ALL_NATIVE
    }

    fn render(&self, _: &Gang, _: &[Value]) -> Result<Vec<Object>, RenderError> {
        Ok(Vec::new())
    }

    fn prepare_pod(&self, pod: &mut Pod, _: &Gang) -> Result<(), PrepareError> {
        (self.change)(pod);
        Ok(())
    }
}

type Change = fn(&mut Pod);

#[test]
fn a_backend_may_add_to_a_pod_but_not_touch_what_is_groves() {
    let pod = || -> Pod {
        serde_json::from_value(json!({
            "metadata": {
                "generateName": "web-0-a-", "namespace": "ns",
                "labels": { "grove.io/podgang": "web-0", "app.kubernetes.io/part-of": "web", "app": "x" },
                "ownerReferences": [{ "apiVersion": "v1", "kind": "PodClique", "name": "a", "uid": "u" }],
            },
            "spec": {
                "containers": [], "hostname": "web-0-a-0", "subdomain": "web-0",
                "schedulingGates": [{ "name": "grove.io/podgang-pending-creation" }, { "name": "theirs" }],
            },
        }))
        .unwrap()
    };
    let cases: [(Change, Option<&str>); 7] = [
        (|pod| pod.metadata.annotations = Some([("k".to_owned(), "v".to_owned())].into()), None),
        (
            |pod| {
                pod.metadata.labels.get_or_insert_default().insert("app".to_owned(), "y".to_owned());
            },
            None,
        ),
        (|pod| pod.metadata.generate_name = Some("other-".to_owned()), Some("name or host name")),
        (|pod| pod.spec.get_or_insert_default().hostname = None, Some("name or host name")),
        (|pod| pod.metadata.owner_references = None, Some("owners")),
        (
            |pod| {
                pod.metadata.labels.get_or_insert_default().remove("grove.io/podgang");
            },
            Some("Grove labels"),
        ),
        (|pod| pod.spec.get_or_insert_default().scheduling_gates = None, Some("Grove gate")),
    ];
    for (change, refused) in cases {
        let outcome = prepare(&Meddler { change }, &mut pod(), &Gang::default());
        let want = refused.map(|what| format!("the scheduler backend changed the pod's {what}"));
        assert_eq!(outcome.err().map(|it| it.to_string()), want);
    }
}

#[test]
fn words_of_a_pod_are_one_line_with_an_end() {
    let scheduler = Meddler { change: |_| {} };
    for (words, wanted) in [
        ("0/2 nodes are available:\n  2 Insufficient cpu. ", "0/2 nodes are available: 2 Insufficient cpu"),
        ("no room. Nowhere..", "no room. Nowhere"),
        ("", ""),
    ] {
        assert_eq!(scheduler.readable(words), wanted);
    }
    assert_eq!(scheduler.readable(&"ä".repeat(400)), "ä".repeat(400));
    assert_eq!(scheduler.readable(&"ä".repeat(401)), format!("{}…", "ä".repeat(400)));
}
