//! What Dynamo's operator reads, and how it scales.

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet};
use k8s_openapi::api::autoscaling::v1::Scale;
use kube::api::PostParams;
use serde_json::{Value, json};

use super::{
    stage::{self, Child, api, create_and_settle, patch, settled},
    wanted::Wanted,
    world::{World, named},
};
use crate::scenario::{Context, DEADLINE, eventually};

/// As Dynamo renders a deployment: a frontend, and workers of several nodes with a leader.
const DEPLOYMENT: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: vllm, labels: { nvidia.com/dynamo-graph-deployment-name: vllm } }
spec:
  replicas: 1
  template:
    cliqueStartupType: CliqueStartupTypeAnyOrder
    terminationDelay: 15m
    headlessServiceConfig: { publishNotReadyAddresses: true }
    cliques:
      - name: frontend
        labels: { nvidia.com/selector: vllm-frontend }
        spec: { roleName: frontend, replicas: 2, minAvailable: 1, podSpec: &pod { containers: [{ name: main, image: "registry.example.com/dynamo:1.0" }] } }
      - name: worker-ldr
        spec: { roleName: worker-ldr, replicas: 1, minAvailable: 1, podSpec: *pod }
      - name: worker-wkr
        spec: { roleName: worker-wkr, replicas: 3, minAvailable: 3, podSpec: *pod }
    podCliqueScalingGroups:
      - { name: worker, cliqueNames: [worker-ldr, worker-wkr], replicas: 2, minAvailable: 1 }
"#;

/// Every field that Dynamo reads is there and right: when all runs, when it was scaled, and after a change.
pub(super) async fn reads(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let set = stage::set(DEPLOYMENT)?;
    let world = create_and_settle(context, &set).await?;
    read_all(&world, 2, 2)?;

    replace_scale::<PodClique>(context, "vllm-0-frontend", 3).await?;
    replace_scale::<PodCliqueScalingGroup>(context, "vllm-0-worker", 1).await?;
    let scaled = [("vllm-0-frontend", 3), ("vllm-0-worker", 1)];
    let world = settled(context, &Wanted::scaled(&set, &scaled)).await?;
    let before = read_all(&world, 3, 1)?;

    let image = json!([{ "name": "main", "image": "registry.example.com/dynamo:2.0" }]);
    let mut changed = set.clone();
    for clique in &mut changed.spec.template.cliques {
        clique.spec.pod_spec.containers = serde_json::from_value(image.clone())?;
    }
    let template = json!({ "spec": { "template": changed.spec.template } });
    patch::<PodCliqueSet>(context, "vllm", &template).await?;
    eventually("the change shows in what Dynamo reads", DEADLINE, || async {
        let after = read_all(&World::read(context).await?, 3, 1)?;
        ensure!(after != before, "the hash is still {before}");
        Ok(())
    })
    .await
}

/// Reads as Dynamo does: by JSON field, where a missing one counts as absent and not as zero. The generation hash that all
/// have.
fn read_all(world: &World, frontends: i64, workers: i64) -> Result<String> {
    let set = serde_json::to_value(world.set("vllm")?)?;
    is(&set, "/status/observedGeneration", &set["metadata"]["generation"])?;
    let hash = set.pointer("/status/currentGenerationHash").and_then(Value::as_str).context("no hash")?;
    ensure!(!hash.is_empty(), "the hash is empty");

    let clique = serde_json::to_value(named(&world.cliques, "vllm-0-frontend")?)?;
    is(&clique, "/status/observedGeneration", &clique["metadata"]["generation"])?;
    for (field, wanted) in [
        ("replicas", frontends),
        ("readyReplicas", frontends),
        ("scheduledReplicas", frontends),
        ("updatedReplicas", frontends),
        ("scheduleGatedReplicas", 0),
    ] {
        is(&clique, &format!("/status/{field}"), &json!(wanted))?;
    }
    let of_clique = clique.pointer("/status/currentPodCliqueSetGenerationHash");
    let of_clique = of_clique.and_then(Value::as_str).context("the clique has no hash")?;
    ensure!(of_clique == hash, "hash of the clique {of_clique}, of the set {hash}");
    condition(&clique, "PodCliqueScheduled", "True")?;

    let group = serde_json::to_value(named(&world.groups, "vllm-0-worker")?)?;
    is(&group, "/status/observedGeneration", &group["metadata"]["generation"])?;
    for (field, wanted) in [
        ("replicas", workers),
        ("availableReplicas", workers),
        ("scheduledReplicas", workers),
        ("updatedReplicas", workers),
    ] {
        is(&group, &format!("/status/{field}"), &json!(wanted))?;
    }
    let of_group = group.pointer("/status/currentPodCliqueSetGenerationHash");
    let of_group = of_group.and_then(Value::as_str).context("the group has no hash")?;
    ensure!(of_group == hash, "hash of the group {of_group}, of the set {hash}");
    condition(&group, "MinAvailableBreached", "False")?;
    Ok(hash.to_owned())
}

fn is(object: &Value, path: &str, wanted: &Value) -> Result<()> {
    let (name, found) = (&object["metadata"]["name"], object.pointer(path));
    ensure!(found == Some(wanted), "{path} of {name} is {found:?}, not {wanted}");
    Ok(())
}

fn condition(object: &Value, type_: &str, wanted: &str) -> Result<()> {
    let all = object.pointer("/status/conditions").and_then(Value::as_array).context("no conditions")?;
    let found = all.iter().find(|it| it["type"] == type_).map(|it| &it["status"]);
    ensure!(found.is_some_and(|it| it == wanted), "{type_} is {found:?}, not {wanted}");
    Ok(())
}

/// Reads the scale and writes it back with another number, as Dynamo's scaler does.
async fn replace_scale<K: Child>(context: &Context, name: &str, replicas: i32) -> Result<()> {
    let api = api::<K>(context);
    let mut scale: Scale = api.get_scale(name).await?;
    let selector = scale.status.as_ref().and_then(|it| it.selector.clone()).unwrap_or_default();
    ensure!(!selector.is_empty(), "the scale of {name} has no selector");
    scale.spec.get_or_insert_default().replicas = Some(replicas);
    api.replace_scale(name, &PostParams::default(), &scale).await?;
    Ok(())
}
