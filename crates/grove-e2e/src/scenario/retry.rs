//! Which failed scenarios are run again.

use super::{
    Scenario,
    queue::Kind,
    report::Failure,
    run::{SANDBOX, label},
};

/// More failures than this have a cause that a second try would only hide.
const MOST_FAILURES: usize = 3;

/// What follows a pass over scenarios.
pub(super) enum Retry {
    /// Nothing failed, or no retry is left.
    Done,
    /// Nothing is run again, because so many failed.
    TooMany(usize),
    /// These are run again.
    Again(Vec<(Kind, &'static Scenario)>),
}

/// Decides after pass number `pass`, the first of which is 0, with `allowed` retries. What failed and is no scenario, such as
/// a right that was refused, cannot be run again and stays a failure.
pub(super) fn decide(
    planned: &[(Kind, &'static Scenario)],
    failures: &[Failure],
    pass: usize,
    allowed: u8,
) -> Retry {
    let failed = |(kind, scenario): &(Kind, &'static Scenario)| {
        let on = label(kind.0, kind.1);
        // All simulated clusters are of one kind.
        failures.iter().any(|it| it.name == scenario.name && (it.on == on || it.on == SANDBOX))
    };
    if failures.is_empty() || pass >= usize::from(allowed) {
        return Retry::Done;
    }
    if failures.len() > MOST_FAILURES {
        return Retry::TooMany(failures.len());
    }
    let again: Vec<_> = planned.iter().copied().filter(failed).collect();
    if again.is_empty() { Retry::Done } else { Retry::Again(again) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Gates, Scheduler};

    const KUBE: Kind = (Scheduler::Kube, Gates::All);
    const NONE: Kind = (Scheduler::Kube, Gates::None);
    static ONE: Scenario = Scenario::on_kube("one", |_| Box::pin(async { Ok(()) }));
    static TWO: Scenario = Scenario::on_kube("two", |_| Box::pin(async { Ok(()) }));

    /// What is run again for failures of these scenarios on these clusters; an error says why nothing is.
    fn decided(
        failed: &[(&str, &str)],
        pass: usize,
        allowed: u8,
    ) -> Result<Vec<(Kind, &'static str)>, String> {
        let planned = [(KUBE, &ONE), (NONE, &ONE), (KUBE, &TWO)];
        let failure = |(name, on): &(&str, &str)| Failure {
            name: (*name).to_owned(),
            on: (*on).to_owned(),
            text: String::new(),
        };
        let failures: Vec<Failure> = failed.iter().map(failure).collect();
        match decide(&planned, &failures, pass, allowed) {
            Retry::Again(again) => Ok(again.into_iter().map(|(kind, it)| (kind, it.name)).collect()),
            Retry::Done => Err("done".to_owned()),
            Retry::TooMany(count) => Err(format!("{count} are too many")),
        }
    }

    #[test]
    fn decisions() {
        let done = || Err("done".to_owned());
        let table = [
            ("nothing failed", vec![], 0, 1, done()),
            ("no retry was asked for", vec![("one", "kube")], 0, 0, done()),
            ("where it failed, and only there", vec![("one", "kube-none")], 0, 1, Ok(vec![(NONE, "one")])),
            ("on simulated clusters", vec![("two", "sandbox")], 0, 1, Ok(vec![(KUBE, "two")])),
            ("the retry failed, too", vec![("one", "kube")], 1, 1, done()),
            ("a second retry", vec![("one", "kube")], 1, 2, Ok(vec![(KUBE, "one")])),
            (
                "three are not too many",
                vec![("two", "kube"), ("one", "kube"), ("one", "kube-none")],
                0,
                1,
                Ok(vec![(KUBE, "one"), (NONE, "one"), (KUBE, "two")]),
            ),
            (
                "four are, whatever they are",
                vec![
                    ("two", "kube"),
                    ("one", "kube"),
                    ("one", "kube-none"),
                    ("rights_nothing_refused", "kube"),
                ],
                0,
                1,
                Err("4 are too many".to_owned()),
            ),
            ("what is no scenario stays failed", vec![("rights_nothing_refused", "kube")], 0, 1, done()),
        ];
        for (what, failed, pass, allowed, wanted) in table {
            assert_eq!(decided(&failed, pass, allowed), wanted, "{what}");
        }
    }
}
