//! A cluster that goes on in the background: `make cluster-up`, `make cluster-down`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// A cluster in the background.
#[derive(Debug, Serialize, Deserialize)]
pub struct Detached {
    pid: u32,
    /// For `kubectl` and other clients.
    pub kubeconfig: PathBuf,
    /// Where its `kubectl` is.
    pub kubectl: PathBuf,
}

/// The cluster whose files are in `folder`, if it is there.
pub fn detached(folder: &Path) -> Option<Detached> {
    let state: Detached = serde_json::from_str(&fs::read_to_string(file(folder)).ok()?).ok()?;
    is_alive(state.pid).then_some(state)
}

/// Empties a folder that an earlier cluster left. Anything else in the way is not ours to remove.
pub(super) fn fresh(folder: &Path) -> Result<()> {
    let empty = fs::read_dir(folder).map_or(true, |mut it| it.next().is_none());
    if empty {
        return Ok(());
    }
    if !folder.join("pki/ca.crt").exists() || !folder.join("log").exists() {
        bail!("{} is not empty, and no cluster made it: choose another folder", folder.display());
    }
    fs::remove_dir_all(folder).with_context(|| folder.display().to_string())
}

fn file(folder: &Path) -> PathBuf {
    folder.join("state.json")
}

fn is_alive(pid: u32) -> bool {
    // A process that was collected has no folder, one that waits for it has no command line.
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|it| !it.is_empty())
}

impl Detached {
    /// Writes down that this process holds the cluster.
    pub fn here(folder: &Path, kubeconfig: PathBuf, kubectl: PathBuf) -> Result<()> {
        let state = Self { pid: std::process::id(), kubeconfig, kubectl };
        fs::write(file(folder), serde_json::to_string(&state)?)?;
        Ok(())
    }

    /// Runs `arguments` of this executable in the background until the cluster in `folder` is there.
    pub async fn launch(folder: &Path, arguments: &[String]) -> Result<Self> {
        // Beside the folder, which the cluster empties when it starts.
        let log = folder.with_extension("log");
        fs::create_dir_all(log.parent().unwrap_or(folder))?;
        let output = fs::File::create(&log)?;
        let mut child = tokio::process::Command::new(std::env::current_exe()?)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .process_group(0)
            .spawn()?;
        loop {
            if let Some(state) = detached(folder) {
                return Ok(state);
            }
            if let Some(status) = child.try_wait()? {
                let text = fs::read_to_string(&log).unwrap_or_default();
                bail!("the cluster did not start ({status}):\n{text}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Ends the cluster and waits for it.
    pub async fn stop(&self) -> Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).context("no process")?;
        kill_process(pid, Signal::TERM)?;
        while is_alive(self.pid) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }
}
