//! Memory and processor time of this process, read from Linux when somebody asks.

use std::fs::read_to_string;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// The unit of processor times in `/proc`, the same on every architecture of Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// Metrics that every Prometheus client has. Absent where there is no `/proc`.
#[derive(Debug)]
pub(crate) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        if let Some(bytes) = read_to_string("/proc/self/status").ok().as_deref().and_then(resident_bytes) {
            let gauge = ConstGauge::new(bytes);
            let metric = encoder.encode_descriptor(
                "process_resident_memory_bytes",
                "Resident memory size in bytes",
                None,
                gauge.metric_type(),
            )?;
            gauge.encode(metric)?;
        }
        if let Some(seconds) = read_to_string("/proc/self/stat").ok().as_deref().and_then(cpu_seconds) {
            let counter = ConstCounter::new(seconds);
            let metric = encoder.encode_descriptor(
                "process_cpu_seconds",
                "Total user and system CPU time spent in seconds",
                None,
                counter.metric_type(),
            )?;
            counter.encode(metric)?;
        }
        Ok(())
    }
}

/// `VmRSS` of `/proc/self/status`.
fn resident_bytes(status: &str) -> Option<i64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse::<i64>().ok()?.checked_mul(1_024)
}

/// `utime` and `stime` of `/proc/self/stat`.
fn cpu_seconds(stat: &str) -> Option<f64> {
    // The second field is the name in parentheses, which may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    let (user, system) = (times.next()?.ok()?, times.next()?.ok()?);
    Some((f64::from(user) + f64::from(system)) / TICKS_PER_SECOND)
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn reads_what_linux_writes() {
        assert_eq!(resident_bytes("Name:\tgrove\nVmRSS:\t   12345 kB\nThreads: 3\n"), Some(12_641_280));
        assert_eq!(resident_bytes("Name:\tgrove\n"), None);
        let stat = "42 (a) b (c) S 1 2 3 4 5 6 7 8 9 10 250 50 13 14";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds("42 (a) S 1"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_has_memory_and_time() {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(ProcessCollector));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)).expect(name);
            line.trim().parse().unwrap()
        };
        assert!(value("process_resident_memory_bytes ") > 100_000.0, "{text}");
        assert!(value("process_cpu_seconds_total ") >= 0.0, "{text}");
    }
}
