//! The queue that a workload is charged to.

use grove_scheduler::workload::DEFAULT_QUEUE;
use serde_json::Value;

use crate::{metadata::label, settings::Settings};

const PROJECT: &str = "project";

/// Labels of the owner come before those of the pod, and a label that names the queue before a project. An empty label
/// is a label too.
pub(crate) fn queue(top: &Value, pod: &Value, settings: &Settings) -> String {
    let of_both = |key: &str| label(top, key).or_else(|| label(pod, key));
    if let Some(queue) = of_both(&settings.queue_label) {
        return queue.to_owned();
    }
    let Some(project) = of_both(PROJECT).filter(|it| !it.is_empty()) else { return DEFAULT_QUEUE.to_owned() };
    match label(pod, &settings.node_pool_label).filter(|it| !it.is_empty()) {
        Some(pool) => format!("{project}-{pool}"),
        None => project.to_owned(),
    }
}

#[cfg(test)]
mod tests;
