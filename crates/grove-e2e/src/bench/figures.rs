//! What was measured, and the file that keeps it.

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Order, machine::Machine};

/// One column of the table. Times are in seconds: the first four since the first request, `gone_s` since the first
/// request that deletes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    /// The first pod exists.
    pub(super) first_pod_s: f64,
    /// All pods exist.
    pub(super) created_s: f64,
    /// All pods are bound to nodes.
    pub(super) bound_s: f64,
    /// All pods are ready.
    pub(super) ready_s: f64,
    /// No pod is left.
    pub(super) gone_s: f64,
    /// The pods of ten more replicas are let go, since they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scaled_s: Option<f64>,
    /// API writes until all pods were ready.
    pub(super) writes: usize,
    /// The same by verb and resource.
    pub(super) writes_by: BTreeMap<String, usize>,
    /// Processor time of the writer until all pods were ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cpu_s: Option<f64>,
    /// Peak memory of the writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) peak_mb: Option<f64>,
    /// Writes while nothing changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) idle_writes_per_s: Option<f64>,
    /// Pods in all.
    pub(super) pods: usize,
    /// Simulated nodes.
    pub(super) nodes: usize,
    /// Requests at the same time.
    pub(super) tasks: usize,
    /// When gangs were let go.
    pub(super) order: Order,
    /// Where.
    pub(super) machine: Machine,
}

/// Seconds to the millisecond; more would be noise.
pub(super) fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}

/// Seconds from `start` to `at`, which has come when this is asked.
pub(super) fn since(start: Instant, at: Option<Instant>) -> f64 {
    seconds(at.map_or(Duration::ZERO, |it| it.saturating_duration_since(start)))
}

/// Writes `figures` as the object `name` of the file; its other objects stay.
pub(super) fn save(file: &Path, name: &str, figures: &Figures) -> Result<()> {
    let before = match fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error).with_context(|| file.display().to_string()),
    };
    let text = put(before.as_deref(), name, figures).with_context(|| file.display().to_string())?;
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text).with_context(|| file.display().to_string())
}

fn put(before: Option<&str>, name: &str, figures: &Figures) -> Result<String> {
    let mut all: Map<String, Value> = before.map_or(Ok(Map::new()), serde_json::from_str)?;
    all.insert(name.to_owned(), serde_json::to_value(figures)?);
    Ok(serde_json::to_string_pretty(&all)? + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_objects_stay() {
        let figures = Figures { writes: 4000, ..Figures::default() };
        let text =
            put(Some(r#"{"operator": {"writes": 7}, "bare": {"writes": 1}}"#), "bare", &figures).unwrap();
        let all: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(all["operator"]["writes"], 7);
        assert_eq!(all["bare"]["writes"], 4000);
        assert!(all["bare"].get("peak_mb").is_none(), "what was not measured is not there");
        assert!(put(None, "bare", &figures).is_ok());
        assert!(
            put(Some("no json"), "bare", &figures).is_err(),
            "a file that is not ours is not overwritten"
        );
    }
}
