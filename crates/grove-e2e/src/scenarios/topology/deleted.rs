//! ClusterTopologyBindings that sets use are deleted and created.

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::conditions::{
        pod_gang::{SCHEDULED, TOPOLOGY_NOT_FOUND, UNSCHEDULABLE},
        scheduler_topology_drift as drift, topology_levels_unavailable as levels,
    },
    wire::{PodCliqueSet, PodGang},
};
use kube::api::DeleteParams;
use serde_json::{Value, json};

use super::{
    binding::{bindings, says, topologies},
    one_rack,
};
use crate::{
    cluster::Scheduler,
    nodes::{Hall, RACK},
    objects,
    scenario::{Context, eventually},
    scenarios::{
        backends::stage::{self, Role, SOON},
        operator::stage::api,
    },
};

/// So often a binding and a set are created one right after the other.
const ROUNDS: usize = 20;

fn in_a_rack(name: &str, pods: i32, topology: &str) -> Value {
    let mut set = stage::set(name, &[Role::new("a", pods, pods)]);
    set["spec"]["template"]["topologyConstraint"] =
        json!({ "topologyName": topology, "pack": { "required": "rack" } });
    set
}

async fn required(context: &Context, gang: &str) -> Result<Option<String>> {
    let constraint = api::<PodGang>(context).get(gang).await?.spec.topology_constraint;
    Ok(constraint.and_then(|it| it.pack_constraint).and_then(|it| it.required))
}

/// The binding of a running set is deleted (TAS20): the set says so and runs on. A gang that waits for a rack keeps waiting
/// for one, although the hall has room for it; a new replica stays gated. When the binding is back, it is placed in a rack.
pub(super) async fn goes_and_comes(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    stage::start(context, stage::options(context)).await?;
    let mut set = in_a_rack("gang", 2, "floor");
    context.apply(&set.to_string()).await?;
    stage::ready(context, "gang-", 2).await?;
    stage::set_says(context, "gang", levels::TYPE, |it| it.reason == levels::ALL_AVAILABLE).await?;
    context.apply(&in_a_rack("waits", 5, "floor").to_string()).await?;
    stage::gang_says(context, "waits-0", SCHEDULED, |it| it.reason == UNSCHEDULABLE).await?;

    bindings(context).delete("floor", &DeleteParams::default()).await?;
    let gone = |it: &grove_api::wire::Condition| it.status == "Unknown" && it.reason == levels::NOT_FOUND;
    stage::set_says(context, "gang", levels::TYPE, gone).await?;
    let is_kai = context.scheduler() == Scheduler::Kai;
    if is_kai {
        eventually("KAI's object goes with it", SOON, || async {
            let left = topologies(context).await?.get_opt("floor").await?;
            ensure!(left.is_none(), "it is there");
            Ok(())
        })
        .await?;
    }
    set["spec"]["replicas"] = json!(2);
    context.apply(&set.to_string()).await?;
    let said = stage::gang_says(context, "gang-1", SCHEDULED, |it| it.reason == TOPOLOGY_NOT_FOUND).await?;
    ensure!(said.message.contains("floor"), "{}", said.message);
    context
        .expect("the pods of the new replica exist and are gated", |pods| {
            let new: Vec<_> = pods.iter().filter(|it| it.name.starts_with("gang-1-")).collect();
            new.len() == 2 && new.iter().all(|it| !it.gates.is_empty())
        })
        .await?;
    for prefix in ["waits-", "gang-1-"] {
        context.expect_none_bound(prefix).await?;
    }
    for gang in ["gang-0", "waits-0"] {
        let required = required(context, gang).await?;
        ensure!(required.as_deref() == Some(RACK), "{gang} requires {required:?}");
    }

    objects::apply_text(&context.client(), stage::FLOOR, None).await?;
    stage::set_says(context, "gang", levels::TYPE, |it| it.reason == levels::ALL_AVAILABLE).await?;
    if is_kai {
        says(context, "floor", |it| it.reason == drift::IN_SYNC).await?;
    }
    let pods = stage::ready(context, "gang-", 4).await?;
    let new: Vec<_> = pods.into_iter().filter(|it| it.name.starts_with("gang-1-")).collect();
    one_rack(&new)?;
    Ok(())
}

/// A binding and a set that uses it come one right after the other, as from one file: the set is never refused because
/// the operator has not seen the binding yet.
pub(super) async fn comes_with_its_set(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    stage::start(context, stage::asked(context)).await?;
    stage::until_answered(context).await?;
    for round in 0..ROUNDS {
        let name = format!("round-{round}");
        let mut set = in_a_rack(&name, 1, &name);
        set["spec"]["replicas"] = json!(0);
        let binding = json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": name },
            "spec": { "levels": [{ "domain": "rack", "key": RACK }] },
        });
        objects::apply(&context.client(), binding, None).await?;
        let (refused, _) = stage::send(context, &set).await?;
        ensure!(refused.is_none(), "round {round} is refused: {refused:?}");
    }
    let (refused, _) = stage::send(context, &in_a_rack("lonely", 1, "nowhere")).await?;
    let words = refused.context("a topology that does not exist is taken")?.message;
    ensure!(words.contains("there is no ClusterTopologyBinding"), "{words}");
    for round in 0..ROUNDS {
        let name = format!("round-{round}");
        api::<PodCliqueSet>(context).delete(&name, &DeleteParams::default()).await?;
        bindings(context).delete(&name, &DeleteParams::default()).await?;
    }
    Ok(())
}
