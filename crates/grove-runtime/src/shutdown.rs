//! SIGTERM, SIGINT and SIGHUP: the first one asks politely, the second one ends the process.

use std::task::Poll;

use futures::{Stream, StreamExt as _, stream};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Exit code after a second signal, as of a process ended by SIGINT.
const IMPATIENT: i32 = 130;

/// A token that the first SIGTERM, SIGINT or SIGHUP cancels. A second one exits at once. SIGHUP stays ignored where it is, as under nohup.
pub fn on_signal() -> std::io::Result<CancellationToken> {
    let mut kinds = vec![("SIGTERM", SignalKind::terminate()), ("SIGINT", SignalKind::interrupt())];
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    if !is_ignored(&status, SignalKind::hangup().as_raw_value()) {
        kinds.push(("SIGHUP", SignalKind::hangup()));
    }
    // All are caught from here on, before anything is started that would have to be stopped.
    let caught = kinds.into_iter().map(|(name, kind)| Ok((name, signal(kind)?)));
    let mut caught = caught.collect::<std::io::Result<Vec<_>>>()?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    let signals = stream::poll_fn(move |cx| {
        let raised = caught.iter_mut().find_map(|(name, it)| it.poll_recv(cx).is_ready().then_some(*name));
        raised.map_or(Poll::Pending, |name| Poll::Ready(Some(name)))
    });
    tokio::spawn(async move { follow(signals, &token, |code| std::process::exit(code)).await });
    Ok(stop)
}

/// Whether a process ignores a signal, by its `/proc/PID/status`.
fn is_ignored(status: &str, signal: i32) -> bool {
    let mask = status.lines().find_map(|it| it.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}

async fn follow(
    mut signals: impl Stream<Item = &'static str> + Unpin,
    stop: &CancellationToken,
    exit: impl FnOnce(i32),
) {
    let Some(signal) = signals.next().await else { return };
    info!(signal, "stopping");
    stop.cancel();
    let Some(signal) = signals.next().await else { return };
    warn!(signal, "exiting without waiting any longer");
    exit(IMPATIENT);
}

#[cfg(test)]
mod tests {
    use tokio::sync::{mpsc, oneshot};

    use super::*;

    #[tokio::test]
    async fn the_first_signal_asks_and_the_second_one_exits() {
        let (raise, mut signals) = mpsc::unbounded_channel();
        let (exit, mut exited) = oneshot::channel();
        let stop = CancellationToken::new();
        let token = stop.clone();
        let task = tokio::spawn(async move {
            let signals = stream::poll_fn(move |cx| signals.poll_recv(cx));
            follow(signals, &token, |code| exit.send(code).unwrap()).await;
        });
        tokio::task::yield_now().await;
        assert!(!stop.is_cancelled());
        raise.send("SIGTERM").unwrap();
        stop.cancelled().await;
        tokio::task::yield_now().await;
        assert!(exited.try_recv().is_err());
        raise.send("SIGINT").unwrap();
        assert_eq!(exited.await, Ok(130));
        task.await.unwrap();
    }

    #[test]
    fn a_hangup_is_ignored_under_nohup() {
        let rows = [
            ("Name:\tgrove\nSigIgn:\t0000000000001001\n", true),
            ("SigBlk:\t0000000000000001\nSigIgn:\t0000000000001000\n", false),
            ("", false),
        ];
        for (status, want) in rows {
            assert_eq!(is_ignored(status, SignalKind::hangup().as_raw_value()), want, "{status}");
        }
    }

    #[tokio::test]
    async fn signals_can_be_caught() {
        assert!(!on_signal().unwrap().is_cancelled());
    }
}
