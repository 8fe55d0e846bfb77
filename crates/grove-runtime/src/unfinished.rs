//! Runs that have started and not ended, read on each scrape: a run that hangs appears in no histogram before it ends.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use tokio::time::Instant;

/// Runs of all queues. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unfinished(Arc<Mutex<Runs>>);

#[derive(Debug, Default)]
struct Runs {
    next: u64,
    /// When each began, by the name of its queue and its number.
    began: BTreeMap<&'static str, BTreeMap<u64, Instant>>,
}

/// A run, until this is dropped.
pub(crate) struct Run {
    all: Unfinished,
    name: &'static str,
    number: u64,
}

impl Unfinished {
    /// There is a queue of this name.
    pub(crate) fn add(&self, name: &'static str) {
        self.0.lock().began.entry(name).or_default();
    }

    pub(crate) fn begin(&self, name: &'static str) -> Run {
        let mut runs = self.0.lock();
        let number = runs.next;
        runs.next += 1;
        runs.began.entry(name).or_default().insert(number, Instant::now());
        Run { all: self.clone(), name, number }
    }

    /// The sum of all ages and the highest one, by queue.
    fn ages(&self) -> Vec<(&'static str, Duration, Duration)> {
        let now = Instant::now();
        let runs = self.0.lock();
        let ages = runs.began.iter().map(|(name, began)| {
            let ages = began.values().map(|it| now.saturating_duration_since(*it));
            (*name, ages.clone().sum::<Duration>(), ages.max().unwrap_or_default())
        });
        ages.collect()
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(runs) = self.all.0.lock().began.get_mut(self.name) {
            runs.remove(&self.number);
        }
    }
}

impl Collector for Unfinished {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let ages = self.ages();
        let mut sums = encoder.encode_descriptor(
            "workqueue_unfinished_work_seconds",
            "How long all keys together have been with their workers",
            None,
            MetricType::Gauge,
        )?;
        for (name, sum, _) in &ages {
            ConstGauge::new(sum.as_secs_f64()).encode(sums.encode_family(&[("name", *name)])?)?;
        }
        let mut longest = encoder.encode_descriptor(
            "workqueue_longest_running_processor_seconds",
            "How long a worker has had its key, of all workers the longest",
            None,
            MetricType::Gauge,
        )?;
        for (name, _, age) in &ages {
            ConstGauge::new(age.as_secs_f64()).encode(longest.encode_family(&[("name", *name)])?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_run_counts_until_it_ends() {
        let unfinished = Unfinished::default();
        unfinished.add("idle");
        let first = unfinished.begin("busy");
        tokio::time::advance(Duration::from_secs(3)).await;
        let second = unfinished.begin("busy");
        tokio::time::advance(Duration::from_secs(1)).await;
        let seconds = Duration::from_secs;
        let idle = ("idle", seconds(0), seconds(0));
        assert_eq!(unfinished.ages(), [("busy", seconds(5), seconds(4)), idle]);
        drop(first);
        assert_eq!(unfinished.ages(), [("busy", seconds(1), seconds(1)), idle]);
        drop(second);
        assert_eq!(unfinished.ages(), [("busy", seconds(0), seconds(0)), idle]);
    }
}
