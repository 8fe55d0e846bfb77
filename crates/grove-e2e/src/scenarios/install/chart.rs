//! The packaged chart as files, for installations with changed templates.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};

use super::stage::Stage;

/// The files of the chart.
pub(super) struct UnpackedChart {
    folder: PathBuf,
}

impl UnpackedChart {
    /// Unpacks the packaged chart into the folder of the stage's cluster.
    pub(super) async fn of(stage: &Stage) -> Result<Self> {
        let (package, folder) = (&stage.artefacts.chart, stage.context.cluster.options.folder.join("chart"));
        std::fs::create_dir_all(&folder)?;
        let mut tar = tokio::process::Command::new("tar");
        tar.arg("-xzf").arg(package).arg("-C").arg(&folder).stdin(Stdio::null());
        let status = tar.status().await.context("cannot run tar")?;
        ensure!(status.success(), "cannot unpack {}", package.display());
        Ok(Self { folder: folder.join("grove") })
    }

    /// What helm installs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Replaces a text in a template, which has to be there. Returns the original template, for [`Self::write`].
    pub(super) fn replace(&self, template: &str, from: &str, to: &str) -> Result<String> {
        let original = std::fs::read_to_string(self.path(template))?;
        ensure!(original.contains(from), "{template} does not have {from:?}");
        self.write(template, &original.replace(from, to))?;
        Ok(original)
    }

    pub(super) fn write(&self, template: &str, text: &str) -> Result<()> {
        Ok(std::fs::write(self.path(template), text)?)
    }

    fn path(&self, template: &str) -> PathBuf {
        self.folder.join("templates").join(template)
    }
}
