//! Whatever the file contains, loading answers, and its answers are consistent.

use grove_api::field::Segment;
use proptest::{collection::vec, prelude::*, sample};

use super::*;

/// Words that a configuration contains, so that random documents get past the first check.
const WORDS: &[&str] = &[
    "apiVersion",
    "kind",
    "server",
    "webhooks",
    "port",
    "bindAddress",
    "leaderElection",
    "enabled",
    "leaseDuration",
    "scheduler",
    "schedulerName",
    "profiles",
    "name",
    "config",
    "default",
    "defaultProfileName",
    "gangScheduling",
    "GangScheduling",
    "topologyAwareScheduling",
    "nodeLoss",
    "after",
    "levels",
    "domain",
    "metadata",
    "debugging",
    "enableProfiling",
    "logLevel",
    "qps",
    "kube-scheduler",
    "default-scheduler",
    "kai-scheduler",
    "volcano",
    "15s",
    "-1h",
    "::",
    "",
    "x.y[0]",
    "é",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![4 => sample::select(WORDS).prop_map(str::to_owned), 1 => any::<String>()]
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0i64..70_000).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((word(), inner), 0..6).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Null takes a field away, which often leaves a good file.
fn replacement() -> impl Strategy<Value = Value> {
    prop_oneof![3 => Just(Value::Null), 1 => document()]
}

/// A change to one place of a document, found by choosing a child at each step.
fn change(value: &mut Value, steps: &[usize], put: Value) {
    let Some((step, rest)) = steps.split_first() else {
        *value = put;
        return;
    };
    let child = match value {
        Value::Object(object) if !object.is_empty() => {
            let nth = step % object.len();
            object.values_mut().nth(nth)
        }
        Value::Array(list) if !list.is_empty() => {
            let nth = step % list.len();
            list.get_mut(nth)
        }
        _ => None,
    };
    match child {
        Some(child) => change(child, rest, put),
        None => *value = put,
    }
}

fn last_field(path: &Path) -> &str {
    match path.segments().last() {
        Some(Segment::Field(name)) => name,
        _ => panic!("{path} does not end in a field"),
    }
}

fn check(value: &Value) {
    match try_load(value) {
        Ok(loaded) => {
            let default = loaded.profiles.default_name();
            assert!(loaded.profiles.is_active(default) && loaded.profiles.is_active("default-scheduler"));
            let mut names: Vec<_> = loaded.profiles.names().collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), loaded.profiles.active().len());
            let json = serde_json::to_value(&loaded.config).unwrap();
            assert_same(&loaded, &try_load(&json).unwrap());
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            for error in &errors {
                // Decoding what was checked never fails: that would be reported without a value.
                assert!(
                    error.kind != ErrorKind::TypeInvalid || error.value.as_deref() != Some("null"),
                    "{error}"
                );
                assert!(!error.to_string().is_empty());
                // An unknown key is one that the document has.
                if error.kind == ErrorKind::Unknown {
                    let key = json!(last_field(&error.path)).to_string();
                    assert!(value.to_string().contains(&key), "{error}");
                }
            }
        }
    }
}

fn settings() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1_000) }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn any_document_is_answered(value in document()) {
        check(&value);
    }

    #[test]
    fn any_body_is_answered(body in vec((word(), document()), 0..6)) {
        let mut file = header();
        for (key, value) in body {
            file[key] = value;
        }
        check(&file);
    }

    #[test]
    fn any_change_to_a_good_file_is_answered(
        older in any::<bool>(),
        changes in vec((vec(0usize..16, 1..6), replacement()), 1..4),
    ) {
        let mut file = parse(if older { OLDER } else { PRODUCTION });
        for (steps, put) in changes {
            change(&mut file, &steps, put);
        }
        check(&file);
    }
}

#[test]
fn the_default_value_is_a_valid_file() {
    let file = serde_json::to_value(OperatorConfiguration::default()).unwrap();
    assert_same(&try_load(&file).unwrap(), &try_load(&header()).unwrap());
}
