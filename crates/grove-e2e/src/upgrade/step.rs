//! One exchange: an operator is installed and started, is given the time to do whatever it has in mind, and ends.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use grove_api::wire::PodCliqueSet;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use kube::{
    Api,
    api::{DeleteParams, PostParams},
};
use serde_json::json;

use super::{build::Build, fleet};
use crate::{
    cluster::{Cluster, Tail, Write},
    operator::{Operator, OperatorOptions},
    scenario::eventually,
};

/// Where the operator shows that it leads, apart from what is watched.
const ELSEWHERE: &str = "upgrade-canary";
/// Nothing is written for so long: then all is written.
const QUIET: Duration = Duration::from_secs(10);
/// A machine that also builds is slow.
const PATIENCE: Duration = Duration::from_mins(5);

/// Options of an operator of that build. It is not to lose its lease because the machine is busy.
pub(super) fn options(build: &Build, options: OperatorOptions) -> OperatorOptions {
    let lease = ["60s", "40s", "5s"];
    OperatorOptions { program: Some(build.program.clone()), lease, ..options }
}

/// Exchanges the operator for that of `build`, and returns everything that anybody wrote in the set's namespace until it has
/// nothing more to write.
pub(super) async fn run(cluster: &Cluster, build: &Build, number: usize) -> Result<Vec<Write>> {
    let mut tail = cluster.tail()?;
    build.install(&cluster.client).await?;
    let mut operator = Operator::start(cluster, options(build, OperatorOptions::default())).await?;
    // What it had in mind for the set was in its queues before this.
    canary(cluster, number).await?;
    let mut writes = until_quiet(&mut tail).await?;
    operator.stop().await?;
    writes.extend(tail.more()?.into_iter().filter(|it| it.namespace == fleet::NAMESPACE));
    Ok(writes)
}

/// What anybody writes in the set's namespace until there is no more.
pub(super) async fn until_quiet(tail: &mut Tail) -> Result<Vec<Write>> {
    let mut writes = Vec::new();
    let (started, mut last) = (Instant::now(), Instant::now());
    while last.elapsed() < QUIET {
        let more: Vec<Write> =
            tail.more()?.into_iter().filter(|it| it.namespace == fleet::NAMESPACE).collect();
        if !more.is_empty() {
            last = Instant::now();
            writes.extend(more);
        }
        ensure!(started.elapsed() < PATIENCE, "it does not end to write: {} writes", writes.len());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(writes)
}

/// A set elsewhere that has to become available and to go: then the operator leads and works.
async fn canary(cluster: &Cluster, number: usize) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
    if namespaces.get_opt(ELSEWHERE).await?.is_none() {
        let namespace = serde_json::from_value(json!({ "metadata": { "name": ELSEWHERE } }))?;
        namespaces.create(&PostParams::default(), &namespace).await?;
    }
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client.clone(), ELSEWHERE);
    eventually("the namespace takes pods", PATIENCE, || async {
        ensure!(accounts.get_opt("default").await?.is_some(), "no service account");
        Ok(())
    })
    .await?;
    let sets: Api<PodCliqueSet> = Api::namespaced(cluster.client.clone(), ELSEWHERE);
    let name = format!("canary-{number}");
    let pod = json!({ "containers": [{ "name": "main", "image": "registry.example.com/app:1.0" }] });
    let clique = json!({ "name": "only", "spec": { "roleName": "only", "replicas": 1, "minAvailable": 1, "podSpec": pod } });
    let set = json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": name },
        "spec": { "replicas": 1, "template": { "cliques": [clique] } },
    });
    sets.create(&PostParams::default(), &serde_json::from_value(set)?).await?;
    eventually("the operator leads: a new set is available", PATIENCE, || async {
        let status = sets.get(&name).await?.status.unwrap_or_default();
        ensure!(status.available_replicas == 1, "not yet");
        Ok(())
    })
    .await?;
    sets.delete(&name, &DeleteParams::default()).await?;
    eventually("the new set is gone", PATIENCE, || async {
        ensure!(sets.get_opt(&name).await?.is_none(), "not yet");
        Ok(())
    })
    .await
}
