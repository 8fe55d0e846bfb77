//! Certificates with a lifetime of seconds, on two operators behind the Service: both serve each new certificate, and no
//! admission fails.

use std::{collections::BTreeMap, net::SocketAddr};

use anyhow::{Context as _, Result, ensure};
use kube::ResourceExt;

use super::{chart::UnpackedChart, client::install_chart, life::PATIENCE, stage::Stage};
use crate::{
    nodes::Hall,
    plain_http,
    scenario::Context,
    scenarios::admission::{
        rotation::{LIVES, put_under_load},
        until_answered,
    },
};

/// Admissions that an operator answered.
const ANSWERED: &str = "controller_runtime_webhook_requests_total";
/// When the certificate that it serves expires.
const EXPIRES: &str = "grove_webhook_certificate_expiration_timestamp_seconds";
/// Port of the metrics in the chart.
const METRICS: u16 = 9445;

pub(super) async fn on_both(context: &mut Context) -> Result<()> {
    let stage = Stage::open(context, Hall::racks(1).nodes(2)).await?;
    let result = play(&stage).await;
    stage.close(result).await
}

async fn play(stage: &Stage) -> Result<()> {
    let chart = UnpackedChart::of(stage).await?;
    // No value of the chart sets lifetimes: the arguments are for tests.
    let arguments = LIVES.map(|it| format!("        - {it}\n")).concat();
    chart.replace("deployment.yaml", "        - operator\n", &format!("        - operator\n{arguments}"))?;
    install_chart(stage, chart.folder(), &[]).await?;
    stage.until_ready(PATIENCE).await?;
    until_answered(&stage.context).await?;

    let before = Counters::of_all(stage).await?;
    ensure!(before.len() == 2, "operators: {:?}", before.keys());
    put_under_load(&stage.context).await?;
    let after = Counters::of_all(stage).await?;
    for (pod, before) in &before {
        let after = after.get(pod).with_context(|| format!("{pod} is gone"))?;
        let answered = after.answered - before.answered;
        anstream::println!("     {pod}: {answered} admissions");
        ensure!(answered > 0.0, "{pod} answered no admission");
        ensure!(after.expires > before.expires, "{pod} serves the certificate that it began with");
    }
    // No container was restarted: that would hide a failed rotation.
    stage.until_ready(PATIENCE).await?;
    stage.nothing_was_refused()
}

/// What an operator says of itself.
struct Counters {
    answered: f64,
    expires: f64,
}

impl Counters {
    /// By the name of the pod.
    async fn of_all(stage: &Stage) -> Result<BTreeMap<String, Self>> {
        let mut all = BTreeMap::new();
        for pod in stage.pods().await? {
            let name = pod.name_any();
            let address = pod.status.and_then(|it| it.pod_ip).context("a pod without an address")?;
            let address = SocketAddr::new(address.parse()?, METRICS);
            let (code, text) = plain_http::get(address, "/metrics").await.with_context(|| name.clone())?;
            ensure!(code == 200, "{name}: /metrics answers {code}");
            all.insert(name, Self { answered: sum(&text, ANSWERED), expires: sum(&text, EXPIRES) });
        }
        Ok(all)
    }
}

/// The sum of a metric over all labels.
fn sum(text: &str, metric: &str) -> f64 {
    let samples =
        text.lines().filter_map(|it| it.strip_prefix(metric)).filter(|it| it.starts_with(['{', ' ']));
    samples.filter_map(|it| it.rsplit_once(' ')?.1.parse::<f64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_summed_over_labels() {
        let text = "# HELP m x\nm{code=\"200\"} 2\nm{code=\"500\"} 1\nm_more 7\nn 1700000000\n";
        let sums = ["m", "n"].map(|it| sum(text, it).to_string());
        assert_eq!(sums, ["3", "1700000000"]);
    }
}
