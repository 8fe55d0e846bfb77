//! Upstream's tests of gang termination: a unit that was below its minimum for too long is made anew as a whole, and nothing else is.

mod cases;
mod losses;
mod policy;
mod young;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::{conditions, events::children, labels},
    wire::{PodClique, PodCliqueScalingGroup, PodGang},
};
use kube::{Resource, ResourceExt};

use self::{
    cases::{Case, Step},
    losses::Taken,
};
use super::{
    backends::stage,
    operator::{
        stage::{defaulted, scale, settled},
        wanted::Wanted,
        world::World,
    },
    updates,
};
use crate::{
    cluster::{
        Gates::All,
        Scheduler::{Kai, Kube},
    },
    scenario::{Context, PodState, Running, Scenario, eventually},
};

type Run = for<'a> fn(&'a mut Context) -> Running<'a>;

/// On a scheduler that another one has shown already.
const fn on_kai(name: &'static str, run: Run) -> Scenario {
    Scenario { name, on: &[(Kai, All)], full_only: true, run }
}

/// Scenarios of gang termination.
pub(super) const TABLE: &[Scenario] = &[
    Scenario::on_kube("termination_gt1", |context| Box::pin(run(context, &cases::GT1))),
    on_kai("termination_gt1", |context| Box::pin(run(context, &cases::GT1))),
    Scenario::on_kube("termination_gt2", |context| Box::pin(run(context, &cases::GT2))),
    on_kai("termination_gt2", |context| Box::pin(run(context, &cases::GT2))),
    Scenario::on_kube("termination_gt3", |context| Box::pin(run(context, &cases::GT3))),
    on_kai("termination_gt3", |context| Box::pin(run(context, &cases::GT3))),
    Scenario::on_kube("termination_gt4", |context| Box::pin(run(context, &cases::GT4))),
    on_kai("termination_gt4", |context| Box::pin(run(context, &cases::GT4))),
    Scenario {
        name: "termination_gt5",
        on: &[(Kube, All), (Kai, All)],
        full_only: false,
        run: |context| Box::pin(run(context, &cases::GT5)),
    },
    Scenario::on_kube("termination_gt6", |context| Box::pin(run(context, &cases::GT6))),
    on_kai("termination_gt6", |context| Box::pin(run(context, &cases::GT6))),
    Scenario::on_kube("termination_young", |context| Box::pin(young::run(context))),
    Scenario::on_kube("termination_restart_policy", |context| Box::pin(policy::run(context))),
];

const SET: &str = "gt";
/// The delay of the set. What it counts from is told in whole seconds, so that a unit may go up to a second earlier.
const DELAY: (&str, Duration) = ("10s", Duration::from_secs(9));
/// How long a unit may take to go: the delay, and what a busy machine takes.
const PATIENCE: Duration = Duration::from_mins(3);

/// What happened since the last step that took something.
struct Act {
    before: Vec<PodState>,
    mark: usize,
    /// Pods that the scenario deleted.
    theirs: BTreeSet<String>,
    /// When it began to, the last time.
    last: Duration,
}

impl Act {
    fn begin(context: &Context) -> Self {
        let mark = context.log.mark();
        let before = context.log.now(&context.namespace);
        let before = before.into_iter().filter(|it| it.label(labels::PART_OF) == SET).collect();
        Self { before, mark, theirs: BTreeSet::new(), last: Duration::ZERO }
    }

    /// What the operator took.
    fn taken(&self, context: &Context) -> Result<Vec<Taken>> {
        let changes = context.log.since(self.mark, &context.namespace);
        let ours: Vec<_> = changes.into_iter().filter(|it| it.name.starts_with(SET)).collect();
        losses::taken(&ours, &self.theirs)
    }
}

async fn run(context: &mut Context, case: &Case) -> Result<()> {
    let nodes = usize::try_from(8 + case.scaled)?;
    updates::room(context, nodes).await?;
    context.start_operator(stage::options(context)).await?;
    let mut set = case.workload.set(SET, 1);
    set["spec"]["template"]["terminationDelay"] = DELAY.0.into();
    context.apply(&set.to_string()).await?;
    let set = defaulted(set)?;
    settled(context, &Wanted::of(&set)).await?;
    let first = format!("{SET}-0-a");
    scale::<PodClique>(context, &first, case.scaled).await?;
    let wanted = Wanted::scaled(&set, &[(first.as_str(), case.scaled)]);
    let world = settled(context, &wanted).await?;
    let uids = world.uids();
    context
        .expect("the history is complete", |pods| pods.iter().filter(|it| it.ready).count() == uids.len())
        .await?;
    let mut act = Act::begin(context);
    for (number, step) in case.steps.iter().enumerate() {
        let told = || format!("step {number}, {step:?}");
        one(context, &mut act, step, nodes).await.with_context(told)?;
    }
    let after = settled(context, &wanted).await?;
    let taken = act.taken(context)?;
    ensure!(taken.is_empty(), "more pods went: {taken:?}");
    ensure!(kept(&world.cliques) == kept(&after.cliques), "cliques were made anew");
    ensure!(kept(&world.groups) == kept(&after.groups), "groups were made anew");
    ensure!(kept::<PodGang>(&world.gangs) == kept(&after.gangs), "gangs were made anew");
    is_over(context).await
}

async fn one(context: &Context, act: &mut Act, step: &Step, nodes: usize) -> Result<()> {
    match *step {
        Step::Close => updates::open(context, nodes, false).await,
        Step::Open => updates::open(context, nodes, true).await,
        Step::Kill(clique, count) => kill(context, act, clique, count).await,
        Step::Tolerated => {
            context.had_its_turn(SET).await?;
            let world = World::read(context).await?;
            let type_ = conditions::min_available_breached::TYPE;
            for clique in &world.cliques {
                let status = clique.status.clone().unwrap_or_default();
                let breached = status.conditions.iter().any(|it| it.type_ == type_ && it.status == "True");
                ensure!(!breached, "{} says that it is below its minimum", clique.name_any());
            }
            let taken = act.taken(context)?;
            ensure!(taken.is_empty(), "pods went: {taken:?}");
            Ok(())
        }
        Step::Goes(cliques) => goes(context, act, &format!("{SET}-{cliques}")).await,
    }
}

/// Deletes ready pods of a clique.
async fn kill(context: &Context, act: &mut Act, clique: &str, count: usize) -> Result<()> {
    let clique = format!("{SET}-{clique}");
    let pods = context.log.now(&context.namespace);
    let ready = |it: &&PodState| it.ready && it.label(labels::POD_CLIQUE) == clique;
    let victims: Vec<&PodState> = pods.iter().filter(ready).take(count).collect();
    ensure!(victims.len() == count, "{clique} has only {} ready pods", victims.len());
    let mark = context.log.mark();
    for victim in victims {
        act.theirs.insert(victim.uid.clone());
        context.delete_pod(&victim.name).await?;
    }
    let changes = context.log.since(mark, &context.namespace);
    // The first may be one too many already.
    let gone = changes.iter().find(|it| act.theirs.contains(&it.uid) && it.after.is_none());
    act.last = gone.context("the pods did not go")?.at;
    Ok(())
}

/// Waits until all pods of a unit are replaced, and holds everything that went against that.
async fn goes(context: &Context, act: &mut Act, prefix: &str) -> Result<()> {
    let due: BTreeSet<&str> =
        act.before.iter().filter(|it| losses::is_of(it, prefix)).map(|it| it.uid.as_str()).collect();
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in act.before.iter().filter(|it| losses::is_of(it, prefix)) {
        *sizes.entry(pod.label(labels::POD_CLIQUE)).or_default() += 1;
    }
    let made_anew = |pods: &[PodState]| {
        let live = |clique: &str| pods.iter().filter(|it| it.label(labels::POD_CLIQUE) == clique).count();
        pods.iter().all(|it| !due.contains(it.uid.as_str()))
            && sizes.iter().all(|(clique, size)| live(clique) == *size)
    };
    let what = format!("the pods of {prefix}* are replaced");
    context.log.until(&context.namespace, &what, PATIENCE, made_anew).await?;
    // What came in the place of pods that the scenario deleted goes too, perhaps after the others: before all are there
    // again, others may still come.
    let left = eventually("nothing is left from before the restart", PATIENCE, || async {
        let world = World::read(context).await?;
        is_restarted(&world, prefix)?;
        let left = world.uids_of(prefix);
        ensure!(left.len() == due.len(), "{} of {} pods are there", left.len(), due.len());
        Ok(left)
    })
    .await?;
    let is_told =
        |pods: &[PodState]| pods.iter().all(|it| !losses::is_of(it, prefix) || left.contains(&it.uid));
    context.log.until(&context.namespace, &what, PATIENCE, is_told).await?;
    losses::check(&act.before, &act.taken(context)?, &act.theirs, prefix, act.last + DELAY.1)?;
    *act = Act::begin(context);
    let is_replica = prefix == format!("{SET}-{}", cases::REPLICA);
    let reason = if is_replica { children::SET_REPLICA_DELETED } else { children::GROUP_REPLICA_DELETED };
    stage::told_by_event(context, &context.namespace, SET, reason).await?;
    Ok(())
}

/// Whether no pod of the cliques whose names begin so is from before the restart of its clique.
fn is_restarted(world: &World, prefix: &str) -> Result<()> {
    for clique in world.cliques.iter().filter(|it| it.name_any().starts_with(prefix)) {
        let name = clique.name_any();
        let restart = clique.status.as_ref().and_then(|it| it.restart.as_ref());
        let before = restart.with_context(|| format!("{name} was not restarted"))?.before.0;
        for pod in world.pods.iter().filter(|it| it.labels().get(labels::POD_CLIQUE) == Some(&name)) {
            let created = pod.metadata.creation_timestamp.as_ref();
            ensure!(created.is_some_and(|it| it.0 >= before), "{} is still there", pod.name_any());
        }
    }
    Ok(())
}

/// Waits until no group says that its replica of the set is being terminated.
async fn is_over(context: &Context) -> Result<()> {
    let type_ = conditions::gang_termination_in_progress::TYPE;
    eventually("nothing is being terminated", stage::SOON, || async {
        let groups: Vec<PodCliqueScalingGroup> = World::read(context).await?.groups;
        let statuses = groups.into_iter().filter_map(|it| it.status);
        let active = statuses.flat_map(|it| it.conditions).any(|it| it.type_ == type_ && it.status == "True");
        ensure!(!active, "a group says {type_}");
        Ok(())
    })
    .await
}

fn kept<K: Resource>(all: &[K]) -> BTreeMap<String, Option<String>> {
    all.iter().map(|it| (it.name_any(), it.uid())).collect()
}
