//! Randomness that spreads retries of many clients over time. Not for secrets.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// `delay` and up to `share` of it more.
pub(crate) fn spread(delay: Duration, share: f64) -> Duration {
    delay.mul_f64(1.0 + share * fraction())
}

/// A number in `0.0..1.0`.
fn fraction() -> f64 {
    // The standard library seeds each hasher differently; a dependency would buy nothing here.
    let random = u32::try_from(RandomState::new().hash_one(()) >> 32).unwrap_or_default();
    f64::from(random) / (f64::from(u32::MAX) + 1.0)
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
}
