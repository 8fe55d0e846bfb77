//! What the configuration has to know of a scheduler backend.

use serde_json::Value;

use crate::field::{Errors, Path};

/// Checks the `config` object of a profile; the path is that of the object. An absent one is given as `{}`.
pub type CheckConfig<'a> = &'a (dyn Fn(&Value, &Path) -> Errors + Send + Sync);

/// A scheduler backend, as far as the configuration is concerned.
#[derive(Clone, Copy)]
pub struct KnownBackend<'a> {
    /// What pods carry as `schedulerName`.
    pub name: &'a str,
    /// Other names that the configuration accepts.
    pub synonyms: &'a [&'a str],
    /// Checks the backend's own settings; [`check_keys`](super::check_keys) does it for plain ones.
    pub check_config: CheckConfig<'a>,
    /// Whether it is active even if no profile asks for it. The first such one is the default of last resort.
    pub always_active: bool,
    /// Whether the scheduler has topology objects of its own, so that a ClusterTopologyBinding may bind one.
    pub topology_aware: bool,
}

impl KnownBackend<'_> {
    /// Whether the configuration may call it `name`.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.synonyms.contains(&name)
    }
}
