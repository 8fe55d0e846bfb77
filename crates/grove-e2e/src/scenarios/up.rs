//! `make up-real` as a person meets it: what it shows, what can be done with it, and that nothing of it stays.

use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Output, Stdio},
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::wire::PodCliqueScalingGroup;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::{
    io::{AsyncBufReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

use super::rig::{api_port, processes_in};
use crate::{
    cluster::client,
    scenario::{Context, DEADLINE, eventually},
};

/// The last line before it waits.
const SHOWN: &str = "Ctrl-C stops everything.";
/// GPUs of all pods of the sample.
const GPUS: usize = 56;

pub(super) async fn shows_it_all(context: &mut Context) -> Result<()> {
    let folder = context.cluster.options.folder.join("show");

    let mut up = Program::start("grove-e2e", &["up", "--folder", &folder.display().to_string()])?;
    let text = up.until(|line| line == SHOWN).await?;
    is_told(&text)?;
    status_is_told(&mut up, &folder).await?;
    let second = output("grove-e2e", &["up", "--folder", &folder.display().to_string()]).await?;
    let said = String::from_utf8_lossy(&second.stdout).into_owned();
    ensure!(said.starts_with("Already running"), "a second one says: {said}");

    let port = api_port(&folder)?;
    ensure!(processes_in(&folder).len() >= 6, "only {:?} run", processes_in(&folder));
    let code = up.end_by(Signal::INT).await?;
    ensure!(code == Some(0), "Ctrl-C ended it with {code:?}");
    // It has waited for all of them itself.
    ensure!(processes_in(&folder).is_empty(), "still there: {:?}", processes_in(&folder));
    ensure!(TcpStream::connect(("127.0.0.1", port)).is_err(), "port {port} is still served");
    ensure!(!folder.exists(), "{} is still there", folder.display());

    let mut up = Program::start("grove-e2e", &["up", "--folder", &folder.display().to_string()])?;
    up.until(|line| line == SHOWN).await?;
    let port = api_port(&folder)?;
    up.end_by(Signal::KILL).await?;
    let gone = async {
        while !processes_in(&folder).is_empty() || TcpStream::connect(("127.0.0.1", port)).is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    if timeout(DEADLINE, gone).await.is_err() {
        bail!("after SIGKILL there is still {:?}, port {port}", processes_in(&folder));
    }
    Ok(())
}

/// The stages in their order, the start order among them, and a picture with every GPU that is taken.
fn is_told(text: &[String]) -> Result<()> {
    let story = [
        "Kubernetes v1.",
        "2 zones, 8 racks, 16 nodes, 128 GPUs",
        "the operator is ready",
        "PodCliqueSet chat applied",
        "11 pods created",
        "chat-0-cache is ready",
        "chat-0-prefill is ready",
        "chat-0-router is ready",
        "all 11 pods are ready",
        "zone-0",
        "zone-1",
        "kubeconfig: ",
        "kubectl get ",
        "grove status chat",
        "kubectl scale ",
    ];
    let mut lines = text.iter();
    for part in story {
        ensure!(lines.any(|it| it.contains(part)), "no {part:?} in its place:\n{}", text.join("\n"));
    }
    let picture = text.iter().skip_while(|it| *it != "zone-0").take_while(|it| !it.is_empty());
    let is_cell = |it: &char| it.is_ascii_uppercase();
    let of_line = |it: &String| it.split_whitespace().filter(|it| !it.starts_with('+')).collect::<String>();
    let cells: usize = picture.map(|it| of_line(it).chars().filter(is_cell).count()).sum();
    ensure!(cells == GPUS, "{cells} GPUs are drawn, not {GPUS}:\n{}", text.join("\n"));
    Ok(())
}

/// `grove status` tells the same, follows what changes, and says what is awaited; the picture is drawn again.
async fn status_is_told(up: &mut Program, folder: &Path) -> Result<()> {
    let kubeconfig = folder.join("admin.kubeconfig").display().to_string();
    // It tells what the operator has written, which follows the pods.
    eventually("the status is told", DEADLINE, || async {
        let shown = output("grove", &["status", "chat", "--kubeconfig", &kubeconfig]).await?;
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        let words = text.lines().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
        let is_told = words.into_iter().any(|it| it == "chat-0-prefill chat-0 2 of 2 2");
        ensure!(shown.status.success() && is_told, "status says: {text}");
        Ok(())
    })
    .await?;
    let missing = output("grove", &["status", "none", "--kubeconfig", &kubeconfig]).await?;
    ensure!(missing.status.code() == Some(1), "status of no set ends with {:?}", missing.status);

    let mut follow = Program::start("grove", &["status", "chat", "-w", "--kubeconfig", &kubeconfig])?;
    follow.until(|line| line.starts_with("chat-0-router")).await?;
    let groups: Api<PodCliqueScalingGroup> =
        Api::namespaced(client(Path::new(&kubeconfig)).await?, "default");
    // More than the racks hold.
    let patch = Patch::Merge(json!({ "spec": { "replicas": 8 } }));
    groups.patch_scale("chat-0-decode", &PatchParams::default(), &patch).await?;
    follow.until(|line| line.contains("pod: the scheduler cannot place it: 0/16 nodes")).await?;
    follow.end_by(Signal::KILL).await?;
    up.until(|line| line.contains("1 without a node")).await?;
    Ok(())
}

/// A program beside this one, and what it prints.
struct Program {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Program {
    fn start(name: &str, arguments: &[&str]) -> Result<Self> {
        let mut child = command(name, arguments)?.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let out = child.stdout.take().context("no output")?;
        Ok(Self { child, lines: BufReader::new(out).lines() })
    }

    /// What it prints until a line is as `wanted` says, with that line.
    async fn until(&mut self, wanted: impl Fn(&str) -> bool) -> Result<Vec<String>> {
        let mut text = Vec::new();
        let reading = async {
            while let Some(line) = self.lines.next_line().await? {
                text.push(line);
                if text.last().is_some_and(|it| wanted(it)) {
                    return Ok(true);
                }
            }
            Ok::<bool, std::io::Error>(false)
        };
        match timeout(DEADLINE, reading).await {
            Ok(Ok(true)) => Ok(text),
            Ok(result) => bail!("it ended ({result:?}) after:\n{}", text.join("\n")),
            Err(_) => bail!("it stays with:\n{}", text.join("\n")),
        }
    }

    /// Sends a signal and waits for its end: its exit code, or `None` if the signal ended it.
    async fn end_by(mut self, signal: Signal) -> Result<Option<i32>> {
        let pid = self.child.id().and_then(|it| i32::try_from(it).ok()).and_then(Pid::from_raw);
        kill_process(pid.context("it has ended by itself")?, signal)?;
        let status = timeout(DEADLINE, self.child.wait()).await.context("it does not end")??;
        Ok(status.code())
    }
}

async fn output(name: &str, arguments: &[&str]) -> Result<Output> {
    Ok(timeout(DEADLINE, command(name, arguments)?.output()).await.context("it does not end")??)
}

fn command(name: &str, arguments: &[&str]) -> Result<Command> {
    let program: PathBuf = std::env::current_exe()?.with_file_name(name);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    Ok(command)
}
