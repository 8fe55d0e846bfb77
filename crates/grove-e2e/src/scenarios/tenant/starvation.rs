//! Starvation: a tenant has hundreds of sets, and another's set of two pods becomes ready in time.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use grove_api::{constants::annotations, wire::PodCliqueSet};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::json;

use super::{
    act::Who,
    holds::Holds,
    tenants::{Tenants, options},
};
use crate::{nodes::Hall, scenario::Context, scenarios::operator::stage};

/// Sets of the tenant.
const SETS: usize = 300;
/// Requests of the tenant at once.
const AT_ONCE: usize = 16;
/// How long the victim may wait, on a machine that also builds.
const PATIENCE: Duration = Duration::from_secs(90);
/// A set that has its turn is ready long before all of the tenant's: before so many in a hundred of them.
const SHARE: usize = 75;

const TWO_PODS: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: web }
spec:
  replicas: 1
  template:
    cliques:
      - name: front
        spec: { roleName: front, replicas: 2, podSpec: { containers: [{ name: main, image: "registry.example.com/app:1.0" }] } }
"#;

/// The victim's set is the last of all when the operator starts; then its pod is replaced while the tenant changes all of its
/// sets again and again, and while it deletes them.
pub(super) async fn scenario(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(2).nodes(4).gpus(8)).await?;
    context.start_operator(options()).await?;
    let tenants = Tenants::without_set(context, stage::set(TWO_PODS)?).await?;
    // All of them are there when it comes back.
    context.operator()?.stop().await?;
    let sets: Api<PodCliqueSet> = Api::namespaced(tenants.client(Who::Editor), &tenants.home);
    create_all(&sets, &tenants.home).await?;
    stage::create(context, &tenants.set).await?;
    let began = Instant::now();
    context.operator()?.launch().await?;
    tokio::time::timeout(PATIENCE, tenants.victim_is_well(context)).await.context("the victim's set")??;
    let (took, before) = (began.elapsed(), ready(context, &tenants).await?);
    anstream::println!(
        "     ready in {:.1} s, after {before} of {SETS} sets of the tenant",
        took.as_secs_f64()
    );
    ensure!(before * 100 <= SETS * SHARE, "it was ready after {before} of {SETS} sets of the tenant");

    let replaced = Holds::PodReturns("web-0-front");
    tokio::select! {
        ended = change_all(&sets) => ended.context("the tenant's changes")?,
        held = replaced.check(context, &tenants) => held.context("while all of the tenant's sets change")?,
    }
    sets.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    replaced.check(context, &tenants).await.context("while all of the tenant's sets are deleted")?;
    tenants.clear(context).await
}

fn name(number: usize) -> String {
    format!("many-{number}")
}

async fn create_all(sets: &Api<PodCliqueSet>, home: &str) -> Result<()> {
    let template = stage::set(TWO_PODS)?;
    let creating = (0..SETS).map(|number| {
        let mut set = template.clone();
        set.metadata.name = Some(name(number));
        set.metadata.namespace = Some(home.to_owned());
        set.spec.template.cliques[0].spec.replicas = Some(1);
        set.spec.template.cliques[0].spec.min_available = Some(1);
        async move { sets.create(&PostParams::default(), &set).await.map(drop) }
    });
    Ok(stream::iter(creating).buffer_unordered(AT_ONCE).try_collect().await?)
}

/// Changes one after the other, and begins again.
async fn change_all(sets: &Api<PodCliqueSet>) -> Result<()> {
    let changes = (0..).map(|count: usize| async move {
        let change =
            json!({ "metadata": { "annotations": { annotations::RECONCILE_TRIGGER: count.to_string() } } });
        sets.patch(&name(count % SETS), &PatchParams::default(), &Patch::Merge(&change)).await.map(drop)
    });
    Ok(stream::iter(changes).buffer_unordered(AT_ONCE).try_collect().await?)
}

/// Pods of the tenant that are ready.
async fn ready(context: &Context, tenants: &Tenants) -> Result<usize> {
    let pods: Api<Pod> = Api::namespaced(context.client(), &tenants.home);
    let is_ready = |it: &&Pod| {
        let conditions = it.status.as_ref().and_then(|it| it.conditions.as_ref());
        conditions.into_iter().flatten().any(|it| it.type_ == "Ready" && it.status == "True")
    };
    Ok(pods.list(&ListParams::default()).await?.items.iter().filter(is_ready).count())
}
