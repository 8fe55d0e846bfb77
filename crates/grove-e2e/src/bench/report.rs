//! The figures as a table for people.

use std::{collections::BTreeSet, fmt::Write as _};

use owo_colors::OwoColorize as _;

use super::{Order, figures::Figures};

const LABEL: usize = 26;
const CELL: usize = 12;

type Cell = fn(&Figures) -> Option<String>;

/// The rows that every column has a cell for, or a dash.
const ROWS: [(&str, Cell); 11] = [
    ("first pod exists", |it| Some(time(it.first_pod_s))),
    ("all pods exist", |it| Some(time(it.created_s))),
    ("all pods bound", |it| Some(time(it.bound_s))),
    ("all pods ready", |it| Some(time(it.ready_s))),
    ("all pods gone", |it| Some(time(it.gone_s))),
    ("10 more replicas let go", |it| it.scaled_s.map(time)),
    ("API writes until ready", |it| Some(thousands(it.writes))),
    ("API writes per pod", |it| Some(format!("{:.1}", ratio(it.writes, it.pods)))),
    ("API writes when idle", |it| it.idle_writes_per_s.map(|it| format!("{it:.1}/s"))),
    ("CPU until ready", |it| it.cpu_s.map(time)),
    ("peak memory", |it| it.peak_mb.map(|it| format!("{it:.0} MB"))),
];

/// A table with one column for each of `columns`, and the writes by verb and resource below.
pub(super) fn table(columns: &[(&str, &Figures)]) -> String {
    let mut text = String::new();
    if let Some((_, figures)) = columns.first() {
        let gangs = thousands(figures.pods / super::replica::PODS);
        let released = match figures.order {
            Order::Phases => "when all pods exist",
            Order::Gangs => "when its own pods exist",
        };
        let _ = writeln!(
            text,
            "{} pods in {gangs} gangs on {} simulated nodes, {} requests at a time, each gang let go {released}",
            thousands(figures.pods),
            figures.nodes,
            figures.tasks
        );
        let machine = &figures.machine;
        let _ = writeln!(
            text,
            "{}, {} cores, {} GB, load {:.1} before, {} build\n",
            machine.processor,
            machine.cores,
            machine.memory_mb / 1024,
            machine.load,
            machine.build
        );
    }
    let head: Vec<String> = columns.iter().map(|(name, _)| format!("{name:>CELL$}")).collect();
    let _ = writeln!(text, "{:LABEL$}{}", "", head.concat().bold());
    for (label, cell) in ROWS {
        let cells: Vec<Option<String>> = columns.iter().map(|(_, figures)| cell(figures)).collect();
        // What nobody has measured is no row.
        if cells.iter().any(Option::is_some) {
            row(&mut text, label, cells);
        }
    }
    text.push('\n');
    let writes: BTreeSet<&String> =
        columns.iter().flat_map(|(_, figures)| figures.writes_by.keys()).collect();
    for what in writes {
        let cells = columns.iter().map(|(_, figures)| figures.writes_by.get(what).map(|it| thousands(*it)));
        row(&mut text, what, cells.collect());
    }
    text
}

/// What is asked of the operator, what it did, and whether that is enough.
pub(super) fn goals(bare: &Figures, operator: &Figures) -> String {
    let times = |of: fn(&Figures) -> f64| of(operator) / of(bare).max(0.001);
    let goals = [
        ("all pods exist, times the bare loop", times(|it| it.created_s), 1.5),
        ("all pods ready, times the bare loop", times(|it| it.ready_s), 1.15),
        ("all pods gone, times the bare loop", times(|it| it.gone_s), 1.3),
        ("first pod exists, seconds", operator.first_pod_s, 1.0),
        ("10 more replicas let go, seconds", operator.scaled_s.unwrap_or(f64::INFINITY), 1.0),
        ("processor time until ready, seconds", operator.cpu_s.unwrap_or(f64::INFINITY), 3.5),
        ("peak memory, MB", operator.peak_mb.unwrap_or(f64::INFINITY), 40.0),
        ("writes when idle, each second", operator.idle_writes_per_s.unwrap_or(f64::INFINITY), 0.0),
    ];
    let mut text = String::new();
    for (what, is, most) in goals {
        let met = if is <= most { "met   ".green().to_string() } else { "missed".red().to_string() };
        let _ = writeln!(text, "{met} {what}: {is:.2}, goal {most}");
    }
    text
}

fn row(text: &mut String, label: &str, cells: Vec<Option<String>>) {
    let _ = write!(text, "{label:LABEL$}");
    for cell in cells {
        let _ = write!(text, "{:>CELL$}", cell.as_deref().unwrap_or("-"));
    }
    text.push('\n');
}

fn time(seconds: f64) -> String {
    format!("{seconds:.2} s")
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn ratio(writes: usize, pods: usize) -> f64 {
    writes as f64 / pods.max(1) as f64
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn goals_are_held_against_the_bare_loop() {
        let bare = Figures { created_s: 4.0, ready_s: 10.0, gone_s: 5.0, ..Figures::default() };
        let operator =
            Figures { created_s: 6.0, ready_s: 11.6, gone_s: 5.0, cpu_s: Some(2.0), ..bare.clone() };
        let text = anstream::adapter::strip_str(&goals(&bare, &operator)).to_string();
        let line = |at: usize| text.lines().nth(at).unwrap_or_default().to_owned();
        assert_eq!(line(0), "met    all pods exist, times the bare loop: 1.50, goal 1.5");
        assert_eq!(line(1), "missed all pods ready, times the bare loop: 1.16, goal 1.15");
        assert_eq!(line(6), "missed peak memory, MB: inf, goal 40", "what was not measured is not met");
    }

    use std::collections::BTreeMap;

    use super::*;
    use crate::bench::machine::Machine;

    #[test]
    fn two_columns() {
        let machine = Machine {
            processor: "Abacus".to_owned(),
            cores: 2,
            memory_mb: 24_576,
            load: 0.25,
            build: "debug".to_owned(),
            ..Machine::default()
        };
        let bare = Figures {
            first_pod_s: 0.041,
            created_s: 5.5,
            bound_s: 18.0,
            ready_s: 20.0,
            gone_s: 11.25,
            writes: 4000,
            writes_by: BTreeMap::from([("create pods".to_owned(), 1000), ("patch pods".to_owned(), 1000)]),
            pods: 1000,
            nodes: 100,
            tasks: 32,
            machine,
            ..Figures::default()
        };
        let operator = Figures {
            writes: 6500,
            writes_by: BTreeMap::from([("create events".to_owned(), 12), ("create pods".to_owned(), 1000)]),
            cpu_s: Some(3.25),
            ..bare.clone()
        };
        let text =
            anstream::adapter::strip_str(&table(&[("bare", &bare), ("operator", &operator)])).to_string();
        let expected = "\
1,000 pods in 500 gangs on 100 simulated nodes, 32 requests at a time, each gang let go when all pods exist
Abacus, 2 cores, 24 GB, load 0.2 before, debug build

                                  bare    operator
first pod exists                0.04 s      0.04 s
all pods exist                  5.50 s      5.50 s
all pods bound                 18.00 s     18.00 s
all pods ready                 20.00 s     20.00 s
all pods gone                  11.25 s     11.25 s
API writes until ready           4,000       6,500
API writes per pod                 4.0         6.5
CPU until ready                      -      3.25 s

create events                        -          12
create pods                      1,000       1,000
patch pods                       1,000           -
";
        assert_eq!(text, expected);
    }
}
