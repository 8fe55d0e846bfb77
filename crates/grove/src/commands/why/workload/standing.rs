//! How many pods of a group there are, and whether they are enough.

use grove_scheduler::workload::{Minimum, SeenGroup};
use serde::Serialize;

use super::{
    super::facts::{gate, node},
    facts::Member,
};

/// Parts inside of parts. Deeper ones are a circle.
const MAX_DEPTH: usize = 16;

/// Pods, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Count {
    /// Those that run or will.
    pub(super) pods: u64,
    /// Those that have their node.
    pub(super) placed: u64,
    /// Those that are held back by a scheduling gate.
    pub(super) gated: u64,
    /// Those that did what they had to do.
    pub(super) succeeded: u64,
    /// Those that failed.
    pub(super) failed: u64,
}

impl Count {
    pub(super) fn of<'a>(members: impl IntoIterator<Item = &'a Member>) -> Self {
        members.into_iter().fold(Self::default(), Self::with)
    }

    fn with(mut self, member: &Member) -> Self {
        let pod = &member.pod;
        match pod.status.as_ref().and_then(|it| it.phase.as_deref()) {
            Some("Succeeded") => self.succeeded += 1,
            Some("Failed") => self.failed += 1,
            _ if pod.metadata.deletion_timestamp.is_some() => {}
            _ => {
                self.pods += 1;
                self.placed += u64::from(node(pod).is_some());
                self.gated += u64::from(node(pod).is_none() && gate(pod).is_some());
            }
        }
        self
    }

    /// Those that have no node yet.
    pub(super) fn waiting(self) -> u64 {
        self.pods - self.placed
    }

    /// Those that count as there: what has succeeded is not missed.
    pub(super) fn there(self) -> u64 {
        self.pods + self.succeeded
    }

    /// Those that the scheduler may place, or has.
    pub(super) fn free(self) -> u64 {
        self.there() - self.gated
    }

    pub(super) fn settled(self) -> u64 {
        self.placed + self.succeeded
    }
}

/// What a minimum lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shortfall {
    /// The part that is short; `None`: the group.
    pub(super) part: Option<String>,
    pub(super) have: u64,
    pub(super) need: u64,
    /// Whether parts are counted, or else pods.
    pub(super) of_parts: bool,
}

/// What the group lacks first; `None` where its minimum is reached. `count` says how many pods a part has, or all of it.
pub(super) fn shortfall(group: &SeenGroup, count: &dyn Fn(Option<&str>) -> u64) -> Option<Shortfall> {
    lacks(group, None, group.minimum, count, MAX_DEPTH)
}

fn lacks(
    group: &SeenGroup,
    name: Option<&str>,
    minimum: Minimum,
    count: &dyn Fn(Option<&str>) -> u64,
    depth: usize,
) -> Option<Shortfall> {
    let short = |have: u64, need: u64, of_parts: bool| {
        Some(Shortfall { part: name.map(str::to_owned), have, need, of_parts })
    };
    if let Some(need) = minimum.parts
        && depth > 0
    {
        let children = group.parts.iter().filter(|it| it.parent.as_deref() == name);
        let lacking: Vec<Option<Shortfall>> =
            children.map(|it| lacks(group, Some(&it.name), it.minimum, count, depth - 1)).collect();
        let have = lacking.iter().filter(|it| it.is_none()).count() as u64;
        if have < need {
            // What a part lacks says more than that a part lacks something.
            return lacking.into_iter().flatten().next().or_else(|| short(have, need, true));
        }
    }
    let have = count(name);
    minimum.pods.filter(|need| have < *need).and_then(|need| short(have, need, false))
}

#[cfg(test)]
mod tests;
