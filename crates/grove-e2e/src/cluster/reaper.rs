//! Starts programs in a process of its own, and ends them when we end, however we end.
//!
//! The reaper is this same executable. It is the parent of every program and reads orders from a pipe. When the pipe is
//! closed, because we finished, failed or were killed, it ends all of them. Nothing is between starting a program and
//! knowing of it, so none is lost.

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::{BufRead, Write as _},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Stdio},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::ChildStdin,
    sync::{mpsc, watch},
};

use super::last_words::last_words;

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
    /// Its process id, which is also that of its group.
    pub pid: u32,
}

#[derive(Serialize, Deserialize)]
enum Order {
    Run(Command),
    Stop(u32),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Answer {
    Started(u32),
    Stopped,
    Failed(String),
    /// Not an answer to an order: a program ended by itself, with this code; `None` if by a signal.
    Exited(u32, Option<i32>),
}

/// Our end of the pipe.
pub struct Reaper {
    child: tokio::sync::Mutex<tokio::process::Child>,
    /// One order at a time, so that answers belong to orders.
    pipe: tokio::sync::Mutex<Pipe>,
    /// Programs that ended by themselves, with their exit codes.
    exited: watch::Receiver<BTreeMap<u32, Option<i32>>>,
    /// Programs that are expected to go on: name, process, log.
    lasting: Mutex<Vec<(Process, PathBuf)>>,
}

struct Pipe {
    orders: Option<ChildStdin>,
    answers: mpsc::UnboundedReceiver<Answer>,
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
        let mut lines = BufReader::new(child.stdout.take().context("the reaper has no output")?).lines();
        let (answer, answers) = mpsc::unbounded_channel();
        let (exit, exited) = watch::channel(BTreeMap::new());
        tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let told: Answer =
                    serde_json::from_str(&line).unwrap_or_else(|error| Answer::Failed(error.to_string()));
                exit.send_if_modified(|ended| remember(ended, &told));
                if !matches!(told, Answer::Exited(..)) {
                    drop(answer.send(told));
                }
            }
        });
        let pipe = tokio::sync::Mutex::new(Pipe { orders, answers });
        Ok(Self { child: tokio::sync::Mutex::new(child), pipe, exited, lasting: Mutex::default() })
    }

    /// Starts a program that goes on until it is stopped.
    pub(crate) async fn run(&self, command: Command) -> Result<Process> {
        let log = command.log.clone();
        let process = self.spawn(command).await?;
        lock(&self.lasting).push((process.clone(), log));
        Ok(process)
    }

    /// Runs a program to its end: its exit code, or `None` if a signal ended it.
    pub(crate) async fn complete(&self, command: Command) -> Result<Option<i32>> {
        let process = self.spawn(command).await?;
        self.ended(&process).await
    }

    /// Starts a program that may end when it likes.
    pub(crate) async fn spawn(&self, command: Command) -> Result<Process> {
        let name = command.name.clone();
        match self.order(&Order::Run(command)).await? {
            Answer::Started(pid) => Ok(Process { name, pid }),
            Answer::Failed(text) => bail!("cannot start {name}: {text}"),
            other => bail!("the reaper is confused: {other:?}"),
        }
    }

    pub(super) async fn stop(&self, process: &Process) -> Result<()> {
        lock(&self.lasting).retain(|(it, _)| it.pid != process.pid);
        match self.order(&Order::Stop(process.pid)).await? {
            Answer::Stopped => Ok(()),
            other => bail!("cannot stop {}: {other:?}", process.name),
        }
    }

    /// Sends a signal to a program that was to go on, and waits for its end: its exit code, or `None` if the signal ended
    /// it.
    pub(crate) async fn end_by(&self, process: &Process, signal: Signal) -> Result<Option<i32>> {
        lock(&self.lasting).retain(|(it, _)| it.pid != process.pid);
        if let Some(group) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) {
            // It may have ended by itself.
            let _ = kill_process_group(group, signal);
        }
        self.ended(process).await
    }

    /// Waits for the end of a program: its exit code, or `None` if a signal ended it.
    pub(crate) async fn ended(&self, process: &Process) -> Result<Option<i32>> {
        let mut exited = self.exited.clone();
        let all =
            exited.wait_for(|all| all.contains_key(&process.pid)).await.context("the reaper has ended")?;
        Ok(all.get(&process.pid).copied().flatten())
    }

    /// Fails if a program that should go on has ended.
    pub(crate) fn check(&self) -> Result<()> {
        let exited = self.exited.borrow();
        for (process, log) in lock(&self.lasting).iter() {
            if let Some(code) = exited.get(&process.pid) {
                let words = last_words(log);
                bail!("{} has ended ({code:?}); see {}{words}", process.name, log.display());
            }
        }
        Ok(())
    }

    /// Waits until a program that should go on has ended, and tells which.
    pub(super) async fn until_one_ends(&self) -> anyhow::Error {
        let mut exited = self.exited.clone();
        loop {
            if let Err(error) = self.check() {
                return error;
            }
            if exited.changed().await.is_err() {
                return anyhow::anyhow!("the reaper has ended");
            }
        }
    }

    /// Ends everything and waits for it. Whoever else still holds the reaper is told by its next order.
    pub(super) async fn finish(&self) -> Result<()> {
        drop(self.pipe.lock().await.orders.take());
        self.child.lock().await.wait().await?;
        Ok(())
    }

    async fn order(&self, order: &Order) -> Result<Answer> {
        let mut pipe = self.pipe.lock().await;
        let orders = pipe.orders.as_mut().context("the reaper was told to finish")?;
        orders.write_all(format!("{}\n", serde_json::to_string(order)?).as_bytes()).await?;
        orders.flush().await?;
        pipe.answers.recv().await.context("the reaper has ended")
    }
}

/// Keeps who has ended; says whether that has changed. Numbers of processes are used again: what is known of one that has
/// just started is of another that had its number before.
fn remember(ended: &mut BTreeMap<u32, Option<i32>>, told: &Answer) -> bool {
    match told {
        Answer::Exited(pid, code) => {
            ended.insert(*pid, *code);
            true
        }
        Answer::Started(pid) => ended.remove(pid).is_some(),
        Answer::Stopped | Answer::Failed(_) => false,
    }
}

type Children = Arc<Mutex<Vec<Child>>>;

/// The reaper process itself: follows orders until the pipe is closed, then ends everything.
pub fn reap() -> Result<()> {
    let children: Children = Arc::default();
    // Collects programs that end by themselves, and tells.
    let collected = Arc::clone(&children);
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(20));
            lock(&collected).retain_mut(|child| match child.try_wait() {
                Ok(Some(status)) => {
                    // Nobody may be listening any more; then the pipe is closed too.
                    let _ = tell(&Answer::Exited(child.id(), status.code()));
                    false
                }
                _ => true,
            });
        }
    });
    for line in std::io::stdin().lock().lines() {
        // The pipe is closed, or nobody reads the answers: either way we are alone.
        let Ok(line) = line else { break };
        let answer = match serde_json::from_str(&line) {
            Ok(Order::Run(command)) => {
                // Held, so that the end of a program is never told before its start.
                let mut all = lock(&children);
                match spawn(&command) {
                    Ok(child) => {
                        let started = tell(&Answer::Started(child.id()));
                        all.push(child);
                        if started.is_err() {
                            break;
                        }
                        continue;
                    }
                    Err(error) => Answer::Failed(format!("{error:#}")),
                }
            }
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
        if tell(&answer).is_err() {
            break;
        }
    }
    end(std::mem::take(&mut *lock(&children)), END_GRACE);
    Ok(())
}

fn tell(answer: &Answer) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(answer)?)?;
    out.flush()?;
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn spawn(command: &Command) -> Result<Child> {
    // A program that is started again goes on in its log.
    let log = OpenOptions::new().create(true).append(true).open(&command.log);
    let log = log.with_context(|| command.log.display().to_string())?;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that is started with the number of one that has ended has not ended.
    #[test]
    fn numbers_are_used_again() {
        let mut ended = BTreeMap::new();
        assert!(remember(&mut ended, &Answer::Exited(7, Some(1))));
        assert!(!remember(&mut ended, &Answer::Started(8)));
        assert_eq!(ended, BTreeMap::from([(7, Some(1))]));
        assert!(remember(&mut ended, &Answer::Started(7)));
        assert_eq!(ended, BTreeMap::new());
    }
}
