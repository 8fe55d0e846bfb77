//! Upstream's gang scheduling tests, on every scheduler that has gangs.
//!
//! Upstream's tests expect that the minima of all gangs of a set go first. KAI does that, and for the stock scheduler the
//! operator does. Volcano chooses for itself: there no gang may run in part, and no room may be left that one could
//! use.

mod cases;
mod picture;

use anyhow::{Result, ensure};
use grove_api::{
    constants::{
        conditions::pod_gang::{SCHEDULED, UNSCHEDULABLE},
        labels,
    },
    wire::{PodCliqueScalingGroup, PodCliqueSet},
};

use self::cases::{Case, Step};
use super::stage;
use crate::{
    cluster::{
        Gates::{All, Workload},
        Scheduler::{self, Kai, Kube, Volcano},
    },
    nodes::{Hall, node_name},
    scenario::{Context, PodState, Running, Scenario},
    scenarios::operator::stage::scale,
};

const GANGS: &[(Scheduler, crate::cluster::Gates)] =
    &[(Kube, All), (Kube, Workload), (Kai, All), (Volcano, All)];
const OTHERS: &[(Scheduler, crate::cluster::Gates)] = &[(Kube, Workload), (Kai, All), (Volcano, All)];

type Run = for<'a> fn(&'a mut Context) -> Running<'a>;

const fn on_all(name: &'static str, run: Run) -> Scenario {
    Scenario { name, on: GANGS, full_only: false, run }
}

/// The longer ones, on schedulers that a short one has shown already.
const fn on_others(name: &'static str, run: Run) -> Scenario {
    Scenario { name, on: OTHERS, full_only: true, run }
}

pub(super) const TABLE: &[Scenario] = &[
    on_all("backend_one_role", |context| Box::pin(run(context, &cases::ONE_ROLE))),
    on_all("backend_gs1", |context| Box::pin(run(context, &cases::GS1))),
    on_all("backend_gs2", |context| Box::pin(run(context, &cases::GS2))),
    Scenario::on_kube("backend_gs3", |context| Box::pin(run(context, &cases::GS3))),
    on_others("backend_gs3", |context| Box::pin(run(context, &cases::GS3))),
    Scenario::on_kube("backend_gs4", |context| Box::pin(run(context, &cases::GS4))),
    on_others("backend_gs4", |context| Box::pin(run(context, &cases::GS4))),
    on_all("backend_gs5", |context| Box::pin(run(context, &cases::GS5))),
    on_all("backend_gs6", |context| Box::pin(run(context, &cases::GS6))),
    Scenario::on_kube("backend_gs7", |context| Box::pin(run(context, &cases::GS7))),
    on_others("backend_gs7", |context| Box::pin(run(context, &cases::GS7))),
    on_all("backend_gs8", |context| Box::pin(run(context, &cases::GS8))),
    Scenario::on_kube("backend_gs9", |context| Box::pin(run(context, &cases::GS9))),
    on_others("backend_gs9", |context| Box::pin(run(context, &cases::GS9))),
    on_all("backend_gs10", |context| Box::pin(run(context, &cases::GS10))),
    Scenario::on_kube("backend_gs11", |context| Box::pin(run(context, &cases::GS11))),
    on_others("backend_gs11", |context| Box::pin(run(context, &cases::GS11))),
    Scenario::on_kube("backend_gs12", |context| Box::pin(run(context, &cases::GS12))),
    on_others("backend_gs12", |context| Box::pin(run(context, &cases::GS12))),
];

/// The name of the set.
const SET: &str = "gs";

async fn run(context: &mut Context, case: &Case) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(case.nodes).gpus(1)).await?;
    open(context, case.open..case.nodes, false).await?;
    context.start_operator(stage::options(context)).await?;
    let mark = context.log.mark();
    let set = case.set(SET);
    context.apply(&set.to_string()).await?;
    let mut nodes = case.open;
    for (number, step) in case.steps.iter().enumerate() {
        match *step {
            Step::Open(more) => {
                open(context, nodes..nodes + more, true).await?;
                nodes += more;
            }
            Step::Group(replica, copies) => {
                let name = format!("{SET}-{replica}-x");
                stage::until_there::<PodCliqueScalingGroup>(context, &name).await?;
                scale::<PodCliqueScalingGroup>(context, &name, copies).await?;
            }
            Step::Set(replicas) => drop(scale::<PodCliqueSet>(context, SET, replicas).await?),
            Step::Bound(bound, pods) => settled(context, case, number, nodes, (bound, pods)).await?,
        }
    }
    let pods = context.log.now(&context.namespace).len();
    let ready = |all: &[PodState]| ours(all).iter().filter(|it| it.ready).count() == pods;
    context.expect("all pods are ready", ready).await?;
    let gone = context.log.since(mark, &context.namespace);
    let gone = gone.iter().filter(|it| it.name.starts_with(SET) && it.after.is_none()).count();
    ensure!(gone == 0, "{gone} pods were deleted on the way");
    Ok(())
}

/// Lets pods on nodes, or keeps them off; the scheduler sees it all at once, so that it cannot choose in between.
async fn open(context: &Context, nodes: std::ops::Range<usize>, open: bool) -> Result<()> {
    let program = context.scheduler().program();
    context.cluster.pause_program(program, true)?;
    let patched = futures::future::join_all(
        nodes.map(|it| async move { context.cordon(&node_name(0, it), !open).await }),
    );
    let patched = patched.await;
    context.cluster.pause_program(program, false)?;
    patched.into_iter().collect()
}

/// Waits until the pods are as they may rest, and holds that against the scheduler's next try.
async fn settled(
    context: &Context,
    case: &Case,
    number: usize,
    open: usize,
    (bound, pods): (usize, usize),
) -> Result<()> {
    let exact = match context.scheduler() {
        Scheduler::Kai | Scheduler::Kube => true,
        // With room for all, or for none, every scheduler comes to the same.
        Scheduler::Volcano => bound == pods || bound == 0,
    };
    let judge = |all: &[PodState]| -> Result<()> {
        let all = ours(all);
        ensure!(all.len() == pods, "there are {} pods, not {pods}", all.len());
        let have = all.iter().filter(|it| it.node.is_some()).count();
        ensure!(!exact || have == bound, "{have} pods are bound, not {bound}");
        picture::check(&all, open, |clique| case.minimum_of(clique))
    };
    let what = format!("step {number}: {bound} of {pods} pods are bound on {open} nodes");
    let wrong = || judge(&context.log.now(&context.namespace)).err().map(|it| it.to_string());
    let rested = context.expect(&what, |all| judge(all).is_ok()).await;
    rested.map_err(|it| it.context(wrong().unwrap_or_default()))?;
    if bound == pods {
        return Ok(());
    }
    let places = || -> Vec<(String, Option<String>)> {
        let all = ours(&context.log.now(&context.namespace));
        all.into_iter().map(|it| (it.name, it.node)).collect()
    };
    let before = places();
    context.had_its_turn(SET).await?;
    let after = places();
    ensure!(before == after, "step {number}: it was not at rest: {before:?}, then {after:?}");
    if bound == 0 {
        let base = format!("{SET}-0");
        stage::gang_says(context, &base, SCHEDULED, |it| it.reason == UNSCHEDULABLE).await?;
    }
    Ok(())
}

/// Pods of the set; canaries are none.
fn ours(pods: &[PodState]) -> Vec<PodState> {
    pods.iter().filter(|it| it.label(labels::PART_OF) == SET).cloned().collect()
}
