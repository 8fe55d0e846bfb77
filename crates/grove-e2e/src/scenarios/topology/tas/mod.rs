//! Upstream's tests of placement by topology, on every scheduler: one operator and one hall, and the sets one after the other.
//!
//! TAS1 and TAS18 to TAS20 are scenarios of their own (`super::binding`), TAS21 and TAS22 rows of `testdata/`.

mod cliques;
mod groups;
mod look;
mod policies;
mod row;
mod scaled;
mod shape;
mod tree;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::conditions::pod_gang::{SCHEDULED, UNSCHEDULABLE},
    wire::PodCliqueSet,
};
use k8s_openapi::api::core::v1::Node;
use kube::{
    Api, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use serde_json::{Value, json};

use self::row::{Row, Told};
use crate::{
    nodes::{HOST, Hall, node_name},
    objects,
    scenario::{Context, eventually},
    scenarios::{
        backends::stage::{self, SOON},
        operator::stage::api,
    },
};

/// Node labels that two bindings both call a block.
const H100: &str = "example.com/h100-block";
const GB200: &str = "example.com/gb200-block";

const RACKS: usize = 8;
const NODES: usize = 2;
const GPUS: u32 = 8;

type Labels = BTreeMap<String, BTreeMap<String, String>>;

/// Plays all rows.
pub(super) async fn play(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(RACKS).nodes(NODES).gpus(GPUS as usize)).await?;
    take_first_block(context).await?;
    label_blocks(context).await?;
    objects::install_crds(&context.client()).await?;
    for (name, key) in [("h100", H100), ("gb200", GB200)] {
        objects::apply(&context.client(), binding(name, key), None).await?;
    }
    stage::start(context, stage::asked(context)).await?;
    stage::until_answered(context).await?;
    let nodes = Api::<Node>::all(context.client()).list(&ListParams::default()).await?.items;
    let labels: Labels = nodes.iter().map(|it| (it.name_any(), it.labels().clone())).collect();
    for row in row::all() {
        one(context, row, &labels).await.with_context(|| format!("row {}", row.name))?;
    }
    Ok(())
}

/// One GPU of the first block is free: a scheduler that fills nodes up would begin there, and one that keeps to a level
/// cannot stay there.
async fn take_first_block(context: &Context) -> Result<()> {
    for (rack, node, gpus) in [(0, 0, GPUS - 1), (0, 1, GPUS), (1, 0, GPUS), (1, 1, GPUS)] {
        let there = json!({ "spec": {
            "schedulerName": "default-scheduler", "nodeSelector": { HOST: node_name(rack, node) },
        } });
        context.pod(&format!("fill-{rack}-{node}"), gpus, there).await?;
    }
    context.expect_all_bound("fill-", 4).await?;
    Ok(())
}

/// Blocks of the one kind are other racks than those of the label that the hall has; of the other, single racks.
async fn label_blocks(context: &Context) -> Result<()> {
    let nodes: Api<Node> = Api::all(context.client());
    for rack in 2..RACKS {
        let (key, block) = if rack < 4 { (GB200, rack) } else { (H100, rack % 2) };
        let patch = json!({ "metadata": { "labels": { key: format!("block-{block}") } } });
        for node in 0..NODES {
            nodes.patch(&node_name(rack, node), &PatchParams::default(), &Patch::Merge(&patch)).await?;
        }
    }
    Ok(())
}

fn binding(name: &str, key: &str) -> Value {
    json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": name },
        "spec": { "levels": [{ "domain": "block", "key": key }, { "domain": "host", "key": HOST }] },
    })
}

async fn one(context: &Context, row: &Row, labels: &Labels) -> Result<()> {
    let told = match row.told(context) {
        Told::Objects(lines) => lines,
        Told::LikeGangs => row.gangs,
        Told::Refused(fields) => return is_refused(context, row, fields).await,
        Told::LeftOut(why) => {
            anstream::println!("      {} is left out: {why}", row.name);
            return Ok(());
        }
    };
    let (refused, _) = stage::send(context, &row.shape.set(row.name)).await?;
    ensure!(refused.is_none(), "it is refused: {refused:?}");
    if row.fits {
        is_placed(context, row, labels).await?;
    } else {
        is_not_placed(context, row).await?;
    }
    eventually("the PodGangs are as the row says", SOON, || async {
        tree::compare(row.name, &look::gangs(context, row.name).await?, row.gangs)
    })
    .await?;
    eventually("the scheduler is told what the row says", SOON, || async {
        tree::compare(row.name, &look::objects(context, row.name).await?, told)
    })
    .await?;
    api::<PodCliqueSet>(context).delete(row.name, &DeleteParams::default()).await?;
    context
        .expect("its pods are gone", |pods| !pods.iter().any(|it| look::is_of(row.name, &it.name)))
        .await?;
    Ok(())
}

async fn is_refused(context: &Context, row: &Row, fields: &[&str]) -> Result<()> {
    let (refused, _) = stage::send(context, &row.shape.set(row.name)).await?;
    let words = refused.context("it is taken, and the scheduler cannot have it")?.message;
    for field in fields {
        ensure!(words.contains(field), "nothing is said of {field}: {words}");
    }
    Ok(())
}

async fn is_placed(context: &Context, row: &Row, labels: &Labels) -> Result<()> {
    let pods = stage::ready(context, &format!("{}-", row.name), row.pods).await?;
    for (prefix, key) in row.together {
        look::are_together(&pods, labels, &format!("{}-{prefix}", row.name), key)?;
    }
    Ok(())
}

/// All pods are let go and none is bound; gang and set say why.
async fn is_not_placed(context: &Context, row: &Row) -> Result<()> {
    let let_go = format!("{} pods are let go", row.pods);
    let is_let_go = |name: &str, gates: &[String]| look::is_of(row.name, name) && gates.is_empty();
    context
        .expect(&let_go, |pods| pods.iter().filter(|it| is_let_go(&it.name, &it.gates)).count() == row.pods)
        .await?;
    let gang = format!("{}-0", row.name);
    let said = stage::gang_says(context, &gang, SCHEDULED, |it| it.reason == UNSCHEDULABLE).await?;
    stage::set_says(context, row.name, "Progressing", |it| it.message.contains(&said.message)).await?;
    context.expect_none_bound(&format!("{}-", row.name)).await
}
