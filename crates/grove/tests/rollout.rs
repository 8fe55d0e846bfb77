//! `grove rollout` as a user runs it, where no cluster is needed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod without_cluster;

fn rollout(arguments: &[&str]) -> (Option<i32>, String) {
    without_cluster::grove("rollout", arguments)
}

#[test]
fn every_command_takes_a_set_and_needs_a_cluster() {
    let rows: [&[&str]; 9] = [
        &["status", "chat"],
        &["restart", "chat"],
        &["status", "chat", "--watch", "-o", "json"],
        &["history", "chat", "-n", "ml"],
        &["undo", "chat"],
        &["undo", "chat", "--to-revision", "3"],
        &["pause", "chat"],
        &["resume", "chat", "-o", "json"],
        &["status", "chat", "-w"],
    ];
    for row in rows {
        let (code, text) = rollout(row);
        assert_eq!(code, Some(2), "{row:?}: {text}");
        assert!(text.starts_with("grove: no usable kubeconfig: "), "{row:?}: {text}");
    }
}

#[test]
fn arguments_that_cannot_be_used() {
    let rows: [&[&str]; 6] = [
        &[],
        &["status"],
        &["restart"],
        &["undo", "chat", "--to-revision", "last"],
        &["history", "chat", "--watch"],
        &["status", "chat", "-o", "yaml"],
    ];
    for row in rows {
        let (code, text) = rollout(row);
        assert_eq!(code, Some(2), "{row:?}");
        assert!(!text.contains("no usable kubeconfig"), "{row:?}: {text}");
    }
}
