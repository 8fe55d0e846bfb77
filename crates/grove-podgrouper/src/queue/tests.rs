use super::*;
use crate::fixture::{annotated, labelled, pod};

const QUEUE: &str = "kai.scheduler/queue";
const POOL: &str = "kai.scheduler/node-pool";

#[test]
fn labels_name_the_queue() {
    type Labels = &'static [(&'static str, &'static str)];
    let cases: &[(Labels, Labels, &str)] = &[
        (&[], &[], "default-queue"),
        (&[(QUEUE, "of-owner")], &[(QUEUE, "of-pod")], "of-owner"),
        (&[], &[(QUEUE, "of-pod")], "of-pod"),
        (&[("project", "my-proj")], &[], "my-proj"),
        (&[("project", "my-proj")], &[("project", "other")], "my-proj"),
        (&[], &[("project", "my-proj")], "my-proj"),
        (&[("project", "my-proj")], &[(POOL, "np-1")], "my-proj-np-1"),
        // Only the pod says in which pool it is.
        (&[("project", "my-proj"), (POOL, "np-1")], &[], "my-proj"),
        (&[("project", "my-proj"), (QUEUE, "my-queue")], &[], "my-queue"),
        (&[("project", "my-proj")], &[(QUEUE, "of-pod")], "of-pod"),
        (&[(QUEUE, "")], &[(QUEUE, "of-pod")], ""),
        (&[("project", "my-proj")], &[(QUEUE, "")], ""),
        (&[("project", "")], &[], "default-queue"),
    ];
    for (of_owner, of_pod, expected) in cases {
        let (owner, pod) = (labelled(pod("o", "1"), of_owner), labelled(pod("p", "2"), of_pod));
        assert_eq!(queue(&owner, &pod, &Settings::default()), *expected, "{of_owner:?} {of_pod:?}");
    }
}

#[test]
fn annotations_do_not() {
    let owner = annotated(pod("o", "1"), &[(QUEUE, "of-owner")]);
    assert_eq!(queue(&owner, &owner, &Settings::default()), "default-queue");
}

#[test]
fn the_admin_chooses_the_labels() {
    let settings =
        Settings { queue_label: "team".to_owned(), node_pool_label: String::new(), ..Settings::default() };
    let owner = labelled(pod("o", "1"), &[(QUEUE, "kai"), ("team", "mine")]);
    assert_eq!(queue(&owner, &pod("p", "2"), &settings), "mine");
    let in_pool = labelled(pod("p", "2"), &[(POOL, "np-1"), ("project", "my-proj")]);
    assert_eq!(queue(&pod("o", "1"), &in_pool, &settings), "my-proj");
}
