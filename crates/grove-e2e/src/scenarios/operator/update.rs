//! Replicas that an autoscaler chose stay, and a changed template restarts nothing where others delete the pods.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::{conditions::update_pending, labels},
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet},
};
use k8s_openapi::api::{autoscaling::v2::HorizontalPodAutoscaler, core::v1::Pod};
use kube::{ResourceExt, api::DeleteParams};
use serde_json::json;

use super::{
    stage::{self, WEB, api, create, create_and_settle, patch, scale, settled},
    wanted::Wanted,
    world::{World, label},
};
use crate::scenario::{Context, DEADLINE, eventually};

/// Replicas set by a HorizontalPodAutoscaler and by hand survive a restart and a change of the template, which restarts
/// nothing: old pods keep running, new ones are of the new template, and the set says so.
pub(super) async fn replicas_and_template(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let mut set = stage::set(WEB)?;
    create_and_settle(context, &set).await?;
    let autoscaler: HorizontalPodAutoscaler = serde_json::from_value(json!({
        "metadata": { "name": "users-own" },
        "spec": {
            "scaleTargetRef": { "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "web-0-front" },
            // It has no metrics, and sees to its bounds all the same.
            "minReplicas": 4,
            "maxReplicas": 6,
        },
    }))?;
    create(context, &autoscaler).await?;
    scale::<PodCliqueScalingGroup>(context, "web-0-pd", 3).await?;
    let wanted = Wanted::scaled(&set, &[("web-0-front", 4), ("web-0-pd", 3)]);
    let scaled = settled(context, &wanted).await.context("scaled by an autoscaler")?;

    context.operator()?.stop().await?;
    context.operator()?.start_again().await?;
    // Something to do, so that we know that it has looked at the set.
    api::<Pod>(context).delete(&scaled.pod("web-0-front", 3)?.name_any(), &DeleteParams::default()).await?;
    let before = settled(context, &wanted).await.context("after a restart")?;

    for clique in &mut set.spec.template.cliques {
        clique.spec.pod_spec.containers[0].image = Some("registry.example.com/app:2.0".to_owned());
        // Only for cliques that are made later.
        clique.spec.replicas = clique.spec.replicas.map(|it| it + 1);
    }
    let strategy = json!({ "type": "OnDelete" });
    let template = json!({ "spec": { "template": set.spec.template, "updateStrategy": strategy } });
    patch::<PodCliqueSet>(context, "web", &template).await?;
    // minAvailable cannot be changed, so group members keep their size in what is wanted.
    let sizes = sizes(&before);
    let sizes: Vec<(&str, i32)> = sizes.iter().map(|(name, it)| (name.as_str(), *it)).collect();
    let wanted = Wanted::scaled(&set, &[&sizes[..], &[("web-0-pd", 3)]].concat()).with_old_pods();
    let world = pending(context, &wanted, 0).await?;
    ensure!(world.uids() == before.uids(), "a change of the template restarted pods");
    ensure!(images(&world)["registry.example.com/app:1.0"] == world.pods.len(), "{:?}", images(&world));
    ensure!(
        world.cliques.iter().all(|it| image(&it.spec.pod_spec) == "registry.example.com/app:2.0"),
        "a clique has the old template"
    );

    let victim = world.pod("web-0-pd-0-work", 1)?.name_any();
    api::<Pod>(context).delete(&victim, &DeleteParams::default()).await?;
    scale::<PodClique>(context, "web-0-front", 5).await?;
    let sizes: Vec<(&str, i32)> =
        sizes.iter().map(|(name, it)| (*name, if *name == "web-0-front" { 5 } else { *it })).collect();
    let wanted = Wanted::scaled(&set, &[&sizes[..], &[("web-0-pd", 3)]].concat()).with_old_pods();
    let world = pending(context, &wanted, 2).await?;
    let new = images(&world).get("registry.example.com/app:2.0").copied();
    ensure!(new == Some(2), "pods of the new template: {:?}", images(&world));
    let old_hash = label(before.pod("web-0-front", 0)?, labels::POD_TEMPLATE_HASH).to_owned();
    let new_hash = label(world.pod("web-0-front", 4)?, labels::POD_TEMPLATE_HASH);
    ensure!(old_hash != new_hash, "old and new pods have the same hash");

    context.operator()?.kill().await?;
    context.operator()?.start_again().await?;
    let after = pending(context, &wanted, 2).await?;
    ensure!(after.uids() == world.uids(), "a restart after a change of the template restarted pods");

    // With the last old pod gone, nothing is pending.
    api::<Pod>(context)
        .delete_collection(&DeleteParams::default(), &kube::api::ListParams::default())
        .await?;
    let world = settled(context, &Wanted { is_current: true, ..wanted }).await?;
    let condition = condition(&world)?;
    ensure!(condition.as_deref() == Some("False"), "UpdatePending is {condition:?}");
    Ok(())
}

/// Waits until all is well and the set says that old pods still run, `new` of all being of the new template.
async fn pending(context: &Context, wanted: &Wanted, new: i32) -> Result<World> {
    eventually("old pods run on, and the set says so", DEADLINE, || async {
        let world = World::read(context).await?;
        wanted.check(&world)?;
        let condition = condition(&world)?;
        ensure!(condition.as_deref() == Some("True"), "UpdatePending is {condition:?}");
        let updated: i32 =
            world.cliques.iter().filter_map(|it| it.status.as_ref()).map(|it| it.updated_replicas).sum();
        ensure!(updated == new, "{updated} pods are said to be new");
        Ok(world)
    })
    .await
}

fn condition(world: &World) -> Result<Option<String>> {
    let status = world.set("web")?.status.clone().unwrap_or_default();
    Ok(status.conditions.into_iter().find(|it| it.type_ == update_pending::TYPE).map(|it| it.status))
}

fn sizes(world: &World) -> BTreeMap<String, i32> {
    world.cliques.iter().map(|it| (it.name_any(), it.spec.replicas.unwrap_or_default())).collect()
}

fn image(spec: &k8s_openapi::api::core::v1::PodSpec) -> &str {
    spec.containers.first().and_then(|it| it.image.as_deref()).unwrap_or_default()
}

fn images(world: &World) -> BTreeMap<&str, usize> {
    let mut images = BTreeMap::new();
    for pod in &world.pods {
        *images.entry(pod.spec.as_ref().map(image).unwrap_or_default()).or_default() += 1;
    }
    images
}
