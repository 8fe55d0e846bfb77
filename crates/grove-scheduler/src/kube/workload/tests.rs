#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

use std::collections::BTreeMap;

use crate::{
    backend,
    kube::cluster::Found,
    workload::{
        Preemptibility, SubGroup,
        fixture::{self, leaf, topology},
    },
};

use super::*;

const WITH_TOPOLOGY: Form = Form::Flat { topology: true };

fn kube(form: Form) -> Kube {
    Kube { found: Found { form, preemption_policy: false } }
}

fn group() -> Group {
    Group { queue: "default-queue".to_owned(), ..fixture::group() }
}

/// A pod of the job `train` that names a group.
fn pod(named: Option<&str>) -> Value {
    let owner = |kind: &str, name: &str, uid: &str, controller: bool| json!({ "apiVersion": "batch/v1", "kind": kind, "name": name, "uid": uid, "controller": controller });
    let mut pod = json!({
        "metadata": {
            "name": "p",
            "ownerReferences": [owner("Queue", "q", "u9", false), owner("Job", "train", "u1", true)],
        },
        "spec": { "priorityClassName": "high" },
    });
    if let Some(named) = named {
        pod["spec"]["schedulingGroup"] = json!({ "podGroupName": named });
    }
    pod
}

fn grouped(form: Form, group: &Group, pod: &Value, existing: Option<&Value>) -> Grouped {
    match kube(form).render(group, pod, existing) {
        Ok(Told::Grouped(grouped)) => *grouped,
        other => unreachable!("not grouped: {other:?}"),
    }
}

fn whole(group: &Group) -> Grouped {
    grouped(WITH_TOPOLOGY, group, &pod(Some(&group.name)), None)
}

#[test]
fn a_group_of_the_nearest_owner() {
    let annotations = [("kubectl.kubernetes.io/last-applied-configuration".to_owned(), "{}".to_owned())];
    let labels = BTreeMap::from([("app".to_owned(), "x".to_owned())]);
    let group = Group { labels, annotations: annotations.into(), ..group() };
    let expected = Grouped {
        object: json!({
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {
                "name": "pg-train-u1",
                "namespace": "ns",
                "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u1" }],
                "labels": { "app": "x" },
            },
            "spec": {
                "schedulingPolicy": { "gang": { "minCount": 2 } },
                "disruptionMode": { "all": {} },
                "priorityClassName": "high",
            },
        }),
        ..Grouped::default()
    };
    for form in [Form::Tree, WITH_TOPOLOGY, Form::Flat { topology: false }] {
        assert_eq!(grouped(form, &group, &pod(Some("pg-train-u1")), None), expected);
        assert!(backend::Scheduler::workloads(&kube(form)).is_some());
    }
    assert!(backend::Scheduler::workloads(&kube(Form::Plain(""))).is_none());
}

#[test]
fn minimum_level_and_priority() {
    let named = pod(Some("pg-train-u1"));
    let spec = |group: Group, pod: &Value| grouped(WITH_TOPOLOGY, &group, pod, None).object["spec"].clone();
    let one = json!({ "schedulingPolicy": { "gang": { "minCount": 1 } }, "priorityClassName": "high" });
    assert_eq!(spec(Group { min_members: 1, ..group() }, &named), one);
    // The API server takes no zero.
    assert_eq!(spec(Group { min_members: 0, ..group() }, &named), one);
    let in_rack = Group { topology: Some(topology(Some("rack"), None)), ..group() };
    let expected = json!({ "topology": [{ "key": "rack" }] });
    assert_eq!(spec(in_rack.clone(), &named)["schedulingConstraints"], expected);
    let told = grouped(Form::Flat { topology: false }, &in_rack, &named, None);
    assert_eq!(told.object["spec"].get("schedulingConstraints"), None);
    let expected = "the group should be placed by \"rack\", which has no effect: the API server keeps no topology of \
        PodGroups (feature gate TopologyAwareWorkloadScheduling)";
    assert_eq!(told.remarks, [expected]);

    let mut classless = named.clone();
    classless["spec"]["priorityClassName"] = Value::Null;
    assert_eq!(spec(group(), &classless).get("priorityClassName"), None);
    let mut critical = named;
    critical["spec"]["priorityClassName"] = json!("system-node-critical");
    let error = kube(WITH_TOPOLOGY).render(&group(), &critical, None).expect_err("it is refused");
    assert!(error.0.starts_with("the pod's priorityClassName is \"system-node-critical\""), "{error}");
}

#[test]
fn what_is_there_changes_its_minimum_only() {
    let there = json!({ "spec": {
        "schedulingPolicy": { "gang": { "minCount": 9 } },
        "disruptionMode": { "single": {} },
        "schedulingConstraints": { "topology": [{ "key": "row" }] },
        "priorityClassName": "low", "priority": 7, "preemptionPolicy": "Never",
    } });
    let in_rack = Group { topology: Some(topology(Some("rack"), None)), ..group() };
    let told = grouped(WITH_TOPOLOGY, &in_rack, &pod(Some("pg-train-u1")), Some(&there));
    let mut expected = there["spec"].clone();
    expected["schedulingPolicy"]["gang"]["minCount"] = 2.into();
    assert_eq!(told.object["spec"], expected);
    let fixed = |what: &str, has: &str, wanted: &str| {
        format!(
            "{what} of PodGroup pg-train-u1 is \"{has}\" and should be \"{wanted}\", but cannot be changed: delete the \
             PodGroup, and it is made anew"
        )
    };
    assert_eq!(told.remarks, [fixed("the level", "row", "rack"), fixed("the priority class", "low", "high")]);

    let first = whole(&in_rack);
    assert_eq!(grouped(WITH_TOPOLOGY, &in_rack, &pod(Some("pg-train-u1")), Some(&first.object)), first);
}

#[test]
fn what_the_scheduler_has_no_word_for() {
    let part = SubGroup { topology: Some(topology(Some("host"), Some("slot"))), ..leaf("a", 2, &["p"]) };
    let group = Group {
        queue: "team-a".to_owned(),
        preemptibility: Some(Preemptibility::Preemptible),
        preemption_delay: Some("1s".to_owned()),
        staleness_grace_period: Some("1s".to_owned()),
        sub_groups: vec![part],
        ..group()
    };
    let told = whole(&group);
    assert_eq!(told.object["spec"]["schedulingPolicy"], json!({ "gang": { "minCount": 2 } }));
    let expected = [
        "not passed to kube-scheduler: queue \"team-a\"",
        "not passed to kube-scheduler: preemptible (priority alone decides)",
        "not passed to kube-scheduler: preferred level \"slot\"",
        "not passed to kube-scheduler: level \"host\" of part \"a\"",
        "not passed to kube-scheduler: preemption delay",
        "not passed to kube-scheduler: staleness grace period",
        "not passed to kube-scheduler: the parts of the group: any 2 of its pods are placed together",
    ];
    assert_eq!(told.remarks, expected);
}

#[test]
fn a_pod_without_a_group_cannot_get_one() {
    let render = |group: &Group| kube(WITH_TOPOLOGY).render(group, &pod(None), None);
    let error = render(&group()).expect_err("it is too late").0;
    let expected = "the pod has no spec.schedulingGroup, which it can only get when it is created, so that kube-scheduler \
        does not know its group: label the pod template of Job train or its namespace grove.io/pod-grouper=enabled, apply \
        the MutatingAdmissionPolicy that `grove manifests --pod-grouper --scheduler-name default-scheduler` prints, and create the pods anew";
    assert_eq!(error, expected);
    let of_another = Group { name: "pg-set-u5".to_owned(), ..group() };
    let error = render(&of_another).expect_err("no policy helps").0;
    let expected = "kube-scheduler cannot place the pods of Job train together: a pod names its group when it is created, \
        and the group pg-set-u5 is not that of its nearest owner: use another scheduler for it, such as KAI or Volcano";
    assert_eq!(error, expected);
    // A pod that needs no others needs no group either.
    let alone = Group { min_members: 1, ..group() };
    assert_eq!(render(&alone), Ok(Told::LeftAlone));
    let placed = Group { topology: Some(topology(Some("rack"), None)), ..alone };
    assert!(render(&placed).is_err());
}

#[test]
fn pods_that_name_their_nearest_owner_do_not_wait_for_another() {
    let of_another =
        Group { name: "pg-set-u5".to_owned(), topology: Some(topology(Some("rack"), None)), ..group() };
    let named = pod(Some("pg-train-u1"));
    assert_eq!(kube(WITH_TOPOLOGY).object_name(&of_another, &named), "pg-train-u1");
    let told = grouped(WITH_TOPOLOGY, &of_another, &named, None);
    let metadata = &told.object["metadata"];
    assert_eq!(metadata["name"], "pg-train-u1");
    let owner = json!([{ "apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "u1" }]);
    assert_eq!(metadata["ownerReferences"], owner);
    let expected = json!({ "schedulingPolicy": { "gang": { "minCount": 1 } }, "priorityClassName": "high" });
    assert_eq!(told.object["spec"], expected);
    let expected = "kube-scheduler places these pods one by one: a pod names its group when it is created, by its nearest \
        owner, Job train, and they belong to the group pg-set-u5";
    assert_eq!(told.remarks, [expected]);
}

#[test]
fn groups_of_others_are_left_alone() {
    let named = pod(Some("made-by-the-job-controller"));
    assert_eq!(kube(WITH_TOPOLOGY).render(&group(), &named, None), Ok(Told::LeftAlone));
    assert_eq!(kube(WITH_TOPOLOGY).object_name(&group(), &named), "pg-train-u1");
    assert_eq!(kube(WITH_TOPOLOGY).group_of(&named), Some("made-by-the-job-controller"));
    assert_eq!(kube(WITH_TOPOLOGY).group_of(&pod(None)), None);
}
