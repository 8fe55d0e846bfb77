//! Starts programs in a process of its own, and ends them when we end, however we end.
//!
//! The reaper is this same executable. It is the parent of every program and reads orders from a pipe. When the pipe is
//! closed, because we finished, failed or were killed, it ends all of them. Nothing is between starting a program and
//! knowing of it, so none is lost.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, Write as _},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};

/// How long a program that is stopped may take to end.
const STOP_GRACE: Duration = Duration::from_secs(5);
/// How long all may take at the end. An API server takes a minute to drain; here nobody waits for it.
const END_GRACE: Duration = Duration::from_millis(300);

/// A program to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Command {
    /// What to call it, and its log.
    pub name: String,
    /// The executable.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables added to its environment.
    pub environment: BTreeMap<String, String>,
    /// Where it runs and finds relative paths.
    pub folder: PathBuf,
    /// Where its output goes.
    pub log: PathBuf,
}

/// A program that was started.
#[derive(Clone, Debug)]
pub struct Process {
    /// What it is called.
    pub name: String,
    pid: u32,
}

#[derive(Serialize, Deserialize)]
enum Order {
    Run(Command),
    Stop(u32),
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Started(u32),
    Stopped,
    Failed(String),
}

/// Our end of the pipe.
pub struct Reaper {
    child: tokio::process::Child,
    orders: Option<tokio::process::ChildStdin>,
    answers: Lines<BufReader<tokio::process::ChildStdout>>,
    /// Programs that ended although nobody asked them to: name and log.
    running: Vec<(Process, PathBuf)>,
}

impl Reaper {
    /// Starts the reaper process.
    pub fn start() -> Result<Self> {
        let mut child = tokio::process::Command::new(std::env::current_exe()?)
            .arg("reaper")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // A group of its own: Ctrl-C in a terminal must not reach it before its work is done.
            .process_group(0)
            .spawn()
            .context("cannot start the reaper")?;
        let orders = child.stdin.take();
        let answers = child.stdout.take().context("the reaper has no output")?;
        Ok(Self { child, orders, answers: BufReader::new(answers).lines(), running: Vec::new() })
    }

    pub(super) async fn run(&mut self, command: Command) -> Result<Process> {
        let (name, log) = (command.name.clone(), command.log.clone());
        match self.order(&Order::Run(command)).await? {
            Answer::Started(pid) => {
                let process = Process { name, pid };
                self.running.push((process.clone(), log));
                Ok(process)
            }
            Answer::Failed(text) => bail!("cannot start {name}: {text}"),
            Answer::Stopped => bail!("the reaper is confused"),
        }
    }

    pub(super) async fn stop(&mut self, process: &Process) -> Result<()> {
        self.running.retain(|(it, _)| it.pid != process.pid);
        match self.order(&Order::Stop(process.pid)).await? {
            Answer::Stopped => Ok(()),
            Answer::Failed(text) => bail!("cannot stop {}: {text}", process.name),
            Answer::Started(_) => bail!("the reaper is confused"),
        }
    }

    /// Fails if a program has ended by itself.
    pub(super) fn check(&self) -> Result<()> {
        for (process, log) in &self.running {
            // The reaper collects a program that ended, so that its process is gone.
            if !PathBuf::from(format!("/proc/{}", process.pid)).exists() {
                bail!("{} has ended; see {}", process.name, log.display());
            }
        }
        Ok(())
    }

    pub(super) async fn finish(mut self) -> Result<()> {
        drop(self.orders.take());
        self.child.wait().await?;
        Ok(())
    }

    async fn order(&mut self, order: &Order) -> Result<Answer> {
        let orders = self.orders.as_mut().context("the reaper was told to finish")?;
        orders.write_all(format!("{}\n", serde_json::to_string(order)?).as_bytes()).await?;
        orders.flush().await?;
        let line = self.answers.next_line().await?.context("the reaper has ended")?;
        Ok(serde_json::from_str(&line)?)
    }
}

type Children = Arc<Mutex<Vec<Child>>>;

/// The reaper process itself: follows orders until the pipe is closed, then ends everything.
pub fn reap() -> Result<()> {
    let children: Children = Arc::default();
    // Collects programs that end by themselves.
    let collected = Arc::clone(&children);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(100));
            lock(&collected).retain_mut(|it| !matches!(it.try_wait(), Ok(Some(_))));
        }
    });
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        // The pipe is closed, or nobody reads the answers: either way we are alone.
        let Ok(line) = line else { break };
        let answer = match serde_json::from_str(&line) {
            Ok(Order::Run(command)) => match spawn(&command) {
                Ok(child) => {
                    let pid = child.id();
                    lock(&children).push(child);
                    Answer::Started(pid)
                }
                Err(error) => Answer::Failed(format!("{error:#}")),
            },
            Ok(Order::Stop(pid)) => {
                let mut all = lock(&children);
                let (stop, keep) = std::mem::take(&mut *all).into_iter().partition(|it| it.id() == pid);
                *all = keep;
                drop(all);
                end(stop, STOP_GRACE);
                Answer::Stopped
            }
            Err(error) => Answer::Failed(error.to_string()),
        };
        if writeln!(answers, "{}", serde_json::to_string(&answer)?).and_then(|()| answers.flush()).is_err() {
            break;
        }
    }
    end(std::mem::take(&mut *lock(&children)), END_GRACE);
    Ok(())
}

fn lock(children: &Children) -> std::sync::MutexGuard<'_, Vec<Child>> {
    children.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(command: &Command) -> Result<Child> {
    let log = File::create(&command.log).with_context(|| command.log.display().to_string())?;
    std::process::Command::new(&command.program)
        .args(&command.arguments)
        .envs(&command.environment)
        .current_dir(&command.folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        // The whole group is ended, with what the program may have started.
        .process_group(0)
        .spawn()
        .with_context(|| command.program.display().to_string())
}

/// Ends programs, the last started first, all within one grace period.
fn end(mut children: Vec<Child>, grace: Duration) {
    let deadline = Instant::now() + grace;
    children.reverse();
    for child in &children {
        signal(child, Signal::TERM);
    }
    while !children.is_empty() && Instant::now() < deadline {
        children.retain_mut(|it| !matches!(it.try_wait(), Ok(Some(_))));
        std::thread::sleep(Duration::from_millis(20));
    }
    for child in &mut children {
        signal(child, Signal::KILL);
        // Killed, so it ends.
        let _ = child.wait();
    }
}

fn signal(child: &Child, signal: Signal) {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process_group(pid, signal);
    }
}
