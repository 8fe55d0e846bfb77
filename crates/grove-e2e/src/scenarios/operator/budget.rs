//! How often the operator writes, by the API server's audit log. Leases are not in it.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use grove_api::wire::PodCliqueSet;
use kube::api::DeleteParams;

use super::{
    stage::{self, api, create, scale},
    world::World,
};
use crate::{
    cluster::{Tail, Write},
    nodes::Hall,
    operator::{OperatorOptions, of_operator},
    scenario::{Context, PodState, eventually},
};

/// The set of upstream's scale test.
const LARGE: &str = r#"
apiVersion: grove.io/v1alpha1
kind: PodCliqueSet
metadata: { name: large }
spec:
  replicas: 500
  template:
    cliques:
      - name: worker
        spec: { roleName: worker, replicas: 2, podSpec: { containers: [{ name: main, image: "registry.example.com/app:1.0", resources: { requests: { cpu: 10m } } }] } }
"#;

/// Gangs, each of two pods.
const GANGS: usize = 500;
/// On a machine that also builds.
const PATIENCE: Duration = Duration::from_mins(10);
/// Nothing is written for so long: then all is written. Counters are written a second after their change at the latest.
const QUIET: Duration = Duration::from_secs(5);

/// A thousand pods cost two writes each, ten for each gang, for its scheduler one object and one status, and the set one
/// for its template's revision; a settled cluster costs none, also when all watches break and
/// when the operator starts anew; one more replica costs what it must.
pub(super) async fn writes(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(25).nodes(4).gpus(0)).await?;
    // A machine that has a thousand pods to start may not answer for longer than a lease usually lasts.
    let lease = ["60s", "40s", "5s"];
    context.start_operator(OperatorOptions { lease, ..OperatorOptions::default() }).await?;
    let mut tail = context.cluster.tail()?;
    create(context, &stage::set(LARGE)?).await?;
    all_run(context, GANGS).await?;
    let mut wrong = Wrong::default();
    let spent = until_quiet(context, &mut tail).await?;
    let (total, events) = (spent.len(), spent.iter().filter(|it| it.resource == "events").count());
    anstream::println!("     {total} writes for {} pods, {events} of them events", 2 * GANGS);
    wrong.if_more("creating", &spent, 2 * 2 * GANGS + (10 + 2) * GANGS + 1);
    let told: Vec<Write> = spent.iter().filter(|it| it.resource == "podgroups").cloned().collect();
    wrong.if_more("telling the scheduler", &told, GANGS);
    if events > 2 * GANGS {
        wrong.0.push(format!("{events} events"));
    }
    let refused: Vec<Write> = spent.into_iter().filter(|it| it.code >= 400 && it.code != 409).collect();
    wrong.if_more("refused", &refused, 0);

    let half = Duration::from_secs(30);
    wrong.if_more("a settled cluster", &writes_in(context, &mut tail, half).await?, 0);
    context.operator()?.cut();
    wrong.if_more("after all watches broke", &writes_in(context, &mut tail, half).await?, 0);
    context.operator()?.stop().await?;
    context.operator()?.start_again().await?;
    wrong.if_more("after a restart", &writes_in(context, &mut tail, 2 * QUIET).await?, 0);

    scale::<PodCliqueSet>(context, "large", 501).await?;
    all_run(context, GANGS + 1).await?;
    let spent = until_quiet(context, &mut tail).await?;
    anstream::println!("     {} writes for one more replica", spent.len());
    // Two for each pod, ten for the gang and two for its scheduler, an Event each for gang, clique and pods, and what the
    // set says of it.
    wrong.if_more("one more replica", &spent, 2 * 2 + 10 + 2 + 3 + 4);

    api::<PodCliqueSet>(context).delete("large", &DeleteParams::default()).await?;
    context.log.until_count(&context.namespace, "pods are left", PATIENCE, 0, |_| true).await?;
    eventually("nothing is left", PATIENCE, || async {
        let left = World::read(context).await?.leftovers();
        ensure!(left.is_empty(), "{} objects are left", left.len());
        Ok(())
    })
    .await?;
    let spent = until_quiet(context, &mut tail).await?;
    anstream::println!("     {} writes for its end", spent.len());
    // A finalizer for each clique and for the set, and a few requests for everything else.
    wrong.if_more("the end", &spent, GANGS + 2 + 30);
    ensure!(wrong.0.is_empty(), "{}", wrong.0.join("; "));
    Ok(())
}

/// What costs too much. All of it is told, because a run takes minutes.
#[derive(Default)]
struct Wrong(Vec<String>);

impl Wrong {
    fn if_more(&mut self, what: &str, writes: &[Write], most: usize) {
        if writes.len() > most {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for write in writes {
                *counts.entry(write.what()).or_default() += 1;
            }
            self.0.push(format!("{what}: {} writes, not {most}: {counts:?}", writes.len()));
        }
    }
}

/// Waits until all pods are ready and the set says so.
async fn all_run(context: &Context, gangs: usize) -> Result<()> {
    let is_ready = |it: &PodState| it.ready;
    let log = &context.log;
    log.until_count(&context.namespace, "pods are ready", PATIENCE, 2 * gangs, is_ready).await?;
    eventually("the set says so", PATIENCE, || async {
        let set = api::<PodCliqueSet>(context).get("large").await?;
        let status = set.status.unwrap_or_default();
        let available = usize::try_from(status.available_replicas)?;
        ensure!(available == gangs, "{available} replicas are available");
        Ok(())
    })
    .await
}

/// The operator's writes until there are no more.
async fn until_quiet(context: &Context, tail: &mut Tail) -> Result<Vec<Write>> {
    let mut writes = Vec::new();
    let (started, mut last) = (Instant::now(), Instant::now());
    while last.elapsed() < QUIET {
        let more = of_operator(tail.more()?, &context.namespace);
        if !more.is_empty() {
            last = Instant::now();
            writes.extend(more);
        }
        ensure!(started.elapsed() < PATIENCE, "it does not end to write: {} writes", writes.len());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(writes)
}

/// What it writes while we look on for a while.
async fn writes_in(context: &Context, tail: &mut Tail, time: Duration) -> Result<Vec<Write>> {
    tokio::time::sleep(time).await;
    Ok(of_operator(tail.more()?, &context.namespace))
}
