//! The program where no cluster can be asked.

use std::process::{Command, Output};

/// Exit code and stderr of a command that prints nothing else.
pub(crate) fn grove(command: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_grove"))
        .arg(command)
        .args(arguments)
        .env("KUBECONFIG", "/nowhere/at/all")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .output()
        .unwrap();
    assert!(stdout.is_empty(), "{}", String::from_utf8_lossy(&stdout));
    (status.code(), String::from_utf8(stderr).unwrap())
}
