use serde_json::{Value, json};

use super::*;
use crate::plugins::shapes::{group_with, object, parts, pod, with};

fn job(name: &str, replicas: u32, parallelism: u32) -> Value {
    json!({ "name": name, "replicas": replicas, "template": { "spec": { "parallelism": parallelism } } })
}

fn set(jobs: &[Value]) -> Value {
    object("jobset.x-k8s.io/v1alpha2", "JobSet", "set", json!({ "replicatedJobs": jobs }))
}

fn ordered(mut set: Value, order: &str) -> Value {
    set["spec"]["startupPolicy"]["startupPolicyOrder"] = json!(order);
    set
}

fn wanting(set: Value, minimum: &str) -> Value {
    with(set, "annotations", json!({ MIN_MEMBER: minimum }))
}

fn member(job: &str, index: &str) -> Value {
    pod("p", json!({ JOB_LABEL: job, INDEX_LABEL: index }))
}

fn group_of(set: &Value, pod: &Value, groups: &[Value]) -> Result<Group, Refused> {
    let there = [(Need::Groups("pg-set-uid-set".to_owned()), groups.to_vec())];
    group_with(&JobSet, set, pod, &there, &Settings::default()).map(|it| it.expect("a group"))
}

#[test]
fn a_tree_has_a_leaf_for_each_replica() {
    let group =
        group_of(&set(&[job("leader", 1, 1), job("worker", 3, 8)]), &member("worker", "1"), &[]).unwrap();
    assert_eq!(
        parts(&group),
        [
            "leader [1]",
            "leader-replica-0 1 in leader",
            "worker [3]",
            "worker-replica-0 8 in worker",
            "worker-replica-1 8 in worker * p",
            "worker-replica-2 8 in worker",
        ]
    );
    assert_eq!((group.name.as_str(), group.min_sub_groups), ("pg-set-uid-set", Some(2)));
    assert_eq!((group.owner.kind.as_str(), group.priority_class.as_str()), ("JobSet", "train"));

    // One replica and one pod where nobody says otherwise; a job without replicas is no part.
    let jobs = [json!({ "name": "one" }), job("none", 0, 4), job("idle", 1, 0)];
    let group = group_of(&set(&jobs), &member("one", "0"), &[]).unwrap();
    assert_eq!(
        parts(&group),
        ["one [1]", "one-replica-0 1 in one * p", "idle [1]", "idle-replica-0 0 in idle"]
    );
    assert_eq!(group.min_sub_groups, Some(2));
}

#[test]
fn order_and_annotation_decide_how_many_jobs_are_needed() {
    let two = || set(&[job("a", 1, 1), job("b", 1, 1)]);
    let three = || set(&[job("a", 1, 1), job("b", 1, 1), job("c", 2, 1)]);
    let table = [
        (two(), 2),
        (ordered(two(), "AnyOrder"), 2),
        (ordered(two(), "InOrder"), 1),
        (wanting(three(), "2"), 2),
        (wanting(two(), "9"), 2),
        (ordered(wanting(three(), "2"), "InOrder"), 2),
    ];
    for (set, expected) in table {
        let group = group_of(&set, &member("a", "0"), &[]).unwrap();
        assert_eq!(group.min_sub_groups, Some(expected), "{set}");
    }
}

#[test]
fn templates_may_want_other_numbers_and_places() {
    const NAME: &str = "kai.scheduler/topology";
    const REQUIRED: &str = "kai.scheduler/topology-required-placement";
    const PREFERRED: &str = "kai.scheduler/topology-preferred-placement";
    let annotated = |name: &str, annotations: Value| {
        let mut job = job(name, 1, 4);
        job["template"]["metadata"]["annotations"] = annotations;
        job
    };
    let jobs = [
        annotated("a", json!({ MIN_MEMBER: "3", NAME: "dc", REQUIRED: "rack" })),
        annotated("b", json!({ MIN_MEMBER: "10", NAME: "other", PREFERRED: "host" })),
        annotated("c", json!({ NAME: "dc" })),
        annotated("d", json!({ REQUIRED: "rack" })),
    ];
    let group = group_of(&set(&jobs), &member("c", "0"), &[]).unwrap();
    let leaves: Vec<_> = parts(&group).into_iter().filter(|it| it.contains(" in ")).collect();
    assert_eq!(
        leaves,
        [
            "a-replica-0 3 in a @ dc/rack/",
            "b-replica-0 10 in b @ other//host",
            "c-replica-0 4 in c * p",
            "d-replica-0 4 in d",
        ]
    );
    for minimum in ["abc", "0", "-1"] {
        let jobs = [annotated("a", json!({ MIN_MEMBER: minimum }))];
        let refused = group_of(&set(&jobs), &member("a", "0"), &[]).unwrap_err().0;
        let field = "spec.replicatedJobs[0].template.metadata.annotations[kai.scheduler/batch-min-member]";
        assert!(refused.starts_with(&format!("{field} is {minimum:?}: ")), "{refused}");
    }
}

#[test]
fn pods_of_older_groups_are_grouped_as_before() {
    let group = |name: &str, parts: Value| {
        object("scheduling.run.ai/v2alpha2", "PodGroup", name, json!({ "minMember": 1, "subGroups": parts }))
    };
    let flat = |name: &str| group(name, json!(null));
    let tree = || group("pg-set-uid-set", json!([{ "name": "a" }]));
    let plain = || set(&[job("a", 2, 2)]);
    let table = [
        // Not of this set, and not older.
        (plain(), vec![], "pg-set-uid-set", None),
        (plain(), vec![tree()], "pg-set-uid-set", None),
        (plain(), vec![flat("pg-set-uid-set2")], "pg-set-uid-set", None),
        (plain(), vec![flat("pg-set-uid-set")], "pg-set-uid-set", Some(1)),
        (plain(), vec![tree(), flat("pg-set-uid-set-b")], "pg-set-uid-set", Some(1)),
        (ordered(plain(), "InOrder"), vec![flat("pg-set-uid-set-b")], "pg-set-uid-set-a", Some(1)),
        (ordered(plain(), "InOrder"), vec![group("pg-set-uid-set", json!([]))], "pg-set-uid-set-a", Some(1)),
        (wanting(plain(), "3"), vec![flat("pg-set-uid-set")], "pg-set-uid-set", Some(3)),
    ];
    for (set, groups, name, flat) in table {
        let group = group_of(&set, &member("a", "0"), &groups).unwrap();
        assert_eq!(group.name, name, "{groups:?}");
        match flat {
            Some(min_members) => {
                let is = (group.min_members, group.min_sub_groups, group.sub_groups.len());
                assert_eq!(is, (min_members, None, 0), "{groups:?}");
            }
            None => assert_eq!((group.min_sub_groups, group.sub_groups.len()), (Some(1), 3), "{groups:?}"),
        }
    }
}

#[test]
fn what_is_wrong_is_named() {
    let one = || set(&[job("a", 1, 1)]);
    let mut nameless = one();
    nameless["metadata"]["name"] = json!("");
    let mut no_uid = one();
    no_uid["metadata"]["uid"] = Value::Null;
    let mut no_list = one();
    no_list["spec"]["replicatedJobs"] = json!({});
    let right = || member("a", "0");
    let minimum = "metadata.annotations[kai.scheduler/batch-min-member]";
    let labels =
        "labels jobset.sigs.k8s.io/replicatedjob-name and jobset.sigs.k8s.io/job-index of the pod are";
    let table = [
        (nameless, right(), "metadata.name of the JobSet is missing: ".to_owned()),
        (no_uid, right(), "metadata.uid of the JobSet is missing: ".to_owned()),
        (wanting(one(), "abc"), right(), format!("{minimum} is \"abc\": ")),
        (wanting(one(), "0"), right(), format!("{minimum} is \"0\": ")),
        (set(&[]), right(), "spec.replicatedJobs is empty: ".to_owned()),
        (no_list, right(), "spec.replicatedJobs is a map: ".to_owned()),
        (
            one(),
            pod("p", json!({ INDEX_LABEL: "0" })),
            "label jobset.sigs.k8s.io/replicatedjob-name of the pod is missing: ".to_owned(),
        ),
        (
            one(),
            pod("p", json!({ JOB_LABEL: "a" })),
            "label jobset.sigs.k8s.io/job-index of the pod is missing: ".to_owned(),
        ),
        (one(), member("b", "0"), format!("{labels} \"b\" and \"0\", ")),
        (one(), member("a", "1"), format!("{labels} \"a\" and \"1\", ")),
        (set(&[json!({})]), right(), "spec.replicatedJobs[0].name is missing or empty: ".to_owned()),
        (set(&[job("A", 1, 1)]), right(), "spec.replicatedJobs[0].name with its replica is ".to_owned()),
        (
            set(&[job("a", 1, 1), json!({ "name": "b", "replicas": -1 })]),
            right(),
            "spec.replicatedJobs[1].replicas is -1: ".to_owned(),
        ),
        (
            set(&[json!({ "name": "a", "template": { "spec": { "parallelism": "4" } } })]),
            right(),
            "spec.replicatedJobs[0].template.spec.parallelism is \"4\": ".to_owned(),
        ),
        (
            set(&[job("a", 1, 1), job("a", 1, 1)]),
            right(),
            "spec.replicatedJobs[].name make two parts of the group that are named a: ".to_owned(),
        ),
        (
            set(&[job("a", 5000, 1), job("b", 4999, 1)]),
            right(),
            "the replicas of spec.replicatedJobs make 10001 parts of the group, more than 10000".to_owned(),
        ),
        (
            set(&[job("a", 2_147_483_647, 1)]),
            right(),
            "the replicas of spec.replicatedJobs make 2147483648 parts".to_owned(),
        ),
    ];
    for (set, pod, expected) in table {
        let refused = group_of(&set, &pod, &[]).unwrap_err().0;
        assert!(refused.starts_with(&expected), "{refused}");
    }
}
