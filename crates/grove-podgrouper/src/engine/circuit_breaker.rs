//! A deadline for reads, and a pause after one that met it.
//!
//! A worker that waits for an answer groups no other pod. So a read ends after a few seconds, and what did not answer is left
//! alone for a while: then one worker tries it, and not all of them.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::{Instant, timeout};

use super::objects::NotRead;

/// How long a read may hold a worker.
pub(crate) const READ_DEADLINE: Duration = Duration::from_secs(5);
/// How long what did not answer is left alone.
const PAUSE: Duration = Duration::from_secs(30);

/// Guards reads of one thing: a list of kinds, a kind.
#[derive(Debug, Default)]
pub(crate) struct CircuitBreaker {
    /// Until when nothing is read, after a read met its deadline. Past that, one read is let through at a time.
    paused: Mutex<Option<Instant>>,
}

impl CircuitBreaker {
    /// The answer, if it comes in time and none was awaited in vain a moment ago.
    pub(crate) async fn run<T>(&self, reading: impl Future<Output = T>) -> Result<T, NotRead> {
        if !self.admit() {
            return Err(stalled());
        }
        let answer = timeout(READ_DEADLINE, reading).await;
        *self.paused.lock() = answer.is_err().then(|| Instant::now() + PAUSE);
        answer.map_err(|_| stalled())
    }

    /// Whether a read would be refused now.
    pub(crate) fn is_open(&self) -> bool {
        self.paused.lock().is_some_and(|until| Instant::now() < until)
    }

    fn admit(&self) -> bool {
        let (mut paused, now) = (self.paused.lock(), Instant::now());
        match *paused {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                // Others wait for what becomes of this one.
                *paused = Some(now + PAUSE);
                true
            }
        }
    }
}

pub(crate) fn stalled() -> NotRead {
    NotRead::Failed("the API server does not answer".to_owned())
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_does_not_answer_is_tried_by_one_at_a_time() {
        let breaker = CircuitBreaker::default();
        let began = Instant::now();
        assert_eq!(breaker.run(pending::<()>()).await, Err(stalled()));
        assert_eq!(began.elapsed(), READ_DEADLINE);
        // No worker waits for it meanwhile.
        assert!(breaker.is_open());
        assert_eq!(breaker.run(ready(1)).await, Err(stalled()));
        assert_eq!(began.elapsed(), READ_DEADLINE);
        tokio::time::advance(PAUSE).await;
        // One tries, and the others see that it does.
        let both = tokio::join!(breaker.run(pending::<()>()), breaker.run(ready(2)));
        assert_eq!(both, (Err(stalled()), Err(stalled())));
        tokio::time::advance(PAUSE).await;
        assert_eq!(breaker.run(ready(3)).await, Ok(3));
        assert_eq!(tokio::join!(breaker.run(ready(4)), breaker.run(ready(5))), (Ok(4), Ok(5)));
    }
}
