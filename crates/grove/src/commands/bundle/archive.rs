//! The archive: a folder in a tar file, compressed with gzip.

use std::{collections::BTreeMap, io};

use flate2::{Compression, write::GzEncoder};
use tar::{Builder, EntryType, Header};

/// Packs files by their paths into a folder of this name. All have the time `seconds`.
pub(super) fn pack(folder: &str, files: &BTreeMap<String, String>, seconds: u64) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, text) in files {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Regular);
        header.set_mode(0o644);
        header.set_mtime(seconds);
        header.set_size(text.len() as u64);
        archive.append_data(&mut header, format!("{folder}/{path}"), text.as_bytes())?;
    }
    archive.into_inner()?.finish()
}

#[cfg(test)]
pub(super) mod tests {
    use flate2::read::GzDecoder;
    use tar::Archive;

    use super::*;

    /// What `pack` packed.
    pub(in crate::commands::bundle) fn unpacked(bytes: &[u8]) -> BTreeMap<String, String> {
        let mut archive = Archive::new(GzDecoder::new(bytes));
        let mut files = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            files.insert(path, io::read_to_string(&mut entry).unwrap());
        }
        files
    }

    #[test]
    fn files_come_back() {
        let long = format!("operator/logs/{}/c.log", "p".repeat(253));
        let files =
            BTreeMap::from([("README.txt".to_owned(), "ä\n".to_owned()), (long.clone(), String::new())]);
        let packed = pack("grove", &files, 1_800_000_000).unwrap();
        let want = BTreeMap::from([
            ("grove/README.txt".to_owned(), "ä\n".to_owned()),
            (format!("grove/{long}"), String::new()),
        ]);
        assert_eq!(unpacked(&packed), want);
        assert_eq!(
            pack("grove", &files, 1_800_000_000).unwrap(),
            packed,
            "the same files give the same bytes"
        );
    }
}
