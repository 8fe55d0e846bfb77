//! Pods that fail, are evicted, or do not go.

use anyhow::{Context as _, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;

use super::{
    stage::{self, WEB, api, create_and_settle, settled},
    wanted::Wanted,
    world::World,
};
use crate::{
    nodes::Hall,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, eventually},
};

/// A pod that failed, and one that its kubelet evicted, are replaced, index by index.
pub(super) async fn failed_pods(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let set = stage::set(WEB)?;
    let mut before = create_and_settle(context, &set).await?;
    let fails = before.pod("web-0-pd-0-work", 1)?.name_any();
    context.annotate_pod(&fails, "e2e.grove.io/fail-after", "100ms").await?;
    before = is_replaced(context, &set, &before, "web-0-pd-0-work", 1).await?;

    let evicted = before.pod("web-0-front", 0)?.name_any();
    let status = json!({ "status": { "phase": "Failed", "reason": "Evicted", "message": "The node was low on memory." } });
    let params = PatchParams::default();
    api::<Pod>(context).patch_status(&evicted, &params, &Patch::Merge(&status)).await?;
    is_replaced(context, &set, &before, "web-0-front", 0).await?;
    Ok(())
}

/// Exactly this pod was replaced, and all is well.
async fn is_replaced(
    context: &Context,
    set: &grove_api::wire::PodCliqueSet,
    before: &World,
    clique: &str,
    index: u32,
) -> Result<World> {
    let victim = before.pod(clique, index)?.uid().unwrap_or_default();
    eventually("the pod is gone", DEADLINE, || async {
        ensure!(!World::read(context).await?.uids().contains_key(&victim), "it is there");
        Ok(())
    })
    .await?;
    let world = settled(context, &Wanted::of(set)).await?;
    let gone: Vec<String> = before.uids().into_keys().filter(|it| !world.uids().contains_key(it)).collect();
    ensure!(gone == [victim], "{} pods were replaced", gone.len());
    world.pod(clique, index).context("the index was not filled")?;
    Ok(world)
}

/// A pod that is deleted on a node that is lost stays there for ever; its replacement does not wait for that.
pub(super) async fn stuck_terminating(context: &mut Context) -> Result<()> {
    // One pod to a node, and one node to spare.
    context.nodes(Hall::racks(3).nodes(3).gpus(1)).await?;
    context.start_operator(OperatorOptions::default()).await?;
    let set = stage::set(WEB)?;
    let before = create_and_settle(context, &set).await?;
    let victim = before.pod("web-0-pd-0-lead", 0)?;
    let node = victim.spec.as_ref().and_then(|it| it.node_name.clone()).context("not bound")?;
    context.lose_node(&node, true).await?;
    api::<Pod>(context).delete(&victim.name_any(), &DeleteParams::default()).await?;
    let world = settled(context, &Wanted::of(&set).with_lingering(1)).await?;
    ensure!(world.pods.len() == 9, "{} pods", world.pods.len());
    ensure!(world.uids().contains_key(&victim.uid().unwrap_or_default()), "the pod is not stuck");
    let replacement = world.pod("web-0-pd-0-lead", 0)?;
    ensure!(replacement.uid() != victim.uid(), "it was not replaced");
    // Somebody sees to it by force.
    context.delete_pod(&victim.name_any()).await?;
    let after = settled(context, &Wanted::of(&set)).await?;
    ensure!(after.pod("web-0-pd-0-lead", 0)?.uid() == replacement.uid(), "it was replaced again");
    Ok(())
}
