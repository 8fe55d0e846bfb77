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
    Forbidden,
    Conflict,
    Busy,
    Broken,
}

impl Refusal {
    pub(super) fn answer(self) -> Response<Body> {
        match self {
            Self::Forbidden => {
                made_up(403, "Forbidden", "forbidden: the operator cannot list resource at the cluster scope")
            }
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
    /// Until when the watches of an operator show nothing, whatever their kind.
    stale: BTreeMap<u32, Instant>,
    /// Until when a kind may not be listed and watched.
    forbidden: BTreeMap<&'static str, Instant>,
    /// Until when nothing reaches the server.
    down: Option<Instant>,
    /// The operator dies with the write that makes this 0.
    pub(super) kill_at: Option<u64>,
    /// Writes that the server has seen and nobody has asked about.
    pub(super) sent: BTreeMap<u64, Sent>,
    /// Writes that the server has not seen yet.
    pub(super) under_way: usize,
}

impl Trouble {
    pub(super) fn new(weather: Weather, random: Random) -> Self {
        Self {
            weather,
            random,
            stalls: BTreeMap::new(),
            stale: BTreeMap::new(),
            forbidden: BTreeMap::new(),
            down: None,
            kill_at: None,
            sent: BTreeMap::new(),
            under_way: 0,
        }
    }

    pub(super) fn clear_up(&mut self) {
        self.weather = Weather { delay: self.weather.delay, lag: self.weather.lag, ..Weather::default() };
        self.kill_at = None;
        self.stalls.clear();
        self.stale.clear();
        self.forbidden.clear();
        self.down = None;
    }

    /// The watch of a kind shows nothing until then, or it may not be listed and watched.
    pub(super) fn silence(&mut self, kind: &'static str, forbidden: bool, until: Instant) {
        let held = if forbidden { &mut self.forbidden } else { &mut self.stalls };
        held.insert(kind, until);
    }

    pub(super) fn hold_watches_of(&mut self, process: u32, until: Instant) {
        self.stale.insert(process, until);
    }

    pub(super) fn take_down(&mut self, until: Instant) {
        self.down = Some(until);
    }

    /// Whether nothing reaches the server now.
    pub(super) fn is_down(&self) -> bool {
        self.down.is_some_and(|it| it > Instant::now())
    }

    /// Whether a kind may not be listed and watched now.
    pub(super) fn is_forbidden(&self, resource: &str) -> bool {
        self.forbidden.get(resource).is_some_and(|it| *it > Instant::now())
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

    pub(super) fn arrival(&mut self, process: u32, resource: &str) -> (Instant, bool) {
        let at = Instant::now() + self.random.time(self.weather.lag);
        let held = [self.stalls.get(resource), self.stale.get(&process)];
        let at = held.into_iter().flatten().fold(at, |at, held| at.max(*held));
        (at, self.random.chance(self.weather.ends))
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
        assert_eq!(trouble.arrival(1, "podcliques").0, end);
        assert_eq!(trouble.arrival(1, "pods").0, Instant::now());
        trouble.hold_watches_of(1, end);
        assert_eq!(trouble.arrival(1, "pods").0, end);
        assert_eq!(trouble.arrival(2, "pods").0, Instant::now());
        trouble.clear_up();
        assert_eq!(trouble.arrival(1, "podcliques").0, Instant::now());
    }

    #[tokio::test(start_paused = true)]
    async fn silence_and_outage_end_by_themselves() {
        let mut trouble = Trouble::new(Weather::default(), Random::new(1, 1));
        let end = Instant::now() + Duration::from_secs(5);
        trouble.silence("nodes", true, end);
        trouble.silence("pods", false, end);
        trouble.take_down(end);
        assert!(trouble.is_forbidden("nodes") && !trouble.is_forbidden("pods") && trouble.is_down());
        assert_eq!(trouble.arrival(1, "pods").0, end);
        tokio::time::sleep(Duration::from_secs(6)).await;
        assert!(!trouble.is_forbidden("nodes") && !trouble.is_down());
        assert_eq!(trouble.arrival(1, "pods").0, Instant::now());
    }

    #[test]
    fn the_operator_dies_once() {
        let mut trouble = Trouble::new(Weather::default(), Random::new(1, 1));
        assert!(!trouble.is_fatal());
        trouble.kill_at = Some(2);
        assert_eq!([trouble.is_fatal(), trouble.is_fatal(), trouble.is_fatal()], [false, true, false]);
    }
}
