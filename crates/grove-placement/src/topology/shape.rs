//! The numbers of a described cluster.

use std::collections::BTreeSet;

use grove_api::{
    field::closest,
    limits::{MAX_DESCRIBED_DEVICES, MAX_DESCRIBED_NODES},
};

use super::{TopologyError, error};
use crate::resources::{self, CPU, MEMORY};

/// All keys, in the order in which people write them.
const KEYS: [&str; 7] = ["zones", "blocks", "racks", "hosts", "gpus", "cpus", "memory"];
/// What people write for a key, beside misspellings.
const SYNONYMS: [(&str, &str); 6] = [
    ("node", "hosts"),
    ("nodes", "hosts"),
    ("host", "hosts"),
    ("gpu", "gpus"),
    ("nvidia.com/gpu", "gpus"),
    ("mem", "memory"),
];

/// How many domains there are in each domain of the next wider level, and what a host has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Zones, where there are any.
    pub zones: Option<u64>,
    /// Blocks in each zone.
    pub blocks: Option<u64>,
    /// Racks in each block.
    pub racks: Option<u64>,
    /// Hosts in each rack.
    pub hosts: u64,
    /// GPUs of each host.
    pub gpus: u64,
    /// Thousandths of a processor of each host.
    pub cpu: i64,
    /// Bytes of memory of each host.
    pub memory: i64,
}

/// One host with 128 processors and 1 TiB, as the simulated nodes of Grove's own tests have them.
impl Default for Shape {
    fn default() -> Self {
        Self { zones: None, blocks: None, racks: None, hosts: 1, gpus: 0, cpu: 128_000, memory: 1 << 40 }
    }
}

impl Shape {
    /// From `racks=2,hosts=4,gpus=8`. Levels that are left out do not exist.
    pub fn parse(line: &str) -> Result<Self, TopologyError> {
        let mut shape = Self::default();
        let mut seen = BTreeSet::new();
        let parts: Vec<&str> = line.split(',').map(str::trim).filter(|it| !it.is_empty()).collect();
        if parts.is_empty() {
            return Err(error("", "the topology is empty: write for example racks=2,hosts=4,gpus=8"));
        }
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                return Err(error("", format!("{part:?} has no number: write for example racks=2")));
            };
            let (key, value) = (key.trim(), value.trim());
            if !seen.insert(key) {
                return Err(error(key, "is given twice: leave one out"));
            }
            shape.set(key, value)?;
        }
        shape.check()?;
        Ok(shape)
    }

    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), TopologyError> {
        match key {
            "zones" => self.zones = Some(count(key, value, MAX_DESCRIBED_NODES)?),
            "blocks" => self.blocks = Some(count(key, value, MAX_DESCRIBED_NODES)?),
            "racks" => self.racks = Some(count(key, value, MAX_DESCRIBED_NODES)?),
            "hosts" => self.hosts = count(key, value, MAX_DESCRIBED_NODES)?,
            "gpus" => self.gpus = number(key, value, 0, MAX_DESCRIBED_DEVICES)?,
            "cpus" => self.cpu = quantity(key, CPU, value, "cpus=64")?,
            "memory" => self.memory = quantity(key, MEMORY, value, "memory=512Gi")?,
            _ => return Err(unknown(key)),
        }
        Ok(())
    }

    /// How many nodes that makes.
    pub fn nodes(&self) -> u64 {
        let levels = [self.zones, self.blocks, self.racks];
        levels.into_iter().flatten().fold(self.hosts, u64::saturating_mul)
    }

    pub(super) fn check(&self) -> Result<(), TopologyError> {
        let nodes = self.nodes();
        if nodes <= MAX_DESCRIBED_NODES {
            return Ok(());
        }
        let message = format!(
            "the topology has {nodes} nodes, of {MAX_DESCRIBED_NODES} allowed: lower zones, blocks, racks or hosts"
        );
        Err(error("", message))
    }
}

fn count(key: &str, value: &str, most: u64) -> Result<u64, TopologyError> {
    number(key, value, 1, most)
}

fn number(key: &str, value: &str, least: u64, most: u64) -> Result<u64, TopologyError> {
    let digits = !value.is_empty() && value.chars().all(|it| it.is_ascii_digit());
    if !digits {
        return Err(error(key, format!("{value:?} is not a whole number: write for example {key}=2")));
    }
    // What has too many digits is too large.
    let number = value.parse().unwrap_or(u64::MAX);
    if (least..=most).contains(&number) {
        return Ok(number);
    }
    Err(error(key, format!("{value} is out of range: use {least} to {most}")))
}

fn quantity(key: &str, resource: &str, value: &str, example: &str) -> Result<i64, TopologyError> {
    let amount = resources::parse(resource, value).ok().filter(|it| *it > 0);
    amount.ok_or_else(|| error(key, format!("{value:?} is not an amount: write for example {example}")))
}

pub(super) fn unknown(key: &str) -> TopologyError {
    let synonym = SYNONYMS.iter().find(|it| it.0 == key.to_lowercase()).map(|it| it.1);
    let hint = synonym.or_else(|| closest(key, KEYS.into_iter()));
    let hint = hint.map_or_else(|| ":".to_owned(), |it| format!(", did you mean {it}?"));
    error(key, format!("unknown key{hint} the keys are {}", KEYS.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let full = Shape::parse("zones=2, blocks=3,racks=4,hosts=5,gpus=8,cpus=1.5,memory=2Gi,").unwrap();
        assert_eq!(
            (full.zones, full.blocks, full.racks, full.hosts, full.gpus),
            (Some(2), Some(3), Some(4), 5, 8)
        );
        assert_eq!((full.cpu, full.memory, full.nodes()), (1500, 2 << 30, 120));
        let small = Shape::parse("racks=2").unwrap();
        assert_eq!(small, Shape { racks: Some(2), ..Shape::default() });
    }

    #[test]
    fn errors_name_the_key_and_the_fix() {
        let rows = [
            ("", "the topology is empty: write for example racks=2,hosts=4,gpus=8"),
            (
                "rack=2",
                "rack: unknown key, did you mean racks? the keys are zones, blocks, racks, hosts, gpus, cpus, memory",
            ),
            ("nodes=2", "nodes: unknown key, did you mean hosts?"),
            ("flavour=2", "flavour: unknown key: the keys are zones"),
            ("racks", "\"racks\" has no number: write for example racks=2"),
            ("racks=two", "racks: \"two\" is not a whole number: write for example racks=2"),
            ("racks=-1", "racks: \"-1\" is not a whole number"),
            ("racks=", "racks: \"\" is not a whole number"),
            ("hosts=0", "hosts: 0 is out of range: use 1 to 10000"),
            ("gpus=99999999999999999999999", "gpus: 99999999999999999999999 is out of range: use 0 to 1000"),
            ("racks=1,racks=2", "racks: is given twice: leave one out"),
            (
                "racks=200,hosts=200",
                "the topology has 40000 nodes, of 10000 allowed: lower zones, blocks, racks or hosts",
            ),
            ("memory=lots", "memory: \"lots\" is not an amount: write for example memory=512Gi"),
            ("cpus=0", "cpus: \"0\" is not an amount: write for example cpus=64"),
        ];
        for (line, want) in rows {
            let error = Shape::parse(line).unwrap_err().to_string();
            assert!(error.starts_with(want), "{line}: {error}");
        }
        assert_eq!(Shape::parse("zones=10000,blocks=10000,racks=10000,hosts=10000").unwrap_err().key, "");
    }
}
