//! The one layer of an image: the program and its licence, of which nothing may be changed by the user that runs it.

use std::io::Write;

use anyhow::{Context, Result};
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::Details;

/// The folder of programs: in the `PATH` of every image.
pub const PROGRAMS: &str = "usr/local/bin";
/// Where OpenShift looks for licences.
const LICENCE: &str = "licenses/LICENSE";

/// The layer as a tar archive: its entries in order, all of them of root and of the time of the commit.
pub fn tar(details: &Details, licence: &[u8], program: &[u8]) -> Result<Vec<u8>> {
    let binary = format!("{PROGRAMS}/{}", details.program);
    let entries: [(&str, Option<&[u8]>, u32); 6] = [
        ("licenses/", None, 0o755),
        (LICENCE, Some(licence), 0o644),
        ("usr/", None, 0o755),
        ("usr/local/", None, 0o755),
        ("usr/local/bin/", None, 0o755),
        // OpenShift chooses a user and tells nobody before: everybody may run it.
        (&binary, Some(program), 0o755),
    ];
    let mut archive = Builder::new(Vec::new());
    for (path, content, mode) in entries {
        append(&mut archive, path, content, mode, details.seconds)?;
    }
    archive.into_inner().context("cannot write the layer")
}

/// Adds a file, or a folder if there is no content. Every field of the header is given here, and none taken from the machine.
pub(crate) fn append(
    archive: &mut Builder<Vec<u8>>,
    path: &str,
    content: Option<&[u8]>,
    mode: u32,
    seconds: u64,
) -> Result<()> {
    let bytes = content.unwrap_or_default();
    let mut header = Header::new_ustar();
    header.set_path(path).with_context(|| format!("cannot store {path}"))?;
    header.set_entry_type(if content.is_some() { EntryType::Regular } else { EntryType::Directory });
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(seconds);
    header.set_size(u64::try_from(bytes.len())?);
    header.set_cksum();
    archive.append(&header, bytes).with_context(|| format!("cannot store {path}"))
}

/// Compresses without the time and the system in the header.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    /// "Unknown", in RFC 1952.
    const SYSTEM: u8 = 255;
    let mut writer =
        GzBuilder::new().mtime(0).operating_system(SYSTEM).write(Vec::new(), Compression::best());
    writer.write_all(bytes)?;
    Ok(writer.finish()?)
}
