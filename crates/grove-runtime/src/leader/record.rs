//! When a lease may be taken: client-go's rules as a pure function.
//!
//! Clocks of different machines are never compared. What counts is how long *we* have seen a record without a change.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use tokio::time::Instant;

/// The record that was seen last, and when it was seen first.
#[derive(Debug, Default)]
pub(super) struct Observed {
    record: Option<(LeaseSpec, Instant)>,
}

/// What to do about a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is ours: write that we are alive.
    Renew,
    /// It is nobody's, or its holder has been silent for too long: write ourselves into it.
    Take,
    /// Somebody else has it.
    Wait,
}

impl Observed {
    /// Notes what the server has and decides what to do about it.
    pub(super) fn decide(&mut self, found: &LeaseSpec, me: &str, now: Instant) -> Decision {
        if self.record.as_ref().is_none_or(|(known, _)| known != found) {
            self.record = Some((found.clone(), now));
        }
        let holder = found.holder_identity.as_deref().unwrap_or_default();
        if holder == me {
            return Decision::Renew;
        }
        let since = self.record.as_ref().map_or(now, |(_, since)| *since);
        let lasts = u64::try_from(found.lease_duration_seconds.unwrap_or_default()).unwrap_or_default();
        if holder.is_empty() || now >= since + Duration::from_secs(lasts) {
            Decision::Take
        } else {
            Decision::Wait
        }
    }
}

/// The holder of a lease, if there is one.
pub(super) fn holder(lease: &Lease) -> Option<&str> {
    lease.spec.as_ref()?.holder_identity.as_deref().filter(|holder| !holder.is_empty())
}

/// The record that says that `me` holds the lease.
pub(super) fn held(before: Option<&LeaseSpec>, me: &str, lasts: Duration, now: Timestamp) -> LeaseSpec {
    let was_ours = before.is_some_and(|spec| spec.holder_identity.as_deref() == Some(me));
    let transitions = before.and_then(|spec| spec.lease_transitions).unwrap_or_default();
    let taken = before.and_then(|spec| spec.acquire_time.clone()).filter(|_| was_ours);
    LeaseSpec {
        holder_identity: Some(me.to_owned()),
        lease_duration_seconds: Some(i32::try_from(lasts.as_secs()).unwrap_or(i32::MAX)),
        acquire_time: Some(taken.unwrap_or(MicroTime(now))),
        renew_time: Some(MicroTime(now)),
        lease_transitions: Some(match before {
            Some(_) if !was_ours => transitions.saturating_add(1),
            _ => transitions,
        }),
        ..before.cloned().unwrap_or_default()
    }
}

/// The record that says that nobody holds the lease, so that the next one need not wait.
pub(super) fn released(before: &LeaseSpec, now: Timestamp) -> LeaseSpec {
    LeaseSpec {
        holder_identity: Some(String::new()),
        lease_duration_seconds: Some(1),
        acquire_time: Some(MicroTime(now)),
        renew_time: Some(MicroTime(now)),
        ..before.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn spec(holder: &str, renewed: i64) -> LeaseSpec {
        LeaseSpec {
            holder_identity: Some(holder.to_owned()),
            lease_duration_seconds: Some(15),
            renew_time: Some(MicroTime(time(renewed))),
            ..LeaseSpec::default()
        }
    }

    #[test]
    fn a_lease_is_taken_after_its_holder_was_silent_as_long_as_we_watched() {
        let (start, mut observed) = (Instant::now(), Observed::default());
        let mut at =
            |second, spec: &LeaseSpec| observed.decide(spec, "me", start + Duration::from_secs(second));
        assert_eq!(at(0, &spec("other", 1)), Decision::Wait);
        assert_eq!(at(14, &spec("other", 1)), Decision::Wait);
        // Whatever its clock says, it lives.
        assert_eq!(at(14, &spec("other", -1_000)), Decision::Wait);
        assert_eq!(at(28, &spec("other", -1_000)), Decision::Wait);
        assert_eq!(at(29, &spec("other", -1_000)), Decision::Take);
        // A third one was faster.
        assert_eq!(at(30, &spec("third", 30)), Decision::Wait);
        assert_eq!(at(45, &spec("third", 30)), Decision::Take);
    }

    #[test]
    fn a_record_renewed_long_ago_is_not_expired_at_first_sight() {
        let mut observed = Observed::default();
        assert_eq!(observed.decide(&spec("other", 0), "me", Instant::now()), Decision::Wait);
    }

    #[test]
    fn what_is_nobodys_or_ours_needs_no_waiting() {
        let (now, mut observed) = (Instant::now(), Observed::default());
        assert_eq!(observed.decide(&spec("", 1), "me", now), Decision::Take);
        assert_eq!(observed.decide(&spec("me", 2), "me", now), Decision::Renew);
        assert_eq!(observed.decide(&LeaseSpec::default(), "me", now), Decision::Take);
        let endless = LeaseSpec { lease_duration_seconds: None, ..spec("other", 1) };
        assert_eq!(observed.decide(&endless, "me", now), Decision::Take, "it lasts for no time at all");
    }

    #[test]
    fn records_count_changes_of_hands() {
        let lasts = Duration::from_secs(15);
        let first = held(None, "a", lasts, time(1));
        assert_eq!((first.lease_transitions, first.lease_duration_seconds), (Some(0), Some(15)));
        let renewed = held(Some(&first), "a", lasts, time(5));
        assert_eq!(renewed.lease_transitions, Some(0));
        assert_eq!((renewed.acquire_time.unwrap().0, renewed.renew_time.unwrap().0), (time(1), time(5)));
        let taken = held(Some(&first), "b", lasts, time(30));
        assert_eq!(taken.lease_transitions, Some(1));
        assert_eq!((taken.acquire_time.unwrap().0, taken.renew_time.unwrap().0), (time(30), time(30)));
        let free = released(&first, time(9));
        assert_eq!((free.holder_identity.as_deref(), free.lease_duration_seconds), (Some(""), Some(1)));
        assert_eq!(held(Some(&free), "a", lasts, time(10)).lease_transitions, Some(1));
    }
}
