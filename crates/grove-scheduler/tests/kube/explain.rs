//! The scheduler's words, made readable.

use serde_json::{Value, json};

use crate::{
    FLAT, TREE, alone, at,
    common::{gang, group},
    leaf, root,
};

const RACK: &str = "topology.example.com/rack";

/// A PodGroup that the scheduler has looked at.
fn seen(mut group: Value, status: &str, reason: &str, message: &str) -> Value {
    group["status"] = json!({ "conditions": [
        { "type": "DisruptionTarget", "status": "False", "reason": "No", "message": "no" },
        { "type": "PodGroupInitiallyScheduled", "status": status, "reason": reason, "message": message },
    ] });
    group
}

fn words(objects: &[Value]) -> Option<String> {
    let gang = gang(json!({ "podgroups": [group("web-0-a", 4, 4), group("web-0-b", 2, 2)] }));
    let words = TREE.scheduler().explain(&gang, objects);
    assert_eq!(words, FLAT.scheduler().explain(&gang, objects));
    words
}

#[test]
fn one_sentence_about_the_first_group_that_is_refused() {
    let a = || leaf("web-0", "web-0-a", "web-0", 4);
    let b = || leaf("web-0", "web-0-b", "web-0", 2);
    let refused = |group: Value, message: &str| seen(group, "False", "Unschedulable", message);
    let table: Vec<(Vec<Value>, Option<&str>)> = vec![
        (vec![], None),
        (vec![root("web-0", 2), a(), b()], None),
        (vec![seen(a(), "True", "Scheduled", "All pods scheduled"), b()], None),
        (
            vec![refused(a(), "minCount (4) cannot be satisfied: 3 scheduled, 0 remaining"), b()],
            Some("web-0-a: room for at most 3 of the 4 pods that are needed"),
        ),
        (
            vec![
                seen(a(), "True", "Scheduled", ""),
                refused(b(), "0/8 nodes are available: 8 Insufficient cpu."),
            ],
            Some("web-0-b: 0/8 nodes are available: 8 Insufficient cpu"),
        ),
        // The order of the gang counts, not that of the objects.
        (vec![refused(b(), "second"), refused(a(), "first")], Some("web-0-a: first")),
        // A group that was not tried is told of its parent's failure, in which groups are counted.
        (
            vec![
                refused(a(), "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"),
                refused(b(), "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"),
            ],
            Some("web-0-b: room for at most 1 of the 2 pods that are needed"),
        ),
        (
            vec![refused(
                at(RACK, a()),
                "0/8 placements are available, first placement status: minCount (4) cannot be satisfied: 1 scheduled, 1 remaining",
            )],
            Some(
                "web-0-a: none of the 8 domains of topology.example.com/rack has room for it; the first has room for at most 2 \
                 of the 4 pods that are needed",
            ),
        ),
        (
            vec![refused(
                a(),
                "0/8 placements are available, first placement status: minCount (4) cannot be satisfied: 1 scheduled, 1 remaining",
            )],
            Some(
                "web-0-a: none of the 8 domains of its topology level has room for it; the first has room for at most 2 \
                 of the 4 pods that are needed",
            ),
        ),
        (
            vec![seen(
                a(),
                "False",
                "SchedulerError",
                "all pods in a single pod group\nshould have the same priority",
            )],
            Some(
                "web-0-a: kube-scheduler reports an error: all pods in a single pod group should have the same priority",
            ),
        ),
        // As many times as the gang has groups.
        (
            vec![refused(
                a(),
                "no feasible placements found, pod group preemption: No preemption victims found for incoming preemptor, \
                 pod group preemption: No preemption victims found for incoming preemptor",
            )],
            Some("web-0-a: no node has the label of a required topology level"),
        ),
        (
            vec![refused(at(RACK, a()), "no feasible placements found")],
            Some("web-0-a: no node has the label topology.example.com/rack of its required topology level"),
        ),
        (vec![refused(a(), " ")], Some("web-0-a: kube-scheduler gives no reason")),
        // In the flat form the gang is the group.
        (
            vec![refused(alone("web-0", 6), "minCount (6) cannot be satisfied: 5 scheduled, 0 remaining")],
            Some("web-0: room for at most 5 of the 6 pods that are needed"),
        ),
    ];
    for (objects, expected) in table {
        assert_eq!(words(&objects).as_deref(), expected);
    }
}

#[test]
fn no_sentence_is_without_end() {
    let long = seen(alone("web-0-a", 4), "False", "Unschedulable", &"word ".repeat(500));
    let words = words(&[long]).unwrap();
    assert!(words.ends_with('…') && words.chars().count() < 420, "{words}");
}

/// Messages of Kubernetes 1.37, as `schedule_one_podgroup.go` builds them: where it gives up on a group, its status has
/// the error `pod group is unschedulable` in front of the reasons.
#[test]
fn the_prefix_of_kubernetes_1_37_hides_nothing() {
    let a = || leaf("web-0", "web-0-a", "web-0", 4);
    let prefix = "pod group is unschedulable, ";
    let none_of_8 = "web-0-a: none of the 8 domains of topology.example.com/rack has room for it";
    let table = [
        (
            a(),
            format!("{prefix}minCount (4) cannot be satisfied: 2 scheduled, 1 remaining"),
            "web-0-a: room for at most 3 of the 4 pods that are needed".to_owned(),
        ),
        (
            a(),
            format!("{prefix}minCount (4) is not yet satisfied: 2 scheduled, 2 remaining"),
            "web-0-a: room for at most 2 of the 4 pods that are needed; 2 not yet in the scheduling queue".to_owned(),
        ),
        (
            at(RACK, a()),
            format!(
                "{prefix}0/8 placements are available, first placement status: minCount (4) cannot be satisfied: 1 \
                 scheduled, 1 remaining, pod group preemption: No preemption victims found for incoming preemptor"
            ),
            format!("{none_of_8}; the first has room for at most 2 of the 4 pods that are needed"),
        ),
        // As seen on a real cluster: the prefix twice, and one placement where no level is required.
        (
            a(),
            format!(
                "{prefix}{prefix}0/1 placements are available, first placement status: minCount (4) cannot be satisfied: 2 \
                 scheduled, 0 remaining"
            ),
            "web-0-a: room for at most 2 of the 4 pods that are needed".to_owned(),
        ),
        // The status of the first domain may be nothing but the prefix.
        (
            at(RACK, a()),
            format!("{prefix}0/8 placements are available, first placement status: pod group is unschedulable"),
            none_of_8.to_owned(),
        ),
        (
            a(),
            "minCount (4) cannot be satisfied: 3 scheduled, 0 remaining, pod group preemption: found a placement for \
             podgroup, preempting 2 victims"
                .to_owned(),
            "web-0-a: room for at most 3 of the 4 pods that are needed; 2 pods are being preempted for it".to_owned(),
        ),
        (a(), "pod group is unschedulable".to_owned(), "web-0-a: kube-scheduler gives no reason".to_owned()),
    ];
    for (group, message, wanted) in table {
        let refused = seen(group, "False", "Unschedulable", &message);
        assert_eq!(words(&[refused]).as_deref(), Some(wanted.as_str()), "{message}");
    }
}

/// A pod hears it before its group does.
#[test]
fn what_pods_are_told_is_readable_too() {
    let prefix = "pod group is unschedulable, ";
    let none = ", pod group preemption: No preemption victims found for incoming preemptor";
    let table = [
        (
            format!(
                "{prefix}{prefix}0/1 placements are available, first placement status: minCount (3) cannot be satisfied: 2 \
                 scheduled, 0 remaining{none}"
            ),
            "room for at most 2 of the 3 that are needed",
        ),
        (
            "0/4 nodes are available: 4 Insufficient nvidia.com/gpu.".to_owned(),
            "0/4 nodes are available: 4 Insufficient nvidia.com/gpu",
        ),
        (format!("{prefix}{prefix}no feasible placements found{none}"), "no feasible placements found"),
    ];
    for (message, wanted) in table {
        assert_eq!(TREE.scheduler().readable(&message), wanted, "{message}");
    }
}
