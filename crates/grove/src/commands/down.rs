//! `grove down`: ends what `grove up` started.

use std::{
    io,
    path::PathBuf,
    thread::sleep,
    time::{Duration, Instant},
};

use clap::Args;
use rustix::process::{Pid, Signal, kill_process};

use crate::{cli::Outcome, local::Folder, program::complain};

const TIMEOUT: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(20);

/// Stop the cluster that `grove up` started.
#[derive(Args)]
#[command(after_help = "Example:\n  grove down")]
pub(crate) struct Down {
    /// Folder of the cluster [default: $XDG_STATE_HOME/grove/up].
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Down {
    pub(crate) fn run(self) -> io::Result<Outcome> {
        let folder = Folder::chosen(self.folder)?;
        let Some(holder) = Folder::holder(&folder)? else {
            anstream::println!("no cluster is running in {}", folder.display());
            return Ok(Outcome::Success);
        };
        let Some(pid) = holder.pid.and_then(Pid::from_raw) else {
            complain(format_args!("the cluster in {} is just starting; try again", folder.display()));
            return Ok(Outcome::Findings);
        };
        kill_process(pid, Signal::TERM)?;
        let end = Instant::now() + TIMEOUT;
        // The lock is released when the process has ended, however it ends.
        while Folder::holder(&folder)?.is_some() {
            if Instant::now() >= end {
                complain(format_args!(
                    "process {pid} has not ended after {TIMEOUT:?}; end it with: kill -9 {pid}"
                ));
                return Ok(Outcome::Findings);
            }
            sleep(PAUSE);
        }
        anstream::println!("Stopped.");
        Ok(Outcome::Success)
    }
}
