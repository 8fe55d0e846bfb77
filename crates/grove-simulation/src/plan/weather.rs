//! How reliable the connection between the operator and the API server is.

use std::time::Duration;

use crate::random::Random;

/// Longest time for which watches are held up on purpose.
pub(crate) const LONGEST_STALL: Duration = Duration::from_secs(12);
/// Longest time that a slow request takes, there and back.
pub(crate) const SLOW: Duration = Duration::from_secs(3);

/// What goes wrong, in thousandths of all requests, and how long things take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weather {
    /// Requests and answers usually take up to this.
    pub(crate) delay: Duration,
    /// Events of watches are usually late by up to this.
    pub(crate) lag: Duration,
    /// Requests that take long.
    pub(crate) slow: u32,
    /// Connections that break before the server has read the request.
    pub(crate) cut: u32,
    /// Answers that never arrive, although the server did as asked.
    pub(crate) lost: u32,
    /// Writes refused with 409.
    pub(crate) conflict: u32,
    /// Requests refused with 429.
    pub(crate) busy: u32,
    /// Requests refused with 500.
    pub(crate) broken: u32,
    /// Events after which a watch ends.
    pub(crate) ends: u32,
}

/// What can be made well, by name, so that a failing seed can be cut down.
pub(crate) const DIALS: [&str; 13] = [
    "autoscalers",
    "losses",
    "policies",
    "quota",
    "delay",
    "lag",
    "slow",
    "cut",
    "lost",
    "conflict",
    "busy",
    "broken",
    "ends",
];

impl Weather {
    pub(super) fn random(random: &mut Random) -> Self {
        let mut weather = Self {
            delay: random.time(Duration::from_millis(50)),
            lag: random.time(Duration::from_millis(200)),
            ..Self::default()
        };
        if random.chance(250) {
            return weather;
        }
        // Each run has troubles of its own, not always all of them.
        let dials = [
            &mut weather.slow,
            &mut weather.cut,
            &mut weather.lost,
            &mut weather.conflict,
            &mut weather.busy,
            &mut weather.broken,
            &mut weather.ends,
        ];
        for dial in dials {
            if random.chance(400) {
                *dial = random.between(1, 60);
            }
        }
        if random.chance(300) {
            weather.lag = random.time(Duration::from_secs(2));
        }
        weather
    }

    /// Makes one thing well.
    pub(crate) fn without(&mut self, dial: &str) {
        match dial {
            "delay" => self.delay = Duration::ZERO,
            "lag" => self.lag = Duration::ZERO,
            "slow" => self.slow = 0,
            "cut" => self.cut = 0,
            "lost" => self.lost = 0,
            "conflict" => self.conflict = 0,
            "busy" => self.busy = 0,
            "broken" => self.broken = 0,
            "ends" => self.ends = 0,
            _ => {}
        }
    }

    /// Whether requests fail at times.
    pub(crate) fn is_rough(&self) -> bool {
        self.slow + self.cut + self.lost + self.conflict + self.busy + self.broken + self.ends > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dial_can_be_made_well() {
        let mut weather = Weather::default();
        for seed in 0..50 {
            let mut rough = Weather::random(&mut Random::new(seed, 1));
            weather = rough.clone();
            for dial in &DIALS {
                rough.without(dial);
            }
            assert_eq!(rough, Weather::default());
        }
        assert_ne!(weather, Weather::default());
    }
}
