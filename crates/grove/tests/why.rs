//! `grove why` as a user runs it, where there is nothing to tell.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod without_cluster;

fn why(arguments: &[&str]) -> (Option<i32>, String) {
    without_cluster::grove("why", arguments)
}

#[test]
fn targets_that_are_none() {
    let rows = [
        ("job/", "the name is missing"),
        ("/train", "the kind is missing"),
        ("job/a/b", "it is not KIND/NAME"),
    ];
    for (target, want) in rows {
        let (code, text) = why(&[target]);
        assert_eq!(code, Some(2), "{target}");
        assert!(text.contains(want), "{target}: {text}");
    }
}

#[test]
fn no_cluster_at_all() {
    for target in ["chat", "pod/p", "job/train", "pytorchjobs.kubeflow.org/bert"] {
        let (code, text) = why(&[target]);
        assert_eq!(code, Some(2), "{target}");
        assert!(text.starts_with("grove: no usable kubeconfig: "), "{target}: {text}");
    }
}
