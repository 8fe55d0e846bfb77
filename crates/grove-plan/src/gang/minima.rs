//! Minima first: pods above the minimum of their clique wait until every gang of their set has its own minimum placed, and
//! before that scaled gangs wait for every base gang.
//!
//! Only for schedulers that do not see to it themselves. A gang that has waited for too long does not hold back anybody.

use std::{collections::BTreeMap, time::Duration};

/// How long a gang that finds no place keeps others from growing.
pub const PATIENCE: Duration = Duration::from_mins(5);

/// A gang whose minimum is not placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// For how long.
    pub for_: Duration,
    /// The gang that has to be placed before it.
    pub after: Option<String>,
    /// Whether it is a base gang.
    pub is_base: bool,
}

/// Whether pods above the minimum may be placed, as far as the `others` of the set are concerned; else how long to wait at
/// most.
pub fn may_grow(own: &str, others: &BTreeMap<String, Waiting>) -> Result<(), Duration> {
    // One that waits for a gang that waits itself is no worse than that one. Where that one was just placed, it follows.
    let is_next = |it: &Waiting| it.after.as_ref().is_none_or(|after| !others.contains_key(after));
    let next = others.iter().filter(|(name, it)| *name != own && is_next(it));
    let rests = next.map(|(_, it)| PATIENCE.saturating_sub(it.for_));
    rests.max().filter(|it| !it.is_zero()).map_or(Ok(()), Err)
}

/// Whether a scaled gang may be placed; else the base gang that it waits for, and for how long at most.
pub fn may_follow(others: &BTreeMap<String, Waiting>) -> Result<(), (&str, Duration)> {
    let bases = others.iter().filter(|(_, it)| it.is_base);
    let rests = bases.map(|(name, it)| (name.as_str(), PATIENCE.saturating_sub(it.for_)));
    rests.max_by_key(|it| it.1).filter(|it| !it.1.is_zero()).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(others: &[(&str, u64, Option<&str>)]) -> BTreeMap<String, Waiting> {
        let others = others.iter().map(|(name, for_, after)| {
            let (for_, after) = (Duration::from_secs(*for_), after.map(str::to_owned));
            ((*name).to_owned(), Waiting { for_, after, is_base: !name.contains('-') })
        });
        others.collect()
    }

    fn judged(own: &str, others: &[(&str, u64, Option<&str>)]) -> Result<(), u64> {
        may_grow(own, &waiting(others)).map_err(|it| it.as_secs())
    }

    #[test]
    fn base_gangs_go_before_scaled_ones() {
        let judged = |others: &[(&str, u64, Option<&str>)]| {
            may_follow(&waiting(others)).map_err(|(name, rest)| (name.to_owned(), rest.as_secs()))
        };
        assert_eq!(judged(&[]), Ok(()));
        assert_eq!(judged(&[("b", 10, None)]), Err(("b".into(), 290)));
        assert_eq!(judged(&[("b", 10, None), ("c", 5, None)]), Err(("c".into(), 295)));
        // Scaled ones do not wait for each other, and nobody for ever.
        assert_eq!(judged(&[("a-1", 0, None)]), Ok(()));
        assert_eq!(judged(&[("b", 300, None), ("c", 999, None)]), Ok(()));
    }

    #[test]
    fn minima_go_first() {
        assert_eq!(judged("a", &[]), Ok(()));
        assert_eq!(judged("a", &[("b", 0, None)]), Err(300));
        assert_eq!(judged("a", &[("b", 100, None), ("c", 10, None)]), Err(290));
        // Nobody waits for ever.
        assert_eq!(judged("a", &[("b", 300, None)]), Ok(()));
        assert_eq!(judged("a", &[("b", 999, None), ("c", 299, None)]), Err(1));
        // It does not wait for itself.
        assert_eq!(judged("a", &[("a", 0, None)]), Ok(()));
    }

    #[test]
    fn a_scaled_gang_goes_before_its_base_grows() {
        assert_eq!(judged("a", &[("a-1", 0, Some("a"))]), Err(300));
        assert_eq!(judged("b", &[("a-1", 0, Some("a"))]), Err(300));
        // Where the base has no place, what follows it says nothing more.
        assert_eq!(judged("b", &[("a", 300, None), ("a-1", 0, Some("a"))]), Ok(()));
    }
}
