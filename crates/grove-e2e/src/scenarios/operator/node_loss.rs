//! Nodes that are lost.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::{
    constants::conditions::node_lost,
    wire::{LossReason, PodClique},
};
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;

use super::{
    stage::{self, WEB, api, create_and_settle, settled},
    wanted::Wanted,
    world::World,
};
use crate::{
    nodes::{Hall, kubelet},
    operator::OperatorOptions,
    scenario::{Context, eventually},
};

/// A kubelet may be silent for a minute and a half here before anybody says so; then the pod has its grace, and half a minute more.
const PATIENCE: Duration = Duration::from_mins(5);
const CLIQUE: &str = "web-0-pd-0-lead";

/// The pod of a silent node is replaced long before Kubernetes would delete it, is noted before that, and is removed in the end.
pub(super) async fn lost(context: &mut Context) -> Result<()> {
    // One pod to a node, and one node to spare.
    context.nodes(Hall::racks(3).nodes(3).gpus(1)).await?;
    let more = "nodeLoss: { after: 2s, replaceUnitAfter: 1h }\n";
    context.start_operator(OperatorOptions { more, ..OperatorOptions::default() }).await?;
    let set = stage::set(WEB)?;
    let before = create_and_settle(context, &set).await?;
    let victim = before.pod(CLIQUE, 0)?;
    let (name, uid) = (victim.name_any(), victim.uid().unwrap_or_default());
    let node = victim.spec.as_ref().and_then(|it| it.node_name.clone()).context("not bound")?;
    context.lose_node(&node, true).await?;

    let replaced = eventually("the pod is replaced", PATIENCE, || async {
        let world = World::read(context).await?;
        let pod = world.pod(CLIQUE, 0)?;
        if pod.uid().unwrap_or_default() == uid {
            bail!("it is still the one on the lost {}", kubelet::told(&context.client(), &node).await?);
        }
        Ok(world)
    })
    .await?;
    let clique: PodClique = api(context).get(CLIQUE).await?;
    let status = clique.status.unwrap_or_default();
    let noted = status.lost_nodes.iter().find(|it| it.name == node).context("the node is not noted")?;
    ensure!(noted.reason == LossReason::Unreachable && noted.lost_at.is_some(), "noted is {noted:?}");
    ensure!(status.conditions.iter().any(|it| it.type_ == node_lost::TYPE), "no condition tells of it");
    let hangs = replaced.pods.iter().find(|it| it.uid().as_deref() == Some(uid.as_str()));
    ensure!(hangs.is_some_and(|it| it.metadata.deletion_timestamp.is_some()), "it does not hang there");

    eventually("the pod that hangs is removed", PATIENCE, || async {
        ensure!(api::<Pod>(context).get_opt(&name).await?.is_none(), "{name} is there");
        Ok(())
    })
    .await?;
    let after = settled(context, &Wanted::of(&set)).await?;
    let gone: Vec<String> = before.uids().into_keys().filter(|it| !after.uids().contains_key(it)).collect();
    ensure!(gone == [uid], "{} pods were replaced, though one node was lost", gone.len());
    after.pod(CLIQUE, 0).context("the index was not filled")?;
    // A status is written a moment after what it tells of.
    eventually("no lost node is noted", PATIENCE, || async {
        let clique: PodClique = api(context).get(CLIQUE).await?;
        let noted = clique.status.unwrap_or_default().lost_nodes;
        ensure!(noted.is_empty(), "still noted: {noted:?}");
        Ok(())
    })
    .await?;
    context.lose_node(&node, false).await
}
