//! The folder of a release: its checksums, in the form that `sha256sum --check` reads.

use std::{fmt::Write, fs, path::Path};

use anyhow::{Context, Result, ensure};

use crate::{image::layout, sha256};

/// Name of the file with the checksums.
pub const SUMS: &str = "SHA256SUMS";

/// Writes the checksums of all files in `folder`, whoever put them there, and returns how many there are.
pub fn write_sums(folder: &Path) -> Result<usize> {
    let mut files = layout::load(folder)?;
    files.remove(SUMS);
    ensure!(!files.is_empty(), "{} is empty", folder.display());
    let mut lines = String::new();
    for (path, bytes) in &files {
        let _ = writeln!(lines, "{}  {path}", sha256::hex(bytes));
    }
    let path = folder.join(SUMS);
    fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(files.len())
}
