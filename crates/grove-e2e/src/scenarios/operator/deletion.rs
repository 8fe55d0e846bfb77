//! The end of a set.

use anyhow::{Result, ensure};
use grove_api::wire::{AutoScalingConfig, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang};
use k8s_openapi::api::{
    core::v1::{Namespace, Pod},
    discovery::v1::EndpointSlice,
};
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, PostParams},
};
use serde_json::json;

use super::{
    stage::{self, WEB, api, create, create_and_settle},
    world::World,
};
use crate::{
    nodes::Hall,
    operator::of_operator,
    scenario::{Context, DEADLINE, eventually},
    scenarios::backends,
};

/// One object of each kind that a set has, which nobody owns.
const ALONE: &str = r"
apiVersion: grove.io/v1alpha1
kind: PodClique
metadata: { name: alone }
spec: { roleName: alone, replicas: 1, minAvailable: 1, podSpec: { containers: [{ name: main, image: example.com/app }] } }
---
apiVersion: grove.io/v1alpha1
kind: PodCliqueScalingGroup
metadata: { name: alone }
spec: { replicas: 1, minAvailable: 1, cliqueNames: [alone] }
---
apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: { name: alone }
spec: { podgroups: [] }
";

/// However a set is deleted, nothing of it is left, and pods go in few requests. Another of the same name can come at once.
pub(super) async fn leaves_nothing(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let mut set = stage::set(WEB)?;
    set.spec.replicas = 3;
    let config = AutoScalingConfig { min_replicas: Some(2), max_replicas: 4, metrics: Vec::new() };
    set.spec.template.cliques[0].spec.auto_scaling_config = Some(config);
    for params in [DeleteParams::background(), DeleteParams::foreground()] {
        create_and_settle(context, &set).await?;
        let mut tail = context.cluster.tail()?;
        api::<PodCliqueSet>(context).delete("web", &params).await?;
        nothing_is_left(context).await?;
        let writes = of_operator(tail.more()?, &context.namespace);
        let count = |what: &str| writes.iter().filter(|it| it.what() == what).count();
        let (all, single) = (count("deletecollection pods"), count("delete pods"));
        let foreground = params == DeleteParams::foreground();
        // In the foreground the garbage collector may be first.
        ensure!(all <= 3 && (all > 0 || foreground), "{all} requests for all pods");
        ensure!(single <= 3, "{single} requests for single pods");
        // Each clique and group has a finalizer to lose, and the set.
        ensure!(writes.len() <= 15 + 3 + 1 + 25, "{} requests: {writes:?}", writes.len());
    }
    // At once, whatever the operator still knows of the old one.
    create_and_settle(context, &set).await?;
    api::<PodCliqueSet>(context).delete("web", &DeleteParams::default()).await?;
    eventually("the set is gone", DEADLINE, || async {
        ensure!(api::<PodCliqueSet>(context).get_opt("web").await?.is_none(), "it is there");
        Ok(())
    })
    .await?;
    create_and_settle(context, &set).await?;
    Ok(())
}

/// Sets that are deleted while their gangs are being created: once the operator has deleted the gangs, it creates no
/// PodGroup for them.
pub(super) async fn young(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(8)).await?;
    context.start_operator(backends::stage::options(context)).await?;
    let mut set = stage::set(WEB)?;
    set.spec.replicas = 3;
    for round in 0..20_usize {
        let mut tail = context.cluster.tail()?;
        create(context, &set).await?;
        // A little later in each round.
        eventually("gangs are being created", DEADLINE, || async {
            let gangs = api::<PodGang>(context).list_metadata(&ListParams::default()).await?.items;
            ensure!(gangs.len() > round % 5, "there are {}", gangs.len());
            Ok(())
        })
        .await?;
        api::<PodCliqueSet>(context).delete("web", &DeleteParams::background()).await?;
        nothing_is_left(context).await?;
        eventually("no PodGroup is left", DEADLINE, || async {
            let left = backends::stage::groups(context).await?;
            ensure!(left.is_empty(), "{} are left", left.len());
            Ok(())
        })
        .await?;
        let writes = of_operator(tail.more()?, &context.namespace);
        let deleted = writes.iter().rposition(|it| it.what() == "deletecollection podgangs");
        let after = writes.iter().skip(deleted.map_or(writes.len(), |it| it + 1));
        let late: Vec<_> =
            after.filter(|it| it.verb == "create" && it.resource.ends_with("podgroups")).collect();
        ensure!(deleted.is_some() && late.is_empty(), "created after the gangs were deleted: {late:?}");
    }
    Ok(())
}

async fn nothing_is_left(context: &Context) -> Result<()> {
    eventually("nothing is left", DEADLINE, || async {
        let left = World::read(context).await?.leftovers();
        ensure!(left.is_empty(), "left: {}", left.join(", "));
        let slices = api::<EndpointSlice>(context).list(&ListParams::default()).await?.items;
        ensure!(slices.is_empty(), "EndpointSlices are left");
        Ok(())
    })
    .await
}

/// Children of a set that is deleted with `--cascade=orphan` stay as they are, and the operator leaves them alone; what is
/// deleted later can go.
pub(super) async fn orphans(context: &mut Context) -> Result<()> {
    until_collected(context).await?;
    stage::begin(context).await?;
    let set = stage::set(WEB)?;
    let before = create_and_settle(context, &set).await?;
    api::<PodCliqueSet>(context).delete("web", &DeleteParams::orphan()).await?;
    eventually("the set is gone", DEADLINE, || async {
        ensure!(api::<PodCliqueSet>(context).get_opt("web").await?.is_none(), "it is there");
        Ok(())
    })
    .await?;
    let mut tail = context.cluster.tail()?;
    let victim = before.pod("web-0-front", 0)?.name_any();
    api::<Pod>(context).delete(&victim, &DeleteParams::default()).await?;
    // When another set runs, the operator has seen all that came before.
    let mut other = stage::set(WEB)?;
    other.metadata.name = Some("other".to_owned());
    create_and_settle(context, &other).await?;

    let world = World::read(context).await?;
    let kept = before.uids().into_keys().filter(|it| world.uids().contains_key(it)).count();
    ensure!(kept == 7, "{kept} of 7 orphaned pods are left");
    ensure!(world.pods.len() == 7 + 8, "orphans got a new pod: {:?}", world.uids().values());
    ensure!(world.cliques.len() == 5 + 5, "cliques: {:?}", world.cliques.len());
    for clique in world.cliques.iter().filter(|it| it.name_any().starts_with("web-")) {
        ensure!(
            clique.owner_references().iter().all(|it| it.kind != "PodCliqueSet"),
            "{} has an owner",
            clique.name_any()
        );
    }
    let mut touched = of_operator(tail.more()?, &context.namespace);
    touched.retain(|it| it.name.starts_with("web-"));
    ensure!(touched.is_empty(), "orphans were changed: {touched:?}");

    api::<PodClique>(context).delete("web-0-front", &DeleteParams::default()).await?;
    eventually("an orphaned clique goes, with its pod", DEADLINE, || async {
        let world = World::read(context).await?;
        ensure!(world.clique("web-0-front").is_err(), "the clique is there");
        ensure!(world.uids_of("web-0-front").is_empty(), "its pod is there");
        Ok(())
    })
    .await
}

/// Waits until the garbage collector knows our kinds, which it looks for twice a minute. What it does not know it cannot
/// orphan, and deletes it later for want of an owner.
async fn until_collected(context: &Context) -> Result<()> {
    context.apply(ALONE).await?;
    let orphan = DeleteParams::orphan();
    api::<PodClique>(context).delete("alone", &orphan).await?;
    api::<PodCliqueScalingGroup>(context).delete("alone", &orphan).await?;
    api::<PodGang>(context).delete("alone", &orphan).await?;
    // Only the collector takes the finalizer off that `orphan` puts on.
    eventually("the garbage collector knows our kinds", DEADLINE, || async {
        ensure!(api::<PodClique>(context).get_opt("alone").await?.is_none(), "no PodCliques");
        ensure!(api::<PodCliqueScalingGroup>(context).get_opt("alone").await?.is_none(), "no groups");
        ensure!(api::<PodGang>(context).get_opt("alone").await?.is_none(), "no PodGangs");
        Ok(())
    })
    .await
}

/// A namespace that is deleted goes, with the sets in it, and the operator does not try to fill it again and again.
pub(super) async fn namespace(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let own = std::mem::take(&mut context.namespace);
    context.namespace = format!("{own}-doomed");
    let result = doomed(context).await;
    context.namespace = own;
    result
}

async fn doomed(context: &Context) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(context.client());
    let namespace = serde_json::from_value(json!({ "metadata": { "name": context.namespace } }))?;
    namespaces.create(&PostParams::default(), &namespace).await?;
    let set = stage::set(WEB)?;
    // Pods are refused until there is a service account.
    create_and_settle(context, &set).await?;
    let mut tail = context.cluster.tail()?;
    namespaces.delete(&context.namespace, &DeleteParams::default()).await?;
    eventually("the namespace is gone", DEADLINE, || async {
        ensure!(namespaces.get_opt(&context.namespace).await?.is_none(), "it is there");
        Ok(())
    })
    .await?;
    let refused = of_operator(tail.more()?, &context.namespace).iter().filter(|it| it.code == 403).count();
    ensure!(refused <= 40, "{refused} requests were refused");
    Ok(())
}
