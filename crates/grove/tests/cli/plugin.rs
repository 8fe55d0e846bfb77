//! The program as kubectl starts it: through a file named `kubectl-grove`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use crate::{stderr, stdout};

/// A link to the program. kubectl does not mind whether it is a link or a copy.
fn link() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("plugin-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("kubectl-grove");
    if !file.exists() {
        // Tests of one process run at the same time; the later ones find the link.
        drop(std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_grove"), &file));
    }
    file
}

fn plugin(arguments: &[&str]) -> Output {
    Command::new(link())
        .args(arguments)
        .env("KUBECONFIG", "/nowhere/at/all")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .unwrap()
}

#[test]
fn help_and_usage_say_what_is_typed() {
    for command in ["status", "why", "rollout", "topology", "bundle"] {
        let output = plugin(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let help = stdout(&output);
        assert!(help.contains(&format!("Usage: kubectl grove {command}")), "{help}");
        assert!(help.contains(&format!("\n  kubectl grove {command}")), "{help}");
    }
    let output = plugin(&["status", "--wrong"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("Usage: kubectl grove status"), "{}", stderr(&output));
}

#[test]
fn errors_say_what_is_typed() {
    let output = plugin(&["status", "chat"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).starts_with("kubectl grove: no usable kubeconfig: "), "{}", stderr(&output));
}

#[test]
fn flags_of_kubectl_are_flags_of_the_plugin() {
    let rows: [&[&str]; 5] = [
        &["status", "chat", "--context", "c", "-n", "ml"],
        &["why", "chat", "--namespace", "ml", "--kubeconfig", "/nowhere/at/all"],
        &["rollout", "status", "chat", "--namespace=ml", "--context=c"],
        &["topology", "--kubeconfig", "/nowhere/at/all", "--context", "c"],
        &["bundle", "--kubeconfig", "/nowhere/at/all", "--context", "c", "-n", "ml"],
    ];
    for row in rows {
        let output = plugin(row);
        assert_eq!(output.status.code(), Some(2), "{row:?}");
        assert!(stderr(&output).starts_with("kubectl grove: kubeconfig"), "{row:?}: {}", stderr(&output));
    }
}
