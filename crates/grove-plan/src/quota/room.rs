//! What a change of a ResourceQuota means for those who wait.

use std::collections::BTreeMap;

use grove_api::quantity::Amount;

/// What a ResourceQuota enforces, and what is used of it, by resource, as the API server writes amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// `status.hard`.
    pub hard: BTreeMap<String, String>,
    /// `status.used`.
    pub used: BTreeMap<String, String>,
}

/// What happened to a ResourceQuota, as far as it may help somebody who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It allows more, or does not exist any more.
    Raised,
    /// Less of it is used.
    Freed,
}

impl Change {
    /// From one state to the next; `None` is a quota that does not exist.
    pub fn between(old: Option<&Usage>, new: Option<&Usage>) -> Option<Self> {
        let old = old?;
        let Some(new) = new else { return Some(Self::Raised) };
        let is_raised = |(resource, before): (&String, &String)| {
            new.hard.get(resource).is_none_or(|now| is_less(before, now))
        };
        let is_freed = |(resource, before): (&String, &String)| {
            new.used.get(resource).is_none_or(|now| is_less(now, before))
        };
        if old.hard.iter().any(is_raised) {
            return Some(Self::Raised);
        }
        old.used.iter().any(is_freed).then_some(Self::Freed)
    }
}

/// Whether one amount is less than another. Where they cannot be read, any difference counts: to try again is only work.
fn is_less(one: &str, other: &str) -> bool {
    match (Amount::parse(one), Amount::parse(other)) {
        (Some(one), Some(other)) => one < other,
        _ => one != other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(hard: &str, used: &str) -> Usage {
        let of = |text: &str| {
            let pairs = text.split(' ').filter_map(|it| it.split_once('='));
            pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
        };
        Usage { hard: of(hard), used: of(used) }
    }

    #[test]
    fn only_more_room_is_a_change() {
        use Change::{Freed, Raised};
        for (old, new, expected) in [
            (("pods=3", "pods=3"), ("pods=3", "pods=3"), None),
            (("pods=3", "pods=2"), ("pods=3", "pods=3"), None),
            (("pods=3", "pods=3"), ("pods=3", "pods=2"), Some(Freed)),
            (("pods=9", "pods=3"), ("pods=10", "pods=3"), Some(Raised)),
            (("pods=10", "pods=3"), ("pods=9", "pods=3"), None),
            (("pods=3 cpu=1", "pods=3 cpu=1"), ("pods=3", "pods=3"), Some(Raised)),
            (("cpu=1", "cpu=900m"), ("cpu=1", "cpu=1"), None),
            (("cpu=1", "cpu=1"), ("cpu=1", "cpu=900m"), Some(Freed)),
            (("memory=1Gi", "memory=1Gi"), ("memory=1Gi", "memory=1000Mi"), Some(Freed)),
            (("memory=1023Mi", ""), ("memory=1Gi", ""), Some(Raised)),
            (("cpu=1500m", ""), ("cpu=1.5", ""), None),
            (("cpu=x", ""), ("cpu=y", ""), Some(Raised)),
        ] {
            let (old, new) = (usage(old.0, old.1), usage(new.0, new.1));
            assert_eq!(Change::between(Some(&old), Some(&new)), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn a_quota_that_is_deleted_limits_nobody() {
        let some = usage("pods=3", "pods=3");
        assert_eq!(Change::between(Some(&some), None), Some(Change::Raised));
        assert_eq!(Change::between(None, Some(&some)), None);
    }
}
