//! Who may pass next, and when. Pure: the caller brings the time, and a ticket for each one who waits.

use std::time::Duration;

use tokio::time::Instant;

use super::lane::Lane;
use crate::round_robin::RoundRobin;

/// Who has waited longer than this is old, and gets every [`OLD_SHARE`]th grant whatever its lane: nothing starves.
pub(super) const OLD: Duration = Duration::from_secs(3);
const OLD_SHARE: u32 = 8;
/// While anything of a more urgent lane is in flight or waits, each lane has this part of the places of the one before.
const LANE_SHARE: usize = 4;

/// Token bucket, bound on what is in flight, and one queue per lane, in which namespaces take turns. `W` is how a waiter is
/// told.
pub(super) struct Line<W> {
    rate: Option<Rate>,
    /// By lane.
    in_flight: [usize; Lane::ALL.len()],
    most_in_flight: usize,
    /// By lane.
    waiting: [RoundRobin<(Instant, W)>; Lane::ALL.len()],
    next_number: u64,
    grants: u32,
}

/// A token bucket as the time at which it will be full again.
struct Rate {
    interval: Duration,
    /// How far `full_at` may be ahead: the burst, less the token that is being taken.
    slack: Duration,
    full_at: Option<Instant>,
}

/// What a line can do now.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<W> {
    /// This waiter may pass.
    Grant(W),
    /// Somebody waits for a token that comes at this time.
    Token(Instant),
    /// Nobody waits, or something in flight must end first.
    Nothing,
}

impl<W> Line<W> {
    /// `qps <= 0` means no rate, `in_flight == 0` no bound.
    pub(super) fn new(qps: f64, burst: u32, in_flight: usize) -> Self {
        let rate = (qps > 0.0).then(|| {
            // A rate so small that its interval has no representation is as good as a day.
            let interval = Duration::try_from_secs_f64(qps.recip()).unwrap_or(Duration::from_hours(24));
            Rate { interval, slack: interval.saturating_mul(burst.saturating_sub(1)), full_at: None }
        });
        let most_in_flight = if in_flight == 0 { usize::MAX } else { in_flight };
        let in_flight = [0; Lane::ALL.len()];
        let waiting = std::array::from_fn(|_| RoundRobin::default());
        Self { rate, in_flight, most_in_flight, waiting, next_number: 0, grants: 0 }
    }

    /// Joins the queue of `lane` and returns the place, for [`leave`](Self::leave).
    pub(super) fn join(&mut self, lane: Lane, namespace: &str, now: Instant, ticket: W) -> (Lane, u64) {
        self.next_number += 1;
        self.waiting[lane as usize].push(namespace, self.next_number, (now, ticket));
        (lane, self.next_number)
    }

    /// Leaves the queue; without effect for somebody who has passed.
    pub(super) fn leave(&mut self, (lane, number): (Lane, u64)) {
        self.waiting[lane as usize].remove(number);
    }

    /// Somebody of `lane` who passed is through.
    pub(super) fn release(&mut self, lane: Lane) {
        let in_flight = &mut self.in_flight[lane as usize];
        *in_flight = in_flight.saturating_sub(1);
    }

    /// Lets the next one pass if possible.
    pub(super) fn next(&mut self, now: Instant) -> Next<W> {
        if self.in_flight.iter().sum::<usize>() >= self.most_in_flight {
            return Next::Nothing;
        }
        let Some(lane) = self.chosen(now) else { return Next::Nothing };
        if let Some(at) = self.rate.as_ref().and_then(|rate| rate.next_token(now)) {
            return Next::Token(at);
        }
        let Some((_, ticket)) = self.waiting[lane as usize].pop() else { return Next::Nothing };
        if let Some(rate) = &mut self.rate {
            rate.take(now);
        }
        self.in_flight[lane as usize] += 1;
        self.grants = self.grants.wrapping_add(1);
        Next::Grant(ticket)
    }

    /// The lane that is next: the most urgent one, or at times the one in which a write has waited longest.
    fn chosen(&self, now: Instant) -> Option<Lane> {
        let open = || Lane::ALL.into_iter().filter(|lane| self.has_place(*lane));
        if self.grants % OLD_SHARE == OLD_SHARE - 1 {
            let oldest = open().filter_map(|lane| Some((lane, self.waiting[lane as usize].oldest()?)));
            let old = oldest.filter(|(_, (_, (since, _)))| now.saturating_duration_since(*since) > OLD);
            if let Some((lane, _)) = old.min_by_key(|(_, (number, _))| *number) {
                return Some(lane);
            }
        }
        open().find(|lane| !self.waiting[*lane as usize].is_empty())
    }

    /// What is less urgent must not take the server from what is more urgent: it would be slow for both.
    fn has_place(&self, lane: Lane) -> bool {
        let mut places = self.most_in_flight;
        let mut contested = false;
        for urgent in Lane::ALL.into_iter().take_while(|it| *it < lane) {
            places = (places / LANE_SHARE).max(1);
            contested |= !self.waiting[urgent as usize].is_empty() || self.in_flight[urgent as usize] > 0;
        }
        !contested || self.in_flight[lane as usize] < places
    }
}

impl Rate {
    /// When the next token comes; `None` if there is one now.
    fn next_token(&self, now: Instant) -> Option<Instant> {
        let full_at = self.full_at.filter(|full_at| *full_at > now + self.slack)?;
        Some(full_at.checked_sub(self.slack).unwrap_or(now))
    }

    fn take(&mut self, now: Instant) {
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now));
        self.full_at = Some(full_at + self.interval);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed(line: &mut Line<&'static str>, now: Instant) -> Vec<&'static str> {
        std::iter::from_fn(|| match line.next(now) {
            Next::Grant(ticket) => Some(ticket),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn lanes_in_order_and_first_come_first_served_in_each() {
        let (mut line, now) = (Line::new(0.0, 0, 0), Instant::now());
        for (lane, ticket) in [
            (Lane::Event, "e1"),
            (Lane::Status, "s1"),
            (Lane::Create, "c1"),
            (Lane::Change, "m1"),
            (Lane::Create, "c2"),
            (Lane::Event, "e2"),
        ] {
            line.join(lane, "", now, ticket);
        }
        assert_eq!(passed(&mut line, now), ["c1", "c2", "m1", "s1", "e1", "e2"]);
    }

    #[test]
    fn the_old_get_every_eighth_grant() {
        let (mut line, start) = (Line::new(0.0, 0, 0), Instant::now());
        line.join(Lane::Event, "", start, "e1");
        line.join(Lane::Status, "", start, "s1");
        line.join(Lane::Event, "", start, "e2");
        let now = start + OLD + Duration::from_millis(1);
        let creates =
            ["c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11", "c12", "c13", "c14", "c15"];
        for ticket in creates {
            line.join(Lane::Create, "", now, ticket);
        }
        let want = [&creates[..7], &["e1"], &creates[7..14], &["s1", "c15", "e2"]].concat();
        assert_eq!(passed(&mut line, now), want);
    }

    #[test]
    fn nobody_is_old_before_its_time() {
        let (mut line, start) = (Line::new(0.0, 0, 0), Instant::now());
        line.join(Lane::Event, "", start, "e1");
        for ticket in ["c1", "c2", "c3", "c4"] {
            line.join(Lane::Create, "", start, ticket);
        }
        assert_eq!(passed(&mut line, start + OLD), ["c1", "c2", "c3", "c4", "e1"]);
    }

    #[test]
    fn a_burst_and_then_the_rate() {
        let (mut line, start) = (Line::new(10.0, 3, 0), Instant::now());
        for ticket in ["a", "b", "c", "d", "e", "f"] {
            line.join(Lane::Create, "", start, ticket);
        }
        assert_eq!(passed(&mut line, start), ["a", "b", "c"]);
        let tenth = Duration::from_millis(100);
        assert_eq!(line.next(start), Next::Token(start + tenth));
        assert_eq!(passed(&mut line, start + tenth), ["d"]);
        assert_eq!(passed(&mut line, start + tenth * 3), ["e", "f"]);
        // The bucket never holds more than the burst.
        for ticket in ["g", "h", "i", "j"] {
            line.join(Lane::Create, "", start, ticket);
        }
        assert_eq!(passed(&mut line, start + Duration::from_mins(1)), ["g", "h", "i"]);
    }

    #[test]
    fn a_burst_of_none_still_passes_one() {
        let (mut line, start) = (Line::new(1.0, 0, 0), Instant::now());
        line.join(Lane::Create, "", start, "a");
        line.join(Lane::Create, "", start, "b");
        assert_eq!(passed(&mut line, start), ["a"]);
    }

    #[test]
    fn what_is_in_flight_is_bounded() {
        let (mut line, now) = (Line::new(-1.0, 0, 2), Instant::now());
        for ticket in ["a", "b", "c"] {
            line.join(Lane::Create, "", now, ticket);
        }
        assert_eq!(passed(&mut line, now), ["a", "b"]);
        assert_eq!(line.next(now), Next::Nothing);
        line.release(Lane::Create);
        assert_eq!(passed(&mut line, now), ["c"]);
    }

    #[test]
    fn what_is_less_urgent_leaves_places_free_while_more_urgent_writes_are_in_flight() {
        let (mut line, now) = (Line::new(0.0, 0, 16), Instant::now());
        for (lane, ticket) in [
            (Lane::Create, "c"),
            (Lane::Change, "m1"),
            (Lane::Change, "m2"),
            (Lane::Change, "m3"),
            (Lane::Change, "m4"),
            (Lane::Change, "m5"),
            (Lane::Status, "s1"),
            (Lane::Status, "s2"),
            (Lane::Event, "e1"),
            (Lane::Event, "e2"),
        ] {
            line.join(lane, "", now, ticket);
        }
        // A quarter of 16 for changes, a quarter of that for statuses, and never less than one.
        assert_eq!(passed(&mut line, now), ["c", "m1", "m2", "m3", "m4", "s1", "e1"]);
        line.release(Lane::Create);
        // Nothing is more urgent than changes now.
        assert_eq!(passed(&mut line, now), ["m5"]);
        for _ in 0..5 {
            line.release(Lane::Change);
        }
        assert_eq!(passed(&mut line, now), ["s2"]);
        line.release(Lane::Status);
        line.release(Lane::Status);
        assert_eq!(passed(&mut line, now), ["e2"]);
    }

    #[test]
    fn who_leaves_is_not_served() {
        let (mut line, now) = (Line::new(0.0, 0, 0), Instant::now());
        let place = line.join(Lane::Create, "", now, "a");
        line.join(Lane::Create, "", now, "b");
        line.leave(place);
        assert_eq!(passed(&mut line, now), ["b"]);
    }

    #[test]
    fn a_namespace_with_thousands_of_writes_delays_another_by_one() {
        for lane in Lane::ALL {
            let (mut line, now) = (Line::new(0.0, 0, 0), Instant::now());
            for _ in 0..5_000 {
                line.join(lane, "a", now, "a");
            }
            assert_eq!(line.next(now), Next::Grant("a"));
            line.join(lane, "b", now, "b");
            line.join(lane, "", now, "cluster");
            let next: [_; 4] = std::array::from_fn(|_| line.next(now));
            assert_eq!(next, ["a", "b", "cluster", "a"].map(Next::Grant), "{lane:?}");
        }
    }

    #[test]
    fn the_old_of_a_lane_take_turns_too() {
        let (mut line, start) = (Line::new(0.0, 0, 0), Instant::now());
        for _ in 0..5_000 {
            line.join(Lane::Change, "a", start, "a");
        }
        line.join(Lane::Change, "b", start, "gate of b");
        for _ in 0..5_000 {
            line.join(Lane::Create, "a", start, "pod of a");
        }
        let later = start + OLD + Duration::from_millis(1);
        let passed: Vec<_> = (0..16).map(|_| line.next(later)).collect();
        // However urgent the writes of the other tenant are.
        assert!(passed.contains(&Next::Grant("gate of b")), "{passed:?}");
    }

    #[test]
    fn odd_rates_do_no_harm() {
        for qps in [f64::MIN_POSITIVE, f64::INFINITY, f64::NAN, 1e12] {
            let (mut line, now) = (Line::new(qps, 1, 0), Instant::now());
            line.join(Lane::Create, "", now, "a");
            assert_eq!(passed(&mut line, now), ["a"], "{qps}");
        }
    }
}
