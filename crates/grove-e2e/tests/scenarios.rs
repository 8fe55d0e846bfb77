//! Scenarios of the operator on simulated clusters, each in one process: the same that `make e2e-full` runs on Kubernetes.
// A test, also in the functions that it is made of.
#![allow(clippy::unwrap_used)]

use std::{
    collections::BTreeSet,
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
};

use grove_e2e::{scenario::runs_on_sandbox, scenarios::ALL};

/// They wait more than they work.
const CLUSTERS: &str = "5";
/// Of each of these, half of the scenarios at least run on simulated clusters.
const AREAS: [&str; 5] = ["operator_", "updates_", "termination_", "start_order_", "topology_"];

/// What has to run: the table without e2e/real-only.txt.
fn expected() -> BTreeSet<&'static str> {
    let all = ALL.iter().flat_map(|it| it.iter());
    all.filter(|it| runs_on_sandbox(it)).map(|it| it.name).collect()
}

/// The scenario that a line of the harness says has passed.
fn passed(line: &str) -> Option<String> {
    let mut words = line.strip_prefix("ok ")?.split_whitespace();
    // After the time it took, and its unit.
    words.nth(2).map(str::to_owned)
}

#[test]
fn half_of_each_area_runs_on_simulated_clusters() {
    let expected = expected();
    for area in AREAS {
        let names = ALL.iter().flat_map(|it| it.iter()).map(|it| it.name);
        let all: BTreeSet<&str> = names.filter(|it| it.starts_with(area)).collect();
        let count = all.intersection(&expected).count();
        assert!(2 * count >= all.len() && count > 0, "{count} of {} scenarios {area}*", all.len());
    }
}

#[test]
fn scenarios_of_the_operator_hold_on_simulated_clusters() {
    let harness = Path::new(env!("CARGO_BIN_EXE_grove-e2e"));
    // The harness starts the operator that lies beside it, which a test of the whole workspace builds.
    let operator = harness.with_file_name("grove");
    assert!(operator.exists(), "{} is missing; build it with: make build-e2e", operator.display());
    let folder = std::env::temp_dir().join(format!("grove-e2e-sandbox-{}", std::process::id()));
    let mut run = Command::new(harness)
        // One that passes then is listed as unstable: to be looked into.
        .args(["run", "--sandbox", "--clusters", CLUSTERS, "--retry", "1", "--folder"])
        .arg(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ran = BTreeSet::new();
    for line in BufReader::new(run.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        ran.extend(passed(&line));
        // It takes minutes: not kept back until the test has ended.
        writeln!(io::stderr(), "{line}").unwrap();
    }
    assert!(run.wait().unwrap().success(), "scenarios failed, see above; logs: {}", folder.display());
    let ran: BTreeSet<&str> = ran.iter().map(String::as_str).collect();
    assert_eq!(ran, expected());
    std::fs::remove_dir_all(&folder).unwrap();
}
