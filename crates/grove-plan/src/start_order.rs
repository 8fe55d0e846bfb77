//! Start order: when the pods of a clique may start, and which of them have to be told.
//!
//! A pod that waits is told once, by an annotation, and that is never taken back: a parent that fails later is for repair
//! to deal with, and an init container that runs again has to pass.

use crate::{
    facts::{PodFact, Tally},
    layout::Parent,
};

/// A parent, as it was seen.
#[derive(Clone, Copy, Debug)]
pub struct ParentSeen<'a> {
    /// What is wanted of it.
    pub parent: &'a Parent,
    /// Its pods; `None` where the set has no such clique, or not yet.
    pub tally: Option<Tally>,
    /// Whether a pod of it that ended with success has done its work.
    pub may_complete: bool,
}

impl ParentSeen<'_> {
    /// Whether it is no reason to wait.
    fn is_ready(&self) -> bool {
        let done = |it: Tally| if self.may_complete { it.completed } else { 0 };
        self.tally.is_some_and(|it| it.ready + done(it) >= self.parent.minimum)
    }
}

/// What to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartPlan {
    /// Whether pods that are created now may start at once.
    pub may_start: bool,
    /// Pods that wait and may start, all at once.
    pub release: Vec<String>,
}

/// Decides for a clique that starts after `parents` and owns `pods`.
pub fn plan(parents: &[ParentSeen<'_>], pods: &[&PodFact]) -> StartPlan {
    let may_start = parents.iter().all(ParentSeen::is_ready);
    let waiting = pods.iter().filter(|it| may_start && it.is_live() && it.awaits_parents);
    StartPlan { may_start, release: waiting.map(|it| it.name.clone()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::pods;

    /// Parents as `minimum: pods`, or `minimum: -` where there is no such clique; what is released for `children`.
    fn released(parents: &[&str], children: &str) -> (bool, String) {
        let wanted: Vec<(Parent, Option<Tally>)> = parents
            .iter()
            .map(|text| {
                let (minimum, of_parent) = text.split_once(':').unwrap();
                let parent = Parent { name: "parent".to_owned(), minimum: minimum.parse().unwrap() };
                (parent, (of_parent.trim() != "-").then(|| Tally::of(&pods(of_parent), "")))
            })
            .collect();
        let seen: Vec<ParentSeen<'_>> = wanted
            .iter()
            .map(|(parent, tally)| ParentSeen { parent, tally: *tally, may_complete: false })
            .collect();
        let children = pods(children);
        let plan = plan(&seen, &children.iter().collect::<Vec<_>>());
        (plan.may_start, plan.release.join(" "))
    }

    #[test]
    fn all_parents_have_their_minimum_ready() {
        let rows: [(&[&str], bool); 12] = [
            (&[], true),
            (&["1: 0r"], true),
            (&["2: 0r 1r 2n"], true),
            (&["2: 0r 1n"], false),
            (&["1: 0b"], false),
            (&["1:"], false),
            // There is no such clique, or not yet.
            (&["1: -"], false),
            // One is not enough.
            (&["1: 0r", "1: 0n"], false),
            (&["1: 0r", "2: 0r 1r"], true),
            // What goes counts nowhere, and what ended does not serve.
            (&["1: 0r!"], false),
            (&["2: 0r 1r!"], false),
            (&["1: 0S"], false),
        ];
        for (parents, want) in rows {
            assert_eq!(released(parents, "").0, want, "{parents:?}");
        }
    }

    #[test]
    fn a_parent_that_has_done_its_work_holds_nobody_up() {
        let parent = Parent { name: "parent".to_owned(), minimum: 2 };
        let waits = |of_parent: &str, may_complete| {
            let tally = Some(Tally::of(&pods(of_parent), ""));
            !plan(&[ParentSeen { parent: &parent, tally, may_complete }], &[]).may_start
        };
        assert!(!waits("0S 1S", true));
        assert!(!waits("0S 1r", true));
        assert!(waits("0S 1n", true));
        assert!(waits("0S 1S!", true));
        // Such a pod is replaced, and then it is ready or not.
        assert!(waits("0S 1S", false));
    }

    #[test]
    fn those_that_wait_are_told_once() {
        let rows = [
            ("0ga 1ba", "0ga 1ba"),
            // Told already, or of a kind that does not wait for us.
            ("0b 1r 2ba", "2ba"),
            // Not worth a write.
            ("0ba! 1Fa 2ga", "2ga"),
            ("", ""),
        ];
        for (children, want) in rows {
            assert_eq!(released(&["1: 0r"], children), (true, want.to_owned()), "{children}");
            assert_eq!(released(&["1: 0n"], children), (false, String::new()), "{children}");
        }
    }
}
