//! The settings of the profile.

use grove_api::{
    config::{Key, Shape, check_keys},
    field::{Error, Errors, Path},
};
use serde_json::Value;

/// The proposal for profiles spells it with a capital, upstream's code without.
const SPELLINGS: [&str; 2] = ["gangScheduling", "GangScheduling"];

/// `gangScheduling`: false means that no objects are made for gangs.
pub(super) fn check(config: &Value, path: &Path) -> Errors {
    const KEYS: &[Key] =
        &[Key::optional(SPELLINGS[0], Shape::Bool), Key::optional(SPELLINGS[1], Shape::Bool)];
    let mut errors = check_keys(config, path, KEYS);
    if SPELLINGS.iter().all(|key| config.get(key).is_some_and(|value| !value.is_null())) {
        let detail = format!("{} is the same setting; keep one of them", SPELLINGS[0]);
        errors.push(Error::forbidden(path.child(SPELLINGS[1]), detail));
    }
    errors
}

/// Unset is true.
pub(super) fn is_gang_scheduling(config: &Value) -> bool {
    SPELLINGS.iter().find_map(|key| config.get(key)?.as_bool()).unwrap_or(true)
}
