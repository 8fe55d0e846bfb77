//! Each fault by name: it happens, breaks no rule where it is on by default, and the same seed does the same twice.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share are tests too")]

use grove_simulation::{
    Outcome,
    plan::{Fault, NOT_BY_DEFAULT, Plan},
    run,
};

fn play(faults: &[Fault], seed: u64) -> (Plan, Outcome) {
    let plan = Plan::with(seed, &faults.iter().copied().collect());
    let outcome = run(&plan, true).unwrap();
    (plan, outcome)
}

/// The fault happens, and nothing breaks if it is on by default.
fn holds(fault: Fault, seed: u64) {
    all_hold(&[fault], seed);
}

/// Several faults happen in one run.
fn all_hold(faults: &[Fault], seed: u64) {
    let (plan, outcome) = play(faults, seed);
    let is_judged = faults.iter().all(|it| !NOT_BY_DEFAULT.contains(it));
    if let (Some((broken, step)), true) = (&outcome.broken, is_judged) {
        panic!(
            "after step {step} and faults {faults:?}: rule {} is broken: {}\nagain: {} -v",
            broken.rule,
            broken.words,
            plan.command()
        );
    }
    assert!(outcome.writes > 10, "seed {seed}: next to nothing happened");
}

#[test]
fn tenant() {
    holds(Fault::Tenant, 3);
}

#[test]
fn overlap() {
    holds(Fault::Overlap, 3);
}

#[test]
fn silence() {
    holds(Fault::Silence, 3);
}

#[test]
fn silent_nodes() {
    holds(Fault::SilentNodes, 3);
}

#[test]
fn outage() {
    holds(Fault::Outage, 3);
}

#[test]
fn restore() {
    holds(Fault::Restore, 3);
    holds(Fault::RestoreUnnoticed, 3);
}

#[test]
fn clock() {
    holds(Fault::Clock, 3);
}

#[test]
fn backends() {
    (1..4).for_each(|seed| holds(Fault::Backends, seed));
}

/// What the restore takes back of the tenant's objects is not taken for the victim's.
#[test]
fn tenant_and_restore() {
    all_hold(&[Fault::Tenant, Fault::Restore], 401);
}

/// Old pods that the restore brings back were not there a moment ago.
#[test]
fn outage_restore_and_clock() {
    all_hold(&[Fault::Outage, Fault::Restore, Fault::Clock], 1137);
}

#[test]
fn the_same_seed_and_faults_have_the_same_history() {
    for fault in Fault::ALL {
        let (first, second) = (play(&[fault], 4).1, play(&[fault], 4).1);
        assert_eq!((first.digest, &first.story), (second.digest, &second.story), "{fault}");
    }
}
