//! The time that is written into objects, and by which delays are measured.

use std::{fmt, sync::Arc, time::Duration};

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

/// Source of the current time. Clones are the same clock.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The clock of the machine.
    pub fn system() -> Self {
        Self::new(Timestamp::now)
    }

    /// Begins at `start` and follows tokio's clock, which tests can pause.
    pub fn of_tokio(start: Timestamp) -> Self {
        let begin = Instant::now();
        Self::new(move || later(start, begin.elapsed()))
    }

    /// Asks `now` for the time.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }

    /// How long it takes until `then`; zero if that has passed.
    pub(crate) fn until(&self, then: Timestamp) -> Duration {
        Duration::try_from(self.now().duration_until(then)).unwrap_or_default()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}

/// This long after `time`; the end of time where that does not exist.
pub(crate) fn later(time: Timestamp, delay: Duration) -> Timestamp {
    let delay = SignedDuration::try_from(delay).unwrap_or(SignedDuration::MAX);
    time.checked_add(delay).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_follows_a_paused_clock() {
        let clock = Clock::of_tokio(Timestamp::UNIX_EPOCH);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(clock.now().as_second(), 5);
        assert_eq!(clock.until(later(Timestamp::UNIX_EPOCH, Duration::from_secs(7))), Duration::from_secs(2));
        assert_eq!(clock.until(Timestamp::UNIX_EPOCH), Duration::ZERO);
    }

    #[test]
    fn delays_without_end_are_no_panic() {
        assert_eq!(later(Timestamp::UNIX_EPOCH, Duration::MAX), Timestamp::MAX);
    }
}
