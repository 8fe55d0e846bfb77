//! `--detach`: the cluster runs in a process of its own. Its standard input is a socket to the process that started it.
//!
//! ```text
//! waiting process                          process of the cluster
//!   starts it ──────────────────────────►  takes the folder; else it says why and ends
//!          ◄──────────────────── TAKEN ──  writes to output.log from now on
//!          ◄──────────────────── READY ──  the socket means nothing any more
//!   prints output.log and ends
//! ```
//!
//! Before READY, the end of either one is the end of the other, too.

use std::{
    ffi::OsString,
    fs::{self, File},
    io,
    os::{
        fd::OwnedFd,
        unix::{net, process::CommandExt as _},
    },
    path::Path,
    process::Command,
    time::Duration,
};

use grove_runtime::shutdown;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::advice::{STOP, shown};
use crate::{cli::Outcome, cluster::block_on, program::complain};

const OUTPUT: &str = "output.log";
/// Longer than `grove up` waits for its sample.
const TIMEOUT: Duration = Duration::from_mins(3);
/// The folder is ours, and so is the file with the output.
const TAKEN: u8 = b't';
const READY: u8 = b'r';

/// Starts this program again with `arguments`, and waits until its cluster is ready.
pub(super) fn start(folder: &Path, arguments: &[OsString]) -> io::Result<Outcome> {
    block_on(async {
        let stop = shutdown::on_signal()?;
        let (socket, of_child) = net::UnixStream::pair()?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("up").args(arguments).stdin(OwnedFd::from(of_child));
        // Ctrl-C in this terminal is not meant for it.
        let mut child = command.process_group(0).spawn()?;
        // With the other end of the socket.
        drop(command);
        socket.set_nonblocking(true)?;
        let mut socket = UnixStream::from_std(socket)?;
        let mut is_taken = false;
        let waiting = timeout(TIMEOUT, is_ready(&mut socket, &mut is_taken));
        let waited = stop.run_until_cancelled(waiting).await;
        // It stops if it is not ready.
        drop(socket);
        let path = folder.join(OUTPUT);
        if let Some(Ok(true)) = waited {
            print_output(&path, folder)?;
            return Ok(Outcome::Success);
        }
        let status = tokio::task::spawn_blocking(move || child.wait()).await.map_err(io::Error::other)??;
        if waited.is_none() {
            anstream::println!("Stopped.");
            return Ok(Outcome::Success);
        }
        if is_taken {
            anstream::eprint!("{}", fs::read_to_string(&path)?);
            complain(format_args!("the cluster did not start; see {}", shown(&path)));
            return Ok(Outcome::Findings);
        }
        // It said why itself.
        Ok(if status.code() == Some(2) { Outcome::Unusable } else { Outcome::Findings })
    })
}

/// Resolves to `false` when the other process ended before.
async fn is_ready(socket: &mut UnixStream, is_taken: &mut bool) -> bool {
    loop {
        match socket.read_u8().await {
            Ok(READY) => return true,
            Ok(_) => *is_taken = true,
            Err(_) => return false,
        }
    }
}

fn print_output(output: &Path, folder: &Path) -> io::Result<()> {
    let printed = fs::read_to_string(output)?;
    // Ctrl-C does not reach a process in the background.
    let ended = format!("{STOP}\n");
    anstream::print!("{}", printed.strip_suffix(&ended).unwrap_or(&printed));
    anstream::println!("It runs in the background; stop it with: grove down --folder {}", shown(folder));
    Ok(())
}

/// The process that waits for this one.
pub(super) struct Waiting(net::UnixStream);

impl Waiting {
    /// What is printed from now on goes into a file. The folder must be held.
    pub(super) fn redirect(folder: &Path) -> io::Result<Self> {
        let output = File::create(folder.join(OUTPUT))?;
        rustix::stdio::dup2_stdout(&output)?;
        rustix::stdio::dup2_stderr(&output)?;
        let socket = net::UnixStream::from(rustix::stdio::stdin().try_clone_to_owned()?);
        let nothing = File::open("/dev/null")?;
        rustix::stdio::dup2_stdin(&nothing)?;
        io::Write::write_all(&mut &socket, &[TAKEN])?;
        socket.set_nonblocking(true)?;
        Ok(Self(socket))
    }

    /// Says that the cluster can be used when `ready` is cancelled; until then, the end of the other process cancels `stop`.
    pub(super) async fn attend(self, ready: CancellationToken, stop: CancellationToken) -> io::Result<()> {
        let mut socket = UnixStream::from_std(self.0)?;
        tokio::select! {
            () = ready.cancelled() => socket.write_u8(READY).await?,
            _ = socket.read_u8() => stop.cancel(),
        }
        Ok(())
    }
}
