//! `grove why` on a real scheduler: each obstacle has its own cause and its own fix, with numbers.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api,
    api::{ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use super::stage::{self, Role, SOON};
use crate::{
    nodes::{Hall, RACK},
    scenario::{Context, eventually},
    scenarios::command::grove,
};

/// Four nodes of two GPUs. The sets differ in why they are not placed.
pub(super) async fn names_each_obstacle(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    stage::start(context, stage::options(context)).await?;
    let gpus = |set: &mut Value, resource: &str, count: u32| {
        let container = &mut set["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0];
        container["resources"] = json!({ "limits": { resource: count } });
    };

    let mut large = stage::set("large", &[Role::new("a", 1, 1)]);
    gpus(&mut large, "nvidia.com/gpu", 4);
    context.apply(&large.to_string()).await?;
    explained(context, "large", "requestTooLarge", "requests 4 nvidia.com/gpu and the largest node has 2")
        .await?;

    let mut absent = stage::set("absent", &[Role::new("a", 1, 1)]);
    gpus(&mut absent, "example.com/fpga", 1);
    context.apply(&absent.to_string()).await?;
    explained(context, "absent", "resourceAbsent", "no node offers example.com/fpga").await?;

    for node in ["rack-0-node-0", "rack-0-node-1", "rack-1-node-0"] {
        context.cordon(node, true).await?;
    }
    // One node of two GPUs is left for three pods.
    context.apply(&stage::set("cordoned", &[Role::new("a", 3, 3)]).to_string()).await?;
    let fix = "uncordon nodes: `kubectl uncordon rack-0-node-0 rack-0-node-1 rack-1-node-0`";
    // Until the group is refused as a whole, a single pod may speak for it.
    eventually("`grove why cordoned` counts pods", SOON, || async {
        let report = explained(context, "cordoned", "cordoned", "3 of 4 nodes are cordoned").await?;
        ensure!(report["help"][0] == fix, "it does not say how to help: {report}");
        // The numbers behind the prefix that kube-scheduler 1.37 puts before them.
        let why = report["why"].as_str().unwrap_or_default();
        ensure!(!why.contains("pod group is unschedulable"), "the prefix is repeated: {why}");
        ensure!(why.contains("room for at most 2 of the 3"), "the pods are not counted: {why}");
        Ok(())
    })
    .await?;
    for node in ["rack-0-node-0", "rack-0-node-1", "rack-1-node-0"] {
        context.cordon(node, false).await?;
    }
    stage::ready(context, "cordoned-", 3).await?;
    missing_labels(context).await
}

/// A required level whose label no node has.
async fn missing_labels(context: &Context) -> Result<()> {
    let nodes: Api<Node> = Api::all(context.client());
    let patch = Patch::Merge(json!({ "metadata": { "labels": { RACK: null } } }));
    for node in nodes.list_metadata(&ListParams::default()).await?.items {
        let name = node.metadata.name.context("a node without a name")?;
        nodes.patch(&name, &PatchParams::default(), &patch).await?;
    }
    let mut packed = stage::set("packed", &[Role::new("a", 2, 2)]);
    packed["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "floor", "pack": { "required": "rack" } });
    context.apply(&packed.to_string()).await?;
    let text = format!("no node has the label {RACK}");
    explained(context, "packed", "missingLabel", &text).await?;
    Ok(())
}

/// Waits until `grove why SET` names the obstacle with these numbers: what it says of the gang.
async fn explained(context: &Context, set: &str, kind: &str, text: &str) -> Result<Value> {
    eventually(&format!("`grove why {set}` names {kind}"), SOON, || async {
        let report: Value = serde_json::from_str(&grove(context, &["why", set, "-o", "json"]).await?)?;
        let gang = &report["gangs"][0];
        let obstacles = gang["obstacles"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_it =
            |it: &Value| it["kind"] == kind && it["text"].as_str().is_some_and(|it| it.contains(text));
        ensure!(gang["cause"] == "noPlace" && obstacles.iter().any(is_it), "it says: {gang}");
        ensure!(gang["help"][0].as_str().is_some_and(|it| !it.is_empty()), "it has no advice: {gang}");
        Ok(gang.clone())
    })
    .await
}
