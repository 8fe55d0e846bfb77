//! A restart policy: a copy of the group is made anew when a container of it fails, once for each failure and within its budget.

use std::{collections::BTreeSet, time::Duration};

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::{annotations, conditions, events::restart_policy, labels},
    wire::{PodClique, PodCliqueSet},
};
use kube::ResourceExt;
use serde_json::json;

use super::{
    super::{
        backends::stage,
        operator::{
            stage::{api, defaulted, patch, settled},
            wanted::Wanted,
            world::World,
        },
        updates::{self, workload::Workload},
    },
    Act, PATIENCE, SET, kept, losses,
};
use crate::scenario::{Context, PodState, eventually};

/// The copy of the group that fails, and what its pods begin with.
const COPY: &str = "gt-0-x-1-";
/// Its pods.
const SIZE: usize = 4;

/// One restart is allowed: the first failure is answered by it, the second ends it, and somebody resets it. In between the operator
/// is killed: it forgets nothing.
pub(super) async fn run(context: &mut Context) -> Result<()> {
    updates::room(context, 10).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = Workload::WholeCopies.set(SET, 1);
    set["spec"]["template"]["restartPolicy"] =
        json!({ "scope": "GroupReplica", "maxRestarts": 1, "backoff": { "initial": "1s" } });
    context.apply(&set.to_string()).await?;
    let wanted = Wanted::of(&defaulted(set)?);
    let before = settled(context, &wanted).await?;

    // A container that its kubelet starts again.
    let act = Act::begin(context);
    fail(context, "crash-after").await?;
    is_made_anew(context, &act).await.context("after a crash")?;
    stage::told_by_event(context, &context.namespace, SET, restart_policy::RESTARTED).await?;
    settled(context, &wanted).await?;
    are_counted(context, 1).await?;

    // A pod that its kubelet gave up.
    let act = Act::begin(context);
    fail(context, "fail-after").await?;
    let type_ = conditions::RESTART_BUDGET_EXHAUSTED;
    let told = stage::set_says(context, SET, type_, |it| it.status == "True").await?;
    ensure!(told.message.contains(annotations::RESET_RESTARTS), "it says: {}", told.message);
    stage::told_by_event(context, &context.namespace, SET, restart_policy::EXHAUSTED).await?;
    context.operator()?.kill().await?;
    context.operator()?.start_again().await?;
    context.had_its_turn(SET).await?;
    let taken = act.taken(context)?;
    ensure!(taken.is_empty(), "pods went although the budget is spent: {taken:?}");

    let again = json!({ "metadata": { "annotations": { annotations::RESET_RESTARTS: "once more" } } });
    patch::<PodCliqueSet>(context, SET, &again).await?;
    is_made_anew(context, &act).await.context("after a reset")?;
    eventually("nothing is said to be over", stage::SOON, || async {
        let set = api::<PodCliqueSet>(context).get(SET).await?;
        let conditions = set.status.unwrap_or_default().conditions;
        ensure!(conditions.iter().all(|it| it.type_ != type_), "the set says {type_}");
        Ok(())
    })
    .await?;
    let after = settled(context, &wanted).await?;
    are_counted(context, 1).await?;
    ensure!(kept(&before.cliques) == kept(&after.cliques), "cliques were made anew");
    ensure!(kept(&before.gangs) == kept(&after.gangs), "gangs were made anew");
    Ok(())
}

/// Makes the simulated kubelet end a container of the copy.
async fn fail(context: &Context, how: &str) -> Result<()> {
    let pods = context.log.now(&context.namespace);
    let victim = pods.iter().find(|it| it.ready && it.label(labels::POD_CLIQUE) == format!("{COPY}c"));
    let victim = victim.context("no pod is ready")?;
    context.annotate_pod(&victim.name, &format!("e2e.grove.io/{how}"), "100ms").await
}

/// All pods of the copy are replaced once, and no others.
async fn is_made_anew(context: &Context, act: &Act) -> Result<()> {
    let old: BTreeSet<&str> = act.before.iter().map(|it| it.uid.as_str()).collect();
    let is_new = |pods: &[PodState]| {
        let copy = pods.iter().filter(|it| losses::is_of(it, COPY));
        let uids: Vec<&str> = copy.map(|it| it.uid.as_str()).collect();
        uids.len() == SIZE && uids.iter().all(|it| !old.contains(it))
    };
    let what = format!("the pods of {COPY}* are replaced");
    context.log.until(&context.namespace, &what, PATIENCE, is_new).await?;
    losses::check(&act.before, &act.taken(context)?, &act.theirs, COPY, Duration::ZERO)
}

/// The cliques of the copy say so, and those of the other say nothing.
async fn are_counted(context: &Context, count: i32) -> Result<()> {
    let world = World::read(context).await?;
    let counted = |it: &PodClique| it.status.as_ref()?.restarts.as_ref().map(|it| it.count);
    for clique in &world.cliques {
        let wanted = clique.name_any().starts_with(COPY).then_some(count);
        let noted = counted(clique);
        ensure!(noted == wanted, "{} has counted {noted:?}, not {wanted:?}", clique.name_any());
    }
    Ok(())
}
