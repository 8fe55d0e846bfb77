//! The program as a kubelet runs it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, also in its functions")]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio},
};

use grove_api::constants::start_order;
use rustix::process::{Pid, Signal, kill_process};

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_grove-initc"))
}

fn output(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

/// An empty file, as it is before the pod may start.
fn file(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("parents-ready");
    fs::write(&file, "").unwrap();
    file
}

/// Starts it, and waits for its first line: from then on it waits, and signals are handled.
fn started(file: &Path) -> (Child, BufReader<ChildStderr>, String) {
    let mut child = program()
        .arg("--podcliques=inf-0-a:2")
        .arg("--file")
        .arg(file)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    log.read_line(&mut line).unwrap();
    (child, log, line)
}

fn ended(mut child: Child, mut log: impl Read) -> (ExitStatus, String) {
    let mut rest = String::new();
    log.read_to_string(&mut rest).unwrap();
    (child.wait().unwrap(), rest)
}

#[test]
fn waits_for_the_file_and_says_so() {
    let file = file("waits");
    let (mut child, log, line) = started(&file);
    assert_eq!(line, "the pod starts after inf-0-a (at least 2 ready)\n");
    assert!(child.try_wait().unwrap().is_none(), "it did not wait");
    // As the kubelet does: the new file takes the place of the old one.
    let new = file.with_extension("new");
    fs::write(&new, "true").unwrap();
    fs::rename(new, &file).unwrap();
    let (status, rest) = ended(child, log);
    assert!(status.success(), "{status}");
    assert!(rest.starts_with("all of them are ready after "), "{rest}");
}

#[test]
fn signals_end_it() {
    for (signal, name) in [(Signal::TERM, "term"), (Signal::INT, "int")] {
        let (child, log, _) = started(&file(name));
        kill_process(Pid::from_child(&child), signal).unwrap();
        let (status, rest) = ended(child, log);
        assert_eq!(status.code(), Some(1), "{name}: {status}");
        assert!(rest.starts_with("told to end after "), "{name}: {rest}");
    }
}

#[test]
fn what_may_start_starts() {
    let file = file("starts");
    fs::write(&file, "true").unwrap();
    let file = file.display().to_string();
    for arguments in [vec!["-p", "a:1", "--file", &file], vec![], vec!["--podcliques="]] {
        let output = output(&arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
}

#[test]
fn wrong_arguments_end_with_1() {
    for arguments in [vec!["-p", "a:0"], vec!["--podcliques"], vec!["wait"]] {
        let output = output(&arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: "), "{arguments:?}");
    }
}

#[test]
fn help_and_version_are_printed() {
    let help = String::from_utf8(output(&["--help"]).stdout).unwrap();
    let file = format!("{}/{}", start_order::MOUNT_PATH, start_order::FILE);
    assert!(help.contains(&file), "the operator mounts {file}:\n{help}");
    let version = String::from_utf8(output(&["--version"]).stdout).unwrap();
    assert_eq!(version, format!("grove-initc {}\n", env!("CARGO_PKG_VERSION")));
}
