//! Updates that cannot go on: there is no room for a new pod, or new pods do not become ready. They stop at the first pod, say what
//! they wait for, and there is always a way out.

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::{conditions::update_in_progress, labels};
use serde_json::json;

use super::{
    open,
    play::{Play, SET},
    room,
    rules::Replaced,
    workload::{self, Workload},
};
use crate::{
    nodes::Hall,
    scenario::{Context, PodState},
    scenarios::{backends::stage, operator::world::World},
};

/// No node takes pods: exactly one pod goes, and the rest when there is room again.
pub(super) async fn ru10(context: &mut Context) -> Result<()> {
    const PODS: usize = 10;
    room(context, PODS).await?;
    context.start_operator(stage::options(context)).await?;
    let mut play = Play::begin(context, Workload::Full.set(SET, 1)).await?;
    open(context, PODS, false).await?;
    play.change(context, &["a"]).await?;
    stalled(context, &mut play, |it| it.node.is_none() && it.gates.is_empty()).await?;
    context.had_its_turn(SET).await?;
    waits_for_the_clique(context, |_| true).await?;
    ensure_one_went(context, &mut play)?;
    open(context, PODS, true).await?;
    play.rest(context).await?;
    Ok(())
}

/// A template that does not work: the update stops at its first pod and says so, and the old template is the way back. Pods that it
/// had not reached never notice.
pub(super) async fn rollback(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(12).gpus(1)).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = Workload::Minimum.set(SET, 1);
    set["spec"]["updateStrategy"] = json!({ "type": "RollingRecreate", "progressDeadline": "5s" });
    let mut play = Play::begin(context, set).await?;
    play.replaced = Replaced::Freely;
    let (before, works) = (World::read(context).await?, play.set.clone());
    let mut broken = works.clone();
    workload::change(&mut broken, &["a"], 2);
    let role = workload::role(&mut broken, "a").context("no such role")?;
    role["annotations"] = json!({ "e2e.grove.io/never-ready": "true" });
    play.put(context, broken, &["a"]).await?;
    stalled(context, &mut play, |it| it.node.is_some() && !it.ready).await?;
    waits_for_the_clique(context, |reason| reason == update_in_progress::DEADLINE_EXCEEDED).await?;
    ensure_one_went(context, &mut play)?;

    play.put(context, works, &["a"]).await?;
    let after = play.rest(context).await?;
    let stayed = before.uids().into_keys().filter(|it| after.uids().contains_key(it)).count();
    ensure!(stayed == before.pods.len() - 1, "{stayed} of {} pods are still the same", before.pods.len());
    stage::set_says(context, SET, update_in_progress::TYPE, |it| it.status == "False").await?;
    Ok(())
}

/// Waits until a pod of the first role is new and waits like this.
async fn stalled(context: &Context, play: &mut Play, waits: impl Fn(&PodState) -> bool) -> Result<()> {
    let is_new =
        |it: &PodState| it.label(labels::POD_CLIQUE) == format!("{SET}-0-a") && !play.picture.is_old(&it.uid);
    let one_waits = |pods: &[PodState]| pods.iter().any(|it| is_new(it) && waits(it));
    context.expect("a new pod waits", one_waits).await?;
    Ok(())
}

/// Waits until the set says that its update waits for the first role.
async fn waits_for_the_clique(context: &Context, reason: impl Fn(&str) -> bool) -> Result<()> {
    let clique = format!("{SET}-0-a");
    stage::set_says(context, SET, update_in_progress::TYPE, |it| {
        it.status == "True" && it.message.contains(&clique) && reason(&it.reason)
    })
    .await?;
    Ok(())
}

fn ensure_one_went(context: &Context, play: &mut Play) -> Result<()> {
    play.look(context)?;
    let went: Vec<&str> = play.picture.losses().iter().map(|it| it.name.as_str()).collect();
    ensure!(went.len() == 1, "not one pod went, but {went:?}");
    Ok(())
}
