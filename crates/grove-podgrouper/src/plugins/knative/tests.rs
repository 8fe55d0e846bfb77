use serde_json::{Value, json};

use super::*;
use crate::plugins::shapes::{group_with, object, pod, with};

fn revision(labels: Value, annotations: Value) -> Value {
    let revision = object("serving.knative.dev/v1", "Revision", "rev", json!({}));
    with(with(revision, "labels", labels), "annotations", annotations)
}

fn plain() -> Value {
    revision(json!({}), json!({}))
}

fn member(name: &str, group: Option<&str>) -> Value {
    let pod = pod(name, json!({ REVISION_LABEL: "rev" }));
    group.map_or(pod.clone(), |group| with(pod, "annotations", json!({ POD_GROUP: group })))
}

fn group_of(revision: &Value, pod: &Value, pods: &[Value], groups: &[Value]) -> Result<Group, Refused> {
    let classes = ["high", "low"].map(str::to_owned).into();
    let settings = Settings { priority_classes: classes, ..Settings::default() };
    grouped(revision, pod, pods, groups, &settings)
}

fn grouped(
    revision: &Value,
    pod: &Value,
    pods: &[Value],
    groups: &[Value],
    settings: &Settings,
) -> Result<Group, Refused> {
    let service = object("serving.knative.dev/v1", "Service", "service", json!({}));
    let mut there = vec![
        (revision_need("rev"), vec![revision.clone()]),
        (pods_need("rev"), [pods, std::slice::from_ref(pod)].concat()),
    ];
    for group in groups {
        there.push((Need::Group(name(group).to_owned()), vec![group.clone()]));
    }
    group_with(&Knative, &service, pod, &there, settings).map(|it| it.expect("a group"))
}

/// Name, owner and size of the group of a revision.
const GANG: (&str, &str) = ("pg-rev-uid-rev", "Revision");
/// The same of a pod.
const SINGLE: (&str, &str) = ("pg-p-uid-p", "Pod");

fn is(group: &Group) -> (&str, &str) {
    (&group.name, &group.owner.kind)
}

#[test]
fn a_revision_is_a_gang_of_its_least_scale() {
    let table = [
        (json!({}), 1),
        (json!({ MIN_SCALE: "3" }), 3),
        (json!({ MIN_SCALE: "0" }), 0),
        (json!({ MIN_SCALE: "many" }), 1),
        (json!({ MIN_SCALE: "-2" }), 1),
        (json!({ MIN_SCALE: "2147483648" }), 1),
    ];
    for (annotations, expected) in table {
        let group = group_of(&revision(json!({}), annotations), &member("p", None), &[], &[]).unwrap();
        assert_eq!((is(&group), group.min_members), (GANG, expected));
        assert_eq!(group.priority_class, "inference");
    }
}

#[test]
fn without_gangs_each_pod_is_alone() {
    let settings = Settings { knative_gangs: false, ..Settings::default() };
    let revision = revision(json!({}), json!({ MIN_SCALE: "3" }));
    let group = grouped(&revision, &member("p", None), &[], &[], &settings).unwrap();
    assert_eq!((is(&group), group.min_members), (SINGLE, 1));
    assert_eq!((group.owner.api_version.as_str(), group.owner.name.as_str()), ("v1", "p"));
}

#[test]
fn pods_that_are_there_decide() {
    let owned = |name: &str, kind: &str| {
        let group = object("scheduling.run.ai/v2alpha2", "PodGroup", name, json!({}));
        with(group, "ownerReferences", json!([{ "kind": kind }]))
    };
    let of = |groups: &[&str]| -> Vec<Value> {
        groups.iter().enumerate().map(|(index, it)| member(&format!("q{index}"), Some(it))).collect()
    };
    let table = [
        (of(&["x", "y"]), vec![], SINGLE),
        (of(&["x", "x"]), vec![], GANG),
        (of(&["x", "y", "x"]), vec![], GANG),
        (of(&[]), vec![], GANG),
        (of(&[""]), vec![], GANG),
        (of(&["x"]), vec![], GANG),
        (of(&["x"]), vec![owned("x", "Revision")], GANG),
        (of(&["x"]), vec![owned("x", "Pod")], SINGLE),
    ];
    for (pods, groups, expected) in table {
        let revision = revision(json!({}), json!({ MIN_SCALE: "3" }));
        let group = group_of(&revision, &member("p", None), &pods, &groups).unwrap();
        assert_eq!((is(&group), group.min_members), (expected, if expected == GANG { 3 } else { 1 }));
    }
    let nobody = object("scheduling.run.ai/v2alpha2", "PodGroup", "x", json!({}));
    for (group, owner) in [(owned("x", "Job"), "Job"), (nobody, "nobody")] {
        let refused = group_of(&plain(), &member("p", None), &of(&["x"]), &[group]).unwrap_err().0;
        let expected =
            format!("group x in annotation pod-group-name of a pod of revision rev is owned by {owner}, ");
        assert!(refused.starts_with(&expected), "{refused}");
    }
}

#[test]
fn the_revision_then_the_pod_say_the_rest() {
    let labels = json!({ "priorityClassName": "high", "kai.scheduler/queue": "team", "kai.scheduler/preemptibility": "preemptible" });
    let annotations =
        json!({ "kai.scheduler/topology": "dc", "kai.scheduler/topology-required-placement": "rack" });
    let revision = revision(labels, annotations);
    let group = group_of(&revision, &member("p", None), &[], &[]).unwrap();
    assert_eq!((group.priority_class.as_str(), group.queue.as_str()), ("high", "team"));
    // As KAI has it, but said.
    assert_eq!((group.preemptibility, group.topology), (None, None));
    assert_eq!(group.remarks, [UNUSED]);

    let labels = json!({ REVISION_LABEL: "rev", "priorityClassName": "low", "kai.scheduler/queue": "mine" });
    let labelled = pod("p", labels);
    let group = group_of(&plain(), &labelled, &[], &[]).unwrap();
    assert_eq!((group.priority_class.as_str(), group.queue.as_str()), ("low", "mine"));
    assert_eq!(group.remarks, [""; 0]);
    // A pod alone never has another class.
    let pods = [member("q", Some("x")), member("r", Some("y"))];
    let group = group_of(&revision, &labelled, &pods, &[]).unwrap();
    assert_eq!((is(&group), group.priority_class.as_str()), (SINGLE, "inference"));
    assert_eq!(group.queue, "team");
}

#[test]
fn what_is_wrong_is_named() {
    let refused = group_of(&plain(), &pod("p", json!({})), &[], &[]).unwrap_err().0;
    assert!(refused.starts_with("label serving.knative.dev/revision of the pod is missing: "), "{refused}");
    let other = pod("p", json!({ REVISION_LABEL: "gone" }));
    let refused = group_of(&plain(), &other, &[], &[]).unwrap_err().0;
    assert!(refused.contains("names Revision gone, which is not there: "), "{refused}");
}
