//! Randomness that spreads retries of many clients over time. Not for secrets.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

thread_local! {
    /// The state of a generator, where somebody asked for the same delays every time.
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// From now on, the delays of this thread follow from `seed`. For simulations, whose runs can be repeated.
pub fn seed_delays(seed: u64) {
    SEED.set(Some(seed));
}

/// `delay` and up to `share` of it more.
pub(crate) fn spread(delay: Duration, share: f64) -> Duration {
    delay.mul_f64(1.0 + share * fraction())
}

/// A number in `0.0..1.0`.
fn fraction() -> f64 {
    // The standard library seeds each hasher differently; a dependency would buy nothing here.
    let bits = SEED.get().map_or_else(|| RandomState::new().hash_one(()), next);
    let random = u32::try_from(bits >> 32).unwrap_or_default();
    f64::from(random) / (f64::from(u32::MAX) + 1.0)
}

/// SplitMix64: one word of state, and good enough for delays.
fn next(state: u64) -> u64 {
    let state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    SEED.set(Some(state));
    let bits = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_upwards_within_its_share() {
        let base = Duration::from_secs(10);
        let delays: Vec<_> = (0..200).map(|_| spread(base, 0.5)).collect();
        assert!(delays.iter().all(|d| (base..base.mul_f64(1.5)).contains(d)));
        let (low, high) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
        assert!(*high > *low + Duration::from_secs(2), "{low:?} to {high:?} is hardly spread");
    }

    #[test]
    fn the_same_seed_gives_the_same_delays() {
        let delays = |seed: u64| {
            seed_delays(seed);
            (0..50).map(|_| spread(Duration::from_secs(10), 0.5)).collect::<Vec<_>>()
        };
        let first = delays(7);
        assert_eq!(first, delays(7));
        assert_ne!(first, delays(8));
        let (low, high) = (first.iter().min().unwrap(), first.iter().max().unwrap());
        assert!(*high > *low + Duration::from_secs(2), "{low:?} to {high:?} is hardly spread");
    }
}
