//! The files of `grove up` in a folder, which may be one where the user keeps files of the same names.
//!
//! A marker is there as long as they are: without it, a file is only replaced if an earlier version wrote it, which wrote no marker.

use std::{fs, io, path::Path};

use super::in_folder;

/// What is removed at the end. `ready` was written by earlier versions.
const TEMPORARY: [&str; 8] = [
    "kubeconfig",
    "operator.kubeconfig",
    "operator.yaml",
    "podgrouper.kubeconfig",
    "env",
    "ready",
    "bin/grove",
    "bin/kubectl-grove",
];
/// What stays, as the lock does: where that is there, they are ours.
const LOGS: [&str; 2] = ["grove.log", "output.log"];
const BIN: &str = "bin";
const MARKER: &str = ".grove-up";
const MARKER_TEXT: &str =
    "grove up removes its files in this folder when it stops, or when it starts the next time.\n";

/// Whether what lies there is that of a cluster which runs, or which was killed.
pub(super) fn is_marked(folder: &Path) -> bool {
    folder.join(MARKER).exists()
}

/// Fails if a file is in the way which something else wrote. `lock` is what the lock file contained; `None` if there was none.
pub(super) fn check(folder: &Path, lock: Option<&str>) -> io::Result<()> {
    let refuse = |name: &str| {
        let file = folder.join(name);
        Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!(
                "{} is not from grove up, which would replace it: move it away, or choose another folder with --folder",
                file.display()
            ),
        ))
    };
    // The number of the last process that held it, or nothing.
    if lock.is_some_and(|it| !it.trim().bytes().all(|it| it.is_ascii_digit())) {
        return refuse(super::LOCK);
    }
    if is_marked(folder) {
        return Ok(());
    }
    let is_there = |name: &str| fs::symlink_metadata(folder.join(name)).is_ok();
    if let Some(name) = TEMPORARY.into_iter().find(|it| is_there(it) && !is_of_earlier_version(folder, it)) {
        return refuse(name);
    }
    if let Some(name) = LOGS.into_iter().find(|it| lock.is_none() && is_there(it)) {
        return refuse(name);
    }
    if is_there(BIN) && !folder.join(BIN).is_dir() {
        return refuse(BIN);
    }
    Ok(())
}

/// Whether a file looks as `grove up` writes it.
fn is_of_earlier_version(folder: &Path, name: &str) -> bool {
    let path = folder.join(name);
    if name.starts_with(BIN) {
        return path.is_symlink();
    }
    let Ok(text) = fs::read_to_string(path) else { return false };
    match name {
        "ready" => text.is_empty(),
        "env" => text.starts_with("export KUBECONFIG='") && text.contains("\nexport PATH='"),
        "operator.yaml" => {
            text.starts_with("apiVersion: operator.config.grove.io/v1alpha1\n")
                && text.contains("{ bindAddress: 127.0.0.1, port: ")
        }
        // kubeconfigs, as JSON. kubectl writes YAML.
        _ => serde_json::from_str(&text).is_ok_and(|it: serde_json::Value| {
            let server = it.pointer("/clusters/0/cluster/server").and_then(serde_json::Value::as_str);
            it["current-context"] == "grove" && server.is_some_and(|it| it.starts_with("https://127.0.0.1:"))
        }),
    }
}

/// Notes that what is written from now on may be removed.
pub(super) fn mark(folder: &Path) -> io::Result<()> {
    let file = folder.join(MARKER);
    fs::write(&file, MARKER_TEXT).map_err(in_folder(&file))
}

/// Removes what we write, and nothing else: a folder that the user chose may have other files.
pub(super) fn empty(folder: &Path) -> io::Result<()> {
    for name in TEMPORARY {
        remove(&folder.join(name))?;
    }
    match fs::remove_dir(folder.join(BIN)) {
        // Other programs may be in it.
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(in_folder(&folder.join(BIN))),
    }
}

/// Last of all: without it, nothing may be removed.
pub(super) fn unmark(folder: &Path) -> io::Result<()> {
    remove(&folder.join(MARKER))
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(in_folder(file)(error)),
        _ => Ok(()),
    }
}
