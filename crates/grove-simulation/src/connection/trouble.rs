//! What becomes of a request: drawn when it is sent.

use std::{collections::BTreeMap, time::Duration};

use http::Response;
use tokio::time::Instant;

use super::{body::Body, made_up, request::Kind};
use crate::{
    plan::{SLOW, Weather},
    random::Random,
};

/// Kinds whose watches can be held up, in the order of the bits that choose them.
const STALLED: [&str; 6] =
    ["pods", "podcliques", "podcliquescalinggroups", "podcliquesets", "podgangs", "services"];

/// A write that reached the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// The operator that sent it.
    pub(crate) process: u32,
    /// Whether it was told of the end.
    pub(crate) heard: bool,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fate {
    pub(super) there: Duration,
    pub(super) back: Duration,
    pub(super) cut: bool,
    pub(super) lost: bool,
    pub(super) refusal: Option<Refusal>,
}

/// A refusal that has nothing to do with what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Conflict,
    Busy,
    Broken,
}

impl Refusal {
    pub(super) fn answer(self) -> Response<Body> {
        match self {
            Self::Conflict => made_up(
                409,
                "Conflict",
                "Operation cannot be fulfilled: the object has been modified; please apply your changes to the latest \
                 version and try again",
            ),
            Self::Busy => made_up(429, "TooManyRequests", "too many requests, please try again later"),
            Self::Broken => {
                made_up(500, "InternalError", "Internal error occurred: etcdserver: leader changed")
            }
        }
    }
}

pub(super) struct Trouble {
    weather: Weather,
    random: Random,
    /// Until when watches of a kind show nothing.
    stalls: BTreeMap<&'static str, Instant>,
    /// The operator dies with the write that makes this 0.
    pub(super) kill_at: Option<u64>,
    /// Writes that the server has seen and nobody has asked about.
    pub(super) sent: BTreeMap<u64, Sent>,
    /// Writes that the server has not seen yet.
    pub(super) under_way: usize,
}

impl Trouble {
    pub(super) fn new(weather: Weather, random: Random) -> Self {
        let (stalls, sent) = (BTreeMap::new(), BTreeMap::new());
        Self { weather, random, stalls, kill_at: None, sent, under_way: 0 }
    }

    pub(super) fn clear_up(&mut self) {
        self.weather = Weather { delay: self.weather.delay, lag: self.weather.lag, ..Weather::default() };
        self.kill_at = None;
        self.stalls.clear();
    }

    pub(super) fn stall(&mut self, kinds: u64, until: Instant) {
        for (bit, kind) in STALLED.into_iter().enumerate() {
            if kinds >> bit & 1 == 1 {
                self.stalls.insert(kind, until);
            }
        }
    }

    pub(super) fn fate(&mut self, kind: Kind) -> Fate {
        let (weather, random) = (&self.weather, &mut self.random);
        let slow = random.chance(weather.slow);
        let mut trip = || random.time(if slow { SLOW } else { weather.delay });
        let (there, back) = (trip(), trip());
        let refusal = if kind == Kind::Write && random.chance(weather.conflict) {
            Some(Refusal::Conflict)
        } else if random.chance(weather.busy) {
            Some(Refusal::Busy)
        } else if random.chance(weather.broken) {
            Some(Refusal::Broken)
        } else {
            None
        };
        Fate { there, back, cut: random.chance(weather.cut), lost: random.chance(weather.lost), refusal }
    }

    /// Whether the operator dies with this write.
    pub(super) fn is_fatal(&mut self) -> bool {
        self.kill_at = self.kill_at.map(|it| it.saturating_sub(1));
        self.kill_at.take_if(|it| *it == 0).is_some()
    }

    pub(super) fn arrival(&mut self, resource: &str) -> (Instant, bool) {
        let at = Instant::now() + self.random.time(self.weather.lag);
        let held = self.stalls.get(resource).copied();
        (held.map_or(at, |it| it.max(at)), self.random.chance(self.weather.ends))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn stalls_hold_events_of_their_kinds() {
        let mut trouble = Trouble::new(Weather::default(), Random::new(1, 1));
        let end = Instant::now() + Duration::from_secs(5);
        trouble.stall(0b10, end);
        assert_eq!(trouble.arrival("podcliques").0, end);
        assert_eq!(trouble.arrival("pods").0, Instant::now());
        trouble.clear_up();
        assert_eq!(trouble.arrival("podcliques").0, Instant::now());
    }

    #[test]
    fn the_operator_dies_once() {
        let mut trouble = Trouble::new(Weather::default(), Random::new(1, 1));
        assert!(!trouble.is_fatal());
        trouble.kill_at = Some(2);
        assert_eq!([trouble.is_fatal(), trouble.is_fatal(), trouble.is_fatal()], [false, true, false]);
    }
}
