//! A few seeds, always. `make sim` runs many.

#![allow(clippy::unwrap_used, clippy::panic, reason = "functions that tests share are tests too")]

use grove_simulation::{
    plan::{Cut, Plan},
    run,
};

/// These break no rule.
fn play(plans: impl Iterator<Item = Plan>) {
    for plan in plans {
        let (seed, outcome) = (plan.seed, run(&plan, false).unwrap());
        if let Some((broken, step)) = outcome.broken {
            let fault = outcome.fault.map(|it| format!(" and fault {it}")).unwrap_or_default();
            panic!(
                "after step {step}{fault}: rule {} is broken: {}\nagain: {} -v",
                broken.rule,
                broken.words,
                plan.command()
            );
        }
        assert!(outcome.writes > 10, "seed {seed}: next to nothing happened");
    }
}

#[test]
fn even_seeds_break_no_rule() {
    play((0..10).step_by(2).map(Plan::new));
}

#[test]
fn odd_seeds_break_no_rule() {
    play((1..10).step_by(2).map(Plan::new));
}

/// An update of a group that began under the hash of the template before, because the new one was noted late: it was never told
/// that it is another one.
#[test]
fn a_group_hears_of_the_template_that_is_noted_after_its_update_began() {
    // What came to plans later has nothing to do with it.
    let cut = Cut { steps: None, without: ["policies".to_owned()].into() };
    play(std::iter::once(Plan::with(1029, &[].into()).cut(&cut)));
}

#[test]
fn the_same_seed_runs_the_same_twice() {
    let digest = |seed| run(&Plan::new(seed), false).unwrap().digest;
    assert_eq!(digest(3), digest(3));
    assert_ne!(digest(3), digest(4));
}
