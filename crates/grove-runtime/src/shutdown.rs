//! SIGTERM and SIGINT: the first one asks politely, the second one ends the process.

use futures::{Stream, StreamExt as _, stream};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

/// Exit code after a second signal, as of a process ended by SIGINT.
const IMPATIENT: i32 = 130;

/// A token that the first SIGTERM or SIGINT cancels. A second one exits at once.
pub fn on_signal() -> std::io::Result<CancellationToken> {
    // Both are caught from here on, before anything is started that would have to be stopped.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    let signals = stream::poll_fn(move |cx| {
        let terminated = terminate.poll_recv(cx).map(|_| Some("SIGTERM"));
        if terminated.is_ready() { terminated } else { interrupt.poll_recv(cx).map(|_| Some("SIGINT")) }
    });
    tokio::spawn(async move { follow(signals, &token, |code| std::process::exit(code)).await });
    Ok(stop)
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

    #[tokio::test]
    async fn signals_can_be_caught() {
        assert!(!on_signal().unwrap().is_cancelled());
    }
}
