//! Gates and gangs: when pods are let go, and what gangs list.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use grove_api::{
    constants::{conditions::pod_gang, labels},
    wire::{PodClique, PodCliqueScalingGroup},
};
use kube::ResourceExt;

use super::{
    stage::{self, WEB, create, create_and_settle, scale, settled},
    story::{self, Story, gated},
    wanted::Wanted,
    world::World,
};
use crate::{
    cluster::Write,
    nodes::{Hall, node_name},
    operator::{OperatorOptions, of_operator},
    scenario::{Context, DEADLINE, eventually},
};

/// Sixteen pods in one gang.
const WIDE: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: wide }
spec:
  replicas: 1
  template:
    cliques:
      - name: all
        spec: { roleName: all, replicas: 16, podSpec: { containers: [{ name: main, image: "registry.example.com/app:1.0" }] } }
"#;

/// No pod is let go before its gang is complete, and then all that belong together at once.
pub(super) async fn order(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let (mark, mut tail) = (story::mark(context)?, context.cluster.tail()?);
    let mut web = stage::set(WEB)?;
    web.spec.replicas = 2;
    let wide = stage::set(WIDE)?;
    create_and_settle(context, &web).await?;
    create_and_settle(context, &wide).await?;
    let story = Story::since(context, mark)?;
    story.check_gangs()?;
    story.check_gates()?;
    let writes = of_operator(tail.more()?, &context.namespace);
    let minima: BTreeMap<String, i32> = [Wanted::of(&web), Wanted::of(&wide)]
        .into_iter()
        .flat_map(|it| it.gangs)
        .flat_map(|it| it.1)
        .collect();
    let mut gangs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, pod) in story.pods() {
        // Those above the minimum follow when it has its place.
        let minimum = minima.get(pod.label(labels::POD_CLIQUE)).context("a clique that nobody wants")?;
        if pod.label(labels::POD_INDEX).parse::<i32>()? < *minimum {
            gangs.entry(pod.label(labels::POD_GANG)).or_default().insert(name);
        }
    }
    ensure!(gangs.len() == 5, "gangs: {gangs:?}");
    for (gang, pods) in gangs {
        one_burst(&writes, gang, &pods)?;
    }
    Ok(())
}

/// Between the first and the last pod of a gang that is let go, the operator does nothing else with the gang and creates
/// no pod for it.
fn one_burst(writes: &[Write], gang: &str, pods: &BTreeSet<&str>) -> Result<()> {
    let is_ungate = |it: &Write| it.what() == "patch pods" && pods.contains(it.name.as_str());
    let first = writes.iter().position(is_ungate).context("no pod was let go")?;
    let last = writes.iter().rposition(is_ungate).context("no pod was let go")?;
    let burst = &writes[first..=last];
    let count = burst.iter().filter(|it| is_ungate(it)).count();
    ensure!(count == pods.len(), "{gang}: {count} patches for {} pods", pods.len());
    // Statuses and other gangs have their own workers.
    let of_gang = |it: &&Write| it.name == gang && it.what() == "patch podgangs";
    ensure!(!burst.iter().any(|it| of_gang(&it)), "{gang} was changed while its pods were let go: {burst:?}");
    let others = burst.len() - count;
    ensure!(others <= 2 * pods.len() + 8, "{others} other requests while {gang} was let go: {burst:?}");
    Ok(())
}

/// What was scaled out waits until the minima of its base gang are bound, and goes then.
pub(super) async fn base_first(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(4).gpus(2)).await?;
    for node in 0..4 {
        context.cordon(&node_name(0, node), true).await?;
    }
    context.start_operator(OperatorOptions::default()).await?;
    let mark = story::mark(context)?;
    let set = stage::set(WEB)?;
    create(context, &set).await?;
    waits_for_base(context, 0).await?;
    // Room for two; the minimum is four, and goes as a whole.
    context.cordon(&node_name(0, 0), false).await?;
    waits_for_base(context, 0).await?;
    for node in 1..4 {
        context.cordon(&node_name(0, node), false).await?;
    }
    let wanted = Wanted::of(&set);
    settled(context, &wanted).await?;

    let story = Story::since(context, mark)?;
    story.check_gangs()?;
    story.check_gates()?;
    let (bound, ungated, pods) = (story.bound(), story.ungated(), story.pods());
    let mut minima_bound = 0;
    for (clique, minimum) in &wanted.gangs["web-0"] {
        let of_clique = pods.iter().filter(|(_, it)| it.label(labels::POD_CLIQUE) == clique);
        let mut times: Vec<u64> = of_clique.filter_map(|(name, _)| bound.get(name).copied()).collect();
        times.sort_unstable();
        let nth = usize::try_from(*minimum)?.checked_sub(1).and_then(|it| times.get(it));
        minima_bound = minima_bound.max(*nth.context("not bound")?);
    }
    for (name, at) in ungated {
        let scaled = pods[name].label(labels::POD_GANG) != "web-0";
        ensure!(!scaled || at > minima_bound, "{name} went at {at}, before its base at {minima_bound}");
    }
    Ok(())
}

/// The operator has seen that `bound` pods of the base gang are bound, says that the other one waits, and keeps its gates.
async fn waits_for_base(context: &Context, bound: i32) -> Result<()> {
    eventually("the operator says that the scaled gang waits", DEADLINE, || async {
        let world = World::read(context).await?;
        let counted = world.cliques.iter().filter_map(|it| it.status.as_ref());
        let (scheduled, gated) = counted
            .fold((0, 0), |(one, two), it| (one + it.scheduled_replicas, two + it.schedule_gated_replicas));
        // Three of the scaled gang, and the one above the minimum of the base gang.
        ensure!((scheduled, gated) == (bound, 4), "{scheduled} are bound and {gated} gated");
        let status = world.gang("web-0-pd-0")?.status.clone().unwrap_or_default();
        let conditions = &status.conditions;
        let waits = |it: &grove_api::wire::Condition| {
            it.type_ == pod_gang::SCHEDULED && it.reason == pod_gang::WAITING_FOR_BASE
        };
        ensure!(conditions.iter().any(waits), "it says {conditions:?}");
        ensure!(conditions.iter().any(|it| it.type_ == pod_gang::INITIALIZED && it.status == "True"));
        Ok(())
    })
    .await?;
    let now = context.log.now(&context.namespace);
    ensure!(gated(&now, "web-0-pd-0").len() == 3, "a pod of the scaled gang was let go");
    ensure!(gated(&now, "web-0").len() == 1, "the minimum of the base gang waits, or more than it does not");
    Ok(())
}

/// What gangs list follows the scaling; they stay complete all the time, and a new pod is listed before it is let go.
pub(super) async fn references(context: &mut Context) -> Result<()> {
    stage::begin(context).await?;
    let mark = story::mark(context)?;
    let set = stage::set(WEB)?;
    create_and_settle(context, &set).await?;
    for (front, copies) in [(4, 3), (1, 1), (2, 2)] {
        scale::<PodClique>(context, "web-0-front", front).await?;
        scale::<PodCliqueScalingGroup>(context, "web-0-pd", copies).await?;
        let wanted = Wanted::scaled(&set, &[("web-0-front", front), ("web-0-pd", copies)]);
        let world = settled(context, &wanted).await?;
        let base = world.gang("web-0")?;
        ensure!(base.spec.pod_groups.len() == 3, "{}: {:?}", base.name_any(), base.spec.pod_groups);
    }
    let story = Story::since(context, mark)?;
    story.check_gangs()?;
    story.check_gates()
}
