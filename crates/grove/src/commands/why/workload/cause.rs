//! Why the pods of a group wait: of all that is known, what comes first.

use std::collections::BTreeMap;

use grove_scheduler::workload::About;
use serde::Serialize;

use super::{
    super::facts::{Gate, gate, node},
    facts::{Facts, Found, Group, Member},
    standing::{Count, Shortfall, shortfall},
};

/// Pods that wait for the same thing: those of one group, or those of one scheduler that are in none.
pub(super) struct Unit<'a> {
    pub(super) facts: &'a Facts,
    pub(super) scheduler: &'a str,
    pub(super) group: Option<&'a Group>,
    pub(super) members: Vec<&'a Member>,
    /// By part; those of the whole as `None`.
    counts: BTreeMap<Option<&'a str>, Count>,
}

/// Why they wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// All of them have their place.
    Placed,
    /// There is nothing left to place.
    Finished,
    /// There are none.
    NoPods,
    /// They are in no group, and their scheduler wants one.
    NotGrouped,
    /// They are in no group, and the pod grouper says why.
    GrouperWarns(String),
    /// The group is not there.
    GroupGone,
    /// The group may not be read.
    GroupUnread(String),
    /// There are fewer pods than the minimum.
    PodsMissing(Shortfall),
    /// So many are held back by a gate that the minimum is not reached.
    Gated { pods: u64, gate: String },
    /// The queue is not there.
    NoQueue(String),
    /// The queue may not have more.
    OverQuota(String),
    /// It has not been let into its queue.
    Queued(String),
    /// The scheduler finds no place.
    NoPlace(String),
    /// The scheduler has not answered.
    Silent,
    /// The minimum has its place, and pods above it wait.
    AboveMinimum { pods: u64, gate: Option<String>, words: Option<String> },
}

/// How pods are, in a word; the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    Waiting,
    /// The minimum has its place.
    Partly,
    Placed,
    Finished,
}

impl<'a> Unit<'a> {
    pub(super) fn new(
        facts: &'a Facts,
        scheduler: &'a str,
        group: Option<&'a Group>,
        members: Vec<&'a Member>,
    ) -> Self {
        let mut parts: BTreeMap<Option<&str>, Vec<&Member>> = BTreeMap::new();
        for member in members.iter().filter(|it| it.part.is_some()) {
            parts.entry(member.part.as_deref()).or_default().push(member);
        }
        parts.insert(None, members.clone());
        let counts = parts.into_iter().map(|(part, of)| (part, Count::of(of))).collect();
        Self { facts, scheduler, group, members, counts }
    }

    /// Pods of a part, or of the whole.
    pub(super) fn count(&self, part: Option<&str>) -> Count {
        self.counts.get(&part).copied().unwrap_or_default()
    }

    fn short(&self, of: fn(Count) -> u64) -> Option<Shortfall> {
        let seen = self.group?.seen()?;
        shortfall(seen, &|part| of(self.count(part)))
    }

    /// Those that the scheduler could look at.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &Member> {
        let alive = self.members.iter().copied().filter(|it| Count::of([*it]).pods > 0);
        alive.filter(|it| node(&it.pod).is_none())
    }

    fn words(&self) -> Option<String> {
        self.waiting().find_map(|it| it.words.clone())
    }

    fn gate(&self) -> Option<String> {
        self.waiting().find_map(|it| match gate(&it.pod)? {
            Gate::Ours => Some(grove_api::constants::gates::POD_GANG_PENDING.to_owned()),
            Gate::Foreign(name) => Some(name.to_owned()),
        })
    }
}

impl Cause {
    pub(super) fn of(unit: &Unit<'_>) -> Self {
        let count = unit.count(None);
        if count.pods == 0 {
            return if count.succeeded + count.failed > 0 { Self::Finished } else { Self::NoPods };
        }
        let missing = unit.short(Count::there);
        if count.waiting() == 0 {
            return missing.map_or(Self::Placed, Self::PodsMissing);
        }
        let held = || unit.gate().map(|gate| Self::Gated { pods: count.gated, gate });
        match unit.group.map(|it| (it, &it.found)) {
            None => alone(unit).or_else(held),
            Some((_, Found::Gone)) => Some(Self::GroupGone),
            Some((_, Found::Unread(why))) => {
                Some(unit.words().map_or_else(|| Self::GroupUnread(why.clone()), Self::NoPlace))
            }
            Some((group, Found::Seen(_))) => grouped(unit, group, &count, missing),
        }
        .or_else(|| unit.words().map(Self::NoPlace))
        .unwrap_or(Self::Silent)
    }

    pub(super) fn state(&self) -> State {
        match self {
            Self::Placed => State::Placed,
            Self::Finished => State::Finished,
            Self::AboveMinimum { .. } => State::Partly,
            _ => State::Waiting,
        }
    }

    /// For machines.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Placed => "none",
            Self::Finished => "finished",
            Self::NoPods => "noPods",
            Self::NotGrouped => "notGrouped",
            Self::GrouperWarns(_) => "grouperWarns",
            Self::GroupGone => "groupGone",
            Self::GroupUnread(_) => "groupUnread",
            Self::PodsMissing(_) => "podsMissing",
            Self::Gated { .. } => "gated",
            Self::NoQueue(_) => "noQueue",
            Self::OverQuota(_) => "overQuota",
            Self::Queued(_) => "queued",
            Self::NoPlace(_) => "noPlace",
            Self::Silent => "silent",
            Self::AboveMinimum { .. } => "aboveMinimum",
        }
    }
}

/// Pods in no group.
fn alone(unit: &Unit<'_>) -> Option<Cause> {
    if let Some(warning) = unit.waiting().find_map(|it| it.warning.clone()) {
        return Some(Cause::GrouperWarns(warning));
    }
    let is_lost = unit.members.iter().any(|it| it.placed_alone == Some(false));
    is_lost.then_some(Cause::NotGrouped)
}

/// Pods in a group that can be read. What is certain comes before what the scheduler said some time ago.
fn grouped(unit: &Unit<'_>, group: &Group, count: &Count, missing: Option<Shortfall>) -> Option<Cause> {
    if let Some(missing) = missing {
        return Some(Cause::PodsMissing(missing));
    }
    let seen = group.seen()?;
    let has_minimum = seen.minimum.pods.is_some() || seen.minimum.parts.is_some();
    if has_minimum && unit.short(Count::settled).is_none() {
        let (gate, words) = (unit.gate(), unit.words());
        return Some(Cause::AboveMinimum { pods: count.waiting(), gate, words });
    }
    let is_held = count.gated > 0 && (group.waits_for_gated || unit.short(Count::free).is_some());
    if is_held && let Some(gate) = unit.gate() {
        return Some(Cause::Gated { pods: count.gated, gate });
    }
    let refusal = seen.refusal.as_ref()?;
    let words = refusal.words.clone();
    Some(match refusal.about {
        About::NoQueue => Cause::NoQueue(words),
        About::Share => Cause::OverQuota(words),
        About::Queue => unit.words().map_or(Cause::Queued(words), Cause::NoPlace),
        About::Room => Cause::NoPlace(words),
    })
}

#[cfg(test)]
mod tests;
