use serde_json::{Value, json};

use super::*;
use crate::plugins::shapes::{group_with, object, parts, pod, with};

fn cluster(groups: &Value) -> Value {
    let spec = json!({ "headGroupSpec": { "template": {} }, "workerGroupSpecs": groups });
    object("ray.io/v1", "RayCluster", "c", spec)
}

fn of_two() -> Value {
    json!([{ "replicas": 3, "minReplicas": 2 }, { "replicas": 3, "minReplicas": 1 }])
}

fn member(group: &str) -> Value {
    pod("p", json!({ GROUP_LABEL: group }))
}

fn group_of(top: &Value, pod: &Value, there: &[(Need, Vec<Value>)]) -> Result<Group, Refused> {
    group_with(&Ray, top, pod, there, &Settings::default()).map(|it| it.expect("a group"))
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn a_cluster_needs_its_head_and_the_least_of_each_group() {
    let table: [(Value, u32, &[&str]); 10] = [
        (of_two(), 4, &["headgroup 1", "worker-group-0 2", "worker-group-1 1"]),
        (json!([{ "replicas": 3 }]), 4, &["headgroup 1", "worker-group-0 3"]),
        (
            json!([{ "replicas": 2, "minReplicas": 2, "numOfHosts": 2 }, { "replicas": 1, "numOfHosts": 3 }]),
            8,
            &["headgroup 1", "worker-group-0 4", "worker-group-1 3"],
        ),
        (json!([]), 1, &["headgroup 1"]),
        (json!(null), 1, &["headgroup 1"]),
        (
            json!([{ "groupName": "small", "replicas": 1 }, { "groupName": "large", "replicas": 2 }]),
            4,
            &["headgroup 1", "small 1", "large 2"],
        ),
        // KubeRay's field, and KAI's.
        (
            json!([{ "replicas": 3, "minReplicas": 2 }, { "replicas": 3, "minReplicas": 1, "suspended": true }]),
            3,
            &["headgroup 1", "worker-group-0 2"],
        ),
        (
            json!([{ "replicas": 3, "suspend": true }, { "replicas": 3, "minReplicas": 1 }]),
            2,
            &["headgroup 1", "worker-group-1 1"],
        ),
        (json!([{ "replicas": 2, "suspend": false }]), 3, &["headgroup 1", "worker-group-0 2"]),
        // Nobody asks for pods of the first.
        (json!([{}, { "replicas": 1 }]), 2, &["headgroup 1", "worker-group-1 1"]),
    ];
    for (groups, min_members, expected) in table {
        for autoscaling in [false, true] {
            let mut cluster = cluster(&groups);
            cluster["spec"]["enableInTreeAutoscaling"] = json!(autoscaling);
            let group = group_of(&cluster, &pod("p", json!({})), &[]).unwrap();
            assert_eq!((group.min_members, parts(&group)), (min_members, strings(expected)), "{groups}");
            assert_eq!((group.name.as_str(), group.priority_class.as_str()), ("pg-c-uid-c", "train"));
            assert_eq!(group.min_sub_groups, None);
        }
    }
}

#[test]
fn a_pod_is_in_the_part_of_its_group() {
    let groups = json!([{ "groupName": "small", "replicas": 1 }, { "groupName": "idle" }]);
    let table: [(Value, &[&str]); 4] = [
        (member("headgroup"), &["headgroup 1 * p", "small 1"]),
        (member("small"), &["headgroup 1", "small 1 * p"]),
        (member("idle"), &["headgroup 1", "small 1"]),
        (pod("p", json!({})), &["headgroup 1", "small 1"]),
    ];
    for (pod, expected) in table {
        assert_eq!(parts(&group_of(&cluster(&groups), &pod, &[]).unwrap()), strings(expected));
    }
}

#[test]
fn a_label_decides_the_priority() {
    let cluster = with(cluster(&of_two()), "labels", json!({ PRIORITY_LABEL: "mine" }));
    assert_eq!(group_of(&cluster, &member("headgroup"), &[]).unwrap().priority_class, "mine");
}

fn cluster_there(api_version: &str) -> (Need, Vec<Value>) {
    let need = Need::Object {
        api_version: api_version.to_owned(),
        kind: "RayCluster".to_owned(),
        name: "c".to_owned(),
    };
    (need, vec![cluster(&of_two())])
}

#[test]
fn jobs_and_services_are_sized_by_their_cluster() {
    let named = json!({ "rayClusterName": "c" });
    let empty = json!({ "rayClusterName": "" });
    let table = [
        ("RayJob", named.clone()),
        ("RayService", json!({ "activeServiceStatus": named })),
        ("RayService", json!({ "pendingServiceStatus": named })),
        ("RayService", json!({ "activeServiceStatus": empty, "pendingServiceStatus": named })),
        (
            "RayService",
            json!({ "activeServiceStatus": named, "pendingServiceStatus": { "rayClusterName": "d" } }),
        ),
    ];
    for (kind, status) in table {
        for version in ["ray.io/v1alpha1", "ray.io/v1"] {
            let mut top = object(version, kind, "top", json!({ "submissionMode": "HTTPMode" }));
            top["status"] = status.clone();
            let group = group_of(&top, &member("worker-group-1"), &[cluster_there(version)]).unwrap();
            assert_eq!(
                (group.name.as_str(), group.owner.kind.as_str()),
                ("pg-top-uid-top", kind),
                "{status}"
            );
            assert_eq!(group.min_members, 4);
            assert_eq!(parts(&group), ["headgroup 1", "worker-group-0 2", "worker-group-1 1 * p"]);
        }
    }
}

#[test]
fn submitters_of_jobs_have_a_part_that_needs_nobody() {
    let all = ["headgroup 1", "worker-group-0 2", "worker-group-1 1", "default 0"];
    let with_pod = |at: usize| {
        let mut expected = strings(&all);
        expected[at] += " * p";
        expected
    };
    for mode in [json!(null), json!(""), json!("K8sJobMode")] {
        let mut top = object("ray.io/v1", "RayJob", "top", json!({ "submissionMode": mode }));
        top["status"]["rayClusterName"] = json!("c");
        // All pods of the job make the same parts, else they would change with every pod.
        for (pod, at) in [(pod("p", json!({})), 3), (member("headgroup"), 0), (member("worker-group-1"), 2)] {
            let group = group_of(&top, &pod, &[cluster_there("ray.io/v1")]).unwrap();
            assert_eq!((group.min_members, parts(&group)), (4, with_pod(at)));
        }
    }
}

#[test]
fn a_group_of_workers_may_be_the_default() {
    let mut top = object("ray.io/v1", "RayJob", "top", json!({}));
    top["status"]["rayClusterName"] = json!("c");
    let (need, _) = cluster_there("ray.io/v1");
    let there = [(need, vec![cluster(&json!([{ "groupName": "default", "replicas": 2 }]))])];
    let group = group_of(&top, &pod("p", json!({})), &there).unwrap();
    assert_eq!(parts(&group), ["headgroup 1", "default 2 * p"]);
}

#[test]
fn templates_say_where_their_pods_go() {
    const NAME: &str = "kai.scheduler/topology";
    const REQUIRED: &str = "kai.scheduler/topology-required-placement";
    const PREFERRED: &str = "kai.scheduler/topology-preferred-placement";
    let template = |annotations: Value| json!({ "metadata": { "annotations": annotations } });
    let mut cluster = cluster(&json!([
        { "replicas": 1, "template": template(json!({ NAME: "dc", REQUIRED: "rack", PREFERRED: "host" })) },
        { "replicas": 1, "template": template(json!({ NAME: "dc" })) },
    ]));
    cluster["spec"]["headGroupSpec"]["template"] = template(json!({ NAME: "dc", PREFERRED: "zone" }));
    let group = group_of(&cluster, &pod("p", json!({})), &[]).unwrap();
    assert_eq!(
        parts(&group),
        ["headgroup 1 @ dc//zone", "worker-group-0 1 @ dc/rack/host", "worker-group-1 1"]
    );
    assert_eq!(group.topology, None);

    cluster["spec"]["workerGroupSpecs"][1]["template"] = template(json!({ REQUIRED: "rack" }));
    let refused = group_of(&cluster, &pod("p", json!({})), &[]).unwrap_err().0;
    let expected = "spec.workerGroupSpecs[1].template.metadata.annotations[kai.scheduler/topology-required-";
    assert!(refused.starts_with(expected), "{refused}");
    cluster["spec"]["headGroupSpec"]["template"] = template(json!({ PREFERRED: "zone" }));
    let refused = group_of(&cluster, &pod("p", json!({})), &[]).unwrap_err().0;
    assert!(refused.starts_with("spec.headGroupSpec.template.metadata.annotations["), "{refused}");
}

#[test]
fn a_group_that_was_made_without_parts_stays_so() {
    let existing = |parts: Value| {
        let group =
            object("scheduling.run.ai/v2alpha2", "PodGroup", "pg-c-uid-c", json!({ "subGroups": parts }));
        [(Need::Group("pg-c-uid-c".to_owned()), vec![group])]
    };
    for (there, expected) in [
        (existing(json!(null)), 0),
        (existing(json!([])), 0),
        (existing(json!([{ "name": "headgroup" }])), 3),
    ] {
        let group = group_of(&cluster(&of_two()), &member("headgroup"), &there).unwrap();
        assert_eq!((group.min_members, group.sub_groups.len()), (4, expected));
    }
}

#[test]
fn what_is_wrong_is_named() {
    let many = Value::Array(vec![json!({}); 10_001]);
    let table = [
        (
            json!([{ "replicas": 1, "minReplicas": 2 }]),
            "spec.workerGroupSpecs[0].minReplicas is 2, more than ",
        ),
        (json!([{ "replicas": "1" }]), "spec.workerGroupSpecs[0].replicas is \"1\": "),
        (json!([{ "replicas": -1 }]), "spec.workerGroupSpecs[0].replicas is -1: "),
        (json!([{ "replicas": 1, "numOfHosts": 0 }]), "spec.workerGroupSpecs[0].numOfHosts is 0: "),
        (json!([{ "replicas": 1, "numOfHosts": 1.5 }]), "spec.workerGroupSpecs[0].numOfHosts is 1.5: "),
        (
            json!([{ "replicas": 2_147_483_647, "numOfHosts": 2 }]),
            "spec.workerGroupSpecs[0].replicas and spec.workerGroupSpecs[0].numOfHosts ask for more than",
        ),
        (
            json!([{ "replicas": 2_147_483_647 }]),
            "spec.workerGroupSpecs[].replicas of the RayCluster ask for",
        ),
        (json!({}), "spec.workerGroupSpecs is a map: "),
        (json!([7]), "spec.workerGroupSpecs[0] is 7: "),
        (json!([{ "groupName": "A_b", "replicas": 1 }]), "spec.workerGroupSpecs[0].groupName is \"A_b\": "),
        (
            json!([{ "groupName": "headgroup", "replicas": 1 }]),
            "spec.workerGroupSpecs[].groupName and headgroup make two parts",
        ),
        (many, "spec.workerGroupSpecs make 10001 parts of the group, more than 10000"),
    ];
    for (groups, expected) in table {
        let refused = group_of(&cluster(&groups), &member("headgroup"), &[]).unwrap_err().0;
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[test]
fn a_cluster_that_is_not_there_is_waited_for() {
    let job = object("ray.io/v1", "RayJob", "top", json!({}));
    let mut empty = object("ray.io/v1", "RayService", "top", json!({}));
    empty["status"]["activeServiceStatus"]["rayClusterName"] = json!("");
    let mut named = job.clone();
    named["status"]["rayClusterName"] = json!("c");
    let table = [
        (job, "status.rayClusterName of RayJob top is empty: see whether the Ray operator is up"),
        (empty, "status.activeServiceStatus.rayClusterName of RayService top is empty: "),
        (named, "the RayCluster that the status of RayJob top names is not there: "),
    ];
    for (top, expected) in table {
        let refused = group_of(&top, &member("headgroup"), &[]).unwrap_err().0;
        assert!(refused.starts_with(expected), "{refused}");
    }
}
