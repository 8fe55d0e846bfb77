//! Sets that ran under upstream Grove.

use anyhow::{Result, ensure};
use grove_api::{
    constants::{components, labels},
    names,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use k8s_openapi::api::{
    core::v1::{Pod, Secret, ServiceAccount},
    rbac::v1::{Role, RoleBinding},
};
use kube::{
    ResourceExt,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{
    stage::{self, Child, WEB, api, create, create_and_settle, patch, settled},
    story::{self, Story},
    wanted::Wanted,
    world::{World, label},
};
use crate::scenario::{Context, DEADLINE, eventually};

/// Hashes as upstream computes them: by the Go representation of the template, which nobody else can.
const TEMPLATE_HASH: &str = "7d5c94bf7f";
const GENERATION_HASH: &str = "66c9f7d8db";

/// What upstream made is taken over as it is: no pod is replaced, hashes stay until the template really changes, and what
/// upstream's start order needs stays while a pod mounts it.
pub(super) async fn from_upstream(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let mut set = stage::set(WEB)?;
    create_and_settle(context, &set).await?;
    context.operator()?.stop().await?;
    let owner = owner(context).await?;
    start_order(context, &owner).await?;
    as_upstream(context).await?;
    let before = World::read(context).await?;

    let mark = story::mark(context)?;
    context.operator()?.start_again().await?;
    let world = settled(context, &Wanted::of(&set)).await?;
    ensure!(world.uids() == before.uids(), "pods were replaced");
    hashes_stay(&world)?;
    // Whatever it had in mind, after this it has done it.
    let victim = world.pod("web-0-front", 1)?;
    api::<Pod>(context).delete(&victim.name_any(), &DeleteParams::default()).await?;
    eventually("a pod that was deleted is replaced", DEADLINE, || async {
        ensure!(World::read(context).await?.pod("web-0-front", 1)?.uid() != victim.uid(), "not yet");
        Ok(())
    })
    .await?;
    let world = settled(context, &Wanted::of(&set)).await?;
    hashes_stay(&world)?;
    let deleted = Story::since(context, mark)?.deleted_pods();
    let others: Vec<&String> = deleted.keys().filter(|it| victim.uid().as_ref() != Some(*it)).collect();
    ensure!(others.is_empty(), "pods were deleted: {deleted:?}");
    still_there(context).await?;

    // A real change is a change.
    set.spec.template.cliques[0].spec.pod_spec.containers[0].image =
        Some("registry.example.com/app:2.0".to_owned());
    let strategy = json!({ "type": "OnDelete" });
    let change = json!({ "spec": { "template": set.spec.template, "updateStrategy": strategy } });
    patch::<PodCliqueSet>(context, "web", &change).await?;
    let new = eventually("the hash of a changed clique is ours", DEADLINE, || async {
        let world = World::read(context).await?;
        Wanted::of(&set).with_old_pods().check(&world)?;
        let hash = label(world.clique("web-0-front")?, labels::POD_TEMPLATE_HASH);
        ensure!(hash != TEMPLATE_HASH, "the hash of the clique did not change");
        let generation = world.set("web")?.status.clone().unwrap_or_default().current_generation_hash;
        ensure!(generation.as_deref() != Some(GENERATION_HASH), "the hash of the set did not change");
        Ok(world)
    })
    .await?;
    ensure!(new.uids() == world.uids(), "a change of the template restarted pods");
    let kept = label(new.clique("web-0-pd-0-work")?, labels::POD_TEMPLATE_HASH);
    ensure!(kept == TEMPLATE_HASH, "the hash of a clique that did not change is {kept}");
    Ok(())
}

fn hashes_stay(world: &World) -> Result<()> {
    for pod in &world.pods {
        let hash = label(pod, labels::POD_TEMPLATE_HASH);
        ensure!(hash == TEMPLATE_HASH, "the hash of {} is {hash}", pod.name_any());
    }
    for clique in &world.cliques {
        let (name, hash) = (clique.name_any(), label(clique, labels::POD_TEMPLATE_HASH));
        ensure!(hash == TEMPLATE_HASH, "the hash of {name} is {hash}");
        let status = clique.status.clone().unwrap_or_default();
        let current = (status.current_pod_template_hash, status.current_pod_clique_set_generation_hash);
        let wanted = (Some(TEMPLATE_HASH.to_owned()), Some(GENERATION_HASH.to_owned()));
        ensure!(current == wanted, "the hashes in the status of {name} are {current:?}");
    }
    let hash = world.set("web")?.status.clone().unwrap_or_default().current_generation_hash;
    ensure!(hash.as_deref() == Some(GENERATION_HASH), "the hash of the set is {hash:?}");
    Ok(())
}

/// Rewrites what we made to what upstream would have made.
async fn as_upstream(context: &Context) -> Result<()> {
    let world = World::read(context).await?;
    let hash = json!({ "metadata": { "labels": { (labels::POD_TEMPLATE_HASH): TEMPLATE_HASH } } });
    for pod in &world.pods {
        patch::<Pod>(context, &pod.name_any(), &hash).await?;
    }
    for clique in &world.cliques {
        let name = clique.name_any();
        patch::<PodClique>(context, &name, &hash).await?;
        let status = json!({
            "currentPodTemplateHash": TEMPLATE_HASH,
            "currentPodCliqueSetGenerationHash": GENERATION_HASH,
        });
        patch_status::<PodClique>(context, &name, status).await?;
    }
    let generation = json!({ "currentPodCliqueSetGenerationHash": GENERATION_HASH });
    patch_status::<PodCliqueScalingGroup>(context, "web-0-pd", generation).await?;
    for gang in &world.gangs {
        let initialized = json!({
            "type": "Initialized", "status": "True", "reason": "PodGangPodsCreated", "message": "PodGang is fully initialized",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        let status = json!({ "phase": "Pending", "conditions": [initialized] });
        patch_status::<PodGang>(context, &gang.name_any(), status).await?;
    }
    // Upstream's set has no conditions and no gangs.
    let status =
        json!({ "currentGenerationHash": GENERATION_HASH, "conditions": null, "podGangStatuses": null });
    patch_status::<PodCliqueSet>(context, "web", status).await
}

async fn patch_status<K: Child>(context: &Context, name: &str, status: Value) -> Result<()> {
    let status = json!({ "status": status });
    api::<K>(context).patch_status(name, &PatchParams::default(), &Patch::Merge(&status)).await?;
    Ok(())
}

async fn owner(context: &Context) -> Result<Value> {
    let set = api::<PodCliqueSet>(context).get("web").await?;
    Ok(json!([{
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "web", "uid": set.uid(),
        "controller": true, "blockOwnerDeletion": true,
    }]))
}

fn metadata(name: &str, component: &str, owner: &Value) -> Value {
    json!({
        "name": name,
        "ownerReferences": owner,
        "labels": {
            (labels::MANAGED_BY): labels::MANAGED_BY_VALUE,
            (labels::PART_OF): "web",
            (labels::NAME): name.replace(':', "-"),
            (labels::COMPONENT): component,
        },
    })
}

/// What upstream makes for start order, and a pod that mounts it.
async fn start_order(context: &Context, owner: &Value) -> Result<()> {
    let account: ServiceAccount = serde_json::from_value(json!({
        "metadata": metadata(&names::upstream::service_account("web"), components::POD_SERVICE_ACCOUNT, owner),
    }))?;
    create(context, &account).await?;
    let role_name = names::upstream::role("web");
    let role: Role = serde_json::from_value(json!({
        "metadata": metadata(&role_name, components::POD_ROLE, owner),
        "rules": [{ "apiGroups": [""], "resources": ["pods", "pods/status"], "verbs": ["get", "list", "watch"] }],
    }))?;
    create(context, &role).await?;
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": metadata(&role_name, components::POD_ROLE_BINDING, owner),
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": role_name },
        "subjects": [{ "kind": "ServiceAccount", "name": "web", "namespace": context.namespace }],
    }))?;
    create(context, &binding).await?;
    let mut secret = json!({
        "metadata": metadata(&names::upstream::token_secret("web"), components::POD_TOKEN_SECRET, owner),
        "type": "kubernetes.io/service-account-token",
    });
    secret["metadata"]["annotations"] = json!({ "kubernetes.io/service-account.name": "web" });
    create(context, &serde_json::from_value::<Secret>(secret)?).await?;
    mounted(context).await
}

/// Replaces a pod by one that has the volume of upstream's start order.
async fn mounted(context: &Context) -> Result<()> {
    let mut pod = World::read(context).await?.pod("web-0-pd-1-lead", 0)?.clone();
    let name = pod.name_any();
    context.delete_pod(&name).await?;
    pod.metadata.resource_version = None;
    pod.metadata.uid = None;
    let spec = pod.spec.get_or_insert_default();
    let volume = json!({ "name": "sa-token-secret-vol", "secret": { "secretName": names::upstream::token_secret("web") } });
    spec.volumes.get_or_insert_default().push(serde_json::from_value(volume)?);
    let status = pod.status.take().unwrap_or_default();
    let pods = api::<Pod>(context);
    let created = pods.create(&PostParams::default(), &pod).await?;
    ensure!(status.phase.is_some() && created.name_any() == name, "it has another name");
    let is_ready = |pods: &[crate::scenario::PodState]| pods.iter().any(|it| it.name == name && it.ready);
    context.expect("the pod with the volume is ready", is_ready).await?;
    Ok(())
}

async fn still_there(context: &Context) -> Result<()> {
    api::<ServiceAccount>(context).get(&names::upstream::service_account("web")).await?;
    api::<Role>(context).get(&names::upstream::role("web")).await?;
    api::<RoleBinding>(context).get(&names::upstream::role("web")).await?;
    api::<Secret>(context).get(&names::upstream::token_secret("web")).await?;
    Ok(())
}
