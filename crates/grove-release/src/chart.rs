//! The Helm chart as one file, as `helm package` would make it, but the same bytes every time.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use tar::Builder;

use crate::image::{layer, layout};

/// Name of the chart, and of the only folder in the file.
const NAME: &str = "grove";

/// Name and content of the file, from the folder of the chart.
pub fn package(folder: &Path, version: &str, seconds: u64) -> Result<(String, Vec<u8>)> {
    let files = layout::load(folder)?;
    let about = files.get("Chart.yaml").with_context(|| format!("{} is no chart", folder.display()))?;
    let about = String::from_utf8_lossy(about);
    for line in
        [format!("name: {NAME}"), format!("version: \"{version}\""), format!("appVersion: \"{version}\"")]
    {
        ensure!(about.lines().any(|it| it == line), "Chart.yaml does not say {line:?}");
    }
    let mut archive = Builder::new(Vec::new());
    for (path, bytes) in &files {
        layer::append(&mut archive, &format!("{NAME}/{path}"), Some(bytes), 0o644, seconds)?;
    }
    let tar = archive.into_inner().context("cannot write the chart")?;
    Ok((format!("{NAME}-{version}.tgz"), layer::gzip(&tar)?))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;
    use tar::Archive;

    use super::*;

    const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../charts/grove");

    #[test]
    fn the_chart_lies_in_a_folder_of_its_name() {
        let (name, bytes) = package(Path::new(CHART), env!("CARGO_PKG_VERSION"), 7).unwrap();
        assert_eq!(name, concat!("grove-", env!("CARGO_PKG_VERSION"), ".tgz"));
        let mut archive = Archive::new(GzDecoder::new(bytes.as_slice()));
        let mut paths = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            assert_eq!(entry.header().mtime().unwrap(), 7);
            let path = entry.path().unwrap().display().to_string();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            assert!(!content.is_empty(), "{path}");
            paths.push(path);
        }
        assert!(paths.iter().all(|it| it.starts_with("grove/")), "{paths:?}");
        for wanted in ["grove/Chart.yaml", "grove/values.yaml", "grove/templates/deployment.yaml"] {
            assert!(paths.iter().any(|it| it == wanted), "{wanted} is not in {paths:?}");
        }
    }

    #[test]
    fn a_chart_of_another_version_is_refused() {
        let error = package(Path::new(CHART), "7.0.0", 7).unwrap_err().to_string();
        assert_eq!(error, "Chart.yaml does not say \"version: \\\"7.0.0\\\"\"");
    }
}
