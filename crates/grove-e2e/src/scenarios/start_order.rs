//! Roles start in order, with the real `grove-initc`: what the operator tells, and when pods start, from the watch log.
//!
//! Pods are held short of being ready for as long as a scenario wants, so that an order that is not kept shows.

mod cases;
mod starts;

use std::path::Path;

use anyhow::{Result, bail, ensure};

use self::{
    cases::{Case, EXPLICIT_FULL, EXPLICIT_MINIMUM, IN_ORDER_FULL, IN_ORDER_MINIMUM, Release},
    starts::{Start, check_started, check_told},
};
use crate::{
    cluster::{
        Gates::All,
        Scheduler::{Kai, Kube, Volcano},
    },
    nodes::{Hall, InitContainers},
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, Running, Scenario, WatchLog, eventually},
};

pub(super) const TABLE: &[Scenario] = &[
    on_all("start_order_in_order_full", |context| Box::pin(keeps(context, &IN_ORDER_FULL))),
    on_all("start_order_in_order_minimum", |context| Box::pin(keeps(context, &IN_ORDER_MINIMUM))),
    on_all("start_order_explicit_full", |context| Box::pin(keeps(context, &EXPLICIT_FULL))),
    on_all("start_order_explicit_minimum", |context| Box::pin(keeps(context, &EXPLICIT_MINIMUM))),
    Scenario::on_kube("start_order_needs_initc", |context| Box::pin(needs_initc(context))),
];

const fn on_all(name: &'static str, run: for<'a> fn(&'a mut Context) -> Running<'a>) -> Scenario {
    Scenario { name, on: &[(Kube, All), (Kai, All), (Volcano, All)], full_only: false, run }
}

/// A case as it should go: each step lets the next cliques start, and nobody else.
async fn keeps(context: &mut Context, case: &Case) -> Result<()> {
    let log = begin(context, case).await?;
    let _running = InitContainers::start_ours(&context.cluster)?;
    // Each pod that has to wait runs the program that waits, which logs that: a pod that starts too early shows. Simulated kubelets
    // have no such processes.
    let has_processes = !context.cluster.options.is_sandbox();
    eventually("the init containers say that they wait", DEADLINE, || async {
        for pod in log.now(&context.namespace).iter().filter(|it| it.has_init_container && has_processes) {
            let said = init_log(context, pod);
            ensure!(said.contains("the pod starts after "), "{} says {said:?}", pod.name);
        }
        Ok(())
    })
    .await?;
    for (step, release) in case.releases.iter().enumerate() {
        let_go(context, &log, release).await?;
        for name in release.starts {
            let started = |pods: &[Start]| of(pods, name).all(|it| it.initialized);
            let what = format!("{name} starts after step {step}");
            log.until(&context.namespace, &what, DEADLINE, started).await?;
        }
        for name in release.ready {
            let ready = |pods: &[Start]| of(pods, name).all(|it| it.ready);
            let what = format!("{name} is ready after step {step}");
            log.until(&context.namespace, &what, DEADLINE, ready).await?;
        }
    }
    all_ready(context, &log, case).await?;
    let story = log.since(0, &context.namespace);
    check_told(&story, case)?;
    check_started(&story, case)?;
    for pod in log.now(&context.namespace).iter().filter(|it| it.has_init_container && has_processes) {
        let said = init_log(context, pod);
        ensure!(said.contains("the pod starts\n"), "{} says {said:?}", pod.name);
    }
    Ok(())
}

/// With a program that does not wait, the check of the first case finds that pods start too early, though the operator
/// tells them in order. So it is that program that holds them, and the check can fail.
async fn needs_initc(context: &mut Context) -> Result<()> {
    let case = &IN_ORDER_FULL;
    let log = begin(context, case).await?;
    let _running = InitContainers::start(&context.cluster, Path::new("/bin/true"));
    let early = |pods: &[Start]| of(pods, "so-0-sg-x-0-pc-c").all(|it| it.running);
    log.until(&context.namespace, "the last role starts at once", DEADLINE, early).await?;
    for release in case.releases {
        let_go(context, &log, release).await?;
    }
    all_ready(context, &log, case).await?;
    // The last role's word comes with the readiness of the role before it.
    let told = |pods: &[Start]| pods.iter().filter(|it| it.has_init_container).all(|it| it.told);
    log.until(&context.namespace, "all pods are told", DEADLINE, told).await?;
    let story = log.since(0, &context.namespace);
    check_told(&story, case)?;
    match check_started(&story, case) {
        Ok(()) => bail!("the check does not see that pods started too early"),
        Err(_) => Ok(()),
    }
}

/// An operator, and the case's set with every pod created and bound.
async fn begin(context: &mut Context, case: &Case) -> Result<WatchLog<Start>> {
    context.nodes(Hall::racks(1).nodes(2)).await?;
    context.start_operator(OperatorOptions::on(context.scheduler())).await?;
    let log = WatchLog::open(context.client()).await;
    context.apply(&case.set().to_string()).await?;
    let bound = |pods: &[Start]| pods.len() == case.pods && pods.iter().all(|it| it.bound);
    log.until(&context.namespace, "all pods are bound", DEADLINE, bound).await?;
    Ok(log)
}

/// Lets pods become ready.
async fn let_go(context: &Context, log: &WatchLog<Start>, release: &Release) -> Result<()> {
    let pods = log.now(&context.namespace);
    for name in release.cliques {
        for pod in of(&pods, name).take(release.pods) {
            context.annotate_pod(&pod.name, cases::HOLD, "0s").await?;
        }
    }
    Ok(())
}

async fn all_ready(context: &Context, log: &WatchLog<Start>, case: &Case) -> Result<()> {
    // Where the minimum was enough for the others, the rest is still held.
    let pods = log.now(&context.namespace);
    for pod in pods.iter().filter(|it| !it.ready && case.holds(&it.clique)) {
        context.annotate_pod(&pod.name, cases::HOLD, "0s").await?;
    }
    let ready = |pods: &[Start]| pods.len() == case.pods && pods.iter().all(|it| it.ready);
    log.until(&context.namespace, "all pods are ready", DEADLINE, ready).await?;
    Ok(())
}

/// Pods of a clique.
fn of<'a>(pods: &'a [Start], clique: &str) -> impl Iterator<Item = &'a Start> {
    pods.iter().filter(move |it| it.clique == clique)
}

/// What the init container of a pod wrote.
fn init_log(context: &Context, pod: &Start) -> String {
    let name = format!("init-{}-{}.log", context.namespace, pod.name);
    std::fs::read_to_string(context.cluster.options.folder.join("log").join(name)).unwrap_or_default()
}
