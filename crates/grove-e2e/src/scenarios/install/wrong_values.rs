//! The proof that all of this can fail: a chart with one wrong value never becomes ready, and the run says why.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::PodCliqueSet;
use kube::{Api, api::PostParams};

use super::{
    client::{Way, install_chart},
    life::{LARGE, PATIENCE},
    stage::Stage,
};
use crate::{
    nodes::Hall,
    scenario::{Context, eventually},
    scenarios::operator::stage,
};

/// Until it counts as wrong. A good operator is ready several times as fast.
const DEADLINE: Duration = Duration::from_secs(40);

/// File of the chart, what stands there, what is wrong instead, and what the failure has to name.
const CASES: &[(&str, &str, &str, &str)] = &[
    (
        "deployment.yaml",
        "--config=/etc/grove-operator/config/",
        "--config=/etc/grove/",
        "/etc/grove/config.yaml",
    ),
    (
        "deployment.yaml",
        "mountPath: /etc/grove-operator/config",
        "mountPath: /etc/grove-operator",
        "/etc/grove-operator/config/config.yaml",
    ),
    ("deployment.yaml", "- grove\n", "- groove\n", "groove"),
    ("deployment.yaml", "path: /readyz", "path: /ready", "/ready: 404"),
    (
        "deployment.yaml",
        "containerPort: {{ int .Values.config.server.healthProbes.port }}",
        "containerPort: 9",
        ":9/readyz",
    ),
    (
        "deployment.yaml",
        "name: {{ include \"grove.configName\" . | quote }}",
        "name: none",
        "\"none\" not found",
    ),
    ("service.yaml", "targetPort: webhooks", "targetPort: health", "failed calling webhook"),
];

pub(super) async fn fail(context: &mut Context) -> Result<()> {
    let stage = Stage::open(context, Hall::racks(1).nodes(2)).await?;
    let result = play(&stage).await;
    stage.close(result).await
}

async fn play(stage: &Stage) -> Result<()> {
    let folder = stage.context.cluster.options.folder.join("chart");
    unpack(&stage.artefacts.chart, &folder).await?;
    for (file, right, wrong, named) in CASES {
        let file = folder.join("grove/templates").join(file);
        let text = std::fs::read_to_string(&file)?;
        ensure!(text.contains(right), "{} does not have {right:?}", file.display());
        std::fs::write(&file, text.replace(right, wrong))?;
        let result = installed(stage, &folder.join("grove"), DEADLINE).await;
        std::fs::write(&file, text)?;
        let Err(error) = result else { anyhow::bail!("{wrong:?} instead of {right:?} was not noticed") };
        let told = format!("{error:#}");
        ensure!(
            told.contains(named),
            "{wrong:?} instead of {right:?}: the failure does not name {named:?}: {told}"
        );
        removed(stage).await?;
    }
    // And so it is the value that makes the difference.
    installed(stage, &folder.join("grove"), PATIENCE).await.context("without a wrong value")?;
    removed(stage).await
}

/// Installs one operator and waits until it answers.
async fn installed(stage: &Stage, chart: &Path, deadline: Duration) -> Result<()> {
    install_chart(stage, chart, &["replicaCount=1"]).await?;
    stage.until_ready(deadline).await?;
    let sets: Api<PodCliqueSet> = Api::namespaced(stage.context.client(), &stage.context.namespace);
    let (set, dry) = (stage::set(LARGE)?, PostParams { dry_run: true, ..PostParams::default() });
    eventually("a set is admitted", deadline, || async { Ok(sets.create(&dry, &set).await?) }).await?;
    Ok(())
}

async fn removed(stage: &Stage) -> Result<()> {
    Way::Chart.remove(stage, "").await?;
    eventually("the operator's pods are gone", PATIENCE, || async {
        ensure!(stage.pods().await?.is_empty(), "there are some");
        Ok(())
    })
    .await
}

async fn unpack(chart: &Path, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder)?;
    let mut tar = tokio::process::Command::new("tar");
    tar.arg("-xzf").arg(chart).arg("-C").arg(folder).stdin(Stdio::null());
    let status = tar.status().await.context("cannot run tar")?;
    ensure!(status.success(), "cannot unpack {}", chart.display());
    Ok(())
}
