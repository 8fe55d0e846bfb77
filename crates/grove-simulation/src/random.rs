//! The one source of chance. Everything that a run decides follows from its seed.

use std::time::Duration;

/// A generator of 64 random bits (SplitMix64): one word of state, and streams that have nothing to do with each other.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of this name that belongs to a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self(seed ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        // Seeds that follow each other begin alike.
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number below `end`; 0 if there is none.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        let span = u64::from(high.saturating_sub(low)) + 1;
        low + u32::try_from(self.below(span)).unwrap_or(0)
    }

    /// Likewise, and small ones are likelier.
    pub(crate) fn few(&mut self, low: u32, high: u32) -> u32 {
        let most = self.between(low, high);
        self.between(low, most)
    }

    /// True in so many of a thousand cases.
    pub(crate) fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < u64::from(permille)
    }

    /// A time up to `most`. Short ones are likelier, so that things of all lengths meet.
    pub(crate) fn time(&mut self, most: Duration) -> Duration {
        let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
        let most = self.below(most.saturating_add(1));
        Duration::from_micros(self.below(most.saturating_add(1)))
    }

    /// One of them.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        choose(self.next(), items)
    }
}

/// The one of them that a number stands for.
pub(crate) fn choose<T>(number: u64, items: &[T]) -> Option<&T> {
    let length = u64::try_from(items.len()).unwrap_or(u64::MAX);
    items.get(usize::try_from(number.checked_rem(length)?).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_and_streams_differ() {
        let first = |seed, stream| Random::new(seed, stream).next();
        assert_eq!(first(1, 1), first(1, 1));
        assert_ne!(first(1, 1), first(2, 1));
        assert_ne!(first(1, 1), first(1, 2));
    }

    #[test]
    fn bounds_hold_and_are_reached() {
        let mut random = Random::new(3, 0);
        let drawn: std::collections::BTreeSet<u32> = (0..200).map(|_| random.between(2, 4)).collect();
        assert_eq!(drawn, [2, 3, 4].into());
        assert!((0..200).all(|_| random.time(Duration::from_secs(1)) <= Duration::from_secs(1)));
        assert_eq!((0..200).filter(|_| random.chance(0)).count(), 0);
        assert_eq!((0..200).filter(|_| random.chance(1000)).count(), 200);
        assert_eq!(random.pick::<u8>(&[]), None);
    }
}
