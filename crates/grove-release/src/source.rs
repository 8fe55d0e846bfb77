//! Which sources are built: everything in an image that says when and from what comes from the commit, and not from the clock.

use std::{env, path::Path, process::Command};

use anyhow::{Context, Result, bail};
use jiff::Timestamp;

/// The commit that is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The full hash; `-dirty` follows where files differ from it.
    pub revision: String,
    /// When it was made, in seconds since 1970.
    pub seconds: i64,
}

impl Source {
    /// Asks git, unless SOURCE_DATE_EPOCH and SOURCE_REVISION say it: a folder of sources may be no checkout.
    pub fn find(root: &Path) -> Result<Self> {
        let told = |name: &str| env::var(name).ok().filter(|it| !it.is_empty());
        let hint = |name: &str| format!("git does not say which commit this is, set {name}");
        let revision = match told("SOURCE_REVISION") {
            Some(it) => it,
            None => revision(root).with_context(|| hint("SOURCE_REVISION"))?,
        };
        let seconds = match told("SOURCE_DATE_EPOCH") {
            Some(it) => it,
            None => git(root, &["log", "-1", "--format=%ct"]).with_context(|| hint("SOURCE_DATE_EPOCH"))?,
        };
        let seconds = seconds.parse().with_context(|| format!("not a number of seconds: {seconds:?}"))?;
        Ok(Self { revision, seconds })
    }

    /// When it was made, as archives write it.
    pub fn seconds(&self) -> Result<u64> {
        u64::try_from(self.seconds).context("the time of the commit is before 1970")
    }

    /// When it was made, as RFC 3339 writes it.
    pub fn created(&self) -> Result<String> {
        let time = Timestamp::from_second(self.seconds).context("the time of the commit")?;
        Ok(time.to_string())
    }
}

fn revision(root: &Path) -> Result<String> {
    let commit = git(root, &["rev-parse", "HEAD"])?;
    let changed = git(root, &["status", "--porcelain"])?;
    Ok(if changed.is_empty() { commit } else { format!("{commit}-dirty") })
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().context("cannot run git")?;
    if !output.status.success() {
        bail!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_rfc_3339() {
        let source = Source { revision: String::new(), seconds: 1_700_000_000 };
        assert_eq!(source.created().unwrap(), "2023-11-14T22:13:20Z");
    }

    #[test]
    fn a_folder_that_is_no_checkout_says_what_to_do() {
        let folder = env::temp_dir();
        // Git looks for a checkout in the folders above, too.
        if git(&folder, &["rev-parse", "HEAD"]).is_err() && env::var_os("SOURCE_REVISION").is_none() {
            let error = format!("{:#}", Source::find(&folder).unwrap_err());
            assert!(
                error.starts_with(
                    "git does not say which commit this is, set SOURCE_REVISION: git rev-parse HEAD: "
                ),
                "{error}"
            );
        }
    }
}
