//! `grove backends` as a user runs it, where no cluster is needed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, also in its functions")]

use std::{
    path::Path,
    process::{Command, Output},
};

fn backends(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_grove"))
        .arg("backends")
        .args(arguments)
        .env("KUBECONFIG", "/nowhere/at/all")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> &str {
    str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    str::from_utf8(&output.stderr).unwrap()
}

#[test]
fn the_documented_tables_are_what_the_backends_answer() {
    let output = backends(&["--offline"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/backends/capabilities.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, made) = page.split_once("<!-- All below is made by `make capabilities`. -->\n\n").unwrap();
    assert!(made == stdout(&output), "docs/backends/capabilities.md is old: run `make capabilities`");
}

#[test]
fn one_scheduler_by_any_of_its_names() {
    for name in ["default-scheduler", "kube-scheduler"] {
        let output = backends(&["--offline", name]);
        assert_eq!(output.status.code(), Some(0), "{name}");
        let heads: Vec<&str> = stdout(&output).lines().filter(|it| it.starts_with("## ")).collect();
        assert_eq!(heads, ["## default-scheduler"], "{name}");
    }
    let output = backends(&["--offline", "other"]);
    assert_eq!(output.status.code(), Some(1));
    let want = "grove: no scheduler backend \"other\"; known: default-scheduler, kai-scheduler, volcano\n";
    assert_eq!((stdout(&output), stderr(&output)), ("", want));
}

#[test]
fn without_a_cluster_nothing_else_can_be_shown() {
    for arguments in [&[][..], &["volcano"], &["-o", "json"]] {
        let output = backends(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).starts_with("grove: no usable kubeconfig: "), "{}", stderr(&output));
        assert_eq!(stdout(&output), "");
    }
    for wrong in [&["--offline", "-o", "json"][..], &["--offline", "--context", "x"], &["-o", "table"]] {
        assert_eq!(backends(wrong).status.code(), Some(2), "{wrong:?}");
    }
}
