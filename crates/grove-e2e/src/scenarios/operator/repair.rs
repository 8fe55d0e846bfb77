//! Children that somebody deletes or edits are put right; what others wrote on them stays.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::labels,
    wire::{AutoScalingConfig, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use k8s_openapi::api::{
    autoscaling::v2::HorizontalPodAutoscaler,
    core::v1::{Pod, Service},
};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use super::{
    stage::{self, Child, WEB, api, create_and_settle, patch, settled},
    wanted::Wanted,
    world::World,
};
use crate::scenario::{Context, DEADLINE, eventually};

/// A set with a child of every kind.
fn with_autoscaler() -> Result<PodCliqueSet> {
    let mut set = stage::set(WEB)?;
    let config = AutoScalingConfig { min_replicas: Some(2), max_replicas: 4, metrics: Vec::new() };
    set.spec.template.cliques[0].spec.auto_scaling_config = Some(config);
    Ok(set)
}

/// A child of any kind that is deleted by hand comes back, and takes with it only what is below it.
pub(super) async fn deleted(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let set = with_autoscaler()?;
    let wanted = Wanted::of(&set);
    let before = create_and_settle(context, &set).await?;

    again::<Service>(context, &wanted, "web-0").await?;
    again::<HorizontalPodAutoscaler>(context, &wanted, "web-0-front").await?;
    again::<PodGang>(context, &wanted, "web-0-pd-0").await?;
    let world = again::<PodGang>(context, &wanted, "web-0").await?;
    ensure!(world.uids() == before.uids(), "pods were replaced, though only what is beside them was deleted");

    let victim = before.pod("web-0-pd-0-work", 0)?;
    let world = again::<Pod>(context, &wanted, &victim.name_any()).await?;
    replaced(&before, &world, "web-0-pd-0-work", 1)?;
    ensure!(world.pod("web-0-pd-0-work", 0)?.uid() != victim.uid(), "the pod was not replaced");

    let before = world;
    let world = again::<PodClique>(context, &wanted, "web-0-front").await?;
    replaced(&before, &world, "web-0-front", 2)?;
    let before = world;
    let world = again::<PodClique>(context, &wanted, "web-0-pd-1-lead").await?;
    replaced(&before, &world, "web-0-pd-1-lead", 1)?;
    let before = world;
    let world = again::<PodCliqueScalingGroup>(context, &wanted, "web-0-pd").await?;
    replaced(&before, &world, "web-0-pd", 6)
}

/// Deletes an object; waits until there is another in its place and all is well again.
async fn again<K: Child>(context: &Context, wanted: &Wanted, name: &str) -> Result<World> {
    let kind = K::kind(&());
    let old = api::<K>(context).get(name).await.with_context(|| format!("get {kind} {name}"))?;
    api::<K>(context).delete(name, &DeleteParams::default()).await?;
    let is_pod = kind == "Pod";
    eventually(&format!("{kind} {name} is there again"), DEADLINE, || async {
        let new = api::<K>(context).get_opt(name).await?;
        // A new pod has a new name.
        ensure!(new.is_none() == is_pod, "it is {new:?}");
        ensure!(new.is_none_or(|it| it.meta().uid != old.meta().uid), "it is still there");
        Ok(())
    })
    .await?;
    settled(context, wanted).await.with_context(|| format!("after {kind} {name} was deleted"))
}

/// Only pods of cliques that begin with `prefix` were replaced, and so many of them.
fn replaced(before: &World, after: &World, prefix: &str, count: usize) -> Result<()> {
    let (old, new) = (before.uids(), after.uids());
    let gone: BTreeSet<&String> = old.keys().filter(|it| !new.contains_key(*it)).collect();
    let below = before.uids_of(prefix);
    ensure!(gone.iter().all(|it| below.contains(*it)), "pods outside of {prefix} were replaced");
    ensure!(gone.len() == count, "{} pods of {prefix} were replaced, not {count}", gone.len());
    Ok(())
}

/// What is ours is put back when it is edited; labels, annotations, finalizers and conditions of others stay, also when the
/// operator starts anew.
pub(super) async fn edited(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let set = with_autoscaler()?;
    let wanted = Wanted::of(&set);
    let before = create_and_settle(context, &set).await?;
    mark::<Service>(context, "web-0").await?;
    mark::<HorizontalPodAutoscaler>(context, "web-0-front").await?;
    mark::<PodClique>(context, "web-0-front").await?;
    mark::<PodClique>(context, "web-0-pd-0-lead").await?;
    mark::<PodCliqueScalingGroup>(context, "web-0-pd").await?;
    mark::<PodGang>(context, "web-0").await?;
    let calm = json!({ "type": "DisruptionTarget", "status": "False", "reason": "Calm", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" });
    let patch_list = json!([{ "op": "add", "path": "/status/conditions/-", "value": calm }]);
    let list: json_patch::Patch = serde_json::from_value(patch_list)?;
    api::<PodGang>(context)
        .patch_status("web-0", &PatchParams::default(), &Patch::Json::<PodGang>(list))
        .await?;

    put_back::<Service>(context, "web-0", "/spec/selector", &json!({ "app": "mine" })).await?;
    put_back::<Service>(context, "web-0", "/spec/publishNotReadyAddresses", &json!(false)).await?;
    put_back::<HorizontalPodAutoscaler>(context, "web-0-front", "/spec/maxReplicas", &json!(3)).await?;
    let image = "/spec/podSpec/containers/0/image";
    put_back::<PodClique>(context, "web-0-front", image, &json!("registry.example.com/mine:1")).await?;
    put_back::<PodClique>(context, "web-0-pd-0-lead", image, &json!("registry.example.com/mine:1")).await?;
    put_back::<PodGang>(context, "web-0", "/spec/podgroups/0/minReplicas", &json!(7)).await?;
    put_back::<PodGang>(context, "web-0", "/spec/podgroups/0/podReferences", &json!([])).await?;
    context.operator()?.stop().await?;
    context.operator()?.start_again().await?;
    let world = settled(context, &wanted).await?;
    ensure!(world.uids() == before.uids(), "pods were replaced");

    is_marked::<Service>(context, "web-0").await?;
    is_marked::<HorizontalPodAutoscaler>(context, "web-0-front").await?;
    is_marked::<PodClique>(context, "web-0-front").await?;
    is_marked::<PodClique>(context, "web-0-pd-0-lead").await?;
    is_marked::<PodCliqueScalingGroup>(context, "web-0-pd").await?;
    is_marked::<PodGang>(context, "web-0").await?;
    let conditions = world.gang("web-0")?.status.clone().unwrap_or_default().conditions;
    ensure!(conditions.iter().any(|it| it.type_ == "DisruptionTarget"), "a foreign condition was removed");
    Ok(())
}

/// Labels by which the operator finds its objects are put back too.
pub(super) async fn relabelled(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let set = with_autoscaler()?;
    let before = create_and_settle(context, &set).await?;
    let mut wrong = Vec::new();
    for label in [labels::POD_GANG, labels::SET_REPLICA_INDEX, labels::PART_OF, labels::MANAGED_BY] {
        let path = format!("/metadata/labels/{}", label.replace('/', "~1"));
        let value = json!("mine");
        let results = [
            put_back::<PodClique>(context, "web-0-front", &path, &value).await,
            put_back::<PodClique>(context, "web-0-pd-0-lead", &path, &value).await,
            match label {
                // Only cliques have a gang.
                labels::POD_GANG => Ok(()),
                _ => put_back::<Service>(context, "web-0", &path, &value).await,
            },
            match label {
                labels::POD_GANG => Ok(()),
                _ => put_back::<PodCliqueScalingGroup>(context, "web-0-pd", &path, &value).await,
            },
            match label {
                labels::POD_GANG | labels::SET_REPLICA_INDEX => Ok(()),
                _ => put_back::<PodGang>(context, "web-0", &path, &value).await,
            },
            match label {
                labels::POD_GANG | labels::SET_REPLICA_INDEX => Ok(()),
                _ => put_back::<HorizontalPodAutoscaler>(context, "web-0-front", &path, &value).await,
            },
        ];
        wrong.extend(results.into_iter().filter_map(Result::err).map(|it| format!("{it:#}")));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    let world = settled(context, &Wanted::of(&set)).await?;
    ensure!(world.uids() == before.uids(), "pods were replaced");
    Ok(())
}

/// What was edited is put back at once; so many are tried that waiting for minutes would take too long.
const PATIENCE: Duration = Duration::from_secs(40);

const FOREIGN: &str = "example.com/mine";

/// Writes something of ours on an object.
async fn mark<K: Child>(context: &Context, name: &str) -> Result<()> {
    let object = api::<K>(context).get(name).await?;
    let mut finalizers = object.finalizers().to_vec();
    finalizers.push(FOREIGN.to_owned());
    let marks = json!({ "metadata": {
        "labels": { FOREIGN: "yes" },
        "annotations": { FOREIGN: "yes" },
        "finalizers": finalizers,
    } });
    patch::<K>(context, name, &marks).await?;
    Ok(())
}

/// It is still there. Takes the finalizer off, so that the object can go.
async fn is_marked<K: Child>(context: &Context, name: &str) -> Result<()> {
    let (object, kind) = (api::<K>(context).get(name).await?, K::kind(&()));
    ensure!(object.labels().get(FOREIGN).is_some_and(|it| it == "yes"), "{kind} {name} lost a label");
    let annotations = object.annotations();
    ensure!(annotations.get(FOREIGN).is_some_and(|it| it == "yes"), "{kind} {name} lost an annotation");
    ensure!(object.finalizers().iter().any(|it| it == FOREIGN), "{kind} {name} lost a finalizer");
    let rest: Vec<&String> = object.finalizers().iter().filter(|it| *it != FOREIGN).collect();
    patch::<K>(context, name, &json!({ "metadata": { "finalizers": rest } })).await?;
    Ok(())
}

/// Edits a field; waits until it is as it was.
async fn put_back<K: Child>(context: &Context, name: &str, path: &str, value: &Value) -> Result<()> {
    let kind = &K::kind(&());
    let read = || async {
        let object = serde_json::to_value(api::<K>(context).get(name).await?)?;
        Ok::<Value, anyhow::Error>(object.pointer(path).cloned().unwrap_or_default())
    };
    let before = read().await?;
    ensure!(before != *value, "{kind} {name} {path} is so already");
    let write = |value: &Value| {
        let list = serde_json::from_value(json!([{ "op": "replace", "path": path, "value": value }]));
        async move {
            let edit = Patch::Json::<K>(list?);
            let answer = api::<K>(context).patch(name, &PatchParams::default(), &edit).await;
            answer.with_context(|| format!("edit {path} of {kind} {name}"))
        }
    };
    write(value).await?;
    let put_back = eventually(&format!("{path} of {kind} {name} is put back"), PATIENCE, || async {
        let now = read().await?;
        ensure!(now == before, "it is {now}");
        Ok(())
    })
    .await;
    if put_back.is_err() {
        // The next one is not to suffer from it.
        write(&before).await?;
    }
    put_back
}
