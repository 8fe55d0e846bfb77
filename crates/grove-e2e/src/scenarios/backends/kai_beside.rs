//! KAI's own ways beside ours: its pod grouper, and sets that ran under upstream Grove with KAI.

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::{PodClique, PodGang};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    ResourceExt,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{
    recovery::witness,
    stage::{self, Role},
};
use crate::{
    nodes::Hall,
    objects,
    scenario::Context,
    scenarios::operator::{
        stage::{api, scale},
        story::{self, Story},
    },
};

fn set(name: &str) -> Value {
    stage::set(name, &[Role::new("a", 2, 2), Role::new("b", 2, 1)])
}

/// With KAI's pod grouper there is one PodGroup for a gang, and nobody writes it any more when all is settled.
pub(super) async fn pod_grouper(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(2).gpus(8)).await?;
    context.cluster.run_companion("kai-podgrouper").await?;
    stage::start(context, stage::options(context)).await?;
    context.apply(&set("both").to_string()).await?;
    let pods = stage::ready(context, "both-", 4).await?;
    let gang = api::<PodGang>(context).get("both-0").await?;
    let name = format!("pg-both-0-{}", gang.uid().unwrap_or_default());
    one_group(context, &name).await?;
    until_grouped(context, &name).await?;
    witness(context, "settled").await?;

    let mut tail = context.cluster.tail()?;
    // The grouper looks at a pod whenever that changes.
    for pod in &pods {
        context.annotate_pod(&pod.name, "e2e.grove.io/touched", "yes").await?;
    }
    witness(context, "touched").await?;
    let writes = tail.more()?;
    let of_groups = |it: &&crate::cluster::Write| {
        it.namespace == context.namespace && it.resource == "podgroups" && it.code < 400
    };
    let wrong: Vec<_> = writes.iter().filter(of_groups).collect();
    ensure!(wrong.is_empty(), "the PodGroup is written: {wrong:?}");
    one_group(context, &name).await?;
    scale::<PodClique>(context, "both-0-b", 3).await?;
    stage::ready(context, "both-", 5).await?;
    one_group(context, &name).await.map(drop)
}

/// The grouper has come by: it leaves its mark on the PodGroup.
async fn until_grouped(context: &Context, name: &str) -> Result<()> {
    crate::scenario::eventually("KAI's pod grouper has come by", stage::SOON, || async {
        let group = one_group(context, name).await?;
        let mark = group.annotations().contains_key("kai.scheduler/top-owner-metadata");
        ensure!(mark, "not yet");
        Ok(())
    })
    .await
}

async fn one_group(context: &Context, name: &str) -> Result<DynamicObject> {
    let mut groups = stage::groups(context).await?;
    let names: Vec<String> = groups.iter().map(ResourceExt::name_any).collect();
    ensure!(names == [name], "the PodGroups are {names:?}, not {name}");
    groups.pop().context("no group")
}

/// A set that upstream Grove ran with KAI is taken over: no pod deleted, no second PodGroup, and what comes later joins.
pub(super) async fn takeover(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(2).gpus(8)).await?;
    stage::start(context, stage::options(context)).await?;
    context.apply(&set("old").to_string()).await?;
    stage::ready(context, "old-", 4).await?;
    context.operator()?.stop().await?;
    let uid = as_upstream(context).await?;

    let mark = story::mark(context)?;
    context.operator()?.start_again().await?;
    witness(context, "after").await?;
    scale::<PodClique>(context, "old-0-b", 3).await?;
    stage::ready(context, "old-", 5).await?;
    let deleted = Story::since(context, mark)?.deleted_pods();
    ensure!(deleted.is_empty(), "pods were deleted: {deleted:?}");
    let group = one_group(context, "old-0").await?;
    ensure!(group.uid() == Some(uid), "the PodGroup was made anew");
    for pod in api::<Pod>(context).list(&ListParams::default()).await?.items {
        let of = pod.annotations().get("pod-group-name").cloned().unwrap_or_default();
        ensure!(of == "old-0", "pod {} belongs to {of}", pod.name_any());
    }
    Ok(())
}

/// Makes of our objects what upstream would have made: a PodGroup that is called like the gang.
async fn as_upstream(context: &Context) -> Result<String> {
    let ours = stage::groups(context).await?.pop().context("no group")?;
    let gang = api::<PodGang>(context).get("old-0").await?;
    let mut value = json!({
        "apiVersion": "scheduling.run.ai/v2alpha2",
        "kind": "PodGroup",
        "metadata": {
            "name": "old-0",
            "labels": gang.labels(),
            "ownerReferences": [{
                "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang", "name": "old-0", "uid": gang.uid(),
                "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": ours.data["spec"],
    });
    let groups = objects::api_for(&context.client(), &mut value, Some(&context.namespace)).await?;
    let theirs = groups.create(&PostParams::default(), &serde_json::from_value(value)?).await?;
    let point = Patch::Merge(json!({ "metadata": { "annotations": {
        "pod-group-name": "old-0", "kai.scheduler/podgang": null, "kai.scheduler/podgroup": null,
    } } }));
    for pod in api::<Pod>(context).list(&ListParams::default()).await?.items {
        api::<Pod>(context).patch(&pod.name_any(), &PatchParams::default(), &point).await?;
    }
    groups.delete(&ours.name_any(), &DeleteParams::default()).await?;
    // Upstream notes nothing of its own on a gang.
    let plain = Patch::Merge(json!({ "metadata": { "annotations": null } }));
    api::<PodGang>(context).patch("old-0", &PatchParams::default(), &plain).await?;
    theirs.uid().context("it has no UID")
}
