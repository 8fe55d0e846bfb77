//! Questions to the API server that are asked again where nobody answers.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tracing::warn;

/// First and longest pause.
const PAUSE: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(1));

/// Asks, and asks again for so long while the answer may come a little later. For what may be asked twice: reads, dry runs.
pub async fn patiently<T, F>(patience: Duration, ask: impl Fn() -> F) -> kube::Result<T>
where
    F: Future<Output = kube::Result<T>>,
{
    let end = Instant::now() + patience;
    let mut pause = PAUSE.0;
    loop {
        match ask().await {
            Err(error) if is_passing(&error) && Instant::now() + pause <= end => {
                warn!(%error, "the API server does not answer, and is asked again");
                sleep(pause).await;
                pause = (pause * 2).min(PAUSE.1);
            }
            answer => return answer,
        }
    }
}

/// Whether the same question may have an answer a little later. One that was refused is refused again.
pub(crate) fn is_passing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 429 || status.code >= 500,
        kube::Error::Service(_) | kube::Error::HyperError(_) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::{Call, server};

    /// Asks for 30 s; each question is answered as `answer` says.
    async fn asked(answer: impl Fn(usize, Call) + Send + 'static) -> (usize, kube::Result<String>, Duration) {
        let (client, mut calls) = server();
        let begun = Instant::now();
        let asking = tokio::spawn(async move {
            let request = || http::Request::get("/readyz").body(Vec::new()).unwrap();
            patiently(Duration::from_secs(30), || client.request_text(request())).await
        });
        let mut count = 0;
        while let Some(call) = calls.recv().await {
            answer(count, call);
            count += 1;
        }
        (count, asking.await.unwrap(), begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn what_passes_is_waited_for() {
        let (count, answer, _) = asked(|index, call| match index {
            // The connection is lost.
            0 => drop(call),
            1 => call.refuse(503, "ServiceUnavailable", "starting"),
            2 => call.refuse(429, "TooManyRequests", "later"),
            _ => call.answer(&serde_json::json!("ok")),
        })
        .await;
        assert_eq!((count, answer.unwrap().as_str()), (4, "\"ok\""));
    }

    #[tokio::test(start_paused = true)]
    async fn patience_ends() {
        let (count, answer, took) = asked(|_, call| drop(call)).await;
        assert!(matches!(answer, Err(kube::Error::Service(_))), "{answer:?}");
        // After 0 and 0.25 s, and then each second from 0.75 s to 29.75 s.
        assert_eq!((count, took), (32, Duration::from_millis(29_750)));
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_refused_does_not_ask_again() {
        for code in [401, 403, 404, 409] {
            let (count, answer, _) = asked(move |_, call| call.refuse(code, "No", "who are you")).await;
            assert_eq!(count, 1, "{code}");
            assert!(answer.is_err(), "{code}");
        }
    }
}
