//! Remembers which Events were posted, so that a failure that lasts is told once and not on every retry.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::Duration;

use tokio::time::Instant;

/// How long the same Event is not posted again.
const SILENCE: Duration = Duration::from_mins(10);

/// How many Events are remembered.
const CAPACITY: usize = 8_192;

/// Events posted lately, by fingerprint.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    posted: BTreeMap<u64, Instant>,
    order: VecDeque<(Instant, u64)>,
}

impl Repeats {
    /// What makes two Events the same. A collision costs one Event out of billions.
    pub(super) fn print(uid: Option<&str>, reason: &str, note: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        (uid, reason, note).hash(&mut hasher);
        hasher.finish()
    }

    pub(super) fn is_repeat(&self, print: u64) -> bool {
        self.posted.get(&print).is_some_and(|at| at.elapsed() < SILENCE)
    }

    pub(super) fn posted(&mut self, print: u64) {
        let now = Instant::now();
        self.posted.insert(print, now);
        self.order.push_back((now, print));
        while self.order.len() > CAPACITY || self.order.front().is_some_and(|(at, _)| at.elapsed() >= SILENCE)
        {
            let Some((at, print)) = self.order.pop_front() else { break };
            // A later posting of the same Event keeps its own entry.
            if self.posted.get(&print) == Some(&at) {
                self.posted.remove(&print);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_repeat_is_one_for_ten_minutes() {
        let mut repeats = Repeats::default();
        let print = Repeats::print(Some("u"), "Failed", "note");
        assert!(!repeats.is_repeat(print));
        repeats.posted(print);
        assert!(repeats.is_repeat(print));
        assert!(!repeats.is_repeat(Repeats::print(Some("v"), "Failed", "note")));
        assert!(!repeats.is_repeat(Repeats::print(Some("u"), "Other", "note")));
        assert!(!repeats.is_repeat(Repeats::print(Some("u"), "Failed", "other")));
        tokio::time::advance(Duration::from_secs(599)).await;
        assert!(repeats.is_repeat(print));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(!repeats.is_repeat(print));
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded() {
        let mut repeats = Repeats::default();
        for print in 0..=CAPACITY as u64 {
            repeats.posted(print);
        }
        assert_eq!(repeats.posted.len(), CAPACITY);
        assert!(!repeats.is_repeat(0));
        assert!(repeats.is_repeat(1));
        tokio::time::advance(SILENCE).await;
        repeats.posted(7);
        assert_eq!((repeats.posted.len(), repeats.order.len()), (1, 1));
    }
}
