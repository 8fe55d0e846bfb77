//! A copy of the group that loses a pod as soon as it has all of them, a second or two after it was created.

use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use grove_api::{constants::labels, wire::PodCliqueSet};
use kube::api::DeleteParams;

use super::{
    super::{
        backends::stage,
        operator::{
            stage::{api, defaulted, settled},
            wanted::Wanted,
            world::World,
        },
        updates::{self, workload::Workload},
    },
    Act, DELAY, SET, cases, is_over, one,
};
use crate::scenario::{Context, DEADLINE, PodState, eventually};

/// Pods of the set, and nodes for them.
const PODS: usize = 10;
/// What was lost within this time used to count as never scheduled.
const YOUNG: Duration = Duration::from_millis(4_500);
/// How often a machine may be too slow for that.
const ATTEMPTS: usize = 5;

pub(super) async fn run(context: &mut Context) -> Result<()> {
    updates::room(context, PODS).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = Workload::WholeCopies.set(SET, 1);
    set["spec"]["template"]["terminationDelay"] = DELAY.0.into();
    let (first, rest) = first_loss();
    let mut act = 'lost: {
        for _ in 0..ATTEMPTS {
            let mark = context.log.mark();
            context.apply(&set.to_string()).await?;
            let are_ready = |pods: &[PodState]| {
                pods.iter().filter(|it| it.ready && it.label(labels::PART_OF) == SET).count() == PODS
            };
            context.expect("all pods are ready", are_ready).await?;
            let mut act = Act::begin(context);
            for step in first {
                one(context, &mut act, step, PODS).await.with_context(|| format!("{step:?}"))?;
            }
            // Its group is older than its pods by some milliseconds.
            let history = context.log.since(mark, &context.namespace);
            let created = history.first().context("no pod was created")?.at;
            if act.last.saturating_sub(created) < YOUNG {
                break 'lost act;
            }
            updates::open(context, PODS, true).await?;
            api::<PodCliqueSet>(context).delete(SET, &DeleteParams::default()).await?;
            eventually("nothing is left", DEADLINE, || async {
                let left = World::read(context).await?.leftovers();
                ensure!(left.is_empty(), "left: {}", left.join(", "));
                Ok(())
            })
            .await?;
        }
        bail!(
            "{ATTEMPTS} times it took more than {YOUNG:?} from the creation of the pods to the loss of the first"
        );
    };
    for step in rest {
        one(context, &mut act, step, PODS).await.with_context(|| format!("{step:?}"))?;
    }
    settled(context, &Wanted::of(&defaulted(set)?)).await?;
    let taken = act.taken(context)?;
    ensure!(taken.is_empty(), "more pods went: {taken:?}");
    is_over(context).await
}

/// The steps up to the first loss of pods, and those after it.
fn first_loss() -> (&'static [cases::Step], &'static [cases::Step]) {
    let steps = cases::GT5.steps;
    let lost = steps.iter().position(|it| matches!(it, cases::Step::Kill(..)));
    steps.split_at(lost.map_or(steps.len(), |it| it + 1))
}
