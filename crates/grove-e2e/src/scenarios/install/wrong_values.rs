//! Shows that these scenarios can fail: a chart with one wrong value is not ready, and the failure names the value.

use std::{path::Path, time::Duration};

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::PodCliqueSet;
use kube::{Api, api::PostParams};

use super::{
    chart::UnpackedChart,
    client::{Way, install_chart},
    life::PATIENCE,
    outage::users_set,
    stage::Stage,
};
use crate::{
    nodes::Hall,
    scenario::{Context, eventually},
};

/// An installation that is not ready by then has failed. The right one is ready several times as fast.
const DEADLINE: Duration = Duration::from_secs(40);

/// Template of the chart, the right text, a wrong one in its place, and what the failure has to name.
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
        // The readiness probe, or the liveness probe: whichever is read first.
        ":9/",
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
    let chart = UnpackedChart::of(stage).await?;
    for (template, right, wrong, named) in CASES {
        let original = chart.replace(template, right, wrong)?;
        let result = installed(stage, chart.folder(), DEADLINE).await;
        chart.write(template, &original)?;
        let Err(error) = result else { anyhow::bail!("{wrong:?} instead of {right:?} was not noticed") };
        // What a failed scenario prints.
        let told = format!("{error:#}{}", stage.report().await?);
        ensure!(
            told.contains(named),
            "{wrong:?} instead of {right:?}: the failure does not name {named:?}: {told}"
        );
        removed(stage).await?;
    }
    // The unchanged chart: so it is the value that makes the difference.
    installed(stage, chart.folder(), PATIENCE).await.context("without a wrong value")?;
    removed(stage).await
}

/// Installs one operator and waits until it answers.
async fn installed(stage: &Stage, chart: &Path, deadline: Duration) -> Result<()> {
    install_chart(stage, chart, &["replicaCount=1"]).await?;
    stage.until_ready(deadline).await?;
    let sets: Api<PodCliqueSet> = Api::namespaced(stage.context.client(), &stage.context.namespace);
    let (set, dry) = (users_set(&stage.context)?, PostParams { dry_run: true, ..PostParams::default() });
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
