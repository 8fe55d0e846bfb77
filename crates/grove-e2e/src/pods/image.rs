//! An image as a container runtime has it: its files in a folder, and how it is run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::operator::beside;

/// An image that was unpacked.
#[derive(Clone, Debug)]
pub struct Image {
    /// Its files.
    pub(super) root: PathBuf,
    /// The user it runs as, as the image says it.
    pub(super) user: String,
    pub(super) entrypoint: Vec<String>,
    pub(super) arguments: Vec<String>,
    /// `NAME=VALUE`.
    pub(super) environment: Vec<String>,
    pub(super) folder: String,
}

/// What an image says of itself, in the words of OCI.
#[derive(Deserialize)]
struct Configuration {
    config: Run,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Run {
    user: String,
    entrypoint: Vec<String>,
    cmd: Vec<String>,
    env: Vec<String>,
    working_dir: String,
}

impl Default for Run {
    fn default() -> Self {
        let (user, working_dir) = (String::new(), "/".to_owned());
        Self { user, entrypoint: Vec::new(), cmd: Vec::new(), env: Vec::new(), working_dir }
    }
}

impl Image {
    /// Unpacks an image layout into a folder that is not there yet.
    pub async fn unpack(layout: &Path, root: &Path) -> Result<Self> {
        let mut command = tokio::process::Command::new(beside("grove-release")?);
        let output = command.arg("unpack").arg(layout).arg("--to").arg(root).output().await?;
        let told = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cannot unpack {}: {told}", layout.display());
        Self::described(root, &output.stdout)
    }

    fn described(root: &Path, configuration: &[u8]) -> Result<Self> {
        let Configuration { config } =
            serde_json::from_slice(configuration).context("the configuration of the image")?;
        Ok(Self {
            root: root.to_owned(),
            user: config.user,
            entrypoint: config.entrypoint,
            arguments: config.cmd,
            environment: config.env,
            folder: config.working_dir,
        })
    }
}

#[cfg(test)]
impl Image {
    pub(super) fn example() -> Self {
        let text = br#"{ "config": { "User": "65532:65532", "Entrypoint": ["/usr/local/bin/grove"], "Env": ["PATH=/usr/local/bin"] } }"#;
        Self::described(Path::new("/unpacked"), text).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_oci_are_understood() {
        let image = Image::example();
        assert_eq!((image.user.as_str(), image.folder.as_str()), ("65532:65532", "/"));
        assert_eq!(image.entrypoint, ["/usr/local/bin/grove"]);
        assert_eq!(image.environment, ["PATH=/usr/local/bin"]);
    }
}
