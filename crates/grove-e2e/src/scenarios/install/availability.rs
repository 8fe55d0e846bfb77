//! Two operators of which the leader is killed in the middle of its work, and whose nodes are drained one after the other.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use grove_api::{constants::labels, wire::PodGang};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, ResourceExt, api::ListParams};

use super::{
    client::{self, Way},
    life::{GANGS, LARGE, PATIENCE, all_run, hall},
    outage::Users,
    stage::Stage,
};
use crate::{
    operator::account::{NAMESPACE, USER},
    scenario::{Context, eventually},
    scenarios::{
        admission::until_answered,
        operator::stage::{self, api, create},
    },
};

/// For so long users may be refused when a process dies; docs/install.md states it.
const MOST_AFTER_A_KILL: Duration = Duration::from_secs(5);
/// Likewise when a node is drained.
const MOST_IN_A_DRAIN: Duration = Duration::from_secs(1);

pub(super) async fn holds(context: &mut Context) -> Result<()> {
    let stage = Stage::open(context, hall()).await?;
    let result = play(&stage).await;
    stage.close(result).await
}

async fn play(stage: &Stage) -> Result<()> {
    let context = &stage.context;
    Way::Chart.install(stage, "info").await?;
    stage.until_ready(PATIENCE).await?;
    until_answered(context).await?;
    let nodes: BTreeSet<String> =
        stage.pods().await?.into_iter().filter_map(|it| it.spec?.node_name).collect();
    ensure!(nodes.len() == 2, "two operators are on {nodes:?}");

    let (mut tail, mark) = (context.cluster.tail()?, context.log.mark());
    create(context, &stage::set(LARGE)?).await?;
    context.expect("half of the pods are there", |pods| pods.len() >= GANGS).await?;
    let users = Users::start(context).await?;
    let there = context.log.now(&context.namespace).len();
    ensure!(there < 2 * GANGS, "all pods were there before the leader was killed");
    let leader = leader(context).await?;
    stage.runner.kill(&leader).await?;
    // The container is restarted in its pod; no other pod is created.
    eventually("the pod's status shows the restarted container", PATIENCE, || async {
        let pods = stage.pods().await?;
        let pod = pods.into_iter().find(|it| it.name_any() == leader).context("its pod is gone")?;
        let containers = pod.status.and_then(|it| it.container_statuses).unwrap_or_default();
        ensure!(
            containers.iter().any(|it| it.restart_count == 1 && it.ready),
            "it was not restarted, or is not ready"
        );
        Ok(())
    })
    .await?;
    stage.until_ready_again(PATIENCE).await?;
    let killed = users.stop().await?;

    let users = Users::start(context).await?;
    for node in &nodes {
        let selector = "--pod-selector=app.kubernetes.io/name=grove-operator";
        client::kubectl(stage, &["drain", node, selector, "--timeout=3m"], "").await?;
        stage.until_ready_again(PATIENCE).await?;
    }
    let drained = users.stop().await?;
    all_run(context).await?;
    anstream::println!("     users: leader killed: {killed}; two drains: {drained}");
    let moved: BTreeSet<String> =
        stage.pods().await?.into_iter().filter_map(|it| it.spec?.node_name).collect();
    ensure!(moved.is_disjoint(&nodes), "operators are on {moved:?}");

    let writes = tail.more()?;
    let creations = writes
        .iter()
        .filter(|it| it.user == USER && it.namespace == context.namespace && it.what() == "create pods");
    let (created, unanswered): (Vec<_>, Vec<_>) = creations.partition(|it| it.code == 201);
    // Requests that were in flight when the leader was killed are noted as 504, whether or not they were carried out.
    let most = created.len() + unanswered.iter().filter(|it| it.code == 504).count();
    ensure!(
        created.len() <= 2 * GANGS && most >= 2 * GANGS,
        "{} pods were created for {} indices, and {} requests had other answers",
        created.len(),
        2 * GANGS,
        unanswered.len()
    );
    let mut uids: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for change in context.log.since(mark, &context.namespace) {
        let Some(pod) = change.after else { continue };
        let index = (pod.label(labels::POD_CLIQUE).to_owned(), pod.label(labels::POD_INDEX).to_owned());
        uids.entry(index).or_default().insert(change.uid);
    }
    // One pod for each index, ever: the watch has seen those that were deleted, too.
    let twice: Vec<_> = uids.iter().filter(|it| it.1.len() > 1).collect();
    ensure!(twice.is_empty() && uids.len() == 2 * GANGS, "{} indices, more than once: {twice:?}", uids.len());
    let gangs = api::<PodGang>(context).list_metadata(&ListParams::default()).await?.items.len();
    ensure!(gangs == GANGS, "{gangs} gangs");

    ensure!(killed.longest <= MOST_AFTER_A_KILL, "leader killed: {killed}");
    ensure!(drained.longest <= MOST_IN_A_DRAIN, "drains: {drained}");
    stage.nothing_was_refused()
}

/// The pod that holds the lease.
async fn leader(context: &Context) -> Result<String> {
    let leases: Api<Lease> = Api::namespaced(context.client(), NAMESPACE);
    let lease = leases.get("grove-operator-leader-election").await?;
    let name = lease.name_any();
    let holder = lease.spec.and_then(|it| it.holder_identity);
    let holder = holder.with_context(|| format!("lease {name} has no holder"))?;
    // The name of the pod and a random suffix.
    holder
        .rsplit_once('_')
        .map(|it| it.0.to_owned())
        .with_context(|| format!("holder {holder:?} is not named for a pod"))
}
