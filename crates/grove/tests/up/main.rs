//! `grove up` as a user runs it: one process, no other software.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, also in its functions"
)]
#![cfg(feature = "sandbox")]

mod background;
mod environment;
mod foreground;
mod kubectl;
mod options;
mod preemption;
mod tour;
mod transcript;
mod usage;
mod workloads;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A folder of its own for each test; it goes with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("grove-up-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        Self(path)
    }

    fn kubeconfig(&self) -> PathBuf {
        self.0.join("kubeconfig")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A test that failed may have left a cluster behind.
        drop(command(&["down", "--folder"]).arg(&self.0).output());
        drop(fs::remove_dir_all(&self.0));
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_grove"));
    command
        .args(arguments)
        .current_dir(root())
        .env_remove("KUBECONFIG")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn grove(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// `grove up` in this folder, with more arguments.
fn up(folder: &Folder, arguments: &[&str]) -> Output {
    let folder = folder.0.display().to_string();
    let all: Vec<&str> = ["up", "--folder", &folder].into_iter().chain(arguments.iter().copied()).collect();
    grove(&all)
}

/// What was printed, both outputs.
fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
