//! Runs the table: one cluster for all scenarios that need the same, one scenario after the other.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::Result;

use super::{
    Context, Scenario, Skip, cleanup, evidence,
    report::{Ending, Tally},
    skips,
};
use crate::{
    cluster::{Cluster, Gates, Options, Programs, Scheduler},
    operator::Ledger,
};

/// No scenario may hang the run. The longest takes three and a half minutes where nothing else runs, and machines may be slow.
const SCENARIO_DEADLINE: Duration = Duration::from_mins(20);

/// What to run.
pub struct Selection {
    /// Part of a name; empty for all.
    pub only: String,
    /// The schedulers to run on.
    pub schedulers: BTreeSet<Scheduler>,
    /// The whole matrix.
    pub full: bool,
    /// Where clusters keep their files.
    pub folder: PathBuf,
    /// Whether these are all scenarios of the operator: then what its account may do has to be used by one of them.
    pub whole: bool,
}

impl Selection {
    fn takes(&self, scenario: &Scenario, scheduler: Scheduler) -> bool {
        scenario.name.contains(&self.only)
            && self.schedulers.contains(&scheduler)
            && (self.full || !scenario.full_only)
    }
}

/// Runs what `selection` takes of `tables`; whether all is well.
pub async fn run(tables: &[&'static [Scenario]], selection: &Selection) -> Result<bool> {
    let table: Vec<&Scenario> = tables.iter().flat_map(|it| it.iter()).collect();
    let clusters: BTreeSet<(Scheduler, Gates)> = table
        .iter()
        .flat_map(|scenario| {
            scenario.on.iter().filter(|(scheduler, _)| selection.takes(scenario, *scheduler))
        })
        .copied()
        .collect();
    let (mut tally, mut ledger) = (Tally::default(), Ledger::default());
    for (scheduler, gates) in clusters {
        let on = label(scheduler, gates);
        let started = Instant::now();
        let programs = Programs::find(scheduler.name()).await?;
        let folder = selection.folder.join(&on);
        let cluster = Cluster::start(Options { folder: folder.clone(), gates, scheduler }, programs).await?;
        anstream::println!("---- {on}: cluster up in {:.1} s", started.elapsed().as_secs_f64());
        let mut context = Context::new(cluster).await?;
        let mut all_well = true;
        let here = |it: &&&Scenario| it.on.contains(&(scheduler, gates)) && selection.takes(it, scheduler);
        for scenario in table.iter().filter(here) {
            let started = Instant::now();
            let ending = one(&mut context, scenario).await;
            all_well &= !matches!(ending, Ending::Failed(_));
            // Told before anything else can go wrong.
            tally.add(scenario.name, &on, started.elapsed(), ending);
            ledger.note(&context.cluster).await?;
        }
        let refused = ledger.read(&context.cluster)?;
        if !refused.is_empty() {
            all_well = false;
            let text = format!("  the operator's account may not: {}", refused.join("; "));
            tally.add("rights_nothing_refused", &on, Duration::ZERO, Ending::Failed(text));
        }
        context.cluster.stop().await?;
        // Logs are kept where somebody will want them.
        if all_well {
            let _ = std::fs::remove_dir_all(&folder);
        }
    }
    if !ledger.is_empty() && selection.whole {
        anstream::println!("{}", ledger.summary());
        let in_vain = ledger.in_vain();
        if !in_vain.is_empty() {
            let text = format!("  nothing uses: {}", in_vain.join("; "));
            tally.add("rights_nothing_in_vain", "all", Duration::ZERO, Ending::Failed(text));
        }
    }
    Ok(tally.close())
}

fn label(scheduler: Scheduler, gates: Gates) -> String {
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
