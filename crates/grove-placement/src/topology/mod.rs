//! A cluster that is only described: in one line, `zones=2,blocks=2,racks=2,hosts=4,gpus=8`, or in a file.
//!
//! Each number counts within one domain of the next wider level that is given. A file has the same keys as YAML, or Node
//! objects as `kubectl get nodes -o yaml` prints them.

mod file;
mod nodes;
mod shape;

use crate::cluster::{Cluster, Level};

pub use file::parse_file;
pub use shape::Shape;

/// Node label of the zone.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// Node label of the block.
pub const BLOCK: &str = "topology.kubernetes.io/block";
/// Node label of the rack.
pub const RACK: &str = "topology.kubernetes.io/rack";
/// Node label of the host.
pub const HOST: &str = "kubernetes.io/hostname";

/// A description that cannot be read: the key, what is wrong with it, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", place(self))]
pub struct TopologyError {
    /// Line of the file, counted from 1.
    pub line: Option<usize>,
    /// The key; empty where it is about the whole.
    pub key: String,
    /// What is wrong, and what to do.
    pub message: String,
}

fn place(error: &TopologyError) -> String {
    let line = error.line.map(|it| format!("line {it}: ")).unwrap_or_default();
    let key = if error.key.is_empty() { String::new() } else { format!("{}: ", error.key) };
    format!("{line}{key}")
}

fn error(key: &str, message: impl Into<String>) -> TopologyError {
    TopologyError { line: None, key: key.to_owned(), message: message.into() }
}

/// The cluster that one line describes.
pub fn parse(line: &str) -> Result<Cluster, TopologyError> {
    Ok(Shape::parse(line)?.to_cluster())
}

/// The levels that exist in every cluster that Grove's samples describe, from the widest to the narrowest.
pub fn standard_levels() -> Vec<Level> {
    let rows = [("zone", ZONE), ("block", BLOCK), ("rack", RACK), ("host", HOST)];
    rows.map(|(name, key)| Level { name: name.to_owned(), key: key.to_owned() }).into()
}
