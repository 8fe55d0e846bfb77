//! What Cargo puts into the programs that are shipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, also in its functions")]

use std::{collections::BTreeSet, env, process::Command};

use grove_release::program::Program;

/// Names of the crates that a program is linked with.
fn crates(program: Program) -> BTreeSet<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(program.selection())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|it| it.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_operators_image_has_no_simulated_cluster() {
    let simulated = ["grove-apiserver", "grove-sandbox", "grove-e2e", "grove-release", "ratatui"];
    let operator = crates(Program::Operator);
    assert!(operator.contains("grove-operator") && operator.contains("grove-podgrouper"), "{operator:?}");
    for it in simulated {
        assert!(!operator.contains(it), "{it} is in the operator's image");
    }
    assert!(crates(Program::CommandLine).contains("grove-sandbox"), "`grove up` needs it");
}

#[test]
fn the_init_container_stays_small() {
    let initc = crates(Program::Initc);
    assert!(initc.len() < 10 && !initc.contains("tokio"), "{initc:?}");
}
