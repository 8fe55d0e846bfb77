//! What a restart policy allows: how often something is restarted, how fast, and when that is counted anew.

use grove_api::{
    constants::{annotations, labels},
    limits::MAX_RESET_LENGTH,
    wire::{GoDuration, PodClique, PodCliqueSet, RestartCount, RestartPolicy, RestartScope, Time},
};
use k8s_openapi::jiff::{RoundMode, SignedDuration, Timestamp, TimestampRound, Unit};

use crate::{
    facts::index_label,
    layout::{count, wire_count},
    rollout,
};

const MAX_RESTARTS: i32 = 10;
const WINDOW: SignedDuration = SignedDuration::from_hours(1);
const INITIAL: SignedDuration = SignedDuration::from_secs(10);
const LONGEST: SignedDuration = SignedDuration::from_mins(5);

/// The restart policy of a set, with everything that it leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules<'a> {
    /// What is restarted together.
    pub scope: RestartScope,
    max: u32,
    window: SignedDuration,
    /// The first pause, and the longest.
    pauses: (SignedDuration, SignedDuration),
    /// Hash of the set's template.
    hash: &'a str,
    reset: Option<&'a str>,
}

/// What happens about a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ruling {
    /// A restart, after this is noted.
    Restart(RestartCount),
    /// Nothing before then.
    Wait(Timestamp),
    /// It was one too many: this is noted, and nothing is restarted any more.
    Exhausted(RestartCount),
    /// Nothing: that is noted already.
    Over,
}

impl<'a> Rules<'a> {
    /// The rules of a set with a restart policy; `hash` is that of its template.
    pub fn of(set: &'a PodCliqueSet, hash: &'a str) -> Option<Self> {
        let policy = set.spec.template.restart_policy.as_ref()?;
        Some(Self {
            scope: policy.scope,
            max: count(policy.max_restarts.unwrap_or(MAX_RESTARTS)),
            window: duration(policy.window.as_ref()).unwrap_or(WINDOW),
            pauses: pauses(policy),
            hash,
            reset: reset(set),
        })
    }

    /// Likewise for a clique, unless its set replica has its turn in an update: that replaces what is in its way, and what was
    /// counted before was of another template.
    pub fn of_clique(set: &'a PodCliqueSet, hash: &'a str, clique: &PodClique) -> Option<Self> {
        let replica = index_label(clique.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX);
        Self::of(set, hash).filter(|_| replica.is_none() || rollout::turn(set) != replica)
    }

    /// Whether what was counted still counts: for these rules, this template, and since the last reset. To remove the
    /// annotation resets nothing.
    pub fn counts(&self, count: &RestartCount) -> bool {
        count.scope == self.scope
            && count.pod_clique_set_generation_hash == self.hash
            && (self.reset.is_none() || count.reset.as_deref() == self.reset)
    }

    /// Whether nothing is restarted any more. More restarts than there were then may be allowed since.
    pub fn is_exhausted(&self, noted: &RestartCount) -> bool {
        self.counts(noted) && noted.exhausted_at.is_some() && count(noted.count) >= self.max
    }

    /// What happens about a failure, after these restarts.
    pub fn on_failure(&self, noted: Option<&RestartCount>, now: Timestamp) -> Ruling {
        let noted = noted.filter(|it| self.counts(it));
        if noted.is_some_and(|it| self.is_exhausted(it)) {
            return Ruling::Over;
        }
        let in_window =
            noted.filter(|it| it.window_start.0.checked_add(self.window).map_or(true, |end| end > now));
        let (before, window_start) = in_window.map_or((0, now), |it| (count(it.count), it.window_start.0));
        let next_at = noted.map_or(now, |it| it.next_at.0);
        if before >= self.max {
            return Ruling::Exhausted(self.count(before, window_start, next_at, Some(now)));
        }
        if next_at > now {
            return Ruling::Wait(next_at);
        }
        let next_at = now.checked_add(self.pause(before)).map_or(Timestamp::MAX, whole_second);
        Ruling::Restart(self.count(before + 1, window_start, next_at, None))
    }

    /// The pause after a restart that came after so many others.
    fn pause(&self, before: u32) -> SignedDuration {
        let (first, longest) = self.pauses;
        first.saturating_mul(2_i32.saturating_pow(before)).min(longest)
    }

    fn count(
        &self,
        restarts: u32,
        window_start: Timestamp,
        next_at: Timestamp,
        exhausted_at: Option<Timestamp>,
    ) -> RestartCount {
        RestartCount {
            scope: self.scope,
            count: wire_count(restarts as usize),
            window_start: Time(window_start),
            next_at: Time(next_at),
            exhausted_at: exhausted_at.map(Time),
            pod_clique_set_generation_hash: self.hash.to_owned(),
            reset: self.reset.map(str::to_owned),
        }
    }

    /// A restart in words.
    pub fn words(&self, count: &RestartCount) -> String {
        let (max, window) = (self.max, self.window);
        format!(
            "a container failed; restart {} of at most {max} within {window:#}, the next not before {}",
            count.count, count.next_at.0
        )
    }

    /// Why nothing is restarted any more, and what to do about it.
    pub fn exhausted_words(&self, what: impl std::fmt::Display, count: &RestartCount) -> String {
        let window = self.window;
        let times = match count.count {
            1 => "once".to_owned(),
            times => format!("{times} times"),
        };
        format!(
            "{what} was restarted {times} within {window:#} and failed again; nothing restarts it until the annotation \
             {} of the set gets another value, its template changes, or maxRestarts is raised",
            annotations::RESET_RESTARTS
        )
    }
}

/// What the annotation that resets the budget says, as far as that counts.
pub fn reset(set: &PodCliqueSet) -> Option<&str> {
    let value = set.metadata.annotations.as_ref()?.get(annotations::RESET_RESTARTS)?;
    value.get(..value.floor_char_boundary(MAX_RESET_LENGTH))
}

fn pauses(policy: &RestartPolicy) -> (SignedDuration, SignedDuration) {
    let backoff = policy.backoff.as_ref();
    let initial = duration(backoff.and_then(|it| it.initial.as_ref()));
    let longest = duration(backoff.and_then(|it| it.max.as_ref()));
    let first = initial.unwrap_or_else(|| longest.map_or(INITIAL, |it| it.min(INITIAL)));
    (first, longest.unwrap_or(LONGEST).max(first))
}

/// What is no positive duration came past admission, and is as good as not said.
fn duration(text: Option<&GoDuration>) -> Option<SignedDuration> {
    let duration = SignedDuration::try_from(text?.to_std().ok()?).ok()?;
    duration.is_positive().then_some(duration)
}

/// The next whole second, as statuses have no others: the part that they leave out would be missing from the pause.
fn whole_second(time: Timestamp) -> Timestamp {
    time.round(TimestampRound::new().smallest(Unit::Second).mode(RoundMode::Ceil)).unwrap_or(time)
}

#[cfg(test)]
mod tests;
