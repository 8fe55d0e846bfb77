//! The one budget that every deletion asks: how many parts of a unit may be taken away now.
//!
//! A unit is a clique, whose parts are pods, or a scaling group, whose parts are its replicas. What counts is who serves
//! at this moment, not what happened before.

/// A unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Parts that there should be.
    pub wanted: u32,
    /// Parts that it needs.
    pub minimum: u32,
    /// Parts that serve.
    pub serving: u32,
}

impl Budget {
    /// Takes a part away for good, where that is allowed: those that stay still serve enough.
    pub fn remove(&mut self, serves: bool) -> bool {
        self.take(serves, |rest, unit| rest >= unit.minimum.min(unit.wanted))
    }

    /// Takes a part away that is made anew, where that is allowed.
    ///
    /// A unit that needs all of its parts misses one for that time, but only one, and only where no other is missing:
    /// there is no other way to change it without room for one more.
    pub fn replace(&mut self, serves: bool) -> bool {
        self.take(serves, |rest, unit| {
            rest >= unit.minimum || (unit.wanted <= unit.minimum && unit.serving == unit.wanted)
        })
    }

    fn take(&mut self, serves: bool, is_enough: impl Fn(u32, &Self) -> bool) -> bool {
        if !serves {
            return true;
        }
        let Some(rest) = self.serving.checked_sub(1).filter(|rest| is_enough(*rest, self)) else {
            return false;
        };
        self.serving = rest;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(mut budget: Budget, take: fn(&mut Budget, bool) -> bool) -> u32 {
        (0..10).take_while(|_| take(&mut budget, true)).count().try_into().unwrap()
    }

    #[test]
    fn what_serves_never_falls_below_the_minimum() {
        // wanted, minimum, serving; how many may be removed, and how many replaced at once.
        for (wanted, minimum, serving, removed, replaced) in [
            (4, 2, 4, 2, 2),
            (4, 2, 3, 1, 1),
            (4, 2, 2, 0, 0),
            (4, 2, 1, 0, 0),
            (4, 0, 2, 2, 2),
            (0, 0, 0, 0, 0),
            // There are more than wanted: the user has less in mind than the minimum.
            (1, 2, 3, 2, 1),
            (0, 2, 2, 2, 0),
            // All are needed: one may be missing, where no other is.
            (2, 2, 2, 0, 1),
            (2, 2, 1, 0, 0),
            (1, 1, 1, 0, 1),
        ] {
            let budget = Budget { wanted, minimum, serving };
            assert_eq!(
                (taken(budget, Budget::remove), taken(budget, Budget::replace)),
                (removed, replaced),
                "{budget:?}"
            );
        }
    }

    #[test]
    fn what_does_not_serve_costs_nothing() {
        let mut budget = Budget { wanted: 2, minimum: 2, serving: 0 };
        assert!(budget.remove(false) && budget.replace(false));
        assert!(!budget.remove(true) && !budget.replace(true));
    }
}
