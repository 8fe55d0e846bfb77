use serde_json::{Value, json};

use super::*;
use crate::plugins::shapes::{group_of, object, parts, pod, refusal, with};

fn set(size: u32) -> Value {
    let spec = json!({ "leaderWorkerTemplate": { "size": size, "workerTemplate": {} } });
    object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "set", spec)
}

fn leader_ready(size: u32) -> Value {
    let mut set = set(size);
    set["spec"]["startupPolicy"] = json!("LeaderReady");
    set
}

/// A set whose replicas are cut.
fn cut(size: u32, segment: u32, policy: Option<&str>) -> Value {
    let mut set = set(size);
    set["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] =
        json!({ "subGroupSize": segment, "subGroupPolicyType": policy });
    set
}

fn member(index: &str) -> Value {
    pod("p", json!({ INDEX_LABEL: index }))
}

fn placed(mut pod: Value) -> Value {
    pod["spec"]["nodeName"] = json!("node");
    pod
}

#[test]
fn a_replica_is_a_leader_and_workers() {
    let sized = |size: &str| with(member("1"), "annotations", json!({ SIZE_ANNOTATION: size }));
    let unlabelled = pod("p", json!({}));
    let table: [(Value, Value, u32, &[&str]); 9] = [
        (set(3), member("0"), 3, &["leader 1 * p", "workers 2"]),
        (set(3), member("2"), 3, &["leader 1", "workers 2 * p"]),
        (set(3), unlabelled, 3, &["leader 1", "workers 2 * p"]),
        (set(1), member("0"), 1, &["leader 1 * p"]),
        (leader_ready(5), member("0"), 1, &["leader 1 * p"]),
        (leader_ready(5), placed(member("0")), 5, &["leader 1 * p", "workers 4"]),
        (leader_ready(5), member("1"), 5, &["leader 1", "workers 4 * p"]),
        // The replica of the pod is as large as it was made, whatever the set says now.
        (leader_ready(5), sized("4"), 4, &["leader 1", "workers 3 * p"]),
        (set(5), sized("4"), 5, &["leader 1", "workers 4 * p"]),
    ];
    for (set, pod, min_members, expected) in table {
        let group = group_of(&LeaderWorkerSet, &set, &pod).unwrap();
        assert_eq!((group.min_members, parts(&group)), (min_members, strings(expected)), "{set} {pod}");
        assert_eq!(group.min_sub_groups, None);
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn each_replica_is_a_group_of_its_own() {
    let table = [
        (json!({ INDEX_LABEL: "0", GROUP_LABEL: "1" }), "pg-set-uid-set-group-1"),
        (json!({ INDEX_LABEL: "0", GROUP_LABEL: "0" }), "pg-set-uid-set-group-0"),
        (json!({ INDEX_LABEL: "0", GROUP_LABEL: "x" }), "pg-set-uid-set"),
        (json!({ INDEX_LABEL: "0" }), "pg-set-uid-set"),
    ];
    for (labels, expected) in table {
        let group = group_of(&LeaderWorkerSet, &set(2), &pod("p", labels)).unwrap();
        assert_eq!(group.name, expected);
        assert_eq!((group.owner.kind.as_str(), group.owner.name.as_str()), ("LeaderWorkerSet", "set"));
        assert_eq!(group.priority_class, "train");
    }
}

#[test]
fn segments_have_the_leader_in_the_first() {
    // Size, segment size, index of the pod.
    let table: [(u32, u32, &str, &[&str]); 9] = [
        // The workers alone fill the segments: the leader is one more.
        (5, 2, "0", &["segment-0 [2]", "segment-1 2", "leader 1 in segment-0 * p", "workers 2 in segment-0"]),
        (5, 2, "2", &["segment-0 [2]", "segment-1 2", "leader 1 in segment-0", "workers 2 in segment-0 * p"]),
        (5, 2, "3", &["segment-0 [2]", "segment-1 2 * p", "leader 1 in segment-0", "workers 2 in segment-0"]),
        (3, 2, "1", &["segment-0 [2]", "leader 1 in segment-0", "workers 2 in segment-0 * p"]),
        // With the leader they do.
        (4, 2, "1", &["segment-0 [2]", "segment-1 2", "leader 1 in segment-0", "workers 1 in segment-0 * p"]),
        (4, 2, "2", &["segment-0 [2]", "segment-1 2 * p", "leader 1 in segment-0", "workers 1 in segment-0"]),
        (5, 3, "4", &["segment-0 [2]", "segment-1 2 * p", "leader 1 in segment-0", "workers 2 in segment-0"]),
        (3, 3, "2", &["segment-0 [2]", "leader 1 in segment-0", "workers 2 in segment-0 * p"]),
        // A pod that is above the size is about to go.
        (4, 2, "4", &["segment-0 [2]", "segment-1 2", "leader 1 in segment-0", "workers 1 in segment-0"]),
    ];
    for (size, segment, index, expected) in table {
        for policy in [None, Some("LeaderWorker")] {
            let group = group_of(&LeaderWorkerSet, &cut(size, segment, policy), &member(index)).unwrap();
            let case = format!("{size} by {segment}, {index}");
            assert_eq!((group.min_members, parts(&group)), (size, strings(expected)), "{case}");
        }
    }
}

/// A leader that goes alone has nobody to be near to; when it is placed its workers come, and the segments with them.
#[test]
fn segments_come_when_workers_are_due() {
    let ready = |policy: Option<&str>| {
        let mut set = cut(5, 2, policy);
        set["spec"]["startupPolicy"] = json!("LeaderReady");
        set
    };
    let inside = ["segment-0 [2]", "segment-1 2", "leader 1 in segment-0 * p", "workers 2 in segment-0"];
    let beside = ["leader 1", "segment-0 2 * p", "segment-1 2"];
    let table: [(Option<&str>, Value, u32, &[&str]); 4] = [
        (None, member("0"), 1, &["leader 1 * p"]),
        (Some("LeaderExcluded"), member("0"), 1, &["leader 1 * p"]),
        (None, placed(member("0")), 5, &inside),
        (Some("LeaderExcluded"), member("1"), 5, &beside),
    ];
    for (policy, pod, min_members, expected) in table {
        let group = group_of(&LeaderWorkerSet, &ready(policy), &pod).unwrap();
        assert_eq!((group.min_members, parts(&group)), (min_members, strings(expected)), "{policy:?} {pod}");
    }
}

#[test]
fn an_excluded_leader_is_beside_the_segments() {
    let table: [(&str, &[&str]); 3] = [
        ("0", &["leader 1 * p", "segment-0 2", "segment-1 2"]),
        ("1", &["leader 1", "segment-0 2 * p", "segment-1 2"]),
        ("4", &["leader 1", "segment-0 2", "segment-1 2 * p"]),
    ];
    for (index, expected) in table {
        let group = group_of(&LeaderWorkerSet, &cut(5, 2, Some("LeaderExcluded")), &member(index)).unwrap();
        assert_eq!(parts(&group), strings(expected));
    }
}

#[test]
fn annotations_may_give_the_size() {
    let key = "kai.scheduler/segment-size";
    let mut of_template = set(4);
    of_template["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["annotations"] =
        json!({ key: "2" });
    let of_set = with(of_template.clone(), "annotations", json!({ key: "3" }));
    let mut of_field = of_set.clone();
    of_field["spec"]["leaderWorkerTemplate"]["subGroupPolicy"]["subGroupSize"] = json!(4);
    let table = [
        (of_template, "workers 1 in segment-0", 4),
        (of_set, "workers 3 in segment-0", 3),
        (of_field, "workers 3 in segment-0", 3),
    ];
    for (set, workers, count) in table {
        let parts = parts(&group_of(&LeaderWorkerSet, &set, &member("0")).unwrap());
        assert_eq!((parts.len(), parts.last().map(String::as_str)), (count, Some(workers)), "{parts:?}");
    }
}

#[test]
fn only_segments_are_placed() {
    const NAME: &str = "kai.scheduler/topology";
    const REQUIRED: &str = "kai.scheduler/segment-topology-required-placement";
    const PREFERRED: &str = "kai.scheduler/segment-topology-preferred-placement";
    let mut on_template = cut(5, 3, None);
    on_template["spec"]["leaderWorkerTemplate"]["workerTemplate"]["metadata"]["annotations"] =
        json!({ REQUIRED: "rack", PREFERRED: "host" });
    let on_set = with(on_template.clone(), "annotations", json!({ NAME: "dc" }));
    let expected = [
        "segment-0 [2] @ dc/rack/host",
        "segment-1 2 @ dc/rack/host",
        "leader 1 in segment-0 * p",
        "workers 2 in segment-0",
    ];
    assert_eq!(parts(&group_of(&LeaderWorkerSet, &on_set, &member("0")).unwrap()), expected);

    let on_pod = with(member("0"), "annotations", json!({ NAME: "other", REQUIRED: "zone" }));
    let group = group_of(&LeaderWorkerSet, &on_set, &on_pod).unwrap();
    assert_eq!(parts(&group)[1], "segment-1 2 @ other/zone/host");

    // A topology that nobody names, and no template.
    assert_eq!(parts(&group_of(&LeaderWorkerSet, &on_template, &member("0")).unwrap())[1], "segment-1 2");
    let mut no_template = on_set;
    no_template["spec"]["leaderWorkerTemplate"]["workerTemplate"] = Value::Null;
    assert_eq!(parts(&group_of(&LeaderWorkerSet, &no_template, &on_pod).unwrap())[1], "segment-1 2");
}

#[test]
fn what_is_wrong_is_named() {
    let mut no_size = set(1);
    no_size["spec"]["leaderWorkerTemplate"] = json!({});
    let mut policy = set(2);
    policy["spec"]["startupPolicy"] = json!("Later");
    let index = "label leaderworkerset.sigs.k8s.io/worker-index of the pod";
    let field = "spec.leaderWorkerTemplate.subGroupPolicy.subGroupSize";
    let old = with(member("1"), "annotations", json!({ SIZE_ANNOTATION: "many" }));
    let table = [
        (no_size, member("0"), "spec.leaderWorkerTemplate.size is missing: ".to_owned()),
        (set(0), member("0"), "spec.leaderWorkerTemplate.size is 0: ".to_owned()),
        (policy, member("0"), "spec.startupPolicy is \"Later\": ".to_owned()),
        (leader_ready(2), old, format!("annotation {SIZE_ANNOTATION} of the pod is \"many\": ")),
        (set(2), member("-1"), format!("{index} is \"-1\": ")),
        (set(2), member("one"), format!("{index} is \"one\": ")),
        (cut(4, 2, None), pod("p", json!({})), format!("{index} is missing: ")),
        (cut(4, 1, None), member("0"), format!("{field} is 1: ")),
        (cut(4, 5, None), member("0"), format!("{field} is 5, more than the 4 pods")),
        (
            cut(4, 2, Some("LeaderExcluded")),
            member("0"),
            format!("{field} is 2, which does not divide the 3"),
        ),
        (
            cut(4, 2, Some("Other")),
            member("0"),
            "spec.leaderWorkerTemplate.subGroupPolicy.subGroupPolicyType is \"Other\": ".to_owned(),
        ),
        (
            cut(20_002, 2, None),
            member("0"),
            "a segment size of 2 cuts 20002 pods into 10001 segments".to_owned(),
        ),
    ];
    for (set, pod, expected) in table {
        let refused = refusal(group_of(&LeaderWorkerSet, &set, &pod));
        assert!(refused.starts_with(&expected), "{refused}");
    }
}
