//! Asking until an answer is good.

use std::time::{Duration, Instant};

use anyhow::Result;

/// Pause between two questions.
const PAUSE: Duration = Duration::from_millis(100);

/// Asks until the answer is no error; at the deadline, the last error says what was still wrong.
pub(crate) async fn eventually<T, F>(what: &str, deadline: Duration, ask: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let end = Instant::now() + deadline;
    loop {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) if Instant::now() > end => {
                return Err(error.context(format!("not within {deadline:?}: {what}")));
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
