//! A copy of the sources in which guards are taken away. Nothing is ever changed where a person works.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::table::Guard;

/// Builds the crates of the copy without debug information.
///
/// The copy is built into the target folder of the workspace, so that third-party crates are not compiled again. Cargo tells the
/// crates of two copies of a workspace apart by their settings alone: with equal settings it would take a crate without its guard
/// for the crate itself.
pub(crate) const APART: (&str, &str) = ("CARGO_PROFILE_DEV_DEBUG", "0");

/// The copy, and where it is built.
pub(crate) struct Scratch {
    pub(crate) tree: PathBuf,
    /// That of the workspace itself: what both have in common, all of third parties, is built already.
    pub(crate) build: PathBuf,
    /// Held for as long as the copy is used: two at a time would change each other's.
    _lock: File,
}

impl Scratch {
    /// Copies what git knows of `root`, also what is not committed yet. What is equal already is left alone, so that cargo
    /// does not build it again; what an earlier run left changed is put right.
    pub(crate) fn copy(root: &Path, target: &Path) -> Result<Self, String> {
        let manifest = root.join("Cargo.toml");
        let manifest = fs::read_to_string(&manifest)
            .map_err(|error| format!("cannot read {}: {error}", manifest.display()))?;
        is_apart(&manifest)?;
        let folder = target.join("guards");
        let (tree, build) = (folder.join("tree"), target.to_owned());
        let cannot = |error: io::Error| format!("cannot copy the sources to {}: {error}", tree.display());
        fs::create_dir_all(&tree).map_err(cannot)?;
        let lock = File::create(folder.join("lock")).map_err(cannot)?;
        lock.try_lock().map_err(|_| format!("somebody else works in {}", folder.display()))?;
        let paths = listed(root)?;
        for path in &paths {
            let wanted = match fs::read(root.join(path)) {
                Ok(wanted) => wanted,
                // Deleted, and git does not know yet.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(cannot(error)),
            };
            write(&tree.join(path), &wanted).map_err(cannot)?;
        }
        let kept: BTreeSet<PathBuf> =
            paths.iter().filter(|it| root.join(it).exists()).map(|it| tree.join(it)).collect();
        remove_others(&tree, &kept).map_err(cannot)?;
        Ok(Self { tree, build, _lock: lock })
    }

    /// Takes a guard away for as long as `attempt` takes.
    pub(crate) fn without<T>(
        &self,
        guard: &Guard,
        attempt: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        let path = self.tree.join(&guard.file);
        let cannot = |error: io::Error| format!("cannot change {}: {error}", guard.file);
        let before = fs::read_to_string(&path).map_err(cannot)?;
        let Some(mutation) = &guard.mutation else {
            return Err("it says nothing to replace".to_owned());
        };
        let after = mutation.apply(&before).map_err(|times| {
            format!("the text to replace is {times} times in {}, and not once", guard.file)
        })?;
        fs::write(&path, after).map_err(cannot)?;
        let result = attempt();
        fs::write(&path, before).map_err(cannot)?;
        result
    }
}

/// Whether a workspace with this manifest has other settings than [`APART`].
fn is_apart(manifest: &str) -> Result<(), String> {
    let manifest: toml::Table = manifest.parse().map_err(|error: toml::de::Error| error.to_string())?;
    let debug = |path: &[&str]| {
        let mut value = manifest.get("profile")?;
        for key in path {
            value = value.get(key)?;
        }
        value.get("debug").cloned()
    };
    let has_none = |value: &toml::Value| {
        value.as_bool() == Some(false) || value.as_integer() == Some(0) || value.as_str() == Some("none")
    };
    if debug(&["dev"]).is_some_and(|it| has_none(&it)) {
        return Err(
            "[profile.dev] has no debug information, by which the copy differs from the workspace: see \
                    xtask/src/guards/scratch.rs"
                .to_owned(),
        );
    }
    match debug(&["dev", "package", "*"]) {
        Some(it) if has_none(&it) => Ok(()),
        _ => Err(
            "[profile.dev.package.\"*\"] has debug information: third-party crates would be compiled again"
                .to_owned(),
        ),
    }
}

/// Files that git tracks, and those that it would if it were asked to.
fn listed(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git ls-files: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let listing = String::from_utf8(output.stdout).map_err(|_| "git knows a path that is not UTF-8")?;
    Ok(listing.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
}

fn write(path: &Path, wanted: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|it| it == wanted) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, wanted)
}

fn remove_others(folder: &Path, kept: &BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_others(&path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::fixture::guard;

    fn empty(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("grove-guards-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    const SETTINGS: &str = "[profile.dev]\ndebug = 1\n[profile.dev.package.\"*\"]\ndebug = false\n";

    #[test]
    fn a_copy_that_cargo_takes_for_the_workspace_is_refused() {
        assert_eq!(is_apart(SETTINGS), Ok(()));
        for (from, to) in
            [("debug = 1", "debug = 0"), ("debug = 1", "debug = \"none\""), ("debug = 1", "debug = false")]
        {
            assert!(is_apart(&SETTINGS.replace(from, to)).is_err(), "{to}");
        }
        assert!(is_apart(&SETTINGS.replace("debug = false", "")).is_err());
    }

    fn sources(root: &Path) {
        let run = Command::new("git").args(["init", "--quiet"]).current_dir(root).status().unwrap();
        assert!(run.success());
        for (path, text) in [
            (".gitignore", "/out/\n"),
            ("Cargo.toml", SETTINGS),
            ("crates/p/src/a.rs", "if old {}"),
            ("out/x", "built"),
        ] {
            write(&root.join(path), text.as_bytes()).unwrap();
        }
    }

    #[test]
    fn the_copy_is_what_git_knows() {
        let root = empty("copy");
        sources(&root);
        let scratch = Scratch::copy(&root, &root.join("out")).unwrap();
        assert_eq!(fs::read_to_string(scratch.tree.join("crates/p/src/a.rs")).unwrap(), "if old {}");
        assert!(!scratch.tree.join("out").exists());
        let second = Scratch::copy(&root, &root.join("out"));
        assert!(second.is_err_and(|it| it.contains("somebody else")));
        drop(scratch);
        // What was left changed is put right, and what is gone goes.
        fs::write(root.join("out/guards/tree/crates/p/src/a.rs"), "if true {}").unwrap();
        fs::write(root.join("out/guards/tree/crates/p/src/b.rs"), "").unwrap();
        let scratch = Scratch::copy(&root, &root.join("out")).unwrap();
        assert_eq!(fs::read_to_string(scratch.tree.join("crates/p/src/a.rs")).unwrap(), "if old {}");
        assert!(!scratch.tree.join("crates/p/src/b.rs").exists());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_guard_is_away_for_one_attempt() {
        let root = empty("without");
        sources(&root);
        let scratch = Scratch::copy(&root, &root.join("out")).unwrap();
        let text = || fs::read_to_string(scratch.tree.join("crates/p/src/a.rs")).unwrap();
        assert_eq!(scratch.without(&guard("one"), || Ok(text())).as_deref(), Ok("if true {}"));
        assert_eq!(text(), "if old {}");
        assert_eq!(scratch.without(&guard("one"), || Err::<(), _>("no".to_owned())), Err("no".to_owned()));
        assert_eq!(text(), "if old {}");
        assert_eq!(fs::read_to_string(root.join("crates/p/src/a.rs")).unwrap(), "if old {}");
        let mut other = guard("one");
        other.mutation.as_mut().unwrap().find = "if young".to_owned();
        let error = scratch.without(&other, || Ok(())).unwrap_err();
        assert!(error.contains("0 times"), "{error}");
        fs::remove_dir_all(root).unwrap();
    }
}
