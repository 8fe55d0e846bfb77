//! `grove topology` as a user runs it, where no cluster can be asked.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod without_cluster;

fn topology(arguments: &[&str]) -> (Option<i32>, String) {
    without_cluster::grove("topology", arguments)
}

#[test]
fn no_cluster_at_all() {
    let rows: [&[&str]; 6] = [
        &[],
        &["cluster", "--depth", "rack"],
        &["-o", "json", "--resource", "amd.com/gpu"],
        &["detect"],
        &["detect", "-o", "json", "--name", "gb200", "--resource", "amd.com/gpu"],
        &["--", "detect"],
    ];
    for arguments in rows {
        let (code, text) = topology(arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(text.starts_with("grove: no usable kubeconfig: "), "{arguments:?}: {text}");
    }
    let (code, text) = topology(&["detect", "--kubeconfig", "/no/such/file"]);
    assert_eq!(code, Some(2));
    assert!(text.starts_with("grove: kubeconfig /no/such/file: "), "{text}");
}

#[test]
fn arguments_that_cannot_be_used() {
    for wrong in [
        &["-o", "yaml"][..],
        &["a", "b"],
        &["detect", "a"],
        &["detect", "-o", "text"],
        &["detect", "--name", "A_b"],
    ] {
        let (code, text) = topology(wrong);
        assert_eq!(code, Some(2), "{wrong:?}");
        assert!(text.starts_with("error: "), "{wrong:?}: {text}");
    }
}
