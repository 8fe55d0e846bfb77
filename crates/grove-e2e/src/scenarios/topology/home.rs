//! A level that a whole set replica requires holds across its gangs, and gangs say how well they sit.

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::{PodCliqueScalingGroup, PodGang};
use serde_json::json;

use crate::{
    nodes::Hall,
    scenario::{Context, PodState, eventually},
    scenarios::{
        backends::stage::{self, Role, SOON},
        gang::fill,
        operator::stage::{api, scale},
    },
};

/// The base gang fits into the second block only. Then there is room in the first, more than in the second, and a replica
/// more of the group goes to where the others are.
pub(super) async fn scaled_gangs_follow(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(4).nodes(2).gpus(2)).await?;
    fill(context, 0, 4).await?;
    fill(context, 1, 2).await?;
    stage::start(context, stage::options(context)).await?;
    let mut set = stage::set("gang", &[Role::new("a", 2, 2), Role::new("b", 1, 1), Role::new("c", 2, 2)]);
    stage::group(&mut set, "x", &["b", "c"], 1, 1);
    set["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": "floor", "pack": { "required": "block", "preferred": "rack" } });
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, "gang-", 5).await?;
    ensure!(pods.iter().all(is_in_second), "the base gang is not in block 1: {pods:?}");
    // Five pods on hosts of two GPUs: not all wishes can be met, and the gang says so.
    let score = eventually("the gang is scored", SOON, || async {
        let status = api::<PodGang>(context).get("gang-0").await?.status.unwrap_or_default();
        let missed =
            status.conditions.iter().any(|it| it.type_ == "PreferredPlacement" && it.status == "False");
        ensure!(missed, "nothing is missed: {status:?}");
        status.placement_score.context("there is no score")
    })
    .await?;
    ensure!(score.abs() < f64::EPSILON, "the only wish is missed, and the score is {score}");

    for name in ["fill-0-0", "fill-0-1", "fill-0-2", "fill-0-3", "fill-1-0", "fill-1-1"] {
        context.delete_pod(name).await?;
    }
    scale::<PodCliqueScalingGroup>(context, "gang-0-x", 2).await?;
    let pods = stage::ready(context, "gang-0-x-1-", 3).await?;
    ensure!(pods.iter().all(is_in_second), "the scaled gang is not in block 1: {pods:?}");
    Ok(())
}

/// Racks 2 and 3 are the second block.
fn is_in_second(pod: &PodState) -> bool {
    pod.node.as_deref().is_some_and(|it| it.starts_with("rack-2-") || it.starts_with("rack-3-"))
}
