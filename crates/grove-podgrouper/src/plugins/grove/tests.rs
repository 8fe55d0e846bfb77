mod placement;

use serde_json::{Value, json};

use super::*;
use crate::plugins::shapes::{group_with, object, parts, place, pod, with};

const TOPOLOGY: &str = "grove.io/topology-name";
const KAI_TOPOLOGY: &str = "kai.scheduler/topology";
const KAI_REQUIRED: &str = "kai.scheduler/topology-required-placement";
const KAI_PREFERRED: &str = "kai.scheduler/topology-preferred-placement";

fn gang(spec: Value) -> Value {
    object("scheduler.grove.io/v1alpha1", "PodGang", "gang", spec)
}

/// A group of pods that lists one.
fn clique(name: &str, least: u32) -> Value {
    let pod = json!({ "namespace": "a", "name": format!("{name}-x") });
    json!({ "name": name, "minReplicas": least, "podReferences": [pod] })
}

fn at(mut part: Value, required: Option<&str>, preferred: Option<&str>) -> Value {
    let pack = &mut part["topologyConstraint"]["packConstraint"];
    *pack = json!({});
    for (key, level) in [("required", required), ("preferred", preferred)] {
        if let Some(level) = level {
            pack[key] = json!(level);
        }
    }
    part
}

fn config(name: &str, members: &[&str]) -> Value {
    json!({ "name": name, "podGroupNames": members })
}

fn member() -> Value {
    pod("one-x", json!({ "grove.io/podgang": "gang" }))
}

fn group_below(set: &Value, gang: &Value, pod: &Value) -> Result<Option<Group>, Refused> {
    let there = [(gang_need(&member()).unwrap(), vec![gang.clone()])];
    let settings = Settings { priority_classes: ["low".to_owned()].into(), ..Settings::default() };
    group_with(&Grove, set, pod, &there, &settings)
}

fn set() -> Value {
    object("grove.io/v1alpha1", "PodCliqueSet", "set", json!({}))
}

fn group_of(gang: &Value) -> Result<Group, Refused> {
    group_below(&set(), gang, &member()).map(|it| it.expect("a group"))
}

fn refused(gang: &Value) -> String {
    group_of(gang).expect_err("a refusal").0
}

#[test]
fn a_gang_is_a_group_of_its_cliques() {
    let cliques = json!([clique("one", 4), clique("two", 3), clique("three", 5)]);
    let gang = gang(json!({ "podgroups": cliques, "priorityClassName": "inference" }));
    let pod = with(member(), "labels", json!({ "grove.io/podgang": "gang", "kai.scheduler/queue": "team" }));
    let group = group_below(&set(), &gang, &pod).unwrap().unwrap();
    assert_eq!((group.name.as_str(), group.namespace.as_str()), ("pg-gang-uid-gang", "a"));
    assert_eq!((group.owner.kind.as_str(), group.owner.name.as_str()), ("PodGang", "gang"));
    assert_eq!((group.min_members, group.min_sub_groups), (12, None));
    assert_eq!((group.queue.as_str(), group.priority_class.as_str()), ("team", "inference"));
    assert_eq!(parts(&group), ["one 4 * one-x", "two 3 * two-x", "three 5 * three-x"]);
    assert_eq!(group.sub_group_of("two-x").map(|it| it.name.as_str()), Some("two"));
}

#[test]
fn a_gang_whose_pods_are_not_listed_yet_is_waited_for() {
    let condition = |status: &str, gang: Value| {
        let mut gang = gang;
        gang["status"]["conditions"] =
            json!([{ "type": "Scheduled", "status": "False" }, { "type": "Initialized", "status": status }]);
        gang
    };
    let unlisted = |name: &str| json!({ "name": name, "minReplicas": 1, "podReferences": [] });
    let empty = || gang(json!({ "podgroups": [unlisted("one"), unlisted("two")] }));
    let listed = || gang(json!({ "podgroups": [clique("one", 1), unlisted("two")] }));
    let table = [
        (gang(json!({})), false),
        (gang(json!({ "podgroups": [] })), false),
        (empty(), false),
        (condition("True", empty()), false),
        (listed(), true),
        (condition("True", listed()), true),
        (condition("Unknown", listed()), true),
        (condition("False", listed()), false),
        // It may not even be right yet.
        (condition("False", gang(json!({ "podgroups": [{}] }))), false),
    ];
    for (gang, expected) in table {
        let group = group_below(&set(), &gang, &member()).unwrap();
        assert_eq!(group.is_some(), expected, "{gang}");
    }
}

/// Our operator tells the scheduler of its PodGangs itself, in the form that it noted.
#[test]
fn a_gang_of_our_operator_is_left_alone() {
    let gang = gang(json!({ "podgroups": [clique("one", 4)] }));
    assert!(group_below(&set(), &gang, &member()).unwrap().is_some());
    for form in ["", "kai"] {
        let managed = with(gang.clone(), "annotations", json!({ "grove.io/scheduler-form": form }));
        assert_eq!(group_below(&set(), &managed, &member()), Ok(None));
    }
}

#[test]
fn annotations_of_gang_and_set_together_have_an_end() {
    let large = |key: &str| json!({ key: "x".repeat(200 * 1024) });
    let gang = with(gang(json!({ "podgroups": [clique("one", 4)] })), "annotations", large("of-gang"));
    let set = with(set(), "annotations", large("b-of-set"));
    let group = group_below(&set, &gang, &member()).unwrap().unwrap();
    let size: usize = group.annotations.iter().map(|(key, value)| key.len() + value.len()).sum();
    assert!(size <= 256 * 1024, "{size}");
    // The larger of the two, by its name.
    let remark = "b-of-set is not copied: the annotations of the owner have more than 262144 bytes";
    assert_eq!(group.remarks, [remark]);

    // One that is too large by itself is told once.
    let gang = with(gang, "annotations", json!({ "of-gang": "x".repeat(300 * 1024) }));
    let group = group_below(&self::set(), &gang, &member()).unwrap().unwrap();
    let remark = "of-gang is not copied: the annotations of the owner have more than 262144 bytes";
    assert_eq!(group.remarks, [remark]);
}

#[test]
fn labels_of_the_set_fill_up_those_of_the_gang() {
    let mut gang = gang(json!({ "podgroups": [clique("one", 1)] }));
    gang["metadata"]["labels"] = json!({ "team": "gang" });
    gang["metadata"]["annotations"] = json!({ "note": "gang" });
    let mut set = set();
    set["metadata"]["labels"] = json!({ "team": "set", "kai.scheduler/queue": "of-set" });
    set["metadata"]["annotations"] =
        json!({ "note": "set", "more": "set", "kai.scheduler/preemption-delay": "5m" });
    let group = group_below(&set, &gang, &member()).unwrap().unwrap();
    assert_eq!(
        (group.labels["team"].as_str(), group.labels["kai.scheduler/queue"].as_str()),
        ("gang", "of-set")
    );
    assert_eq!((group.annotations["note"].as_str(), group.annotations["more"].as_str()), ("gang", "set"));
    assert!(group.annotations["kai.scheduler/top-owner-metadata"].contains("kind: PodGang"));
    // The queue is that of the gang or of the pod.
    assert_eq!(group.queue, "default-queue");
    assert_eq!(group.preemption_delay.as_deref(), Some("5m"));
}

#[test]
fn priority_is_that_of_a_label_then_of_the_gang() {
    let class = "priorityClassName";
    let table = [
        (json!({ class: "a" }), json!({ class: "b" }), json!("c"), "a"),
        (json!({}), json!({ class: "b" }), json!("c"), "b"),
        (json!({}), json!({}), json!("c"), "c"),
        (json!({}), json!({}), json!(""), ""),
        (json!({}), json!({}), json!(null), "low"),
    ];
    for (of_gang, of_set, spec, expected) in table {
        let mut gang = with(gang(json!({ "podgroups": [clique("one", 1)] })), "labels", of_gang);
        gang["spec"][class] = spec;
        let mut pod = member();
        pod["spec"][class] = json!("low");
        let group = group_below(&with(set(), "labels", of_set), &gang, &pod).unwrap().unwrap();
        assert_eq!(group.priority_class, expected);
    }
}

#[test]
fn preemptibility_is_that_of_a_label() {
    use Preemptibility::{NonPreemptible, Preemptible};
    let key = "kai.scheduler/preemptibility";
    let (yes, no) = (json!({ key: "preemptible" }), json!({ key: "non-preemptible" }));
    let none = json!({});
    let table = [
        (none.clone(), none.clone(), none.clone(), None),
        (yes.clone(), no.clone(), no.clone(), Some(Preemptible)),
        (none.clone(), no.clone(), yes.clone(), Some(NonPreemptible)),
        (none.clone(), none.clone(), yes.clone(), Some(Preemptible)),
        (json!({ key: "" }), no, yes, None),
    ];
    let gang = || gang(json!({ "podgroups": [clique("one", 1)] }));
    for (of_gang, of_set, mut of_pod, expected) in table {
        of_pod["grove.io/podgang"] = json!("gang");
        let pod = with(member(), "labels", of_pod);
        let group = group_below(&with(set(), "labels", of_set), &with(gang(), "labels", of_gang), &pod);
        assert_eq!(group.unwrap().unwrap().preemptibility, expected);
    }
    let wrong = refused(&with(gang(), "labels", json!({ key: "Preemptible" })));
    assert!(wrong.starts_with("label kai.scheduler/preemptibility is \"Preemptible\": "), "{wrong}");
}

#[test]
fn what_is_wrong_is_named() {
    let changed = |field: &str, value: Value| {
        let mut one = clique("one", 1);
        one[field] = value;
        json!({ "podgroups": [one] })
    };
    let reference = |it: Value| changed("podReferences", json!([it]));
    let configs =
        |it: Value| json!({ "podgroups": [clique("one", 1)], "topologyConstraintGroupConfigs": it });
    let one = "spec.podgroups[0]";
    let many: Vec<Value> = (0..10_001).map(|it| clique(&format!("c{it}"), 1)).collect();
    let table = [
        (json!({ "podgroups": {} }), "spec.podgroups is a map: ".to_owned()),
        (json!({ "podgroups": [1] }), format!("{one} is 1: ")),
        (changed("name", json!(null)), format!("{one}.name is missing or empty: ")),
        (changed("name", json!("One")), format!("{one}.name is \"One\": ")),
        (changed("minReplicas", json!(null)), format!("{one}.minReplicas is missing: ")),
        (changed("minReplicas", json!(-1)), format!("{one}.minReplicas is -1: ")),
        (changed("minReplicas", json!(0)), format!("{one}.minReplicas is 0: ")),
        (changed("minReplicas", json!("1")), format!("{one}.minReplicas is \"1\": ")),
        (changed("podReferences", json!(null)), format!("{one}.podReferences is missing: ")),
        (changed("podReferences", json!("x")), format!("{one}.podReferences is \"x\": ")),
        (reference(json!("x")), format!("{one}.podReferences[0] is \"x\": ")),
        (
            reference(json!({ "name": "x" })),
            format!("{one}.podReferences[0].namespace is missing or empty: "),
        ),
        (
            reference(json!({ "namespace": "a" })),
            format!("{one}.podReferences[0].name is missing or empty: "),
        ),
        (
            reference(json!({ "namespace": "b", "name": "x" })),
            format!("{one}.podReferences[0].namespace is \"b\", but the PodGang is in \"a\": "),
        ),
        (configs(json!({})), "spec.topologyConstraintGroupConfigs is a map: ".to_owned()),
        (
            configs(json!([{ "podGroupNames": ["one"] }])),
            "spec.topologyConstraintGroupConfigs[0].name is missing or empty: ".to_owned(),
        ),
        (
            configs(json!([config("one", &["one"])])),
            "spec.podgroups[].name and spec.topologyConstraintGroupConfigs[].name make two parts".to_owned(),
        ),
        (
            json!({ "podgroups": [clique("one", 2_147_483_647), clique("two", 1)] }),
            "spec.podgroups[].minReplicas of the PodGang ask for more than 2147483647 pods".to_owned(),
        ),
        (
            json!({ "podgroups": many }),
            "spec.podgroups and spec.topologyConstraintGroupConfigs make 10001 parts".to_owned(),
        ),
        (
            json!({ "podgroups": [at(clique("one", 1), Some("host"), None)] }),
            format!(
                "{one}.topologyConstraint.packConstraint names a level, but the topology name cannot be empty"
            ),
        ),
        (
            configs(json!([at(config("g", &["one"]), None, Some("rack"))])),
            "spec.topologyConstraintGroupConfigs[0].topologyConstraint.packConstraint names a level"
                .to_owned(),
        ),
        (
            at(json!({ "podgroups": [clique("one", 1)] }), Some("zone"), None),
            "spec.topologyConstraint.packConstraint names a level".to_owned(),
        ),
    ];
    for (spec, expected) in table {
        let refused = refused(&gang(spec));
        assert!(refused.starts_with(&expected), "{refused}");
    }
}

#[test]
fn a_pod_names_its_gang() {
    let gang = gang(json!({ "podgroups": [clique("one", 1)] }));
    let table = [
        (pod("p", json!({})), "label grove.io/podgang of the pod is missing: "),
        (
            pod("p", json!({ "grove.io/podgang": "gone" })),
            "label grove.io/podgang of the pod names PodGang \"gone\", which is not there: ",
        ),
    ];
    for (pod, expected) in table {
        let refused = group_below(&set(), &gang, &pod).unwrap_err().0;
        assert!(refused.starts_with(expected), "{refused}");
    }
}
