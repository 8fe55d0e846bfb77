//! A Job whose pods are in a group of Kubernetes' own making is left alone.

use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::{
    Api, ResourceExt,
    api::{DynamicObject, ListParams},
};
use serde_json::json;

use super::{gangs::real_job, side_by_side::no_refusals, workloads};
use crate::{
    grouper,
    nodes::Hall,
    objects,
    scenario::{Context, PodState},
};

/// With the gate `WorkloadWithJob`, the Job controller names a group for the pods of a Job: neither the policy nor the
/// grouper gets into its way.
pub(super) async fn jobs_own_group(context: &mut Context) -> Result<()> {
    let scheduler = context.scheduler().pod_name();
    context.nodes(Hall::racks(1).nodes(3).gpus(8)).await?;
    grouper::start(&mut context.cluster, &[scheduler]).await?;
    let job = real_job(scheduler).object;
    workloads::make(context, job).await?;
    context.expect_all_bound("job-", 3).await?;

    // A ReplicaSet has no group of Kubernetes' own, and so one of ours: the grouper has had its turn.
    let app = json!({ "app": "plain", "grove.io/pod-grouper": "enabled" });
    let template = json!({ "metadata": { "labels": app }, "spec": { "containers": [{ "name": "main", "image": "none" }] } });
    let plain = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": { "name": "plain" },
        "spec": { "replicas": 1, "selector": { "matchLabels": { "app": "plain" } }, "template": template },
    });
    workloads::make(context, plain.clone()).await?;
    let there = |pods: &[PodState]| pods.iter().any(|it| it.name.starts_with("plain-") && it.node.is_some());
    context.expect("the pod of the ReplicaSet is placed", there).await?;

    let pods: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    let groups = groups(context).await?;
    for pod in pods.list(&ListParams::default()).await?.items {
        let name = pod.spec.as_ref().and_then(|it| it.scheduling_group.as_ref()?.pod_group_name.clone());
        let is_ours = name.as_ref().is_some_and(|it| it.starts_with("pg-"));
        ensure!(
            is_ours == pod.name_any().starts_with("plain-"),
            "pod {} is in group {name:?}",
            pod.name_any()
        );
    }
    let ours = groups.iter().filter(|it| it.starts_with("pg-")).count();
    ensure!(ours == 1 && groups.len() >= 2, "the groups are {groups:?}");
    let events: Api<Event> = Api::namespaced(context.client(), &context.namespace);
    let warnings = events.list(&ListParams::default()).await?.items;
    let warnings: Vec<_> =
        warnings.iter().filter(|it| it.reason.as_deref() == Some("PodGrouperWarning")).collect();
    ensure!(warnings.is_empty(), "there are warnings: {warnings:?}");
    workloads::delete(context, plain).await?;
    no_refusals(context)
}

async fn groups(context: &Context) -> Result<Vec<String>> {
    let mut any = json!({ "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup" });
    let api = objects::api_for(&context.client(), &mut any, Some(&context.namespace)).await?;
    let all = api.list(&ListParams::default()).await?.items;
    Ok(all.iter().map(|it: &DynamicObject| it.name_any()).collect())
}
