//! The text files that git tracks.
//!
//! Only git knows which files are the project's and which are build output or a person's notes.

use std::fs;
use std::path::Path;
use std::process::Command;

/// One file of the repository.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// Relative to the root of the workspace, with `/` between its parts.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl TextFile {
    /// Whether it has a function of that name, in any of its modules.
    pub(crate) fn defines(&self, function: &str) -> bool {
        let starts = |after: char| self.text.contains(&format!("fn {function}{after}"));
        starts('(') || starts('<')
    }
}

/// Reads every tracked text file below `root`. Anything but a git checkout is an error.
pub(crate) fn load(root: &Path) -> Result<Vec<TextFile>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git ls-files: {error}"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git ls-files failed: {}", stderr.trim()));
    }
    let paths = split(&output.stdout)?;
    if paths.is_empty() {
        return Err(format!("git tracks no file in {}, so there is nothing to check", root.display()));
    }
    let mut files = Vec::new();
    for path in paths {
        if let Some(text) = read(&root.join(&path)).map_err(|error| format!("{path}: {error}"))? {
            files.push(TextFile { path, text });
        }
    }
    Ok(files)
}

/// Splits NUL-separated paths. They are sorted, because an unmerged path is listed once for each side.
fn split(listing: &[u8]) -> Result<Vec<String>, String> {
    let listing = str::from_utf8(listing).map_err(|_| "git tracks a path that is not UTF-8".to_owned())?;
    let mut paths: Vec<String> = listing.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// The text of a file, or nothing for what is not text: binaries, symbolic links, submodules, and files that
/// are deleted here but not yet in git.
fn read(path: &Path) -> std::io::Result<Option<String>> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(as_text(fs::read(path)?)),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn as_text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_split_at_nul_and_listed_once() {
        assert_eq!(split(b"b c.rs\0a.rs\0a.rs\0").unwrap(), ["a.rs", "b c.rs"]);
        assert_eq!(split(b"").unwrap(), Vec::<String>::new());
        assert!(split(b"\xff\0").is_err());
    }

    #[test]
    fn functions_are_found_by_their_whole_name() {
        let text = "fn plain() {}\nasync fn generic<T>() {}\n// fn in_words\n".to_owned();
        let file = TextFile { path: "a.rs".to_owned(), text };
        assert!(file.defines("plain") && file.defines("generic"));
        assert!(!file.defines("plai") && !file.defines("lain") && !file.defines("in_words"));
    }

    #[test]
    fn binaries_are_not_text() {
        assert_eq!(as_text(b"fn main() {}\n".to_vec()).as_deref(), Some("fn main() {}\n"));
        assert_eq!(as_text(b"a\0b".to_vec()), None);
        assert_eq!(as_text(b"\xff\xfe".to_vec()), None);
    }

    #[test]
    fn what_is_not_a_file_is_left_out() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(read(&here.join("Cargo.toml")).unwrap().is_some());
        assert!(read(&here.join("src")).unwrap().is_none());
        assert!(read(&here.join("no-such-file")).unwrap().is_none());
    }
}
