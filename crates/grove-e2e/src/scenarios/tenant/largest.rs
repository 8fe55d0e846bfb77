//! The largest set that admission takes: as many PodCliques as a set may have, with templates as large as all of them together may
//! be. The operator stays within its memory limit, and works for others meanwhile.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    limits::{MAX_POD_CLIQUE_BYTES_PER_SET, MAX_POD_CLIQUES_PER_SET},
    wire::{PodClique, PodCliqueSet},
};
use kube::{
    Api,
    api::{DeleteParams, ListParams, PostParams},
};

use super::{
    act::Who,
    holds::Holds,
    sizes::{cliques, limit_pods, peak_memory},
    tenants::{Tenants, options},
};
use crate::{operator::OperatorOptions, scenario::Context, scenario::eventually};

/// Cliques in the template.
const CLIQUES: usize = 64;
/// How long the operator may take for ten thousand PodCliques, on a machine that also builds.
const PATIENCE: Duration = Duration::from_mins(15);
/// What the operator may need for all of it: its process has no more data than that, and its resident memory is measured.
const MEGABYTES: u64 = 512;

pub(super) async fn scenario(context: &mut Context) -> Result<()> {
    let options = OperatorOptions { webhooks: true, memory: Some(MEGABYTES), ..options() };
    let tenants = Tenants::begin(context, options).await?;
    limit_pods(context, &tenants).await?;
    let replicas = usize::try_from(MAX_POD_CLIQUES_PER_SET)? / CLIQUES;
    let all = replicas * CLIQUES;
    // The rest of a PodClique needs about 1,300 bytes.
    let bytes = usize::try_from(MAX_POD_CLIQUE_BYTES_PER_SET)? / all - 1_500;
    let mut set = cliques(CLIQUES, 1, bytes);
    set["spec"]["replicas"] = replicas.into();
    let sets: Api<PodCliqueSet> = Api::namespaced(tenants.client(Who::Editor), &tenants.home);
    let set: PodCliqueSet = serde_json::from_value(set)?;
    sets.create(&PostParams::default(), &set).await.context("the largest set is admitted")?;

    let created: Api<PodClique> = Api::namespaced(context.client(), &tenants.home);
    until_count(&created, all).await?;
    Holds::PodReturns("web-0-front").check(context, &tenants).await.context("beside the largest set")?;
    let name = set.metadata.name.unwrap_or_default();
    sets.delete(&name, &DeleteParams::default()).await?;
    until_count(&created, 0).await?;
    let peak = peak_memory(context)?;
    anstream::println!("     the operator had {peak} MB at most for {all} PodCliques of {bytes} bytes");
    ensure!(peak < MEGABYTES, "the operator had {peak} MB");
    tenants.clear(context).await
}

/// Waits until there are so many, by counting on the server: the list itself would have 64 MiB.
async fn until_count(api: &Api<PodClique>, count: usize) -> Result<()> {
    eventually("all PodCliques are created or deleted", PATIENCE, || async {
        let page = api.list_metadata(&ListParams::default().limit(1)).await?;
        let remaining = usize::try_from(page.metadata.remaining_item_count.unwrap_or_default())?;
        let there = page.items.len() + remaining;
        ensure!(there == count, "{there} of {count} PodCliques are there");
        Ok(())
    })
    .await
}
