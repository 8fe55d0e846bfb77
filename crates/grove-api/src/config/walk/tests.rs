//! One table for each rule of the walk.

use serde_json::json;

use super::*;
use crate::field::ErrorKind;

const KEYS: &[Key] = &[
    Key::required("name", Shape::Name),
    Key::optional("port", Shape::Integer { min: 1, max: 65_535 }),
    Key::optional("enabled", Shape::Bool),
    Key::optional("hosts", Shape::List(&Shape::Host)),
    Key::optional("inner", Shape::Object(&[Key::optional("retryPeriod", Shape::Duration)])),
    Key::optional("free", Shape::AnyObject),
];

#[test]
fn every_error_of_an_object_is_found_and_the_rest_is_usable() {
    let value = json!({
        "name": "", "port": 70000, "enabled": true, "hosts": ["a", null, "b:1", "c"],
        "inner": { "retryPeriod": "x", "retry": "1s" }, "free": { "any": [null] }, "ports": 1,
    });
    let mut findings = Findings::default();
    let usable = read(&value, &Shape::Object(KEYS), &Path::of(&["top"]), &[], &mut findings);
    let found: Vec<_> = findings.errors.iter().map(|error| (error.path.to_string(), error.kind)).collect();
    let want = [
        ("top.port", ErrorKind::Invalid),
        ("top.hosts[1]", ErrorKind::Required),
        ("top.hosts[2]", ErrorKind::Invalid),
        ("top.inner.retryPeriod", ErrorKind::Invalid),
        ("top.inner.retry", ErrorKind::Unknown),
        ("top.ports", ErrorKind::Unknown),
        ("top.name", ErrorKind::Required),
    ];
    assert_eq!(found, want.map(|(path, kind)| (path.to_owned(), kind)));
    let rest = json!({ "enabled": true, "hosts": ["a", "c"], "inner": {}, "free": { "any": [null] } });
    assert_eq!(usable, Some(rest));
}

#[test]
fn a_bad_object_in_a_list_keeps_its_place() {
    let mut findings = Findings::default();
    let value = json!([5, { "name": "b" }]);
    let usable = read(&value, &Shape::List(&Shape::Object(KEYS)), &Path::root(), &[], &mut findings);
    assert_eq!(usable, Some(json!([{}, { "name": "b" }])));
    assert_eq!(findings.errors.len(), 1);
}

#[test]
fn accepted_keys_warn_when_they_say_something() {
    let accepted = [Accepted { path: "old", warning: "gone" }, Accepted { path: "port", warning: "rename" }];
    let cases = [
        (json!({ "name": "a", "old": { "x": 1 }, "port": 5 }), vec!["old: gone", "port: rename"]),
        (json!({ "name": "a", "old": null }), vec![]),
        (json!({ "name": "a", "old": "" }), vec![]),
    ];
    for (value, want) in cases {
        let mut findings = Findings::default();
        read(&value, &Shape::Object(KEYS), &Path::root(), &accepted, &mut findings);
        assert_eq!(findings.errors, [], "{value}");
        let warnings: Vec<_> = findings.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings, want, "{value}");
    }
}

#[test]
fn hints_name_the_likely_key_or_none() {
    let cases = [
        ("prot", Some("port")),
        ("Name", Some("name")),
        ("enable", Some("enabled")),
        ("xyz", None),
        ("", None),
        (&"name".repeat(100), None),
    ];
    for (name, want) in cases {
        assert_eq!(crate::field::closest(name, KEYS.iter().map(|key| key.name)), want, "{name}");
    }
}
