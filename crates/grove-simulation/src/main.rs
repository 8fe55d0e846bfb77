//! The simulation on the command line; `make sim` calls it.

use std::{
    collections::BTreeSet, io::IsTerminal as _, ops::Range, process::ExitCode, thread, time::Duration,
};

use anstream::{eprint, eprintln, println};
use clap::Parser;
use grove_simulation::{
    Outcome,
    crowd::{self, Progress},
    plan::{Cut, Fault, Plan},
    run, shrink,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The operator in a cluster in memory where everything goes wrong that can, decided by a seed.
#[derive(Parser)]
struct Cli {
    /// Play one seed.
    #[arg(long, conflicts_with = "seeds")]
    seed: Option<u64>,
    /// Play seeds FROM..TO.
    #[arg(long, value_parser = range, default_value = "0..1000")]
    seeds: Range<u64>,
    /// With --seed: only these steps.
    #[arg(long, value_delimiter = ',')]
    steps: Option<Vec<usize>>,
    /// Exactly these faults (`none` for none) instead of those that a seed has by itself.
    #[arg(long, value_delimiter = ',', value_parser = fault)]
    faults: Option<Vec<Option<Fault>>>,
    /// With --seed: without these troubles and faults.
    #[arg(long, value_delimiter = ',')]
    without: Vec<String>,
    /// With --seed: tell every write.
    #[arg(long, short)]
    verbose: bool,
    /// Threads; one for each core unless given.
    #[arg(long)]
    jobs: Option<usize>,
    /// Do not cut a failing seed down.
    #[arg(long)]
    no_shrink: bool,
}

/// Writes that are shown of a failed run.
const SHOWN: usize = 40;

/// How often a log is told how far it is.
const LOGGED: Duration = Duration::from_mins(1);

fn main() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    let faults: Option<BTreeSet<Fault>> = cli.faults.map(|it| it.into_iter().flatten().collect());
    if let Some(seed) = cli.seed {
        let steps = cli.steps.map(|it| it.into_iter().collect());
        let cut = Cut { steps, without: cli.without.into_iter().collect() };
        let plan = crowd::plan(seed, faults.as_ref());
        let outcome = run(&plan.cut(&cut), true)?;
        tell_run(&plan, &cut, &outcome, cli.verbose);
        return Ok(if outcome.broken.is_some() { ExitCode::FAILURE } else { ExitCode::SUCCESS });
    }
    let jobs = cli.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    let end = crowd::run_all(&cli.seeds, faults.as_ref(), jobs, progress_line());
    let it = &end.progress;
    eprintln!();
    println!(
        "{} seeds in {:.1?}: {:.1} seeds a second on {jobs} threads, {} writes, {:.0} hours in their clusters",
        it.done,
        it.time,
        it.rate(),
        it.writes,
        it.virtual_time.as_secs_f64() / 3600.0
    );
    let Some(seed) = end.failed else { return Ok(ExitCode::SUCCESS) };
    let plan = crowd::plan(seed, faults.as_ref());
    let mut cut = Cut::default();
    if let (Some((broken, _)), false) = (run(&plan, false)?.broken, cli.no_shrink) {
        println!("seed {seed} breaks the rule {}: {}", broken.rule, broken.words);
        let (smaller, runs) = shrink::shrink(&plan, broken.rule);
        println!("cut down in {runs} runs");
        cut = smaller;
    }
    let outcome = run(&plan.cut(&cut), true)?;
    tell_run(&plan, &cut, &outcome, false);
    Ok(ExitCode::FAILURE)
}

/// Tells people how far it is: on a terminal in one line that changes, in a log with a line now and then.
fn progress_line() -> impl FnMut(&Progress) {
    let terminal = std::io::stderr().is_terminal();
    let mut told = Duration::ZERO;
    move |progress| {
        let line = format!(
            "{} of {} seeds, {:.1} a second, {:.0?} left",
            progress.done,
            progress.all,
            progress.rate(),
            progress.left()
        );
        if terminal {
            eprint!("\r{line}   ");
        } else if progress.time >= told + LOGGED {
            told = progress.time;
            eprintln!("{line}");
        }
    }
}

fn tell_run(plan: &Plan, cut: &Cut, outcome: &Outcome, verbose: bool) {
    let seed = plan.seed;
    let story = &outcome.story;
    let shown = if verbose || outcome.broken.is_none() { story.len() } else { story.len().min(SHOWN) };
    if verbose || outcome.broken.is_some() {
        // Steps say what was done, so they are shown whatever else is not.
        let (early, late) = story.split_at(story.len() - shown);
        early.iter().filter(|it| it.contains(" STEP ")).for_each(|line| println!("{line}"));
        for line in late {
            println!("{line}");
        }
    }
    let mut command = plan.command();
    if let Some(steps) = &cut.steps {
        command = format!("{command} --steps {}", joined(steps));
    }
    if !cut.without.is_empty() {
        command = format!("{command} --without {}", joined(&cut.without));
    }
    match &outcome.broken {
        Some((broken, step)) => {
            let fault = outcome.fault.map(|it| format!(" and fault {it}")).unwrap_or_default();
            println!(
                "seed {seed}, after step {step}{fault}: rule {} is broken: {}",
                broken.rule, broken.words
            );
            println!("again: {command} -v");
        }
        None => println!(
            "seed {seed}: all is well after {:.0?} with {} writes, digest {:016x}",
            outcome.time, outcome.writes, outcome.digest
        ),
    }
}

fn joined<T: ToString>(items: &BTreeSet<T>) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

fn fault(text: &str) -> Result<Option<Fault>, String> {
    if text == "none" { Ok(None) } else { text.parse().map(Some) }
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let (from, to) = text.split_once("..").ok_or("expected FROM..TO")?;
    let number = |it: &str| it.parse().map_err(|error| format!("{it}: {error}"));
    Ok(number(from)?..number(to)?)
}
