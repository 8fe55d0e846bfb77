//! Where the program is put together: Grove with the scheduler backends that it brings along.
//!
//! A program of one's own does the same with a backend more: `registry.register(…)?`.

use std::process::ExitCode;

fn main() -> ExitCode {
    grove::run(&grove_scheduler::builtin::builtin())
}
