//! Another default scheduler after a restart, and a scheduler that is no longer listed.

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::{
        conditions::pod_gang::{BACKEND_NOT_READY, SCHEDULED},
        events::backend,
        labels,
    },
    wire::{PodClique, PodCliqueScalingGroup, PodGang, SchedulerBackend},
};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams},
};
use serde_json::Value;

use super::stage::{self, Role};
use crate::{
    cluster::Scheduler::{self, Kai, Kube},
    nodes::Hall,
    operator::OperatorOptions,
    scenario::{Context, PodState, eventually},
    scenarios::operator::stage::{api, scale},
};

fn knows(schedulers: &[Scheduler]) -> OperatorOptions {
    OperatorOptions { schedulers: schedulers.to_vec(), ..OperatorOptions::default() }
}

/// A set that names no scheduler: a role, and a group of which more can be had.
fn set(name: &str) -> Value {
    let mut set = stage::set(name, &[Role::new("a", 2, 1), Role::new("b", 1, 1)]);
    stage::group(&mut set, "x", &["b"], 1, 1);
    set
}

pub(super) async fn running_sets_stay(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(4).gpus(8)).await?;
    stage::start(context, knows(&[Kube, Kai])).await?;
    context.apply(&set("old").to_string()).await?;
    let first = uids(&stage::ready(context, "old-", 3).await?);

    stage::restart(context, knows(&[Kai, Kube])).await?;
    let told = stage::told_by_event(context, "default", Kai.pod_name(), backend::SWITCHED).await?;
    let words = told.message.unwrap_or_default();
    let both = words.contains(Kube.pod_name()) && words.contains(Kai.pod_name());
    ensure!(both, "it does not say from what to what: {words}");
    let backends: Api<SchedulerBackend> = Api::all(context.client());
    for scheduler in [Kube, Kai] {
        // Each backend is looked after by itself: the other one may still be about to say that it is no longer the default.
        let what = format!("{} knows whether it is the default", scheduler.name());
        eventually(&what, stage::SOON, || async {
            let status = backends.get(scheduler.pod_name()).await?.status.unwrap_or_default();
            ensure!(status.default == (scheduler == Kai), "it says default: {}", status.default);
            Ok(())
        })
        .await?;
    }

    // Another pod, one in the place of another, and another gang: all with the scheduler that the set has.
    scale::<PodClique>(context, "old-0-a", 3).await?;
    stage::ready(context, "old-0-a", 3).await?;
    let victim = context.log.now(&context.namespace).into_iter().find(|it| it.name.starts_with("old-0-a"));
    let victim = victim.context("no pod")?;
    api::<Pod>(context).delete(&victim.name, &DeleteParams::default()).await?;
    let replaced = |pods: &[PodState]| {
        let ready: Vec<_> = pods.iter().filter(|it| it.name.starts_with("old-0-a") && it.ready).collect();
        ready.len() == 3 && ready.iter().all(|it| it.uid != victim.uid)
    };
    context.expect("the pod is replaced", replaced).await?;
    scale::<PodCliqueScalingGroup>(context, "old-0-x", 2).await?;
    let now = stage::ready(context, "old-", 5).await?;
    all_use(context, "old", Kube).await?;
    let lost = first.iter().filter(|it| **it != victim.uid && !uids(&now).contains(it)).count();
    ensure!(lost == 0, "{lost} pods of a running set were replaced");

    context.apply(&set("new").to_string()).await?;
    let before = uids(&stage::ready(context, "new-", 3).await?);
    all_use(context, "new", Kai).await?;
    unlisted(context, &before).await
}

/// KAI is no longer listed: its set stays as it is and says what it lacks; when KAI is listed again it goes on.
async fn unlisted(context: &mut Context, before: &[String]) -> Result<()> {
    stage::restart(context, knows(&[Kube])).await?;
    scale::<PodCliqueScalingGroup>(context, "new-0-x", 2).await?;
    let said = stage::gang_says(context, "new-0-x-0", SCHEDULED, |it| it.reason == BACKEND_NOT_READY).await?;
    ensure!(said.message.contains(Kai.pod_name()), "it does not name the profile: {}", said.message);
    // What others ask for is done meanwhile.
    scale::<PodCliqueScalingGroup>(context, "old-0-x", 3).await?;
    stage::ready(context, "old-", 6).await?;
    let pods = context.log.now(&context.namespace);
    let of_kai: Vec<PodState> = pods.into_iter().filter(|it| it.name.starts_with("new-")).collect();
    ensure!(of_kai.iter().filter(|it| it.ready).count() == 3, "a running set changed: {of_kai:?}");
    ensure!(uids(&of_kai).iter().filter(|it| before.contains(it)).count() == 3, "pods were replaced");
    let let_go = of_kai.iter().any(|it| !before.contains(&it.uid) && it.gates.is_empty());
    ensure!(!let_go, "a pod of a scheduler that is not listed was let go: {of_kai:?}");

    stage::restart(context, knows(&[Kube, Kai])).await?;
    let now = stage::ready(context, "new-", 4).await?;
    all_use(context, "new", Kai).await?;
    ensure!(before.iter().all(|it| uids(&now).contains(it)), "pods of a running set were replaced");
    Ok(())
}

fn uids(pods: &[PodState]) -> Vec<String> {
    pods.iter().map(|it| it.uid.clone()).collect()
}

/// All gangs and pods of a set are a scheduler's.
async fn all_use(context: &Context, set: &str, scheduler: Scheduler) -> Result<()> {
    let of_set = ListParams::default().labels(&format!("{}={set}", labels::PART_OF));
    for gang in api::<PodGang>(context).list(&of_set).await?.items {
        let name = gang.labels().get(labels::SCHEDULER_NAME).cloned().unwrap_or_default();
        ensure!(name == scheduler.pod_name(), "gang {} is {name}'s", gang.name_any());
    }
    for pod in api::<Pod>(context).list(&of_set).await?.items {
        let name = pod.spec.as_ref().and_then(|it| it.scheduler_name.clone()).unwrap_or_default();
        ensure!(name == scheduler.pod_name(), "pod {} is {name}'s", pod.name_any());
    }
    Ok(())
}
