//! Cuts a failing plan down: steps and troubles are left out one after another, for as long as the same rule is broken.

use std::collections::BTreeSet;

use crate::{
    plan::{Cut, DIALS, Plan},
    rules::Rule,
    run::run,
};

/// The smallest cut that was found, and how many runs that took.
pub fn shrink(plan: &Plan, rule: Rule) -> (Cut, usize) {
    let mut runs = 0;
    let mut fails = |cut: &Cut| {
        runs += 1;
        let outcome = run(&plan.cut(cut), false);
        outcome.is_ok_and(|it| it.broken.is_some_and(|(broken, _)| broken.rule == rule))
    };
    let all: BTreeSet<usize> = plan.steps.iter().map(|it| it.number).collect();
    let mut cut = Cut { steps: Some(all), without: BTreeSet::new() };
    loop {
        let before = cut.clone();
        cut = fewer_steps(cut, &mut fails);
        let faults = plan.faults.iter().map(|it| it.name());
        for dial in DIALS.into_iter().chain(faults) {
            let mut less = cut.clone();
            if less.without.insert(dial.to_owned()) && fails(&less) {
                cut = less;
            }
        }
        if cut == before {
            return (cut, runs);
        }
    }
}

/// Halves first, then ever smaller pieces.
fn fewer_steps(mut cut: Cut, fails: &mut impl FnMut(&Cut) -> bool) -> Cut {
    let mut size = cut.steps.as_ref().map_or(0, BTreeSet::len).div_ceil(2);
    while size > 0 {
        let steps: Vec<usize> = cut.steps.iter().flatten().copied().collect();
        for piece in steps.chunks(size) {
            let mut less = cut.clone();
            if let Some(kept) = &mut less.steps {
                kept.retain(|it| !piece.contains(it));
            }
            if less != cut && fails(&less) {
                cut = less;
            }
        }
        size /= 2;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let cut = Cut { steps: Some((0..17).collect()), without: BTreeSet::new() };
        let mut fails = |cut: &Cut| cut.steps.as_ref().is_some_and(|it| it.contains(&3) && it.contains(&11));
        assert_eq!(fewer_steps(cut, &mut fails).steps, Some([3, 11].into()));
    }
}
