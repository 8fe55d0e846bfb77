//! What is shipped, for scenarios that run it: built before clusters start, because it may take many minutes.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};
use tokio::process::Command;

use crate::{
    cluster::{Programs, repository},
    operator::beside,
};

/// Names the layout of an image that is run instead of one that is built.
const GIVEN: &str = "GROVE_E2E_IMAGE";

/// Scenarios of this area run what is shipped.
pub(super) const AREA: &str = "install_";

/// The layout of the operator's image, and the chart.
#[derive(Clone, Debug)]
pub(crate) struct Artefacts {
    pub(crate) image: PathBuf,
    pub(crate) chart: PathBuf,
}

impl Artefacts {
    /// Where they are when they were built.
    pub(crate) fn find() -> Self {
        let folder = repository().join("target/image");
        let chart = folder.join(concat!("grove-", env!("CARGO_PKG_VERSION"), ".tgz"));
        let given = std::env::var_os(GIVEN).map(PathBuf::from);
        Self { image: given.unwrap_or_else(|| folder.join("grove")), chart }
    }

    /// Builds them as a release does, and helm.
    pub(super) async fn build() -> Result<()> {
        Programs::build_tools("helm").await?;
        let Self { image, chart } = Self::find();
        let folder = |it: &Path| it.parent().unwrap_or(it).to_owned();
        if std::env::var_os(GIVEN).is_none() {
            release(&["image", "--image", "grove", "--out"], &folder(&image)).await?;
        }
        release(&["chart", "--folder"], &folder(&chart)).await
    }
}

async fn release(arguments: &[&str], folder: &Path) -> Result<()> {
    let mut command = Command::new(beside("grove-release")?);
    command.args(arguments).arg(folder).current_dir(repository()).stdin(Stdio::null());
    let status = command.status().await.context("cannot run grove-release")?;
    ensure!(status.success(), "grove-release {} failed; it says above why", arguments[0]);
    Ok(())
}
