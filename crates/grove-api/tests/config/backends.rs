//! Backends for the tests: called as the built-in ones are, which live in a crate above this one.

use grove_api::{
    config::{Key, KnownBackend, Shape, check_keys},
    constants::schedulers,
    field::{Error, Errors, Path},
};
use serde_json::Value;

pub(crate) const BACKENDS: &[KnownBackend<'static>] = &[
    KnownBackend {
        name: schedulers::DEFAULT,
        synonyms: &[schedulers::KUBE],
        check_config: &check_spellings,
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

/// A setting with two spellings, of which one may be there.
fn check_spellings(config: &Value, path: &Path) -> Errors {
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
