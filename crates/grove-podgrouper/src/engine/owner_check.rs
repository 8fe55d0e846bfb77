//! Whether an object can be there at all, before the API server is asked for it.
//!
//! Users write owner references, and Kubernetes checks little of them. Name, API version and kind become parts of a path: what is
//! not a name there would make another request of it.

use grove_runtime::object_name::{is_api_version, is_dns_subdomain, is_kind};

use super::object_key::{KindName, ObjectKey};

/// Characters of what a user wrote that are repeated to them.
const SHOWN: usize = 64;

/// Why there can be no such object.
pub(crate) fn check(key: &ObjectKey) -> Result<(), String> {
    let KindName { api_version, kind } = &key.kind;
    let wrong = |what: &str, text: &str, must: &str| {
        let shown: String = text.chars().take(SHOWN).collect();
        Err(format!("its {what} {shown:?} must be {must}"))
    };
    if !is_api_version(api_version) {
        return wrong(
            "apiVersion",
            api_version,
            "a version, or the DNS name of a group, a slash and a version",
        );
    }
    if !is_kind(kind) {
        return wrong("kind", kind, "at most 63 letters, digits and dashes");
    }
    if !is_dns_subdomain(&key.name) {
        return wrong(
            "name",
            &key.name,
            "a DNS name: at most 253 lower case letters, digits, dashes and dots",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_there_is_asked_for() {
        let key = |api_version: &str, kind: &str, name: &str| ObjectKey::new(api_version, kind, "ns", name);
        for fine in [key("v1", "Pod", "p"), key("ray.io/v1", "RayCluster", "a.b-c")] {
            assert_eq!(check(&fine), Ok(()));
        }
        for name in ["?watch=true&x=", "?watch=true&x=/", "..", "a/b", "a%2fb", "A", "", &"a".repeat(254)] {
            let why = check(&key("v1", "Pod", name)).unwrap_err();
            assert!(why.starts_with("its name \""), "{why}");
            assert!(why.len() < 200, "{why}");
        }
        for api_version in ["", "v1?x=", "../v1", "a/b/c", "g/v1?watch=true", "/v1"] {
            assert!(check(&key(api_version, "Pod", "p")).unwrap_err().starts_with("its apiVersion"));
        }
        for kind in ["", "Po/d", "Pod?", &"K".repeat(64)] {
            assert!(check(&key("v1", kind, "p")).unwrap_err().starts_with("its kind"));
        }
    }
}
