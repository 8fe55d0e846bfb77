//! What goes down and comes back: the scheduler, the operator, a pod, a node.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::PodGang;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::DeleteParams};
use serde_json::{Value, json};

use super::stage::{self, Role};
use crate::{
    cluster::Write,
    nodes::{Hall, node_name},
    objects,
    operator::{OperatorOptions, of_operator},
    scenario::{Context, PodState},
    scenarios::operator::{
        stage::api,
        story::{self, Story},
    },
};

fn gang(name: &str) -> Value {
    stage::set(name, &[Role::new("a", 2, 2), Role::new("b", 2, 2)])
}

/// A gang waits while the scheduler is away, and gets its place when that is back, with room that came in between.
pub(super) async fn scheduler_restarts(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(8).gpus(1)).await?;
    context.cordon(&node_name(0, 7), true).await?;
    stage::start(context, stage::options(context)).await?;
    context.apply(&gang("runs").to_string()).await?;
    let before = uids(&stage::ready(context, "runs-", 4).await?);
    context.apply(&gang("waits").to_string()).await?;
    context.expect("the second gang waits", |pods| waiting(pods, "waits-") == 4).await?;
    context.expect_none_bound("waits-").await?;

    let program = context.scheduler().program();
    context.cluster.stop_program(program).await?;
    context.cordon(&node_name(0, 7), false).await?;
    // One that comes while nobody places pods.
    let late = stage::set("late", &[Role::new("a", 1, 1)]);
    context.apply(&late.to_string()).await?;
    context.expect("it is let go all the same", |pods| waiting(pods, "late-") == 1).await?;
    let placed = context.log.now(&context.namespace).iter().filter(|it| it.node.is_some()).count();
    ensure!(placed == 4, "{placed} pods are placed, by whom?");
    context.cluster.start_program(program).await?;
    // Room for the gang or for the late one: whichever is first, the other follows.
    let some = |pods: &[PodState]| pods.iter().filter(|it| it.ready).count() >= 5;
    context.expect("the scheduler goes on", some).await?;
    api::<grove_api::wire::PodCliqueSet>(context).delete("late", &DeleteParams::default()).await?;
    stage::ready(context, "waits-", 4).await?;
    let now = uids(&stage::ready(context, "runs-", 4).await?);
    ensure!(now == before, "pods of a running gang were replaced");
    Ok(())
}

/// The operator is killed beside gangs that run and one that waits: after its return nothing is written, nothing deleted.
pub(super) async fn operator_restarts(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(8).gpus(1)).await?;
    context.cordon(&node_name(0, 7), true).await?;
    stage::start(context, OperatorOptions { leader_election: false, ..stage::options(context) }).await?;
    context.apply(&gang("runs").to_string()).await?;
    stage::ready(context, "runs-", 4).await?;
    context.apply(&gang("waits").to_string()).await?;
    context.expect("the second gang waits", |pods| waiting(pods, "waits-") == 4).await?;
    context.had_its_turn("waits-").await?;
    let groups = specs(context).await?;
    ensure!(!groups.is_empty(), "no groups were made");
    let is_silent = at_rest(context).await?;

    let (mark, said) = (story::mark(context)?, says(context).await?);
    let mut tail = context.cluster.tail()?;
    context.operator()?.kill().await?;
    context.operator()?.start_again().await?;
    // When a set that came later runs, everything that was there has been looked at.
    witness(context, "after").await?;
    let mut writes = of_operator(tail.more()?, &context.namespace);
    let now = says(context).await?;
    writes.retain(|it| (is_silent && said == now) || !is_word_of_the_waiting(it));
    ensure!(writes.is_empty(), "it wrote: {writes:?}: the gang that waits said {said} and says {now}");
    let deleted = Story::since(context, mark)?.deleted_pods();
    ensure!(deleted.is_empty(), "pods were deleted: {deleted:?}");
    ensure!(specs(context).await? == groups, "groups were written");

    context.cordon(&node_name(0, 7), false).await?;
    stage::ready(context, "waits-", 4).await?;
    Ok(())
}

/// What a status says is held back for a second after it was last written: who is silent for longer has nothing to say.
const QUIET: Duration = Duration::from_secs(3);

/// Waits until nothing is written any more; `false` where the scheduler changes its words all the time, and only those are.
async fn at_rest(context: &Context) -> Result<bool> {
    let mut writes = Vec::new();
    for round in 0..8 {
        let mut tail = context.cluster.tail()?;
        witness(context, &format!("rest-{round}")).await?;
        tokio::time::sleep(QUIET).await;
        writes = of_operator(tail.more()?, &context.namespace);
        if writes.is_empty() {
            return Ok(true);
        }
    }
    ensure!(writes.iter().all(is_word_of_the_waiting), "it does not end to write: {writes:?}");
    Ok(false)
}

/// Schedulers change their words on a gang that waits as they please, and they are passed on.
fn is_word_of_the_waiting(write: &Write) -> bool {
    write.resource == "events" || (write.resource.ends_with("/status") && write.name.starts_with("waits"))
}

/// The conditions of the gang that waits.
async fn says(context: &Context) -> Result<String> {
    let status = api::<PodGang>(context).get("waits-0").await?.status.unwrap_or_default();
    let said = status.conditions.iter().map(|it| format!("{}={} {}", it.type_, it.status, it.message));
    Ok(said.collect::<Vec<_>>().join("; "))
}

/// A set in another namespace that becomes ready, and asks for nothing scarce.
pub(super) async fn witness(context: &Context, name: &str) -> Result<()> {
    let namespace = format!("{}-{name}", context.namespace);
    let space = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": namespace } });
    objects::apply(&context.client(), space, None).await?;
    let mut set = stage::set("witness", &[Role::new("a", 1, 1)]);
    set["spec"]["template"]["cliques"][0]["spec"]["podSpec"]["containers"][0]["resources"] =
        json!({ "requests": { "cpu": "10m" } });
    objects::apply(&context.client(), set, Some(&namespace)).await?;
    let ready = |pods: &[PodState]| pods.iter().any(|it| it.ready);
    context.log.until(&namespace, "a set in another namespace is ready", stage::SOON, ready).await?;
    Ok(())
}

/// A pod of a running gang fails, and then one on a node that is lost is evicted: each is replaced and placed again,
/// and the others stay.
pub(super) async fn pod_fails_and_node_is_lost(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(6).gpus(1)).await?;
    stage::start(context, stage::options(context)).await?;
    context.apply(&gang("gang").to_string()).await?;
    let mut pods = stage::ready(context, "gang-", 4).await?;
    let fails = pods[0].clone();
    context.annotate_pod(&fails.name, "e2e.grove.io/fail-after", "100ms").await?;
    pods = replaced(context, &pods, &fails).await?;

    let lost = pods[1].clone();
    let node = lost.node.clone().context("it has no node")?;
    context.cordon(&node, true).await?;
    context.lose_node(&node, true).await?;
    // As the eviction does that comes with the taint of a silent node. Nobody confirms it.
    Api::<Pod>::namespaced(context.client(), &context.namespace)
        .delete(&lost.name, &DeleteParams::default())
        .await?;
    let now = replaced(context, &pods, &lost).await?;
    ensure!(now.iter().all(|it| it.node.as_ref() != Some(&node)), "placed on a node that is lost");
    Ok(())
}

/// Waits until exactly this pod of four is replaced.
async fn replaced(context: &Context, before: &[PodState], victim: &PodState) -> Result<Vec<PodState>> {
    let live = |pods: &[PodState]| -> Vec<PodState> {
        let live = pods.iter().filter(|it| it.name.starts_with("gang-") && it.ready && !it.terminating);
        live.filter(|it| it.uid != victim.uid).cloned().collect()
    };
    let what = format!("{} is replaced", victim.name);
    let now = live(&context.expect(&what, |pods| live(pods).len() == 4).await?);
    let kept = before.iter().filter(|it| now.iter().any(|new| new.uid == it.uid)).count();
    ensure!(kept == 3, "only {kept} pods were kept");
    Ok(now)
}

/// Pods that are let go and have no node.
fn waiting(pods: &[PodState], prefix: &str) -> usize {
    let of = pods.iter().filter(|it| it.name.starts_with(prefix));
    of.filter(|it| it.node.is_none() && it.gates.is_empty()).count()
}

fn uids(pods: &[PodState]) -> Vec<String> {
    pods.iter().map(|it| it.uid.clone()).collect()
}

/// The scheduler's groups: its own word on them counts for nothing.
async fn specs(context: &Context) -> Result<Vec<(Option<String>, Value)>> {
    let groups = stage::groups(context).await?;
    Ok(groups.into_iter().map(|it| (it.metadata.uid, it.data["spec"].clone())).collect())
}
