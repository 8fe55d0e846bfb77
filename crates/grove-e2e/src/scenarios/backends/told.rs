//! What a scheduler cannot do is told, and never passed over in silence.

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::{
        conditions::{
            SCHEDULER_CAPABILITY_GAP,
            pod_gang::{NOT_HONOURED, SCHEDULED},
        },
        labels,
    },
    wire::{
        CapabilitySupport::{Emulated, Native, Pass, Reject},
        SchedulerBackend,
    },
};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::ListParams};
use serde_json::{Value, json};

use super::{
    priority,
    stage::{self, Role},
};
use crate::{
    cluster::{Gates, Scheduler},
    nodes::Hall,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, eventually},
    scenarios::{gang::fill, operator::stage::api},
};

const PAIR: &[Role] = &[Role::new("a", 2, 2), Role::new("b", 2, 2)];

/// The API serves groups and the scheduler binds their pods one by one: three of four run, and the gang says so.
pub(super) async fn groups_are_not_honoured(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(1).gpus(2)).await?;
    fill(context, 0, 1).await?;
    stage::start(context, stage::options(context)).await?;
    context.apply(&stage::set("gang", PAIR).to_string()).await?;
    context.expect_all_bound("gang-", 3).await?;
    let said = stage::gang_says(context, "gang-0", SCHEDULED, |it| it.reason == NOT_HONOURED).await?;
    ensure!(said.status == "False" && !said.message.is_empty(), "{said:?}");
    stage::set_says(context, "gang", "Progressing", |it| it.message.contains(&said.message)).await?;
    Ok(())
}

/// Without groups, pods run one by one; a warning at creation and a condition say that, and why. Pods have the priority of
/// their gang all the same.
pub(super) async fn no_gangs(context: &mut Context) -> Result<()> {
    priority::with_classes(context, one_by_one).await
}

async fn one_by_one(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(2)).await?;
    fill(context, 0, 1).await?;
    fill(context, 1, 4).await?;
    // The same is asked for where the API serves groups.
    let switched_off = context.gates() == Gates::All;
    let options = OperatorOptions { gang_scheduling: !switched_off, ..stage::asked(context) };
    stage::start(context, options).await?;
    stage::until_answered(context).await?;
    let why = if switched_off { "gangScheduling is false" } else { "does not serve PodGroups" };
    let mut set = stage::set("gang", PAIR);
    set["spec"]["template"]["priorityClassName"] = "e2e-low".into();
    let (refused, warnings) = stage::send(context, &set).await?;
    ensure!(refused.is_none(), "it is refused: {refused:?}");
    let warned = warnings.iter().any(|it| it.contains(why));
    ensure!(warned, "no warning says that {why}: {warnings:?}");
    let said = stage::set_says(context, "gang", SCHEDULER_CAPABILITY_GAP, |it| it.status == "True").await?;
    ensure!(said.message.contains(why), "it does not say why: {}", said.message);
    // Three slots for four pods.
    context.expect_all_bound("gang-", 3).await?;
    ensure!(switched_off || stage::groups(context).await?.is_empty(), "groups were made");
    let of_set = ListParams::default().labels(&format!("{}=gang", labels::PART_OF));
    for pod in api::<Pod>(context).list(&of_set).await?.items {
        let spec = pod.spec.unwrap_or_default();
        ensure!(spec.scheduling_group.is_none(), "a pod has a group: {:?}", spec.scheduling_group);
        let class = spec.priority_class_name.as_deref();
        ensure!(class == Some("e2e-low"), "a pod has the class {class:?}");
    }
    stage::gang_says(context, "gang-0", SCHEDULED, |it| it.status == "False").await?;
    context.delete_pod("fill-1-0").await?;
    stage::ready(context, "gang-", 4).await?;
    stage::gang_says(context, "gang-0", SCHEDULED, |it| it.status == "True").await?;
    required_levels_are_refused(context, why).await
}

/// Each level that the scheduler cannot keep is refused at its field, with the reason that its capabilities have.
async fn required_levels_are_refused(context: &Context, why: &str) -> Result<()> {
    let rack = json!({ "topologyName": "floor", "pack": { "required": "rack" } });
    let mut of_set = grouped("of-set");
    of_set["spec"]["template"]["topologyConstraint"] = rack.clone();
    let mut of_group = grouped("of-group");
    of_group["spec"]["template"]["podCliqueScalingGroups"][0]["topologyConstraint"] = rack.clone();
    let mut of_clique = grouped("of-clique");
    of_clique["spec"]["template"]["cliques"][0]["topologyConstraint"] = rack;
    for (set, field) in [
        (of_set, "spec.template.topologyConstraint"),
        (of_group, "spec.template.podCliqueScalingGroups[0].topologyConstraint"),
        (of_clique, "spec.template.cliques[0].topologyConstraint"),
    ] {
        let (refused, _) = stage::send(context, &set).await?;
        let message = refused.with_context(|| format!("{field} is taken"))?.message;
        ensure!(message.contains(field) && message.contains(why), "{field}: {message}");
    }
    Ok(())
}

fn grouped(name: &str) -> Value {
    let mut set = stage::set(name, &[Role::new("a", 2, 2), Role::new("b", 1, 1), Role::new("c", 2, 2)]);
    stage::group(&mut set, "x", &["b", "c"], 2, 2);
    set
}

/// Flat groups have no levels: a required one is refused at admission, a preferred one packs.
pub(super) async fn no_levels(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(1).gpus(1)).await?;
    stage::start(context, stage::asked(context)).await?;
    stage::until_answered(context).await?;
    required_levels_are_refused(context, "TopologyAwareWorkloadScheduling is closed").await
}

/// What each backend says that it can do is what this cluster is known to have.
pub(super) async fn capabilities(context: &mut Context) -> Result<()> {
    // Volcano knows levels by the HyperNodes that come with nodes.
    context.nodes(Hall::racks(1).nodes(1).gpus(1)).await?;
    stage::start(context, stage::options(context)).await?;
    // What an operator before this one said stands until this one has spoken.
    let context = &*context;
    eventually("backends say what they can do", DEADLINE, || said_of_backends(context)).await
}

async fn said_of_backends(context: &Context) -> Result<()> {
    let scheduler = context.scheduler();
    let backends: Api<SchedulerBackend> = Api::all(context.client());
    let status = backends.get(scheduler.pod_name()).await?.status.unwrap_or_default();
    let says = |feature: &str| {
        let found = status.capabilities.iter().find(|it| it.feature == feature);
        found.map(|it| it.support).with_context(|| format!("nothing is said of {feature}"))
    };
    let (groups, level) = match (scheduler, context.gates()) {
        (Scheduler::Kube, Gates::Workload) => (Emulated, Reject),
        (Scheduler::Kube, Gates::None) => (Pass, Reject),
        (_, _) => (Native, Native),
    };
    ensure!(says("MultiGroupGang")? == groups, "MultiGroupGang: {:?}", says("MultiGroupGang"));
    ensure!(says("RequiredTopologyGang")? == level, "{:?}", says("RequiredTopologyGang"));
    ensure!(status.default && status.scheduler_name.as_deref() == Some(scheduler.pod_name()), "{status:?}");
    // Those that no profile asks for are there too, and say so.
    let all = backends.list(&ListParams::default()).await?.items;
    ensure!(all.len() == 3, "there are {} backends", all.len());
    for backend in all {
        let conditions = backend.status.unwrap_or_default().conditions;
        let ready =
            conditions.iter().find(|it| it.type_ == "SchedulerBackendReady").context("no condition")?;
        let name = backend.metadata.name.unwrap_or_default();
        let listed = name == scheduler.pod_name() || name == Scheduler::Kube.pod_name();
        let (wanted, reason) =
            if listed { ("True", "BackendInitialized") } else { ("Unknown", "BackendNotConfigured") };
        ensure!(ready.status == wanted && ready.reason == reason, "{name} says {ready:?}");
    }
    Ok(())
}
