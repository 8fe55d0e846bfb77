//! The two ways to install, update and remove the operator, as a user types them.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context as _, Result, ensure};
use tokio::{io::AsyncWriteExt as _, process::Command, time::timeout};

use super::{
    life::PATIENCE,
    stage::{REPOSITORY, Stage, TAG},
};
use crate::operator::{account, program};

/// As much at a time as on a cluster that is not shared with tests: a thousand pods are not what is measured here.
const FAST: [&str; 2] =
    ["config.runtimeClientConnection.qps=1000", "config.runtimeClientConnection.burst=1200"];

/// The configuration that `grove manifests` gets: likewise.
const CONFIGURATION: &str = "\
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
runtimeClientConnection: { qps: 1000, burst: 1200 }
leaderElection: { enabled: true }
server:
  webhooks: { port: 9443 }
  healthProbes: { port: 9444 }
  metrics: { port: 9445 }
";

/// How the operator is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// With helm, from the packaged chart.
    Chart,
    /// With kubectl, from what `grove manifests` prints.
    Manifests,
}

impl Way {
    /// Installs it, or updates it to another log level.
    pub(super) async fn install(self, stage: &Stage, level: &str) -> Result<()> {
        match self {
            Self::Chart => {
                install_chart(stage, &stage.artefacts.chart, &[&format!("config.logLevel={level}")]).await
            }
            Self::Manifests => {
                let text = manifests(stage, level).await?;
                kubectl(stage, &["apply", "--server-side", "-f", "-"], &text).await
            }
        }
    }

    /// Removes it, as the documentation says.
    pub(super) async fn remove(self, stage: &Stage, level: &str) -> Result<()> {
        match self {
            Self::Chart => helm(stage, &["uninstall", "grove"]).await,
            Self::Manifests => {
                let text = manifests(stage, level).await?;
                // With the namespace goes what is in it, which is then not found.
                kubectl(stage, &["delete", "--ignore-not-found", "-f", "-"], &text).await
            }
        }
    }
}

/// Installs or updates a chart, a file or a folder, with more values.
pub(super) async fn install_chart(stage: &Stage, chart: &Path, values: &[&str]) -> Result<()> {
    let chart = chart.display().to_string();
    let (repository, tag) = (format!("image.repository={REPOSITORY}"), format!("image.tag={TAG}"));
    let mut words = vec!["upgrade", "--install", "grove", &chart, "--create-namespace"];
    for value in [repository.as_str(), &tag, FAST[0], FAST[1]].iter().chain(values) {
        words.extend(["--set", value]);
    }
    helm(stage, &words).await
}

/// What `grove manifests` prints for the shipped image.
pub(super) async fn manifests(stage: &Stage, level: &str) -> Result<String> {
    let file = stage.context.cluster.options.folder.join("operator-configuration.yaml");
    std::fs::write(&file, format!("{CONFIGURATION}logLevel: {level}\n"))?;
    let (file, image) = (file.display().to_string(), format!("{REPOSITORY}:{TAG}"));
    account::manifests(&program()?, &["--config", &file, "--image", &image]).await
}

/// Runs kubectl with a text as its input.
pub(super) async fn kubectl(stage: &Stage, arguments: &[&str], input: &str) -> Result<()> {
    let program = stage.context.cluster.programs.get("kubernetes", "kubectl");
    run(stage, program, arguments, input).await
}

async fn helm(stage: &Stage, arguments: &[&str]) -> Result<()> {
    let program = stage.context.cluster.programs.get("kubernetes", "helm");
    let arguments = [arguments, &["--namespace", account::NAMESPACE]].concat();
    run(stage, program, &arguments, "").await
}

async fn run(stage: &Stage, program: PathBuf, arguments: &[&str], input: &str) -> Result<()> {
    let cluster = &stage.context.cluster;
    let own = |name: &str| cluster.options.folder.join("tools").join(name);
    let mut child = Command::new(&program)
        .args(arguments)
        .arg("--kubeconfig")
        .arg(&cluster.kubeconfig)
        // Not the settings of this machine's user, nor what kubectl has cached of another cluster with the same port.
        .envs([
            ("KUBECACHEDIR", own("kubectl")),
            ("HELM_CACHE_HOME", own("cache")),
            ("HELM_CONFIG_HOME", own("config")),
            ("HELM_DATA_HOME", own("data")),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| program.display().to_string())?;
    let mut stdin = child.stdin.take().context("no input")?;
    let text = input.to_owned();
    let writing = tokio::spawn(async move { stdin.write_all(text.as_bytes()).await });
    let output = timeout(PATIENCE, child.wait_with_output()).await.context("it does not end")??;
    let name = program.file_name().map_or(program.as_path(), Path::new).display();
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{name} {}: {}: {errors}", arguments.join(" "), output.status);
    Ok(writing.await??)
}
