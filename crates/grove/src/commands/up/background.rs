//! `--detach`: the cluster runs in a process of its own.

use std::{
    fs::{self, File},
    io,
    os::unix::process::CommandExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use super::advice::{STOP, shown};
use crate::{cli::Outcome, local, program::complain};

const OUTPUT: &str = "output.log";
/// Longer than `grove up` waits for its sample.
const TIMEOUT: Duration = Duration::from_mins(3);
const PAUSE: Duration = Duration::from_millis(50);

/// Starts this program again with `arguments`, and waits until its cluster is ready.
pub(super) fn start(folder: &Path, arguments: &[String]) -> io::Result<Outcome> {
    local::create_folder(folder)?;
    let ready = local::ready(folder);
    match fs::remove_file(&ready) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let path = folder.join(OUTPUT);
    let output = File::create(&path)?;
    let mut child = Command::new(std::env::current_exe()?)
        .arg("up")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        // Ctrl-C in this terminal is not meant for it.
        .process_group(0)
        .spawn()?;
    let is_up = wait(&mut child, &ready)?;
    let printed = fs::read_to_string(&path)?;
    if is_up {
        // Ctrl-C does not reach a process in the background.
        let ended = format!("{STOP}\n");
        anstream::print!("{}", printed.strip_suffix(&ended).unwrap_or(&printed));
        anstream::println!("It runs in the background; stop it with: grove down --folder {}", shown(folder));
        return Ok(Outcome::Success);
    }
    anstream::eprint!("{printed}");
    complain(format_args!("the cluster did not start; see {}", path.display()));
    Ok(Outcome::Findings)
}

/// Whether it became ready. It is ended if it does not within the limit.
fn wait(child: &mut Child, ready: &Path) -> io::Result<bool> {
    let end = Instant::now() + TIMEOUT;
    while !ready.exists() {
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        if Instant::now() >= end {
            child.kill()?;
            return Ok(false);
        }
        sleep(PAUSE);
    }
    Ok(true)
}
