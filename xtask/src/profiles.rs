//! What is shipped is built with checks for overflow: numbers come from users.

use toml::{Table, Value};

/// Whether a profile has overflow checks, itself or from the one that it inherits. Cargo's own answer for `release` is no.
fn has_overflow_checks(profiles: &Table, name: &str) -> bool {
    let profile = profiles.get(name).and_then(Value::as_table);
    let get = |key: &str| profile.and_then(|it| it.get(key));
    match (get("overflow-checks"), get("inherits").and_then(Value::as_str)) {
        (Some(it), _) => it.as_bool() == Some(true),
        (None, Some(parent)) => has_overflow_checks(profiles, parent),
        (None, None) => false,
    }
}

#[test]
fn every_release_profile_checks_for_overflow() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    let manifest: Table = std::fs::read_to_string(path).unwrap().parse().unwrap();
    let profiles = manifest["profile"].as_table().unwrap();
    for name in ["release", "dist", "initc", "sim"] {
        assert!(profiles.contains_key(name), "{name}");
        assert!(has_overflow_checks(profiles, name), "{name}");
    }
}
