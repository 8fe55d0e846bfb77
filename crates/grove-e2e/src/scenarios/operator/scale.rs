//! Scaling of sets, cliques and groups, through `/scale` and through the spec.

use std::collections::BTreeSet;

use anyhow::{Result, bail, ensure};
use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet},
};
use kube::{ResourceExt, api::DeleteParams};
use serde_json::json;

use super::{
    stage::{self, Child, WEB, api, create_and_settle, patch, scale, settled},
    wanted::Wanted,
    world::{World, label},
};
use crate::scenario::Context;

/// One, three, one, none, one: what stays is not touched, what goes leaves nothing, also no Service.
pub(super) async fn set(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let mut set = stage::set(WEB)?;
    let first = create_and_settle(context, &set).await?.uids();
    for replicas in [3, 1] {
        scale::<PodCliqueSet>(context, "web", replicas).await?;
        set.spec.replicas = replicas;
        let world = settled(context, &Wanted::of(&set)).await?;
        let now = world.uids();
        ensure!(first.keys().all(|it| now.contains_key(it)), "a pod of replica 0 was replaced");
    }
    patch::<PodCliqueSet>(context, "web", &json!({ "spec": { "replicas": 0 } })).await?;
    set.spec.replicas = 0;
    let world = settled(context, &Wanted::of(&set)).await?;
    ensure!(world.pods.is_empty(), "pods are left");
    patch::<PodCliqueSet>(context, "web", &json!({ "spec": { "replicas": 1 } })).await?;
    set.spec.replicas = 1;
    let world = settled(context, &Wanted::of(&set)).await?;
    let now = world.uids();
    ensure!(first.keys().all(|it| !now.contains_key(it)), "a pod came back from the dead");
    Ok(())
}

/// Out, in, and out again: pods keep their indices, and a hole is filled first. Never below the minimum.
pub(super) async fn clique(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let set = stage::set(WEB)?;
    let mut before = create_and_settle(context, &set).await?;
    let others = before.uids_of("web-0-pd");
    for replicas in [5, 2, 4] {
        scale::<PodClique>(context, "web-0-front", replicas).await?;
        let world = settled(context, &Wanted::scaled(&set, &[("web-0-front", replicas)])).await?;
        let (old, new) = (indices(&before), indices(&world));
        let kept = old.intersection(&new).count();
        ensure!(kept == old.len().min(new.len()), "pods were replaced: {old:?}, then {new:?}");
        ensure!(world.uids_of("web-0-pd") == others, "pods of another clique were touched");
        before = world;
    }
    let numbers: BTreeSet<String> = indices(&before).into_iter().map(|it| it.0).collect();
    let wanted: BTreeSet<String> = (0..4).map(|it| it.to_string()).collect();
    ensure!(numbers == wanted, "the holes are not filled: {numbers:?}");

    // A hole in the middle.
    let (victim, old) = (before.pod("web-0-front", 1)?.clone(), indices(&before));
    api::<k8s_openapi::api::core::v1::Pod>(context)
        .delete(&victim.name_any(), &DeleteParams::default())
        .await?;
    let world = settled(context, &Wanted::scaled(&set, &[("web-0-front", 4)])).await?;
    let new = indices(&world);
    ensure!(old.intersection(&new).count() == 3, "more than one was replaced: {old:?}, then {new:?}");
    ensure!(world.pod("web-0-front", 1)?.uid() != victim.uid(), "the pod was not replaced");
    refused::<PodClique>(context, "web-0-front", -1).await
}

/// Copies of a group come and go at the end of the row, each with its gang.
pub(super) async fn group(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let set = stage::set(WEB)?;
    let first = create_and_settle(context, &set).await?.uids();
    scale::<PodCliqueScalingGroup>(context, "web-0-pd", 4).await?;
    let world = settled(context, &Wanted::scaled(&set, &[("web-0-pd", 4)])).await?;
    ensure!(first.keys().all(|it| world.uids().contains_key(it)), "a pod was replaced on the way out");
    // By its spec, as a person would.
    patch::<PodCliqueScalingGroup>(context, "web-0-pd", &json!({ "spec": { "replicas": 2 } })).await?;
    let world = settled(context, &Wanted::scaled(&set, &[("web-0-pd", 2)])).await?;
    ensure!(world.uids() == first, "a pod was replaced on the way in");
    scale::<PodCliqueScalingGroup>(context, "web-0-pd", 1).await?;
    let world = settled(context, &Wanted::scaled(&set, &[("web-0-pd", 1)])).await?;
    ensure!(world.uids().keys().all(|it| first.contains_key(it)), "a pod was replaced");
    refused::<PodCliqueScalingGroup>(context, "web-0-pd", -1).await
}

/// To zero and back, a part at a time and all of it: 0 is stored, nothing waits, and nothing else is touched.
pub(super) async fn zero(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let set = stage::set(WEB)?;
    let first = create_and_settle(context, &set).await?;
    let others = first.uids_of("web-0-pd");

    scale::<PodClique>(context, "web-0-front", 0).await?;
    let world = settled(context, &Wanted::scaled(&set, &[("web-0-front", 0)])).await?;
    ensure!(world.uids_of("web-0-front").is_empty(), "pods are left");
    ensure!(world.uids_of("web-0-pd") == others, "pods of another clique were touched");
    scale::<PodClique>(context, "web-0-front", 2).await?;
    let world = settled(context, &Wanted::of(&set)).await?;
    ensure!(world.uids_of("web-0-pd") == others, "pods of another clique were touched");

    let front = world.uids_of("web-0-front");
    scale::<PodCliqueScalingGroup>(context, "web-0-pd", 0).await?;
    let world = settled(context, &Wanted::scaled(&set, &[("web-0-pd", 0)])).await?;
    ensure!(world.uids_of("web-0-front") == front, "pods of another clique were touched");
    scale::<PodClique>(context, "web-0-front", 0).await?;
    let world = settled(context, &Wanted::scaled(&set, &[("web-0-pd", 0), ("web-0-front", 0)])).await?;
    ensure!(world.pods.is_empty(), "pods are left");
    scale::<PodCliqueScalingGroup>(context, "web-0-pd", 2).await?;
    settled(context, &Wanted::scaled(&set, &[("web-0-front", 0)])).await?;
    scale::<PodClique>(context, "web-0-front", 2).await?;
    settled(context, &Wanted::of(&set)).await?;
    Ok(())
}

/// What is at zero in the template of a new set stays there.
pub(super) async fn begins_with_zero(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let mut set = stage::set(WEB)?;
    set.spec.template.cliques[0].spec.replicas = Some(0);
    let world = create_and_settle(context, &set).await?;
    ensure!(world.uids_of("web-0-front").is_empty(), "pods of a clique with replicas: 0");
    let stored: PodCliqueSet = api(context).get("web").await?;
    ensure!(stored.spec.template.cliques[0].spec.replicas == Some(0), "0 was not stored");
    scale::<PodClique>(context, "web-0-front", 2).await?;
    settled(context, &Wanted::scaled(&set, &[("web-0-front", 2)])).await?;
    Ok(())
}

/// The CRD itself refuses to scale below the minimum.
async fn refused<K: Child>(context: &Context, name: &str, replicas: i32) -> Result<()> {
    match scale::<K>(context, name, replicas).await {
        Err(kube::Error::Api(status)) if status.code == 422 => Ok(()),
        other => bail!("{name} was scaled to {replicas}, which is below its minimum: {other:?}"),
    }
}

/// Index and UID of each pod of the standalone clique.
fn indices(world: &World) -> BTreeSet<(String, String)> {
    let of_clique = world.pods.iter().filter(|it| label(*it, labels::POD_CLIQUE) == "web-0-front");
    of_clique.map(|it| (label(it, labels::POD_INDEX).to_owned(), it.uid().unwrap_or_default())).collect()
}
