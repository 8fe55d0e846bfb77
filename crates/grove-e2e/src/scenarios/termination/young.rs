//! A copy of the group that loses a pod as soon as it has all of them, a second or two after it was created.

use anyhow::{Context as _, Result, ensure};
use grove_api::constants::labels;

use super::{
    super::{
        backends::stage,
        operator::{
            stage::{defaulted, settled},
            wanted::Wanted,
        },
        updates::{self, workload::Workload},
    },
    Act, DELAY, SET, cases, is_over, one,
};
use crate::scenario::{Context, PodState};

/// Pods of the set, and nodes for them.
const PODS: usize = 10;

pub(super) async fn run(context: &mut Context) -> Result<()> {
    updates::room(context, PODS).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = Workload::WholeCopies.set(SET, 1);
    set["spec"]["template"]["terminationDelay"] = DELAY.0.into();
    context.apply(&set.to_string()).await?;
    let are_ready = |pods: &[PodState]| {
        pods.iter().filter(|it| it.ready && it.label(labels::PART_OF) == SET).count() == PODS
    };
    context.expect("all pods are ready", are_ready).await?;
    let mut act = Act::begin(context);
    for (number, step) in cases::GT5.steps.iter().enumerate() {
        let told = || format!("step {number}, {step:?}");
        one(context, &mut act, step, PODS).await.with_context(told)?;
    }
    settled(context, &Wanted::of(&defaulted(set)?)).await?;
    let taken = act.taken(context)?;
    ensure!(taken.is_empty(), "more pods went: {taken:?}");
    is_over(context).await
}
