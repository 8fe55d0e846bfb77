//! Templates that reach no pod: held back while updates are paused, or refused by the API server.

use anyhow::{Result, ensure};
use grove_api::{
    constants::{
        conditions::{update_in_progress, update_pending},
        labels,
    },
    wire::PodClique,
};
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::json;

use super::{
    play::SET,
    workload::{self, Workload},
};
use crate::{
    nodes::Hall,
    operator::of_operator,
    scenario::{Context, PodState},
    scenarios::{backends::stage, operator::stage::api},
};

const PODS: usize = 10;

/// PodCliques of a paused set are deleted, also the only one of its role: they come back with the template in use, although a
/// new operator knows only what is in the cluster.
pub(super) async fn paused(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(PODS + 2).gpus(1)).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = Workload::Minimum.set(SET, 1);
    context.apply(&set.to_string()).await?;
    let before = stage::ready(context, SET, PODS).await?;
    let mark = context.log.mark();

    set["spec"]["updateStrategy"] = json!({ "paused": true });
    workload::change(&mut set, &["a", "b", "c"], 2);
    context.apply(&set.to_string()).await?;
    let is_held = |reason: &str| reason == update_pending::PAUSED;
    stage::set_says(context, SET, update_pending::TYPE, |it| it.status == "True" && is_held(&it.reason))
        .await?;
    context.operator()?.stop().await?;
    let gone = ["set-0-a", "set-0-x-0-b", "set-0-x-1-b"];
    for name in gone {
        api::<PodClique>(context).delete(name, &DeleteParams::default()).await?;
    }
    context.operator()?.start_again().await?;
    let of_gone = |it: &PodState| gone.contains(&it.label(labels::POD_CLIQUE));
    let is_old = |it: &PodState| before.iter().any(|old| old.uid == it.uid);
    let back = |pods: &[PodState]| {
        pods.iter().filter(|it| it.ready).count() == PODS && !pods.iter().any(|it| of_gone(it) && is_old(it))
    };
    context.expect("all pods are ready, and those of deleted PodCliques are new", back).await?;
    let leaked = context.log.since(mark, &context.namespace);
    let leaked = leaked.iter().filter_map(|it| it.after.as_ref()).find(|it| it.image == workload::image(2));
    ensure!(leaked.is_none(), "a pod has the template that is held back: {leaked:?}");

    set["spec"]["updateStrategy"] = json!({ "paused": false });
    context.apply(&set.to_string()).await?;
    let is_new = |it: &PodState| it.ready && it.image == workload::image(2);
    context
        .expect("all pods are of the new template", |pods| pods.len() == PODS && pods.iter().all(is_new))
        .await?;
    stage::set_says(context, SET, update_pending::TYPE, |it| it.status == "False").await?;
    Ok(())
}

/// A template that only the API server can refuse (a RuntimeClass that does not exist): the update says so before it deletes
/// a pod, and goes on when the class is there.
pub(super) async fn refused(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(PODS + 2).gpus(1)).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = Workload::Minimum.set(SET, 1);
    context.apply(&set.to_string()).await?;
    stage::ready(context, SET, PODS).await?;
    let mark = context.log.mark();

    let class = format!("{}-missing", context.namespace);
    workload::change(&mut set, &["a", "c"], 2);
    for role in ["a", "c"] {
        if let Some(role) = workload::role(&mut set, role) {
            role["spec"]["podSpec"]["runtimeClassName"] = class.clone().into();
        }
    }
    context.apply(&set.to_string()).await?;
    let words = format!("RuntimeClass \"{class}\" not found");
    stage::set_says(context, SET, update_in_progress::TYPE, |it| {
        it.reason == update_in_progress::TEMPLATE_REFUSED && it.message.contains(&words)
    })
    .await?;
    let changes = context.log.since(mark, &context.namespace);
    let lost = changes.iter().find(|it| it.after.as_ref().is_none_or(|it| it.terminating));
    ensure!(lost.is_none(), "a pod was deleted for pods that cannot be created: {lost:?}");

    let classes: Api<RuntimeClass> = Api::all(context.client());
    let object = serde_json::from_value(json!({ "metadata": { "name": class }, "handler": "runc" }))?;
    classes.create(&PostParams::default(), &object).await?;
    let is_new = |it: &&PodState| it.ready && it.image == workload::image(2);
    // Two pods of the first role, and three in each copy of the group.
    let all = context
        .expect("the update went on", |pods| pods.len() == PODS && pods.iter().filter(is_new).count() == 8);
    let all = all.await;
    // It has no namespace to go with.
    classes.delete(&class, &DeleteParams::default()).await?;
    all?;
    stage::set_says(context, SET, update_in_progress::TYPE, |it| it.status == "False").await?;

    let dry_runs = of_operator(context.cluster.dry_runs()?, &context.namespace);
    let pods = dry_runs.iter().filter(|it| it.what() == "create pods");
    let (refused, accepted): (Vec<_>, Vec<_>) = pods.partition(|it| it.code == 403);
    // Both roles have the same template.
    ensure!(!refused.is_empty() && accepted.len() == 1, "dry runs: {dry_runs:?}");
    Ok(())
}
