//! `grove status` as a user runs it, where there is nothing to show.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

mod without_cluster;

use std::{net::TcpListener, path::Path};

fn status(arguments: &[&str]) -> (Option<i32>, String) {
    without_cluster::grove("status", arguments)
}

/// A kubeconfig for a port that nobody listens at.
fn kubeconfig(name: &str) -> String {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         clusters: [{{ name: c, cluster: {{ server: 'https://127.0.0.1:{port}' }} }}]\n\
         users: [{{ name: u, user: {{ token: t }} }}]\n\
         contexts: [{{ name: here, context: {{ cluster: c, user: u }} }}]\n"
    );
    std::fs::write(&file, text).unwrap();
    file.display().to_string()
}

#[test]
fn a_kubeconfig_that_is_not_there() {
    let (code, text) = status(&["--kubeconfig", "/no/such/file"]);
    assert_eq!(code, Some(2));
    assert!(text.starts_with("grove: kubeconfig /no/such/file: "), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
}

#[test]
fn no_cluster_at_all() {
    let (code, text) = status(&[]);
    assert_eq!(code, Some(2));
    assert!(text.starts_with("grove: no usable kubeconfig: "), "{text}");
}

#[test]
fn a_context_that_is_not_there() {
    let (code, text) = status(&["--kubeconfig", &kubeconfig("context"), "--context", "elsewhere"]);
    assert_eq!(code, Some(2));
    assert!(text.contains("elsewhere"), "{text}");
}

#[test]
fn a_server_that_does_not_answer() {
    let file = kubeconfig("server");
    for more in [&[][..], &["chat"], &["-w"], &["chat", "-o", "json"]] {
        let (code, text) = status(&[&["--kubeconfig", &file][..], more].concat());
        assert_eq!(code, Some(2), "{more:?}: {text}");
        assert!(text.starts_with("grove: cannot reach https://127.0.0.1:"), "{more:?}: {text}");
        assert_eq!(text.lines().count(), 1, "{text}");
    }
}

#[test]
fn arguments_that_contradict_each_other() {
    for wrong in [&["-A", "-n", "x"][..], &["chat", "-A"], &["-o", "yaml"]] {
        assert_eq!(status(wrong).0, Some(2), "{wrong:?}");
    }
}
