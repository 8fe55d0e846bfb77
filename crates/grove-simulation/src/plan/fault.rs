//! Faults that can be chosen by name, beyond the troubles that every plan may have.

use std::{collections::BTreeSet, fmt, str::FromStr};

use crate::random::Random;

/// A fault that a run may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// A tenant in another namespace forges objects that name the victim's as their owners.
    Tenant,
    /// Two operators act at the same time.
    Overlap,
    /// The watch of one kind shows nothing, or is forbidden, for ten minutes.
    Silence,
    /// Likewise of nodes.
    SilentNodes,
    /// The API server is down for half an hour, and operators are restarted meanwhile.
    Outage,
    /// A backup is restored: content and revisions go back, watches end and are refused.
    Restore,
    /// Likewise, and watches stay open.
    RestoreUnnoticed,
    /// The operator's clock is set forward and back.
    Clock,
    /// The scheduler has objects of its own for gangs.
    Backends,
}

/// Seeds of a thousand that have faults without being asked.
const BY_DEFAULT: u32 = 250;
/// Of these, how many of a thousand have a second fault, and again a third one.
const ANOTHER: u32 = 300;
/// Faults of one seed at most.
const MOST: usize = 3;

/// Faults that happen only where they are asked for. A restore is not noticed where the server has passed what all kinds knew before
/// their watches are connected again (seed 6221). No client of the API can notice one that leaves its watches open once the
/// revision has passed the one that the client knows; Kubernetes demands that API servers are restarted after one.
pub const NOT_BY_DEFAULT: &[Fault] = &[Fault::Restore, Fault::RestoreUnnoticed];

impl Fault {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Tenant,
        Self::Overlap,
        Self::Silence,
        Self::SilentNodes,
        Self::Outage,
        Self::Restore,
        Self::RestoreUnnoticed,
        Self::Clock,
        Self::Backends,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Overlap => "overlap",
            Self::Silence => "silence",
            Self::SilentNodes => "silent-nodes",
            Self::Outage => "outage",
            Self::Restore => "restore",
            Self::RestoreUnnoticed => "restore-unnoticed",
            Self::Clock => "clock",
            Self::Backends => "backends",
        }
    }

    /// The chance that a seed has for it, which no other decision shares.
    pub(super) fn random(self, seed: u64) -> Random {
        Random::new(seed, 20 + self as u64)
    }

    /// The faults of a seed that was not told which: mostly none.
    pub(super) fn of_seed(seed: u64) -> BTreeSet<Self> {
        let mut random = Random::new(seed, 10);
        let usual: Vec<Self> = Self::ALL.into_iter().filter(|it| !NOT_BY_DEFAULT.contains(it)).collect();
        let mut faults = BTreeSet::new();
        let mut chance = BY_DEFAULT;
        while faults.len() < MOST && random.chance(chance) {
            faults.extend(random.pick(&usual).copied());
            chance = ANOTHER;
        }
        faults
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || Self::ALL.map(Self::name).join(", ");
        Self::ALL.into_iter().find(|it| it.name() == text).ok_or_else(|| format!("one of {}", known()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for fault in Fault::ALL {
            assert_eq!(fault.name().parse(), Ok(fault));
        }
        assert!("weather".parse::<Fault>().is_err());
    }

    #[test]
    fn a_share_of_seeds_has_faults_and_none_that_cannot_be_noticed() {
        let drawn: Vec<BTreeSet<Fault>> = (0..1000).map(Fault::of_seed).collect();
        let some = drawn.iter().filter(|it| !it.is_empty()).count();
        assert!((200..300).contains(&some), "{some}");
        let several = drawn.iter().filter(|it| it.len() > 1).count();
        assert!((40..100).contains(&several), "{several}");
        let all: BTreeSet<Fault> = drawn.into_iter().flatten().collect();
        assert!(NOT_BY_DEFAULT.iter().all(|it| !all.contains(it)));
        assert_eq!(all.len(), Fault::ALL.len() - NOT_BY_DEFAULT.len());
    }
}
