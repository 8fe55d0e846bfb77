//! The wall clock of a simulated cluster: it follows the virtual time of the runtime that the cluster lives in.

use std::cell::Cell;

use k8s_openapi::jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

thread_local! {
    /// When the cluster of this thread began.
    static START: Cell<Option<Instant>> = const { Cell::new(None) };
    /// By how many seconds the operator's clock is wrong.
    static WRONG: Cell<i64> = const { Cell::new(0) };
}

/// The date on which every simulated cluster begins.
const BASE: i64 = 1_800_000_000;

/// A new cluster begins now.
pub(crate) fn begin() {
    START.set(Some(Instant::now()));
    WRONG.set(0);
}

/// Sets the operator's clock: it is wrong by so many seconds from now on.
pub(crate) fn set_wrong(seconds: i64) {
    WRONG.set(seconds);
}

/// The time as the operator has it.
pub(crate) fn operator_now() -> Timestamp {
    let now = now();
    now.checked_add(SignedDuration::from_secs(WRONG.get())).unwrap_or(now)
}

/// How long the cluster has been there.
pub(crate) fn elapsed() -> std::time::Duration {
    START.get().map(|it| it.elapsed()).unwrap_or_default()
}

/// The time on the wall.
pub(crate) fn now() -> Timestamp {
    let since = SignedDuration::try_from(elapsed()).unwrap_or_default();
    let base = Timestamp::from_second(BASE).unwrap_or_default();
    base.checked_add(since).unwrap_or(base)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn follows_virtual_time() {
        begin();
        let first = now();
        tokio::time::sleep(Duration::from_secs(90)).await;
        assert_eq!(now().duration_since(first), SignedDuration::from_secs(90));
        set_wrong(-60);
        assert_eq!(now().duration_since(operator_now()), SignedDuration::from_secs(60));
        begin();
        assert_eq!(now(), operator_now());
    }
}
