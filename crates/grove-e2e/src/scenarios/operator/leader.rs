//! Several operators: one works.

use std::time::Duration;

use anyhow::{Result, ensure};
use grove_api::wire::PodCliqueSet;
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, ResourceExt, api::ListParams};

use super::{
    stage::{self, WEB, create_and_settle, scale, settled},
    wanted::Wanted,
};
use crate::{
    nodes::Hall,
    operator::{Operator, OperatorOptions},
    scenario::{Context, DEADLINE, eventually},
};

/// Short, so that nobody waits long; the machine may be slow, so not too short.
pub(super) const LEASE: [&str; 3] = ["15s", "10s", "2s"];

/// A second operator works only when the first is gone: at once when it was told to end, after its lease when it was
/// killed.
pub(super) async fn one_works(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(2).gpus(8)).await?;
    context.start_operator(OperatorOptions { lease: LEASE, ..OperatorOptions::default() }).await?;
    let options =
        OperatorOptions { name: "operator-2".to_owned(), lease: LEASE, ..OperatorOptions::default() };
    let mut second = Operator::start(&context.cluster, options).await?;
    let result = take_turns(context, &mut second).await;
    if second.is_running() {
        second.kill().await?;
    }
    result
}

async fn take_turns(context: &mut Context, second: &mut Operator) -> Result<()> {
    let mut set = stage::set(WEB)?;
    create_and_settle(context, &set).await?;
    let first = holder(context).await?;
    ensure!(is_leader(context.operator()?).await?, "the first does not lead");
    ensure!(!is_leader(second).await?, "the second leads too");

    context.operator()?.kill().await?;
    scale::<PodCliqueSet>(context, "web", 2).await?;
    set.spec.replicas = 2;
    settled(context, &Wanted::of(&set)).await?;
    let next = holder(context).await?;
    ensure!(first != next, "{first} still holds the lease");

    // One that ends by itself gives the lease back; the next need not wait.
    context.operator()?.start_again().await?;
    second.stop().await?;
    let patience = Duration::from_secs(12);
    eventually("the lease is taken over without waiting for it to run out", patience, || async {
        let now = holder(context).await?;
        ensure!(now != next && !now.is_empty(), "{now} holds it");
        Ok(())
    })
    .await?;
    scale::<PodCliqueSet>(context, "web", 1).await?;
    set.spec.replicas = 1;
    settled(context, &Wanted::of(&set)).await?;
    Ok(())
}

/// Who holds the lease, in the namespace that was asked for.
async fn holder(context: &Context) -> Result<String> {
    let leases: Api<Lease> = Api::namespaced(context.client(), "kube-system");
    eventually("there is a lease", DEADLINE, || async {
        let all = leases.list(&ListParams::default()).await?.items;
        let ours = all.into_iter().find(|it| it.name_any() == "grove-operator-leader-election");
        let holder = ours.and_then(|it| it.spec).and_then(|it| it.holder_identity);
        holder.ok_or_else(|| anyhow::anyhow!("nobody holds it"))
    })
    .await
}

/// By its own metrics.
pub(super) async fn is_leader(operator: &Operator) -> Result<bool> {
    let text = operator.metrics().await?;
    let line = text.lines().find(|it| it.starts_with("leader_election_master_status"));
    Ok(line.is_some_and(|it| it.ends_with(" 1")))
}
