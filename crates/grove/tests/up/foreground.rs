//! `grove up` in the foreground, as in a terminal: what it prints, and Ctrl-C.

use std::{
    env,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use crate::{Folder, command, kubectl::KUBECTL, root};

/// Ends the test where nothing is printed any more.
const TIMEOUT: Duration = Duration::from_mins(3);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(10);

/// A cluster that runs. One that is not interrupted ends with the test.
pub(crate) struct Foreground {
    child: Child,
    lines: Receiver<String>,
}

impl Foreground {
    pub(crate) fn start(folder: &Folder, arguments: &[&str]) -> Self {
        let folder = folder.0.display().to_string();
        let mut command = command(&["up", "--folder", &folder]);
        let mut child = command.args(arguments).stderr(Stdio::inherit()).spawn().unwrap();
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// What is printed up to a line with this.
    pub(crate) fn read_until(&self, part: &str) -> String {
        let mut printed = String::new();
        while !printed.lines().any(|it| it.contains(part)) {
            let line = self.lines.recv_timeout(TIMEOUT);
            let line = line.unwrap_or_else(|error| panic!("{error} before {part:?}:\n{printed}"));
            printed.extend([line.as_str(), "\n"]);
        }
        printed
    }

    /// Closes its output: the exit code.
    pub(crate) fn read_no_more(mut self) -> Option<i32> {
        // The thread that reads ends with the next line.
        drop(std::mem::replace(&mut self.lines, channel().1));
        let end = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "it goes on");
            thread::sleep(PAUSE);
        }
    }

    /// Ctrl-C: what is printed then, and the exit code.
    pub(crate) fn interrupt(self) -> (String, Option<i32>) {
        self.end("-INT")
    }

    /// Likewise, by this signal.
    pub(crate) fn end(mut self, signal: &str) -> (String, Option<i32>) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success(), "it has ended before");
        let mut printed = String::new();
        // Its output ends with it.
        loop {
            match self.lines.recv_timeout(TIMEOUT) {
                Ok(line) => printed.extend([line.as_str(), "\n"]),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("{signal} does not end it"),
            }
        }
        (printed, self.child.wait().unwrap().code())
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        // One that has ended cannot be killed.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs a line as a reader of the advice would, who has kubectl on the PATH.
pub(crate) fn in_shell(folder: &Folder, line: &str) -> Output {
    let kubectl = env::var_os(KUBECTL).map(PathBuf::from);
    let path = env::var_os("PATH").unwrap_or_default();
    let programs = env::split_paths(&path).chain(kubectl.and_then(|it| Some(it.parent()?.to_owned())));
    let script = format!(". '{}' && {line}", folder.0.join("env").display());
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env("PATH", env::join_paths(programs).unwrap()).env_remove("KUBECONFIG");
    shell.current_dir(root()).stdin(Stdio::null()).output().unwrap()
}
