//! Pauses between failures of one informer: longer each time, short again after it worked for a while.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::jitter::spread;

/// The first pause and the longest.
pub(super) const PAUSE: Duration = Duration::from_millis(400);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
    /// When the last pause ended.
    resumed: Instant,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { next: PAUSE, resumed: Instant::now() }
    }

    /// Waits after a failure.
    pub(super) async fn pause(&mut self) {
        // A list that worked between two failures is no success: a server may refuse every watch after it.
        if self.resumed.elapsed() > LONGEST_PAUSE {
            self.next = PAUSE;
        }
        self.next = (self.next * 2).min(LONGEST_PAUSE);
        sleep(spread(self.next, 0.5)).await;
        self.resumed = Instant::now();
    }
}
