//! What scenarios of the operator have in common: a set to work with, and ways to change it and its children.

use std::fmt::Debug;

use anyhow::{Context as _, Result};
use grove_api::{defaulting::default_pod_clique_set, wire::PodCliqueSet};
use k8s_openapi::api::autoscaling::v1::Scale;
use kube::{
    Api, Resource,
    api::{Patch, PatchParams, PostParams},
    core::NamespaceResourceScope,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{wanted::Wanted, world::World};
use crate::{
    nodes::Hall,
    objects,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, eventually},
};

/// Eight pods: a role of its own, of which one is enough, and two copies of a group, of which the second is a gang of its
/// own. Each asks for one GPU.
pub(in crate::scenarios) const WEB: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: web }
spec:
  replicas: 1
  template:
    cliques:
      - name: front
        spec: { roleName: front, replicas: 2, minAvailable: 1, podSpec: &pod { containers: [{ name: main, image: "registry.example.com/app:1.0", resources: { limits: { nvidia.com/gpu: 1 } } }] } }
      - name: lead
        spec: { roleName: lead, replicas: 1, podSpec: *pod }
      - name: work
        spec: { roleName: work, replicas: 2, podSpec: *pod }
    podCliqueScalingGroups:
      - { name: pd, cliqueNames: [lead, work], replicas: 2, minAvailable: 1 }
"#;

/// An object of ours that lives in a namespace.
pub(in crate::scenarios) trait Child:
    Resource<DynamicType = (), Scope = NamespaceResourceScope>
    + Clone
    + Debug
    + DeserializeOwned
    + Serialize
    + Send
    + Sync
    + 'static
{
}

impl<K> Child for K where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + Debug
        + DeserializeOwned
        + Serialize
        + Send
        + Sync
        + 'static
{
}

pub(in crate::scenarios) fn api<K: Child>(context: &Context) -> Api<K> {
    Api::namespaced(context.client(), &context.namespace)
}

/// Nodes for a few dozen pods, and an operator.
pub(in crate::scenarios) async fn begin(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(8)).await?;
    context.start_operator(OperatorOptions::default()).await
}

/// The set of a text, with the defaults that admission would fill in.
pub(in crate::scenarios) fn set(text: &str) -> Result<PodCliqueSet> {
    let value = objects::parse(text)?.into_iter().next().context("no object")?;
    defaulted(value)
}

pub(in crate::scenarios) fn defaulted(value: Value) -> Result<PodCliqueSet> {
    let mut set: PodCliqueSet = serde_json::from_value(value)?;
    default_pod_clique_set(&mut set, None);
    Ok(set)
}

/// Creates an object, in the scenario's namespace whatever it says itself.
pub(in crate::scenarios) async fn create<K: Child>(context: &Context, object: &K) -> Result<K> {
    let (kind, mut object) = (K::kind(&()), object.clone());
    object.meta_mut().namespace = Some(context.namespace.clone());
    api(context).create(&PostParams::default(), &object).await.with_context(|| format!("create {kind}"))
}

/// Creates a set, and waits until it is as it should be.
pub(in crate::scenarios) async fn create_and_settle(context: &Context, set: &PodCliqueSet) -> Result<World> {
    create(context, set).await?;
    settled(context, &Wanted::of(set)).await
}

/// Changes an object by a merge patch.
pub(in crate::scenarios) async fn patch<K: Child>(context: &Context, name: &str, patch: &Value) -> Result<K> {
    let answer = api(context).patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
    answer.with_context(|| format!("patch {} {name}", K::kind(&())))
}

/// Changes an object's replicas as an autoscaler does.
pub(in crate::scenarios) async fn scale<K: Child>(
    context: &Context,
    name: &str,
    replicas: i32,
) -> kube::Result<Scale> {
    let patch = json!({ "spec": { "replicas": replicas } });
    api::<K>(context).patch_scale(name, &PatchParams::default(), &Patch::Merge(&patch)).await
}

/// Waits until everything of a set is as it should be, in the cluster and in words.
pub(in crate::scenarios) async fn settled(context: &Context, wanted: &Wanted) -> Result<World> {
    let what = format!("{} is as it should be", wanted.set);
    eventually(&what, DEADLINE, || async {
        let world = World::read(context).await?;
        wanted.check(&world)?;
        Ok(world)
    })
    .await
}
