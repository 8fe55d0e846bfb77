//! The schedulers that Grove brings along.
//!
//! The list stands here only for as long as no crate implements the backends: each entry belongs next to its
//! backend. Nothing else in this module names a scheduler, so moving it changes no other file.

use serde_json::Value;

use super::{
    backend::KnownBackend,
    shape::{Key, Shape},
    walk::check_keys,
};
use crate::{
    constants::schedulers,
    field::{Error, Errors, Path},
};

/// The schedulers that Grove brings along.
pub const BUILTIN_BACKENDS: &[KnownBackend<'static>] = &[
    KnownBackend {
        name: schedulers::DEFAULT,
        synonyms: &[schedulers::KUBE],
        check_config: &check_kube,
        always_active: true,
        topology_aware: false,
    },
    KnownBackend {
        name: schedulers::KAI,
        synonyms: &[],
        check_config: &check_empty,
        always_active: false,
        topology_aware: true,
    },
    KnownBackend {
        name: schedulers::VOLCANO,
        synonyms: &[],
        check_config: &check_empty,
        always_active: false,
        topology_aware: false,
    },
];

/// `gangScheduling`: false means that no Workload or PodGroup objects are made; unset is true. The proposal for
/// profiles spells it `GangScheduling`, upstream's code `gangScheduling`.
fn check_kube(config: &Value, path: &Path) -> Errors {
    const SPELLINGS: [&str; 2] = ["gangScheduling", "GangScheduling"];
    const KEYS: &[Key] =
        &[Key::optional(SPELLINGS[0], Shape::Bool), Key::optional(SPELLINGS[1], Shape::Bool)];
    let mut errors = check_keys(config, path, KEYS);
    if SPELLINGS.iter().all(|key| config.get(key).is_some_and(|value| !value.is_null())) {
        let detail = format!("{} is the same setting; keep one of them", SPELLINGS[0]);
        errors.push(Error::forbidden(path.child(SPELLINGS[1]), detail));
    }
    errors
}

fn check_empty(config: &Value, path: &Path) -> Errors {
    check_keys(config, path, &[])
}
