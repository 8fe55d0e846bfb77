//! ClusterTopologyBindings and Volcano's HyperNodes.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::conditions::{nodes_labelled, scheduler_topology_drift as drift},
    wire::{ClusterTopologyBinding, Condition},
};
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use super::one_rack;
use crate::{
    nodes::{BLOCK, Hall, RACK, ZONE, node_name},
    objects,
    scenario::{Context, eventually},
    scenarios::backends::stage::{self, Role, SOON},
};

/// Nobody has made HyperNodes: they follow from the binding and the labels of nodes, a gang is packed by them, and they
/// change with the labels.
pub(super) async fn are_made(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(4).nodes(2).gpus(2)).await?;
    let everything = ListParams::default();
    hyper_nodes(context).await?.delete_collection(&DeleteParams::default(), &everything).await?;
    stage::start(context, stage::options(context)).await?;
    says(context, drift::TYPE, |it| it.reason == drift::IN_SYNC).await?;
    says(context, nodes_labelled::TYPE, |it| it.reason == nodes_labelled::ALL).await?;
    are(context, [4, 2, 1]).await?;

    // As many pods as a rack has GPUs.
    let mut set = stage::set("gang", &[Role::new("a", 4, 4)]);
    set["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "floor", "pack": { "required": "rack" } });
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, "gang-", 4).await?;
    let rack = one_rack(&pods)?;
    let group = stage::groups(context).await?.pop().context("no PodGroup")?;
    let mode = &group.data["spec"]["networkTopology"]["mode"];
    ensure!(mode == "hard", "Volcano was told {mode}");

    // Two free racks of one block become one.
    let (kept, given) = if ["rack-0", "rack-1"].contains(&rack) { (2, 3) } else { (0, 1) };
    for node in 0..2 {
        label(context, &node_name(given, node), json!(format!("rack-{kept}"))).await?;
    }
    are(context, [3, 2, 1]).await?;
    label(context, &node_name(given, 0), Value::Null).await?;
    let said = says(context, nodes_labelled::TYPE, |it| it.status == "False").await?;
    ensure!(said.message.ends_with(&format!(": {RACK}: 1")), "{}", said.message);
    are(context, [3, 2, 1]).await
}

async fn label(context: &Context, node: &str, rack: Value) -> Result<()> {
    let nodes: Api<Node> = Api::all(context.client());
    let patch = json!({ "metadata": { "labels": { RACK: rack } } });
    nodes.patch(node, &PatchParams::default(), &Patch::Merge(&patch)).await?;
    Ok(())
}

async fn hyper_nodes(context: &Context) -> Result<Api<DynamicObject>> {
    let mut kind = json!({ "apiVersion": "topology.volcano.sh/v1alpha1", "kind": "HyperNode" });
    objects::api_for(&context.client(), &mut kind, None).await
}

/// Waits until there are so many HyperNodes of racks, blocks and zones, of the tiers from 1 on.
async fn are(context: &Context, wanted: [usize; 3]) -> Result<()> {
    let levels = [RACK, BLOCK, ZONE];
    eventually("the HyperNodes follow the labels", SOON, || async {
        let mut found: BTreeMap<(String, i64), usize> = BTreeMap::new();
        for it in hyper_nodes(context).await?.list(&ListParams::default()).await?.items {
            let spec = &it.data["spec"];
            let owner = it.owner_references().first().map(|it| it.name.as_str());
            ensure!(owner == Some("floor"), "{} belongs to {owner:?}", it.name_any());
            let level = spec["tierName"].as_str().unwrap_or_default().to_owned();
            *found.entry((level, spec["tier"].as_i64().unwrap_or_default())).or_default() += 1;
        }
        let wanted =
            (1..).zip(levels).zip(wanted).map(|((tier, key), count)| ((key.to_owned(), tier), count));
        ensure!(found == wanted.collect(), "{found:?}");
        Ok(())
    })
    .await
}

/// Waits until a condition of the binding is as `wanted` says.
async fn says(context: &Context, type_: &str, wanted: impl Fn(&Condition) -> bool) -> Result<Condition> {
    let bindings: Api<ClusterTopologyBinding> = Api::all(context.client());
    eventually(&format!("the binding says {type_}"), SOON, || async {
        let status = bindings.get("floor").await?.status.unwrap_or_default();
        let mut conditions = status.conditions.into_iter();
        let said = conditions.find(|it| it.type_ == type_).context("there is no condition")?;
        ensure!(wanted(&said), "it is {} ({}: {})", said.status, said.reason, said.message);
        Ok(said)
    })
    .await
}
