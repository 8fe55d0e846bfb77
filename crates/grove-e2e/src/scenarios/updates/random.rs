//! Updates at random, one into the other, with an operator that is killed in the middle of each.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::{
    play::{Play, SET},
    progress::SetState,
    rules::Replaced,
};
use crate::{
    cluster::Tail,
    nodes::Hall,
    operator::{OperatorOptions, of_operator},
    scenario::Context,
    scenarios::{
        backends::stage::{self, Role},
        dice::Dice,
    },
};

const ROLES: [&str; 4] = ["a", "b", "c", "d"];
/// A run that fails is repeated with the same numbers.
const SEED: u64 = 8;
/// How long to wait for an update that may be over already.
const PATIENCE: Duration = Duration::from_millis(500);

/// One role or more.
fn roles(dice: &mut Dice) -> Vec<&'static str> {
    let mut roles: Vec<&str> = ROLES.into_iter().filter(|_| dice.one_in(2)).collect();
    if roles.is_empty() {
        roles.push("a");
    }
    roles
}

/// So many updates: images of random roles, sometimes back to what was before, sometimes scaled on the way, sometimes changed once
/// more in the middle or while no operator runs. Availability is checked from the history of pods, every time.
pub(super) async fn kills(context: &mut Context, updates: u32) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(8)).await?;
    // Who was killed would lead on until its lease has run out.
    let options = OperatorOptions { leader_election: false, ..stage::options(context) };
    context.start_operator(options).await?;
    // `a` can spare one, `d` cannot; of the group one copy is enough.
    let roles = [Role::new("a", 3, 2), Role::new("b", 1, 1), Role::new("c", 2, 1), Role::new("d", 1, 1)];
    let mut set = stage::set(SET, &roles);
    stage::group(&mut set, "x", &["b", "c"], 2, 1);
    set["spec"]["replicas"] = 2.into();
    let mut play = Play::begin(context, set).await?;
    play.replaced = Replaced::Freely;
    let (mut dice, mut former, mut early) = (Dice::new(SEED), play.set.clone(), 0);
    for number in 0..updates {
        let was_early = one(context, &mut play, &mut dice, &mut former).await;
        early += u32::from(was_early.with_context(|| format!("update {number}"))?);
    }
    anstream::println!("     {early} of {updates} kills in the middle of an update");
    ensure!(early * 2 >= updates, "only {early} of {updates} kills came in the middle of an update");
    Ok(())
}

/// One update; whether the operator was killed before it was over.
async fn one(context: &mut Context, play: &mut Play, dice: &mut Dice, former: &mut Value) -> Result<bool> {
    let mut tail = context.cluster.tail()?;
    change(context, play, dice, former).await?;
    if dice.one_in(3) {
        until_written(context, play, &mut tail, dice.below(15)).await?;
        scale(context, play, dice).await?;
    }
    if dice.one_in(3) {
        until_written(context, play, &mut tail, dice.below(15)).await?;
        change(context, play, dice, former).await?;
    }
    until_written(context, play, &mut tail, 1 + dice.below(25)).await?;
    context.operator()?.kill().await?;
    let is_early = play.sets.now(&context.namespace).iter().any(SetState::is_open);
    if dice.one_in(4) {
        change(context, play, dice, former).await?;
    }
    context.operator()?.start_again().await?;
    play.rest(context).await?;
    Ok(is_early)
}

/// Other images for some roles, or the templates of the time before.
async fn change(context: &Context, play: &mut Play, dice: &mut Dice, former: &mut Value) -> Result<()> {
    let now = play.set.clone();
    if dice.one_in(4) {
        let mut set = now.clone();
        set["spec"]["template"] = former["spec"]["template"].clone();
        play.put(context, set, &ROLES).await?;
    } else {
        play.change(context, &roles(dice)).await?;
    }
    *former = now;
    Ok(())
}

/// A clique or a group of one of the set replicas.
async fn scale(context: &Context, play: &mut Play, dice: &mut Dice) -> Result<()> {
    let replica = u32::try_from(dice.below(2))?;
    if dice.one_in(2) {
        let replicas = i32::try_from(2 + dice.below(3))?;
        play.scale_clique(context, replica, replicas).await
    } else {
        let replicas = i32::try_from(1 + dice.below(3))?;
        play.scale_group(context, replica, replicas).await
    }
}

/// Waits until the operator has written so often, or until no update is under way for a while.
async fn until_written(context: &Context, play: &Play, tail: &mut Tail, times: u64) -> Result<()> {
    let (mut open, mut count) = (Instant::now(), 0);
    while count < times && open.elapsed() < PATIENCE {
        count += u64::try_from(of_operator(tail.more()?, &context.namespace).len())?;
        if play.sets.now(&context.namespace).iter().any(SetState::is_open) {
            open = Instant::now();
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}
