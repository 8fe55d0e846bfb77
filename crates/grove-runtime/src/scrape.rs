//! The text of all metrics, rendered at most four times a second: rendering takes processor time, and a flood of questions
//! would take all of it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::telemetry::Metrics;

/// How old an answer may be. Prometheus asks every few seconds.
const FRESH: Duration = Duration::from_millis(250);

/// The last text. Clones share it.
#[derive(Clone)]
pub(crate) struct Scrape {
    metrics: Metrics,
    last: Arc<Mutex<Option<(Instant, Bytes)>>>,
}

impl Scrape {
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self { metrics, last: Arc::default() }
    }

    /// Those who ask while the text is rendered wait for it, and share it.
    pub(crate) fn text(&self) -> Result<Bytes, fmt::Error> {
        let mut last = self.last.lock();
        match &*last {
            Some((at, text)) if at.elapsed() < FRESH => Ok(text.clone()),
            _ => {
                let text = Bytes::from(self.metrics.encode()?);
                *last = Some((Instant::now(), text.clone()));
                Ok(text)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn questions_within_a_moment_share_one_text() {
        let metrics = Metrics::new();
        let scrape = Scrape::new(metrics.clone());
        let objects = |count: i64| format!("informer_objects{{kind=\"Pod\"}} {count}\n");
        let has = |count| String::from_utf8_lossy(&scrape.text().unwrap()).contains(&objects(count));
        metrics.informers.of_kind("Pod").objects(7);
        assert!(has(7));
        metrics.informers.of_kind("Pod").objects(8);
        tokio::time::advance(FRESH / 2).await;
        assert!(has(7), "as it was rendered");
        tokio::time::advance(FRESH).await;
        assert!(has(8), "rendered again");
    }
}
