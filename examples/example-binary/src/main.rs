//! Grove with one more scheduler backend than it brings along: the line that registers it is all that it takes.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut registry = grove_scheduler::builtin::builtin();
    match registry.register(example_backend::HerdBackend) {
        Ok(()) => grove::run(&registry),
        Err(error) => {
            eprintln!("grove: {error}");
            ExitCode::from(2)
        }
    }
}
