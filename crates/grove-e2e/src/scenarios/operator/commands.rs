//! `grove status` and `grove rollout status`: what they say is what the cluster has.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::ResourceQuota;
use serde_json::{Value, json};

use super::stage::create;
use crate::{
    nodes::Hall,
    scenario::{Context, DEADLINE, eventually},
    scenarios::{
        backends::stage::{self, Role},
        command::grove,
    },
};

/// Four gangs of which one is unhealthy; a set whose pods are rejected; a set that is paused with a change pending.
pub(super) async fn status(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(4).gpus(1)).await?;
    context.start_operator(stage::options(context)).await?;
    let mut four = stage::set("four", &[Role::new("a", 1, 1)]);
    four["spec"]["replicas"] = json!(4);
    context.apply(&four.to_string()).await?;
    let pods = stage::ready(context, "four-", 4).await?;
    shows(context, &["status", "four"], &["4 of 4 replicas available"]).await?;
    listed(context, "four", |it| it["runningGangs"] == 4 && it["gangs"] == 4).await?;

    // The pod that replaces it finds no node.
    for node in 0..4 {
        context.cordon(&format!("rack-0-node-{node}"), true).await?;
    }
    context.delete_pod(&pods[0].name).await?;
    shows(context, &["status", "four"], &["gangs: 3 running, 0 starting, 0 pending, 1 unhealthy"]).await?;
    listed(context, "four", |it| it["runningGangs"] == 3 && it["gangs"] == 4).await?;

    // One of two pods is created and stays gated.
    let quota = json!({ "metadata": { "name": "pods" }, "spec": { "hard": { "pods": "5" } } });
    create(context, &serde_json::from_value::<ResourceQuota>(quota)?).await?;
    context.apply(&stage::set("two", &[Role::new("a", 2, 2)]).to_string()).await?;
    let words = "exceeded quota";
    let is_blocked = |it: &Value| it["blocked"] == true && it["awaited"].to_string().contains(words);
    listed(context, "two", is_blocked).await?;
    let said = grove(context, &["rollout", "status", "two"]).await?;
    ensure!(!said.contains("cannot place"), "a gated pod is called unplaceable: {said}");

    four["spec"]["updateStrategy"] = json!({ "paused": true });
    let pod_spec = &mut four["spec"]["template"]["cliques"][0]["spec"]["podSpec"];
    pod_spec["containers"][0]["image"] = json!("registry.example.com/app:2.0");
    context.apply(&four.to_string()).await?;
    let words = ["paused with a change pending, 0 of 4 replicas updated", "grove rollout resume four"];
    shows(context, &["rollout", "status", "four"], &words).await
}

/// Waits until a command prints all of these words.
async fn shows(context: &Context, command: &[&str], words: &[&str]) -> Result<()> {
    eventually(&format!("`grove {}` says {words:?}", command.join(" ")), DEADLINE, || async {
        let said = grove(context, command).await?;
        ensure!(words.iter().all(|it| said.contains(it)), "it says: {said}");
        Ok(())
    })
    .await
}

/// Waits until the row of a set in `grove status` is as `wanted`.
async fn listed(context: &Context, set: &str, wanted: impl Fn(&Value) -> bool) -> Result<()> {
    eventually(&format!("`grove status` has the row of {set}"), DEADLINE, || async {
        let said: Value = serde_json::from_str(&grove(context, &["status", "-o", "json"]).await?)?;
        let mut rows = said["sets"].as_array().into_iter().flatten();
        ensure!(rows.any(|it| it["name"] == set && wanted(it)), "it says: {said}");
        Ok(())
    })
    .await
}
