//! Gangs by hand-written objects: they prove the rig, before any operator makes such objects.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::{
    cluster::Scheduler,
    nodes::{Hall, node_name},
    scenario::Context,
};

/// Two groups of two pods that belong together and must share a rack: on three free slots nothing is bound, with a
/// fourth in another rack nothing, with a fourth in the same rack everything.
pub(super) async fn hierarchy_in_one_rack(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    fill(context, 0, 1).await?;
    fill(context, 1, 4).await?;
    match context.scheduler() {
        Scheduler::Kube => context.apply(include_str!("gang/kube.yaml")).await?,
        Scheduler::Kai => context.apply(include_str!("gang/kai.yaml")).await?,
        Scheduler::Volcano => context.apply(include_str!("gang/volcano.yaml")).await?,
    }
    for group in ["prefill", "decode"] {
        for index in 0..2 {
            context.pod(&format!("gang-{group}-{index}"), 1, member(context, group)).await?;
        }
    }
    context.expect_none_bound("gang-").await?;

    context.delete_pod("fill-1-0").await?;
    context.expect_none_bound("gang-").await?;

    context.delete_pod("fill-0-0").await?;
    let nodes: BTreeSet<String> = context.expect_all_bound("gang-", 4).await?.into_iter().collect();
    ensure!(nodes == BTreeSet::from([node_name(0, 0), node_name(0, 1)]), "not in rack 0: {nodes:?}");
    Ok(())
}

/// Four pods that belong together, anywhere: on three free slots nothing is bound, on four everything.
pub(super) async fn flat(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(1).gpus(2)).await?;
    fill(context, 0, 1).await?;
    match context.scheduler() {
        Scheduler::Volcano => context.apply(include_str!("gang/volcano-flat.yaml")).await?,
        _ => context.apply(include_str!("gang/kube-flat.yaml")).await?,
    }
    for index in 0..4 {
        context.pod(&format!("gang-{index}"), 1, member(context, "flat")).await?;
    }
    context.expect_none_bound("gang-").await?;
    context.delete_pod("fill-0-0").await?;
    context.expect_all_bound("gang-", 4).await?;
    Ok(())
}

/// Where the API serves groups and the scheduler does not know them, pods are bound one by one: three of four.
pub(super) async fn unknown_to_the_scheduler(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(1).gpus(2)).await?;
    fill(context, 0, 1).await?;
    context.apply(include_str!("gang/kube-flat.yaml")).await?;
    for index in 0..4 {
        context.pod(&format!("gang-{index}"), 1, member(context, "flat")).await?;
    }
    context.expect_all_bound("gang-", 3).await?;
    Ok(())
}

/// With the features off, the API has no groups.
pub(super) async fn not_served(context: &mut Context) -> Result<()> {
    let refused = context.apply(include_str!("gang/kube-flat.yaml")).await;
    ensure!(refused.is_err(), "a PodGroup was accepted");
    context.nodes(Hall::racks(1).nodes(1).gpus(1)).await?;
    context.pod("plain", 1, json!({})).await?;
    context.expect_all_bound("plain", 1).await?;
    Ok(())
}

/// Takes `count` GPUs of a rack, by pods of the stock scheduler.
pub(super) async fn fill(context: &Context, rack: usize, count: usize) -> Result<()> {
    let selector = json!({ "spec": {
        "schedulerName": "default-scheduler",
        "nodeSelector": { crate::nodes::RACK: format!("rack-{rack}") },
    } });
    for index in 0..count {
        context.pod(&format!("fill-{rack}-{index}"), 1, selector.clone()).await?;
    }
    context.expect_all_bound(&format!("fill-{rack}-"), count).await?;
    Ok(())
}

/// What makes a pod a member of `group`, for the scheduler under test.
fn member(context: &Context, group: &str) -> Value {
    match context.scheduler() {
        Scheduler::Kube => {
            json!({ "spec": { "schedulingGroup": { "podGroupName": format!("gang-{group}") } } })
        }
        Scheduler::Kai => json!({ "metadata": {
            "labels": { "kai.scheduler/queue": "test", "kai.scheduler/subgroup-name": group },
            "annotations": { "pod-group-name": "gang" },
        } }),
        Scheduler::Volcano => json!({ "metadata": {
            "labels": { "group": group },
            "annotations": { "scheduling.k8s.io/group-name": "gang" },
        } }),
    }
}
