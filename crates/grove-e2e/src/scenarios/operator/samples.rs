//! Every sample runs, and a set that is deleted leaves nothing.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::{manifest, manifest::Document, wire::PodCliqueSet};
use kube::api::DeleteParams;
use serde_json::json;

use super::{
    stage::{api, create, defaulted, settled},
    wanted::Wanted,
    world::World,
};
use crate::{
    cluster::repository,
    nodes::{Hall, InitContainers},
    objects,
    operator::OperatorOptions,
    scenario::{Context, DEADLINE, eventually, skip_reason},
};

/// Name of the scenario; a line of `e2e/skips.txt` may leave out `NAME/FILE`.
pub(super) const NAME: &str = "operator_samples_run";

pub(super) async fn ours(context: &mut Context) -> Result<()> {
    run_all(context, &repository().join("samples")).await
}

/// Likewise upstream's samples, where they are at hand.
pub(super) async fn upstreams(context: &mut Context) -> Result<()> {
    let corpus = std::env::var("CORPUS").context("CORPUS is not set")?;
    run_all(context, &Path::new(&corpus).join("grove/samples")).await
}

/// And what Dynamo makes of its own resources: a golden file, with marks where a value differs from run to run.
pub(super) async fn dynamos(context: &mut Context) -> Result<()> {
    let corpus = std::env::var("CORPUS").context("CORPUS is not set")?;
    let _running = start(context).await?;
    let file = Path::new(&corpus).join("dynamo/output.yaml");
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    run(context, &text.replace("$var:", "").replace("$pattern:", "").replace(".*", "x")).await
}

async fn run_all(context: &mut Context, folder: &Path) -> Result<()> {
    let _running = start(context).await?;
    let files = std::fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files: Vec<PathBuf> = files.map(|it| it.map(|it| it.path())).collect::<Result<_, _>>()?;
    files.sort();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if let Some(reason) = skip_reason(context.scheduler().name(), &format!("{NAME}/{name}")) {
            anstream::println!("     not run: {name}: {reason}");
            continue;
        }
        count += 1;
        if let Err(error) = run(context, &std::fs::read_to_string(&file)?).await {
            wrong.push(format!("{name}: {error:#}"));
        }
    }
    ensure!(count > 0, "{} has no samples", folder.display());
    if !wrong.is_empty() {
        bail!("{} of {count} samples:\n    {}", wrong.len(), wrong.join("\n    "));
    }
    Ok(())
}

/// The largest sample takes a hundred GPUs, eight of each node. Some start in order.
async fn start(context: &mut Context) -> Result<InitContainers> {
    context.nodes(Hall::racks(4).nodes(4).gpus(8)).await?;
    context.start_operator(OperatorOptions::default()).await?;
    InitContainers::start_ours(&context.cluster)
}

/// Runs all sets of a text until they are ready, and deletes them.
async fn run(context: &Context, text: &str) -> Result<()> {
    let mut sets = Vec::new();
    for document in manifest::parse(text)?.into_iter().flat_map(Document::flatten) {
        match document.value["kind"].as_str() {
            Some("PodCliqueSet") => sets.push(defaulted(document.value)?),
            Some("ClusterTopologyBinding") => {
                drop(objects::apply(&context.client(), document.value, None).await?);
            }
            _ => {}
        }
    }
    for set in &sets {
        accounts(context, set).await?;
        priority_class(context, set).await?;
        create(context, set).await?;
    }
    for set in &sets {
        settled(context, &Wanted::of(set)).await?;
    }
    for set in &sets {
        let name = set.metadata.name.as_deref().unwrap_or_default();
        api::<PodCliqueSet>(context).delete(name, &DeleteParams::default()).await?;
    }
    eventually("nothing is left", DEADLINE, || async {
        let left = World::read(context).await?.leftovers();
        ensure!(left.is_empty(), "left: {}", left.join(", "));
        Ok(())
    })
    .await
}

/// Likewise the priority class.
async fn priority_class(context: &Context, set: &PodCliqueSet) -> Result<()> {
    let name = &set.spec.template.priority_class_name;
    if !name.is_empty() {
        let class = json!({
            "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": name }, "value": 1000,
        });
        objects::apply(&context.client(), class, None).await?;
    }
    Ok(())
}

/// Who makes such a set makes the service accounts that its pods name.
async fn accounts(context: &Context, set: &PodCliqueSet) -> Result<()> {
    let named =
        set.spec.template.cliques.iter().filter_map(|it| it.spec.pod_spec.service_account_name.as_ref());
    for name in named.collect::<BTreeSet<_>>() {
        let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": name } });
        objects::apply(&context.client(), account, Some(&context.namespace)).await?;
    }
    Ok(())
}
