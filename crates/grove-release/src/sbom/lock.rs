//! Checksums of the crates that come from a registry, as `Cargo.lock` has them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::tree::Id;

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// SHA-256 by crate. Those of the workspace have none.
pub(super) fn checksums(lock: &str) -> Result<BTreeMap<Id, String>> {
    let lock: Lock = toml::from_str(lock).context("cannot read Cargo.lock")?;
    let packages = lock.package.into_iter();
    Ok(packages.filter_map(|it| Some((Id { name: it.name, version: it.version }, it.checksum?))).collect())
}
