//! OD8: a pod is moved off a bad node by hand, and nobody else notices.

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::labels;
use serde_json::json;

use super::{
    NODES,
    play::{Play, SET},
    workload::{self, Workload},
};
use crate::{
    nodes::{HOST, Hall},
    scenario::{Context, PodState},
    scenarios::backends::stage,
};

/// The template says that its pods keep off a node, and the pod that is there is deleted.
pub(super) async fn od8(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(NODES).gpus(1)).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = Workload::WholeGroup.set(SET, 1);
    set["spec"]["updateStrategy"]["type"] = "OnDelete".into();
    let mut play = Play::begin(context, set).await?;
    let is_first = |it: &PodState| {
        it.label(labels::POD_CLIQUE) == format!("{SET}-0-a") && it.label(labels::POD_INDEX) == "0"
    };
    let node_of = |pods: Vec<PodState>| pods.into_iter().find(|it| is_first(it)).and_then(|it| it.node);
    let bad = node_of(context.log.now(&context.namespace)).context("not bound")?;
    let mut set = play.set.clone();
    workload::change(&mut set, &["a"], 2);
    let role = workload::role(&mut set, "a").context("no such role")?;
    role["spec"]["podSpec"]["affinity"] = json!({ "nodeAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{ "matchExpressions": [{ "key": HOST, "operator": "NotIn", "values": [bad] }] }],
    } } });
    let before = context.log.now(&context.namespace);
    play.put(context, set, &["a"]).await?;
    play.delete(context, "0-a", 0).await?;
    let world = play.rest(context).await?;
    let after = node_of(context.log.now(&context.namespace)).context("not bound")?;
    ensure!(after != bad, "it is on {bad} again");
    let stay = before.iter().filter(|it| !is_first(it));
    let gone: Vec<&str> =
        stay.filter(|it| !world.uids().contains_key(&it.uid)).map(|it| it.name.as_str()).collect();
    ensure!(gone.is_empty(), "others went too: {gone:?}");
    Ok(())
}
