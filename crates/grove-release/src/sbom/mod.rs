//! The bill of materials of a program, in CycloneDX: which crates it is made of, from where, and under which licences.
//!
//! Cargo says what that is (`cargo tree`, with the features of this very program), and `Cargo.lock` has the checksums.

mod document;
mod lock;
mod tree;

use std::{env, fs, process::Command};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{architecture::Architecture, compile::Folders, program::Program, source::Source};

/// The bill of `program` for `architecture`.
pub fn of(program: Program, architecture: Architecture, folders: &Folders, source: &Source) -> Result<Value> {
    let list = |edges: &str| {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["tree", "--locked", "--prefix", "depth", "--format", tree::FORMAT, "--edges", edges]);
        command
            .args(["--target", architecture.target()])
            .args(program.selection())
            .current_dir(&folders.root);
        let output = command.output().context("cannot run cargo tree")?;
        if !output.status.success() {
            bail!("cargo tree: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        tree::parse(&String::from_utf8(output.stdout).context("cargo tree printed no UTF-8")?)
    };
    let (built, linked) = (list("normal,build")?, list("normal,no-proc-macro")?);
    let lock = fs::read_to_string(folders.root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    document::of(source, &built, &linked, &lock::checksums(&lock)?)
}
