//! Replicas of a set in different domains.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::conditions::pod_gang::{SCHEDULED, UNSCHEDULABLE},
    wire::PodCliqueSet,
};
use serde_json::json;

use crate::{
    nodes::Hall,
    scenario::{Context, PodState},
    scenarios::{
        backends::stage::{self, Role},
        operator::stage::scale,
    },
};

/// Racks to a block.
const RACKS: usize = 2;

/// Each rack has room for two replicas and there are two blocks. So one block would do for all; but the second replica goes to
/// the other one, and the third waits.
pub(super) async fn replicas_are_apart(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2 * RACKS).nodes(2).gpus(2)).await?;
    stage::start(context, stage::options(context)).await?;
    let mut set = stage::set("gang", &[Role::new("a", 1, 1), Role::new("b", 1, 1)]);
    set["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "floor", "pack": { "required": "rack" } });
    set["spec"]["replicaSpread"] = json!({ "topologyDomain": "block", "mode": "Required" });
    set["spec"]["replicas"] = json!(2);
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, "gang-", 4).await?;
    let (first, second) = (blocks(&pods, "gang-0-")?, blocks(&pods, "gang-1-")?);
    ensure!(first.len() == 1 && second.len() == 1, "a replica is in two blocks: {pods:?}");
    ensure!(first != second, "the replicas share a block: {pods:?}");

    scale::<PodCliqueSet>(context, "gang", 3).await?;
    stage::gang_says(context, "gang-2", SCHEDULED, |it| it.reason == UNSCHEDULABLE).await?;
    let third = of(&context.log.now(&context.namespace), "gang-2-");
    ensure!(
        third.len() == 2 && third.iter().all(|it| it.node.is_none()),
        "the third replica shares: {third:?}"
    );
    Ok(())
}

fn of(pods: &[PodState], prefix: &str) -> Vec<PodState> {
    pods.iter().filter(|it| it.name.starts_with(prefix)).cloned().collect()
}

/// The blocks in which pods are.
fn blocks(pods: &[PodState], prefix: &str) -> Result<BTreeSet<usize>> {
    let block = |pod: &PodState| {
        let rack =
            pod.node.as_deref().and_then(|it| it.strip_prefix("rack-")).and_then(|it| it.split('-').next());
        Ok(rack.context("no rack")?.parse::<usize>()? / RACKS)
    };
    of(pods, prefix).iter().map(block).collect()
}
