//! Which guards a run takes away, and for how long: by title, or those in files that changed lately.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::table::Guard;

/// What the command line asks for. By default every guard, however long it takes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// Text in the title.
    pub(crate) only: String,
    /// Only guards in files that differ from what they were that many commits ago.
    pub(crate) changed: Option<usize>,
    /// No guard is begun if it would probably end later.
    pub(crate) limit: Option<Duration>,
}

impl Selection {
    /// Reads `[TEXT] [--changed COMMITS] [--minutes MINUTES]`.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut selection = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut number = || {
                let value = arguments.next().ok_or_else(|| format!("{argument} needs a number"))?;
                value.parse::<u32>().map_err(|error| format!("{argument} {value}: {error}"))
            };
            match argument.as_str() {
                "--changed" => selection.changed = Some(number()? as usize),
                "--minutes" => selection.limit = Some(Duration::from_mins(number()?.into())),
                text if text.starts_with('-') => return Err(format!("unknown option `{text}`")),
                text if selection.only.is_empty() => text.clone_into(&mut selection.only),
                text => return Err(format!("`{}` and `{text}`: expected one text", selection.only)),
            }
        }
        Ok(selection)
    }

    /// Keeps the guards that are asked for, in the order in which they are tried.
    pub(crate) fn choose(&self, guards: &mut Vec<Guard>, root: &Path) -> Result<(), String> {
        guards.retain(|it| it.mutation.is_some() && it.title().contains(&self.only));
        if guards.is_empty() {
            return Err(format!("no guard is called {:?}", self.only));
        }
        if let Some(commits) = self.changed {
            let history = git(root, &["rev-list", "--first-parent", &format!("-n{}", commits + 1), "HEAD"])?;
            let history: Vec<&str> = history.lines().collect();
            match history.as_slice() {
                [head, .., base] => {
                    let files = git(root, &["diff", "--name-only", "--no-renames", base])?;
                    let files: BTreeSet<&str> = files.lines().collect();
                    guards.retain(|it| files.contains(it.file.as_str()));
                    begin_elsewhere(guards, head);
                }
                // A clone without history: every file may be new.
                [head] => begin_elsewhere(guards, head),
                [] => {}
            }
        }
        Ok(())
    }

    /// Whether there is time for another guard after `spent`, if it takes as long as the last one.
    pub(crate) fn has_time(&self, spent: Duration, last: Duration) -> bool {
        self.limit.is_none_or(|limit| spent + last <= limit)
    }
}

/// Where time is limited the last guards would never be tried. So each commit begins at another one.
fn begin_elsewhere(guards: &mut [Guard], commit: &str) {
    let number = commit.get(..8).and_then(|it| usize::from_str_radix(it, 16).ok()).unwrap_or_default();
    if !guards.is_empty() {
        guards.rotate_left(number % guards.len());
    }
}

fn git(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git {}: {error}", arguments[0]))?;
    if !output.status.success() {
        let trouble = String::from_utf8_lossy(&output.stderr);
        return Err(format!("git {} failed: {}", arguments[0], trouble.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::guards::fixture::guard;

    fn parsed(arguments: &[&str]) -> Result<Selection, String> {
        Selection::parse(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn arguments() {
        assert_eq!(parsed(&[]), Ok(Selection::default()));
        let want =
            Selection { only: "updates".to_owned(), changed: Some(10), limit: Some(Duration::from_mins(5)) };
        assert_eq!(parsed(&["--changed", "10", "updates", "--minutes", "5"]), Ok(want));
        assert_eq!(parsed(&["--minutes"]), Err("--minutes needs a number".to_owned()));
        assert!(parsed(&["--changed", "ten"]).is_err());
        assert!(parsed(&["--all"]).is_err());
        assert!(parsed(&["a", "b"]).is_err());
    }

    #[test]
    fn a_guard_that_would_end_too_late_is_not_begun() {
        let selection = parsed(&["--minutes", "5"]).unwrap();
        let seconds = Duration::from_secs;
        assert!(selection.has_time(seconds(280), seconds(20)));
        assert!(!selection.has_time(seconds(281), seconds(20)));
        assert!(Selection::default().has_time(seconds(100_000), seconds(20)));
    }

    /// Three commits: `a.rs`, `b.rs`, then `a.rs` again.
    fn repository(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("grove-selection-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        git(&root, &["init", "--quiet"]).unwrap();
        for (file, text) in [("a.rs", "1"), ("b.rs", "1"), ("a.rs", "2")] {
            fs::write(root.join(file), text).unwrap();
            git(&root, &["add", "."]).unwrap();
            let author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
            git(&root, &[&author[..], &["commit", "--quiet", "-m", file]].concat()).unwrap();
        }
        root
    }

    fn chosen(root: &Path, commits: usize) -> BTreeSet<String> {
        let in_file = |file: &str| {
            let mut it = guard(file);
            it.file = file.to_owned();
            it
        };
        let mut guards = vec![in_file("a.rs"), in_file("b.rs"), in_file("c.rs")];
        let selection = Selection { changed: Some(commits), ..Selection::default() };
        selection.choose(&mut guards, root).unwrap();
        guards.into_iter().map(|it| it.name).collect()
    }

    #[test]
    fn files_of_the_last_commits_are_chosen() {
        let root = repository("commits");
        assert_eq!(chosen(&root, 1), ["a.rs".to_owned()].into());
        assert_eq!(chosen(&root, 2), ["a.rs".to_owned(), "b.rs".to_owned()].into());
        // More than there are: all but the first commit, which has nothing to be compared with.
        assert_eq!(chosen(&root, 10), ["a.rs".to_owned(), "b.rs".to_owned()].into());
        // What is not committed counts, too.
        fs::write(root.join("b.rs"), "2").unwrap();
        assert_eq!(chosen(&root, 1), ["a.rs".to_owned(), "b.rs".to_owned()].into());
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_clone_without_history_has_every_guard() {
        let (root, clone) = (repository("origin"), std::env::temp_dir().join("grove-selection-clone"));
        let clone = clone.with_extension(std::process::id().to_string());
        let _ = fs::remove_dir_all(&clone);
        let (from, to) = (format!("file://{}", root.display()), clone.display().to_string());
        git(&root, &["clone", "--quiet", "--depth", "1", &from, &to]).unwrap();
        assert_eq!(chosen(&clone, 10).len(), 3);
        fs::remove_dir_all(root).unwrap();
        fs::remove_dir_all(clone).unwrap();
    }

    #[test]
    fn each_commit_begins_at_another_guard() {
        let mut guards = vec![guard("one"), guard("two"), guard("three")];
        begin_elsewhere(&mut guards, "000000044444");
        assert_eq!(guards.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["two", "three", "one"]);
        begin_elsewhere(&mut [], "000000044444");
    }
}
