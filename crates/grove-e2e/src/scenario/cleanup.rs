//! After a scenario: its operator, its namespace, its nodes and its cluster-wide objects go, so that the next one finds an
//! empty cluster.

use std::time::Duration;

use anyhow::{Context as _, Result};
use grove_api::wire::{
    ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang, SchedulerBackend,
};
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
    core::NamespaceResourceScope,
};
use serde_json::json;

use super::{Context, context::DEADLINE};
use crate::cluster::Scheduler;

pub(super) async fn clean(context: &mut Context) -> Result<()> {
    context.cluster.restore().await?;
    let client = context.client();
    let namespaces: Api<Namespace> = Api::all(client.clone());
    // A scenario may have made more, called after its own.
    let own = |name: &str| name == context.namespace || name.starts_with(&format!("{}-", context.namespace));
    let all = namespaces.list_metadata(&ListParams::default()).await?.items;
    let own: Vec<String> = all.iter().map(ResourceExt::name_any).filter(|it| own(it)).collect();
    if context.end_operator().await? {
        // With what the next operator would work on.
        for namespace in &own {
            remove::<PodCliqueSet>(&client, namespace).await?;
            remove::<PodCliqueScalingGroup>(&client, namespace).await?;
            remove::<PodClique>(&client, namespace).await?;
            remove::<PodGang>(&client, namespace).await?;
        }
        let topologies: Api<ClusterTopologyBinding> = Api::all(client.clone());
        topologies.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
        // With what it said of backends: the next one says it anew. A scenario may have taken the kind away.
        let backends: Api<SchedulerBackend> = Api::all(client.clone());
        match backends.delete_collection(&DeleteParams::default(), &ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            answer => drop(answer?),
        }
    }
    let at_once = DeleteParams::default().grace_period(0);
    let pods: Api<Pod> = Api::namespaced(client.clone(), &context.namespace);
    pods.delete_collection(&at_once, &ListParams::default()).await?;
    let gone = |pods: &[super::PodState]| pods.is_empty();
    context.expect("all pods are gone", gone).await?;

    for namespace in &own {
        namespaces.delete(namespace, &DeleteParams::default()).await?;
    }

    if context.take_hall().is_some() {
        let nodes: Api<Node> = Api::all(client.clone());
        nodes.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
        if context.scheduler() == Scheduler::Volcano {
            let gvk = kube::core::GroupVersionKind::gvk("topology.volcano.sh", "v1alpha1", "HyperNode");
            let (resource, _) = kube::discovery::pinned_kind(&client, &gvk).await?;
            let hyper_nodes: Api<kube::core::DynamicObject> = Api::all_with(client.clone(), &resource);
            hyper_nodes.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
        }
        let waiting = async {
            loop {
                let left = nodes.list_metadata(&ListParams::default()).await?;
                if left.items.iter().all(|it| it.name_any().is_empty()) {
                    return Ok::<(), kube::Error>(());
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        tokio::time::timeout(DEADLINE, waiting).await.context("nodes do not go")??;
        // A node that comes again under its name while kwok renews the lease of the former one is in kwok's queue twice,
        // and that queue stands still from then on: no lease of any node is renewed any more. So kwok begins anew, too.
        if !context.cluster.options.is_sandbox() {
            context.cluster.stop_program("kwok").await?;
            context.cluster.start_program("kwok").await?;
        }
    }
    Ok(())
}

/// Deletes all objects of a kind. Nobody is there any more to take finalizers off.
async fn remove<K>(client: &Client, namespace: &str) -> Result<()>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + std::fmt::Debug,
    K: serde::de::DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    api.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    for object in api.list_metadata(&ListParams::default()).await?.items {
        let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
        match api.patch_metadata(&object.name_any(), &PatchParams::default(), &patch).await {
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            answer => drop(answer?),
        }
    }
    Ok(())
}
