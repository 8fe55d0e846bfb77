//! The init container of pods that start in order: it ends when the pod may start.
//!
//! Whether it may is for the operator to say, by an annotation of the pod. The kubelet writes the annotation's value to a
//! file; here is who reads it. No network, no credentials, nothing to configure.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use grove_initc::{
    arguments::{Arguments, HELP, parse},
    wait::{Ending, Surroundings, wait},
};
use signal_hook::consts::{SIGINT, SIGTERM};

fn main() -> ExitCode {
    let (parents, file) = match parse(std::env::args().skip(1)) {
        Ok(Arguments::Wait { parents, file }) => (parents, file),
        Ok(Arguments::Help) => return print(HELP),
        Ok(Arguments::Version) => return print(concat!("grove-initc ", env!("CARGO_PKG_VERSION"), "\n")),
        Err(error) => return fail(&error.to_string()),
    };
    match Process::new(&file) {
        Err(error) => fail(&format!("signals: {error}")),
        Ok(mut process) => match wait(&parents, &mut process) {
            Ending::MayStart => ExitCode::SUCCESS,
            Ending::ToldToEnd => ExitCode::FAILURE,
        },
    }
}

fn print(text: &str) -> ExitCode {
    // Who closed the pipe does not want it.
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}

fn fail(text: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {text}");
    ExitCode::FAILURE
}

/// The world as it is.
struct Process {
    file: PathBuf,
    started: Instant,
    told_to_end: Arc<AtomicBool>,
}

impl Process {
    fn new(file: &Path) -> io::Result<Self> {
        let told_to_end = Arc::default();
        for signal in [SIGTERM, SIGINT] {
            signal_hook::flag::register(signal, Arc::clone(&told_to_end))?;
        }
        Ok(Self { file: file.to_owned(), started: Instant::now(), told_to_end })
    }
}

impl Surroundings for Process {
    fn read(&mut self) -> io::Result<String> {
        std::fs::read_to_string(&self.file)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.file.display())))
    }

    fn told_to_end(&self) -> bool {
        self.told_to_end.load(Ordering::Relaxed)
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn pause(&mut self, time: Duration) {
        thread::sleep(time);
    }

    fn say(&mut self, line: &str) {
        // A log that cannot be written is no reason not to start.
        let _ = writeln!(io::stderr(), "{line}");
    }
}
