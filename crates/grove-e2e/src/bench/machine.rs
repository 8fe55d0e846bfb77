//! The machine that was measured on: times mean nothing without it.

use std::{fs, time::Duration};

use k8s_openapi::jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What a reader of the figures has to know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Machine {
    /// When it began.
    pub(super) date: String,
    /// Model of the processor.
    pub(super) processor: String,
    /// Processors we may use.
    pub(super) cores: usize,
    /// Memory in MB.
    pub(super) memory_mb: u64,
    /// Load of the last minute before we began: what others took from it.
    pub(super) load: f64,
    /// `debug` or `release`: how our side was built.
    pub(super) build: String,
}

impl Machine {
    /// This machine, now.
    pub(super) fn now() -> Self {
        let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
        Self {
            date: Timestamp::now().round(k8s_openapi::jiff::Unit::Second).unwrap_or_default().to_string(),
            processor: field(&read("/proc/cpuinfo"), "model name").unwrap_or("unknown").to_owned(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_mb: field(&read("/proc/meminfo"), "MemTotal").and_then(first).unwrap_or_default() / 1024,
            load: load(&read("/proc/loadavg")),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
        }
    }
}

/// Processor time that this process has used. Linux counts it in hundredths of a second.
pub(super) fn cpu_time() -> Duration {
    cpu_time_of(std::process::id())
}

/// Processor time that a process has used.
pub(super) fn cpu_time_of(pid: u32) -> Duration {
    cpu_of(&fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default())
}

/// The most memory that a process ever had, in MB.
pub(super) fn peak_memory_of(pid: u32) -> Option<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kilobytes = u32::try_from(field(&text, "VmHWM").and_then(first)?).ok()?;
    Some(f64::from(kilobytes) / 1024.0)
}

fn cpu_of(stat: &str) -> Duration {
    // The name of the program comes second, in brackets, and may have blanks.
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks: u64 =
        after_name.split_whitespace().skip(11).take(2).filter_map(|it| it.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// The value of `key : value` in a file of /proc.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let lines = text.lines().filter_map(|it| it.split_once(':'));
    lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| value.trim()).next()
}

fn first(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

fn load(text: &str) -> f64 {
    text.split_whitespace().next().and_then(|it| it.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_proc() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194560 10 0 0 0 150 25 0 0 20 0 1 0 100 0 0";
        assert_eq!(cpu_of(stat), Duration::from_millis(1750));
        let memory = "MemTotal:       24681524 kB\nMemFree:          466024 kB\n";
        assert_eq!(field(memory, "MemTotal").and_then(first), Some(24_681_524));
        assert!((load("4.94 5.87 5.18 3/512 1234\n") - 4.94).abs() < 1e-9);
    }
}
