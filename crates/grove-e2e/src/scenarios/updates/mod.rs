//! Upstream's tests of updates: RU7 to RU21 replace pods one after the other, OD1 to OD9 wait until somebody deletes them. And what
//! upstream has no tests for: templates that do not work, and an operator that is killed all the time.

mod cases;
mod held;
mod moved;
mod picture;
mod play;
mod progress;
mod random;
mod restart;
mod rules;
mod stall;
pub(super) mod workload;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use self::{
    cases::{Case, Step},
    play::{Play, SET},
};
use super::backends::stage;
use crate::{
    cluster::{
        Gates::All,
        Scheduler::{Kai, Kube},
    },
    nodes::{Hall, node_name},
    scenario::{Context, PodState, Running, Scenario},
    scenarios::operator::world::World,
};

type Run = for<'a> fn(&'a mut Context) -> Running<'a>;

const fn on_both(name: &'static str, run: Run) -> Scenario {
    Scenario { name, on: &[(Kube, All), (Kai, All)], full_only: false, run }
}

/// On a scheduler that a shorter one has shown already.
const fn on_kai(name: &'static str, run: Run) -> Scenario {
    Scenario { name, on: &[(Kai, All)], full_only: true, run }
}

/// Scenarios of updates; those that take long come last.
pub(super) const TABLE: &[Scenario] = &[
    on_both("updates_od2", |context| Box::pin(run(context, &cases::OD2))),
    on_both("updates_ru7", |context| Box::pin(run(context, &cases::RU7))),
    on_both("updates_ru9", |context| Box::pin(run(context, &cases::RU9))),
    on_both("updates_ru10", |context| Box::pin(stall::ru10(context))),
    Scenario::on_kube("updates_paused_deleted_podclique", |context| Box::pin(held::paused(context))),
    Scenario::on_kube("updates_refused_template", |context| Box::pin(held::refused(context))),
    Scenario::on_kube("updates_ru8", |context| Box::pin(run(context, &cases::RU8))),
    on_kai("updates_ru8", |context| Box::pin(run(context, &cases::RU8))),
    Scenario::on_kube("updates_minimum", |context| Box::pin(run(context, &cases::MINIMUM))),
    on_kai("updates_minimum", |context| Box::pin(run(context, &cases::MINIMUM))),
    Scenario::on_kube("updates_ru11", |context| Box::pin(run(context, &cases::RU11))),
    on_kai("updates_ru11", |context| Box::pin(run(context, &cases::RU11))),
    Scenario::on_kube("updates_ru12", |context| Box::pin(run(context, &cases::RU12))),
    on_kai("updates_ru12", |context| Box::pin(run(context, &cases::RU12))),
    Scenario::on_kube("updates_ru13", |context| Box::pin(run(context, &cases::RU13))),
    on_kai("updates_ru13", |context| Box::pin(run(context, &cases::RU13))),
    Scenario::on_kube("updates_ru14", |context| Box::pin(run(context, &cases::RU14))),
    on_kai("updates_ru14", |context| Box::pin(run(context, &cases::RU14))),
    Scenario::on_kube("updates_ru15", |context| Box::pin(run(context, &cases::RU15))),
    on_kai("updates_ru15", |context| Box::pin(run(context, &cases::RU15))),
    Scenario::on_kube("updates_ru16", |context| Box::pin(run(context, &cases::RU16))),
    on_kai("updates_ru16", |context| Box::pin(run(context, &cases::RU16))),
    Scenario::on_kube("updates_ru17", |context| Box::pin(run(context, &cases::RU17))),
    on_kai("updates_ru17", |context| Box::pin(run(context, &cases::RU17))),
    Scenario::on_kube("updates_ru18", |context| Box::pin(run(context, &cases::RU18))),
    on_kai("updates_ru18", |context| Box::pin(run(context, &cases::RU18))),
    Scenario::on_kube("updates_ru19", |context| Box::pin(run(context, &cases::RU19))),
    on_kai("updates_ru19", |context| Box::pin(run(context, &cases::RU19))),
    Scenario::on_kube("updates_ru20", |context| Box::pin(run(context, &cases::RU20))),
    on_kai("updates_ru20", |context| Box::pin(run(context, &cases::RU20))),
    Scenario::on_kube("updates_ru21", |context| Box::pin(run(context, &cases::RU21))),
    on_kai("updates_ru21", |context| Box::pin(run(context, &cases::RU21))),
    Scenario::on_kube("updates_od1", |context| Box::pin(run(context, &cases::OD1))),
    on_kai("updates_od1", |context| Box::pin(run(context, &cases::OD1))),
    Scenario::on_kube("updates_od3", |context| Box::pin(run(context, &cases::OD3))),
    on_kai("updates_od3", |context| Box::pin(run(context, &cases::OD3))),
    Scenario::on_kube("updates_od4", |context| Box::pin(run(context, &cases::OD4))),
    on_kai("updates_od4", |context| Box::pin(run(context, &cases::OD4))),
    Scenario::on_kube("updates_od5", |context| Box::pin(run(context, &cases::OD5))),
    on_kai("updates_od5", |context| Box::pin(run(context, &cases::OD5))),
    Scenario::on_kube("updates_od6", |context| Box::pin(run(context, &cases::OD6))),
    on_kai("updates_od6", |context| Box::pin(run(context, &cases::OD6))),
    Scenario::on_kube("updates_od7", |context| Box::pin(run(context, &cases::OD7))),
    on_kai("updates_od7", |context| Box::pin(run(context, &cases::OD7))),
    Scenario::on_kube("updates_od8", |context| Box::pin(moved::od8(context))),
    on_kai("updates_od8", |context| Box::pin(moved::od8(context))),
    Scenario::on_kube("updates_od9", |context| Box::pin(run(context, &cases::OD9))),
    on_kai("updates_od9", |context| Box::pin(run(context, &cases::OD9))),
    Scenario::on_kube("updates_rollback", |context| Box::pin(stall::rollback(context))),
    on_kai("updates_rollback", |context| Box::pin(stall::rollback(context))),
    Scenario::on_kube("updates_restart", |context| Box::pin(restart::all_pods(context))),
    Scenario::on_kube("updates_random_kills", |context| Box::pin(random::kills(context, 10))),
    Scenario {
        name: "updates_random_kills_long",
        on: &[(Kube, All), (Kai, All)],
        full_only: true,
        run: |context| Box::pin(random::kills(context, 50)),
    },
];

/// Nodes for three replicas of the set, one pod to a node.
pub(super) const NODES: usize = 30;

/// Room for so many pods, one to a node; and a node that has room for canaries alone, which need it while the others take no pods.
pub(super) async fn room(context: &mut Context, pods: usize) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(pods + 1).gpus(1)).await?;
    context.pod("keeper", 1, json!({ "spec": { "nodeName": node_name(0, pods) } })).await?;
    let is_ready = |pods: &[PodState]| pods.iter().any(|it| it.ready);
    context.expect("the last node is taken", is_ready).await?;
    Ok(())
}

/// Lets pods on all nodes, or keeps them off.
pub(super) async fn open(context: &Context, nodes: usize, open: bool) -> Result<()> {
    let all = (0..nodes).map(|it| async move { context.cordon(&node_name(0, it), !open).await });
    futures::future::join_all(all).await.into_iter().collect()
}

async fn run(context: &mut Context, case: &Case) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(NODES).gpus(1)).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = case.workload.set(SET, case.replicas);
    set["spec"]["updateStrategy"]["type"] = format!("{:?}", case.strategy).into();
    if case.is_slow {
        workload::annotate(&mut set, "ready-after", "1s");
    }
    let mut play = Play::begin(context, set).await?;
    let mut before = World::read(context).await?;
    for (number, step) in case.steps.iter().enumerate() {
        let told = || format!("step {number}, {step:?}");
        if number > 0 && matches!(case.steps[number - 1], Step::Turn(_)) {
            play.still_updates(context).with_context(told)?;
        }
        one(context, &mut play, &mut before, step).await.with_context(told)?;
    }
    Ok(())
}

async fn one(context: &Context, play: &mut Play, before: &mut World, step: &Step) -> Result<()> {
    match *step {
        Step::Change(roles) => {
            *before = World::read(context).await?;
            play.change(context, roles).await
        }
        Step::Switch(strategy) => {
            play.set["spec"]["updateStrategy"]["type"] = format!("{strategy:?}").into();
            Ok(())
        }
        Step::Turn(replica) => play.until_turn(context, replica).await,
        Step::Set(replicas) => play.scale_set(context, replicas).await,
        Step::Group(replica, copies) => play.scale_group(context, replica, copies).await,
        Step::Clique(replica, pods) => play.scale_clique(context, replica, pods).await,
        Step::There => play.until_there(context).await,
        Step::Delete(clique, index) => play.delete(context, clique, index).await,
        Step::Rest => play.rest(context).await.map(drop),
        Step::New(clique, new, all) => {
            let world = World::read(context).await?;
            let name = format!("{SET}-{clique}");
            let old = before.uids();
            let of_clique = world.uids_of(&name);
            let fresh = of_clique.iter().filter(|it| !old.contains_key(*it)).count();
            let is = (fresh, of_clique.len());
            ensure!(is == (new, all), "{is:?} pods of {name} are new, not {:?}", (new, all));
            Ok(())
        }
    }
}
