//! Where gangs are placed: levels that are required hold, levels that are preferred pack.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::conditions::pod_gang::{SCHEDULED, UNSCHEDULABLE};
use serde_json::{Value, json};

use super::stage::{self, Role};
use crate::{
    cluster::Scheduler,
    nodes::{Hall, node_name},
    scenario::{Context, PodState},
    scenarios::gang::fill,
};

/// Two roles of two pods in one rack. Every rack lacks one slot, though there is room in all: nothing is bound, and the
/// gang says why in the scheduler's words. With the slot everything is bound, in that rack.
pub(super) async fn required_rack(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    fill(context, 0, 1).await?;
    fill(context, 1, 1).await?;
    stage::start(context, stage::options(context)).await?;
    let mut set = stage::set("gang", &[Role::new("a", 2, 2), Role::new("b", 2, 2)]);
    set["spec"]["template"]["topologyConstraint"] = required("rack");
    context.apply(&set.to_string()).await?;
    let let_go = |pods: &[PodState]| of(pods, "gang-").iter().filter(|it| it.gates.is_empty()).count() == 4;
    context.expect("the pods are let go", let_go).await?;
    let said = stage::gang_says(context, "gang-0", SCHEDULED, |it| it.reason == UNSCHEDULABLE).await?;
    ensure!(said.message.len() < 500, "it is not one sentence: {}", said.message);
    ensure!(!said.message.contains('\n'), "it is not one line: {}", said.message);
    context.expect_none_bound("gang-").await?;

    context.delete_pod("fill-1-0").await?;
    let nodes: BTreeSet<String> = context.expect_all_bound("gang-", 4).await?.into_iter().collect();
    ensure!(nodes == BTreeSet::from([node_name(1, 0), node_name(1, 1)]), "not in rack 1: {nodes:?}");
    stage::gang_says(context, "gang-0", SCHEDULED, |it| it.status == "True").await?;
    stage::ready(context, "gang-", 4).await?;
    Ok(())
}

/// The whole in one block, each copy of a group in one rack, and where the scheduler has a third level, the pods of a role
/// on one host. The first block has room for a copy, but not for all; the second has more than is needed, because
/// schedulers do not go back on a choice.
pub(super) async fn nested_levels(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(4).nodes(2).gpus(3)).await?;
    fill(context, 0, 4).await?;
    fill(context, 1, 2).await?;
    stage::start(context, stage::options(context)).await?;
    let mut set = stage::set("gang", &[Role::new("a", 1, 1), Role::new("b", 1, 1), Role::new("c", 2, 2)]);
    stage::group(&mut set, "x", &["b", "c"], 2, 2);
    let template = &mut set["spec"]["template"];
    template["topologyConstraint"] = required("block");
    template["podCliqueScalingGroups"][0]["topologyConstraint"] = json!({ "pack": { "required": "rack" } });
    // Volcano's sub-groups do not nest.
    let hosts = context.scheduler() != Scheduler::Volcano;
    if hosts {
        template["cliques"][2]["topologyConstraint"] = json!({ "pack": { "required": "host" } });
    }
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, "gang-", 7).await?;
    ensure!(places(&pods, "gang-", block)? == BTreeSet::from([1]), "not in block 1: {pods:?}");
    for copy in ["gang-0-x-0-", "gang-0-x-1-"] {
        ensure!(places(&pods, copy, rack)?.len() == 1, "{copy} is not in one rack: {pods:?}");
        let role = format!("{copy}c");
        ensure!(!hosts || nodes(&pods, &role).len() == 1, "{role} is not on one host: {pods:?}");
    }
    Ok(())
}

/// A level that each role requires for itself: every role on one host, though no host has room for both.
pub(super) async fn level_of_a_role(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(3)).await?;
    stage::start(context, stage::options(context)).await?;
    let mut set = stage::set("gang", &[Role::new("a", 2, 2), Role::new("b", 3, 3)]);
    // Volcano knows the levels that its HyperNodes have.
    let level = if context.scheduler() == Scheduler::Volcano { "rack" } else { "host" };
    for clique in set["spec"]["template"]["cliques"].as_array_mut().into_iter().flatten() {
        clique["topologyConstraint"] = required(level);
    }
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, "gang-", 5).await?;
    for role in ["gang-0-a", "gang-0-b"] {
        let count = if level == "host" { nodes(&pods, role).len() } else { places(&pods, role, rack)?.len() };
        ensure!(count == 1, "{role} is not on one {level}: {pods:?}");
    }
    Ok(())
}

/// A preferred rack packs where one has room; where none has, the gang is placed all the same.
pub(super) async fn preferred_rack(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(3).nodes(4).gpus(1)).await?;
    stage::start(context, stage::options(context)).await?;
    let mut set = stage::set("packed", &[Role::new("a", 2, 2), Role::new("b", 2, 2)]);
    let preferred = json!({ "topologyName": "floor", "pack": { "preferred": "rack" } });
    set["spec"]["template"]["topologyConstraint"] = preferred;
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, "packed-", 4).await?;
    ensure!(places(&pods, "packed-", rack)?.len() == 1, "not in one rack: {pods:?}");

    // Two racks of four nodes are left for five pods.
    set["metadata"]["name"] = "spread".into();
    set["spec"]["template"]["cliques"][0]["spec"]["replicas"] = 3.into();
    set["spec"]["template"]["cliques"][0]["spec"]["minAvailable"] = 3.into();
    context.apply(&set.to_string()).await?;
    stage::ready(context, "spread-", 5).await?;
    Ok(())
}

/// A required block and in it a preferred rack, for the same pods.
pub(super) async fn required_and_preferred(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(4).nodes(4).gpus(1)).await?;
    // The first block has room for the gang, but not in one rack.
    fill(context, 0, 2).await?;
    fill(context, 1, 3).await?;
    stage::start(context, stage::options(context)).await?;
    let mut set = stage::set("gang", &[Role::new("a", 2, 2), Role::new("b", 2, 2)]);
    let both = json!({ "topologyName": "floor", "pack": { "required": "block", "preferred": "rack" } });
    set["spec"]["template"]["topologyConstraint"] = both;
    context.apply(&set.to_string()).await?;
    let pods = stage::ready(context, "gang-", 4).await?;
    ensure!(places(&pods, "gang-", block)? == BTreeSet::from([1]), "not in block 1: {pods:?}");
    ensure!(places(&pods, "gang-", rack)?.len() == 1, "not in one rack: {pods:?}");
    Ok(())
}

fn required(level: &str) -> Value {
    json!({ "topologyName": "floor", "pack": { "required": level } })
}

fn of<'a>(pods: &'a [PodState], prefix: &str) -> Vec<&'a PodState> {
    pods.iter().filter(|it| it.name.starts_with(prefix)).collect()
}

fn nodes(pods: &[PodState], prefix: &str) -> BTreeSet<String> {
    of(pods, prefix).iter().filter_map(|it| it.node.clone()).collect()
}

/// The places of pods, by the number of their node's rack.
fn places(pods: &[PodState], prefix: &str, place: fn(usize) -> usize) -> Result<BTreeSet<usize>> {
    let number = |node: &String| {
        let rack = node.strip_prefix("rack-").and_then(|it| it.split('-').next());
        rack.and_then(|it| it.parse().ok()).map(place).with_context(|| format!("node {node}"))
    };
    nodes(pods, prefix).iter().map(number).collect()
}

fn rack(rack: usize) -> usize {
    rack
}

/// Two racks to a block.
fn block(rack: usize) -> usize {
    rack / 2
}
