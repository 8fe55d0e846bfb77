//! The operator is killed in the middle of its work, again and again, and the end is always the same.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet};
use kube::api::DeleteParams;

use super::{
    stage::{self, WEB, api, create, scale, settled},
    story::{self, Story},
    wanted::Wanted,
    world::World,
};
use crate::{
    cluster::{Tail, Write},
    nodes::Hall,
    operator::{OperatorOptions, of_operator},
    scenario::{Context, DEADLINE, eventually},
};

const SEEDS: u64 = 5;

/// What the operator is at when it is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Create,
    Scale,
    Delete,
}

const PHASES: [Phase; 3] = [Phase::Create, Phase::Scale, Phase::Delete];

/// Killed after its k-th write while a set is created, scaled and deleted; k by seed, within three quarters of what an
/// undisturbed run takes.
pub(super) async fn killed(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(8)).await?;
    // Who was killed would lead on until its lease has run out.
    context.start_operator(OperatorOptions { leader_election: false, ..OperatorOptions::default() }).await?;
    let mut lengths = BTreeMap::new();
    for phase in PHASES {
        let mut tail = context.cluster.tail()?;
        begin(context, phase, "calm").await?;
        end(context, phase, "calm").await?;
        lengths.insert(phase, ours(context, &mut tail)?.len());
    }
    let (mut kills, mut early) = (0, 0);
    for seed in 0..SEEDS {
        let name = format!("seed-{seed}");
        for phase in PHASES {
            // The last ones are statuses, of which a run on a busy machine has fewer.
            let length = lengths[&phase] * 3 / 4;
            let at =
                1 + usize::try_from(random(seed, phase) % u64::try_from(length.saturating_sub(1).max(1))?)?;
            let mark = story::mark(context)?;
            let mut tail = context.cluster.tail()?;
            begin(context, phase, &name).await?;
            until_written(context, &mut tail, at).await?;
            context.operator()?.kill().await?;
            // What it had sent is answered by now.
            ours(context, &mut tail)?;
            context.operator()?.start_again().await?;
            let told = || format!("seed {seed}: killed at write {at} of {length} of {phase:?}");
            end(context, phase, &name).await.with_context(told)?;
            kills += 1;
            early += usize::from(ours(context, &mut tail)?.iter().any(|it| it.resource != "events"));
            no_wanted_pod_was_deleted(context, mark, phase, &name).with_context(told)?;
        }
    }
    anstream::println!("     {early} of {kills} kills before the last write");
    ensure!(early * 5 >= kills * 4, "only {early} of {kills} kills came before the last write");
    Ok(())
}

/// Gives the operator something to do.
async fn begin(context: &Context, phase: Phase, name: &str) -> Result<()> {
    match phase {
        Phase::Create => {
            let mut set = stage::set(WEB)?;
            set.metadata.name = Some(name.to_owned());
            create(context, &set).await?;
        }
        Phase::Scale => {
            scale::<PodClique>(context, &format!("{name}-0-front"), 4).await?;
            scale::<PodCliqueScalingGroup>(context, &format!("{name}-0-pd"), 1).await?;
            scale::<PodCliqueSet>(context, name, 2).await?;
        }
        Phase::Delete => drop(api::<PodCliqueSet>(context).delete(name, &DeleteParams::default()).await?),
    }
    Ok(())
}

/// Waits until it is done, and looks at everything.
async fn end(context: &Context, phase: Phase, name: &str) -> Result<()> {
    let mut set = stage::set(WEB)?;
    set.metadata.name = Some(name.to_owned());
    match phase {
        Phase::Create => drop(settled(context, &Wanted::of(&set)).await?),
        Phase::Scale => {
            set.spec.replicas = 2;
            let (front, group) = (format!("{name}-0-front"), format!("{name}-0-pd"));
            settled(context, &Wanted::scaled(&set, &[(front.as_str(), 4), (group.as_str(), 1)])).await?;
        }
        Phase::Delete => {
            eventually("nothing is left", DEADLINE, || async {
                let left = World::read(context).await?.leftovers();
                ensure!(left.is_empty(), "left: {}", left.join(", "));
                Ok(())
            })
            .await?;
        }
    }
    Ok(())
}

/// While a set is created, no pod goes; while it is scaled, only pods of the copy that is too many.
fn no_wanted_pod_was_deleted(context: &Context, mark: story::Mark, phase: Phase, name: &str) -> Result<()> {
    let too_many = format!("{name}-0-pd-1-");
    let wanted = |pod: &str| match phase {
        Phase::Create => true,
        Phase::Scale => !pod.starts_with(&too_many),
        Phase::Delete => false,
    };
    let deleted = Story::since(context, mark)?.deleted_pods();
    let wrong: Vec<&String> = deleted.values().filter(|it| wanted(it)).collect();
    ensure!(wrong.is_empty(), "pods were deleted that were wanted: {wrong:?}");
    Ok(())
}

fn ours(context: &Context, tail: &mut Tail) -> Result<Vec<Write>> {
    Ok(of_operator(tail.more()?, &context.namespace))
}

/// Waits until the operator has written so often.
async fn until_written(context: &Context, tail: &mut Tail, times: usize) -> Result<()> {
    let mut count = 0;
    let waiting = async {
        loop {
            count += ours(context, tail)?.len();
            if count >= times {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    match tokio::time::timeout(DEADLINE, waiting).await {
        Ok(result) => result,
        Err(_) => bail!("only {count} writes, not {times}"),
    }
}

/// Splitmix: the same for the same seed, on every machine.
fn random(seed: u64, phase: Phase) -> u64 {
    let mut value = (seed * 3 + phase as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
