//! Runs the table: clusters side by side, on each one scenario after the other.

use std::{
    collections::{BTreeMap, BTreeSet, btree_map::Entry},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use futures::future::try_join_all;

use super::{
    Context, Scenario, Skip,
    artefacts::{self, Artefacts},
    cleanup, evidence,
    queue::{Kind, Queue},
    report::{Ending, Tally, record},
    retry::{self, Retry},
    skips, tier,
};
use crate::{
    cluster::{Cluster, Gates, Options, Programs, Scheduler, Simulated},
    operator::Ledger,
};

/// No scenario may hang the run. The longest takes three and a half minutes where nothing else runs, and machines may be slow.
const SCENARIO_DEADLINE: Duration = Duration::from_mins(20);

/// What a simulated cluster is called.
pub(super) const SANDBOX: &str = "sandbox";

/// What to run.
pub struct Selection {
    /// Part of a name; empty for all.
    pub only: String,
    /// The schedulers to run on.
    pub schedulers: BTreeSet<Scheduler>,
    /// The whole matrix.
    pub full: bool,
    /// On simulated clusters instead of real ones.
    pub sandbox: bool,
    /// Where clusters keep their files.
    pub folder: PathBuf,
    /// Clusters that run at the same time.
    pub clusters: usize,
    /// Whether these are all scenarios of the operator: then what its account may do has to be used by one of them.
    pub whole: bool,
    /// The page on which the outcome of the whole matrix is noted.
    pub record: Option<PathBuf>,
    /// How often scenarios that failed are run again.
    pub retry: u8,
}

impl Selection {
    fn takes(&self, scenario: &Scenario, (scheduler, gates): Kind) -> bool {
        if self.sandbox {
            let is_simulated = (scheduler, gates) == tier::SIMULATED && tier::runs_on_sandbox(scenario);
            return is_simulated && scenario.name.contains(&self.only);
        }
        // Who names a scenario wants it, however long it takes.
        let is_quick = !self.only.is_empty() || !tier::is_full_only(&label(scheduler, gates), scenario.name);
        scenario.name.contains(&self.only)
            && self.schedulers.contains(&scheduler)
            && (self.full || (!scenario.full_only && is_quick))
    }
}

/// What the clusters of a run have in common.
struct Run {
    queue: Queue,
    programs: BTreeMap<Scheduler, Programs>,
    tally: Mutex<Tally>,
    folder: PathBuf,
    simulated: Simulated,
}

impl Run {
    fn tell(&self, name: &str, on: &str, took: Duration, ending: Ending) {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).add(name, on, took, ending);
    }
}

/// Runs what `selection` takes of `tables`; whether all is well.
pub async fn run(tables: &[&'static [Scenario]], selection: &Selection) -> Result<bool> {
    let began = Instant::now();
    let table = tables.iter().flat_map(|it| it.iter());
    let runs = table.flat_map(|scenario| {
        let kinds = scenario.on.iter().filter(|kind| selection.takes(scenario, **kind));
        kinds.map(move |kind| (*kind, scenario))
    });
    let planned: Vec<(Kind, &'static Scenario)> = runs.collect();
    let queue = Queue::new(planned.iter().copied());
    let mut programs = BTreeMap::new();
    for (scheduler, _) in queue.kinds() {
        if let Entry::Vacant(unknown) = programs.entry(scheduler) {
            unknown.insert(if selection.sandbox {
                Programs::none()
            } else {
                Programs::find(scheduler.name()).await?
            });
        }
    }
    if planned.iter().any(|(_, scenario)| scenario.name.starts_with(artefacts::AREA)) {
        Artefacts::build().await?;
    }
    let folder = selection.folder.clone();
    let simulated = if selection.sandbox { Simulated::All } else { Simulated::Nodes };
    let run = Arc::new(Run { queue, programs, tally: Mutex::default(), folder, simulated });
    let mut ledger = Ledger::default();
    for pass in 0.. {
        // Numbers go on, so that a retry does not overwrite the logs of the failure.
        let numbers = (pass * selection.clusters + 1)..=((pass + 1) * selection.clusters);
        let workers = numbers.map(|number| tokio::spawn(work(Arc::clone(&run), number)));
        for part in try_join_all(workers).await.context("a scenario panicked")? {
            ledger.add(part);
        }
        let decision = {
            let tally = run.tally.lock().unwrap_or_else(PoisonError::into_inner);
            retry::decide(&planned, tally.failures(), pass, selection.retry)
        };
        match decision {
            Retry::Done => break,
            Retry::TooMany(count) => {
                anstream::println!("---- no retry: {count} failures are too many to be chance");
                break;
            }
            Retry::Again(again) => {
                anstream::println!("---- retry of {} scenarios on fresh clusters", again.len());
                run.queue.refill(again);
            }
        }
    }
    if !ledger.is_empty() && selection.whole {
        anstream::println!("{}", ledger.summary());
        let in_vain = ledger.in_vain();
        if !in_vain.is_empty() {
            let text = format!("  nothing uses: {}", in_vain.join("; "));
            run.tell("rights_nothing_in_vain", "all", Duration::ZERO, Ending::Failed(text));
        }
    }
    let tally = run.tally.lock().unwrap_or_else(PoisonError::into_inner);
    let all_well = tally.close(began.elapsed());
    if let Some(page) = selection.record.as_ref().filter(|_| all_well && selection.whole) {
        record(page, &tally, began.elapsed())?;
    }
    Ok(all_well)
}

/// Starts one cluster after the other, for as long as there is work for one; what the operator's accounts did there.
async fn work(run: Arc<Run>, number: usize) -> Ledger {
    let mut ledger = Ledger::default();
    while let Some(kind) = run.queue.open_cluster() {
        if let Err(error) = on_cluster(&run, number, kind, &mut ledger).await {
            run.tell(
                "rig_cluster",
                &label(kind.0, kind.1),
                Duration::ZERO,
                Ending::Failed(format!("  {error:#}")),
            );
        }
    }
    ledger
}

async fn on_cluster(run: &Run, number: usize, kind: Kind, ledger: &mut Ledger) -> Result<()> {
    let (scheduler, gates) = kind;
    let on = if run.simulated == Simulated::All { SANDBOX.to_owned() } else { label(scheduler, gates) };
    let started = Instant::now();
    let folder = run.folder.join(format!("{on}-{number}"));
    let programs = run.programs.get(&scheduler).context("no programs")?.clone();
    let options = Options { folder: folder.clone(), gates, scheduler, simulated: run.simulated };
    let cluster = Cluster::start(options, programs).await?;
    anstream::println!("---- {on}: cluster up in {:.1} s", started.elapsed().as_secs_f64());
    let mut context = Context::new(cluster).await?;
    let mut all_well = true;
    while let Some(scenario) = run.queue.next(kind) {
        let started = Instant::now();
        let ending = one(&mut context, scenario).await;
        all_well &= !matches!(ending, Ending::Failed(_));
        // Told before anything else can go wrong.
        run.tell(scenario.name, &on, started.elapsed(), ending);
        ledger.note(&context.cluster).await?;
    }
    let refused = ledger.read(&context.cluster)?;
    if !refused.is_empty() {
        all_well = false;
        let text = format!("  the operator's account may not: {}", refused.join("; "));
        run.tell("rights_nothing_refused", &on, Duration::ZERO, Ending::Failed(text));
    }
    context.cluster.stop().await?;
    // Logs are kept where somebody will want them.
    if all_well {
        let _ = std::fs::remove_dir_all(&folder);
    }
    Ok(())
}

/// How a kind of cluster is called.
pub(super) fn label(scheduler: Scheduler, gates: Gates) -> String {
    match gates {
        Gates::All => scheduler.name().to_owned(),
        Gates::Workload => format!("{}-workload", scheduler.name()),
        Gates::Levels => format!("{}-levels", scheduler.name()),
        Gates::None => format!("{}-none", scheduler.name()),
        Gates::ApiOnly => format!("{}-api-only", scheduler.name()),
    }
}
async fn one(context: &mut Context, scenario: &Scenario) -> Ending {
    let mark = context.log.mark();
    let scheduler = context.scheduler();
    let running = async {
        context.begin(scenario.name).await?;
        (scenario.run)(context).await
    };
    let result = match tokio::time::timeout(SCENARIO_DEADLINE, running).await {
        Ok(result) => result,
        Err(_) => Err(anyhow::anyhow!("not done within {SCENARIO_DEADLINE:?}")),
    };
    let ending = match result {
        Ok(()) => Ending::Passed,
        Err(error) => match (error.downcast_ref::<Skip>(), skips::reason(scheduler.name(), scenario.name)) {
            (Some(_), Some(reason)) => Ending::Skipped(reason.to_owned()),
            (Some(skip), None) => {
                Ending::Failed(format!("  skipped ({skip}), which e2e/skips.txt does not allow"))
            }
            (None, _) => Ending::Failed(format!("  {error:#}\n{}", evidence::collect(context, mark).await)),
        },
    };
    match cleanup::clean(context).await {
        Ok(()) => ending,
        Err(error) => {
            let first = if let Ending::Failed(text) = ending { text + "\n" } else { String::new() };
            Ending::Failed(format!("{first}  cleaning up: {error:#}"))
        }
    }
}
