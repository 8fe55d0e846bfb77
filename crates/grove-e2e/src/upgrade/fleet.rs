//! The set whose pods must not notice: roles of its own, and a scaling group whose further replicas are gangs of their own.

use std::{collections::BTreeMap, time::Duration};

use anyhow::{Context as _, Result, ensure};
use grove_api::wire::PodCliqueSet;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, PostParams},
};
use serde_json::{Value, json};

use crate::{cluster::Cluster, scenario::eventually};

/// Where it is.
pub(super) const NAMESPACE: &str = "default";
pub(super) const SET: &str = "fleet";
/// Pods and gangs of one replica: four pods and the first of four copies of nine are the base gang.
const PODS: usize = 4 + 4 * (1 + 8);
const GANGS: usize = 4;
/// A machine that also builds is slow.
const PATIENCE: Duration = Duration::from_mins(10);

/// How large it is.
pub(super) fn words(replicas: usize) -> String {
    format!("{} pods in {} gangs", replicas * PODS, replicas * GANGS)
}

/// Creates it and waits until the set says that it is available and all pods are ready.
pub(super) async fn create(cluster: &Cluster, replicas: usize) -> Result<()> {
    let sets: Api<PodCliqueSet> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    sets.create(&PostParams::default(), &serde_json::from_value(set(replicas))?).await?;
    eventually("every replica is available", PATIENCE, || async {
        let status = sets.get(SET).await?.status.unwrap_or_default();
        let available = usize::try_from(status.available_replicas)?;
        ensure!(available == replicas, "{available} of {replicas} replicas are available");
        Ok(())
    })
    .await?;
    // The set is available with the minima; nothing is to be under way when the operator is exchanged.
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), NAMESPACE);
    eventually("every pod is ready", PATIENCE, || async {
        let ready = pods.list(&ListParams::default()).await?.iter().filter(|it| is_ready(it)).count();
        ensure!(ready == replicas * PODS, "{ready} of {} pods are ready", replicas * PODS);
        Ok(())
    })
    .await
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|it| it.conditions.as_ref());
    conditions.into_iter().flatten().any(|it| it.type_ == "Ready" && it.status == "True")
}

/// UIDs of its pods by name: who is still the same.
pub(super) async fn uids(client: &Client) -> Result<BTreeMap<String, String>> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), NAMESPACE);
    let all = pods.list(&ListParams::default()).await?;
    all.items.iter().map(|it| Ok((it.name_any(), it.uid().context("a pod without a UID")?))).collect()
}

fn set(replicas: usize) -> Value {
    let clique = |name: &str, replicas: usize, minimum: usize| {
        json!({ "name": name, "labels": { "team": "a" }, "spec": {
            "roleName": name, "replicas": replicas, "minAvailable": minimum,
            "podSpec": { "containers": [{
                "name": "main", "image": "registry.example.com/app:1.0",
                "resources": { "requests": { "cpu": "10m", "memory": "16Mi" } },
                "env": [{ "name": "B", "value": "2" }, { "name": "A", "value": "1" }],
            }] },
        } })
    };
    json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": SET },
        "spec": { "replicas": replicas, "template": {
            "cliques": [clique("front", 4, 2), clique("lead", 1, 1), clique("work", 8, 8)],
            "podCliqueScalingGroups": [
                { "name": "pd", "cliqueNames": ["lead", "work"], "replicas": 4, "minAvailable": 1 },
            ],
        } },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_pods_in_a_hundred_gangs() {
        assert_eq!(words(25), "1000 pods in 100 gangs");
        let set: PodCliqueSet = serde_json::from_value(set(25)).unwrap();
        let pods = |name: &str| set.spec.template.clique(name).unwrap().spec.replicas.unwrap();
        assert_eq!(pods("front") + 4 * (pods("lead") + pods("work")), i32::try_from(PODS).unwrap());
    }
}
