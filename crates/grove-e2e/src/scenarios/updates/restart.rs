//! `grove rollout restart`: every pod is replaced, by the rules of any other update.

use anyhow::{Result, ensure};

use super::{
    NODES,
    play::{Play, SET},
    workload::Workload,
};
use crate::{
    nodes::Hall,
    scenario::Context,
    scenarios::{backends::stage, operator::world::World},
};

/// No pod stays, and as many are there as before.
pub(super) async fn all_pods(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(NODES).gpus(1)).await?;
    context.start_operator(stage::options(context)).await?;
    let mut play = Play::begin(context, Workload::Full.set(SET, 2)).await?;
    let before = World::read(context).await?.uids();
    play.restart(context).await?;
    let after = play.rest(context).await?.uids();
    let stayed: Vec<&String> = before.iter().filter(|it| after.contains_key(it.0)).map(|it| it.1).collect();
    ensure!(stayed.is_empty(), "pods that were not replaced: {stayed:?}");
    ensure!(after.len() == before.len(), "{} pods instead of {}", after.len(), before.len());
    Ok(())
}
