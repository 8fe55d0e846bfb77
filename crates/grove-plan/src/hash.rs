//! Hashes of templates, in the form that upstream Grove's labels have.
//!
//! A hash is over a canonical form: JSON with sorted keys, without nulls and empty values. It names content and is
//! never compared with a hash of another implementation: objects whose content is equal keep the hash they have.

use std::{collections::BTreeMap, fmt::Write};

use grove_api::wire::{CliqueTemplate, PodCliqueSet};
use k8s_openapi::api::core::v1::PodSpec;
use serde_json::Value;

/// Version of the canonical form. It is part of the hash: a new form must not be taken for a new template, so that a
/// change of it needs the same adoption as a hash of another implementation.
const FORM: &str = "grove/1";

/// Hash of a clique's pod template.
pub fn pod_template(clique: &CliqueTemplate, priority_class: &str) -> String {
    let mut text = String::from(FORM);
    write_clique(&mut text, clique, priority_class);
    encode(&text)
}

/// Hash of all pod templates of a set.
pub fn generation(set: &PodCliqueSet) -> String {
    let template = &set.spec.template;
    let mut text = String::from(FORM);
    for clique in &template.cliques {
        text.push('\n');
        text.push_str(&clique.name);
        write_clique(&mut text, clique, &template.priority_class_name);
    }
    encode(&text)
}

fn write_clique(text: &mut String, clique: &CliqueTemplate, priority_class: &str) {
    let mut spec = clique.spec.pod_spec.clone();
    spec.priority_class_name = (!priority_class.is_empty()).then(|| priority_class.to_owned());
    write_map(text, &clique.labels);
    write_map(text, &clique.annotations);
    text.push_str(&canonical_pod_spec(&spec));
}

fn write_map(text: &mut String, map: &BTreeMap<String, String>) {
    for (key, value) in map {
        let _ = write!(text, "{}={}:{value};", key, value.len());
    }
    text.push('|');
}

/// A pod specification in canonical form.
pub fn canonical_pod_spec(spec: &PodSpec) -> String {
    // A PodSpec always serialises: it has only string keys.
    let mut text = String::new();
    write_canonical(&mut text, &serde_json::to_value(spec).unwrap_or_default());
    text
}

fn write_canonical(text: &mut String, value: &Value) {
    match value {
        Value::Object(map) => {
            let sorted: BTreeMap<&String, &Value> = map.iter().filter(|it| says_something(*it)).collect();
            text.push('{');
            for (key, value) in sorted {
                let _ = write!(text, "{key:?}:");
                write_canonical(text, value);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write_canonical(text, item);
                text.push(',');
            }
            text.push(']');
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

/// Whether a field is more than one that is absent. An empty selector is: it selects everything, an absent one nothing.
fn says_something((key, value): (&String, &Value)) -> bool {
    match value {
        Value::Null => false,
        Value::Object(_) if key == "labelSelector" || key == "namespaceSelector" => true,
        Value::Object(map) => map.iter().any(says_something),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

/// FNV-1a, as decimal digits in Kubernetes' "safe" alphabet, which has no vowels.
fn encode(text: &str) -> String {
    const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.to_string().bytes().map(|digit| char::from(ALPHABET[usize::from(digit) % ALPHABET.len()])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn clique(pod: &Value) -> CliqueTemplate {
        serde_json::from_value(json!({ "name": "c", "spec": { "podSpec": pod } })).unwrap()
    }

    #[test]
    fn empty_and_absent_are_equal_and_content_is_not() {
        let plain = clique(&json!({ "containers": [{ "name": "a" }] }));
        let empty = clique(
            &json!({ "containers": [{ "name": "a", "env": [], "resources": {} }], "nodeSelector": {} }),
        );
        let other = clique(&json!({ "containers": [{ "name": "b" }] }));
        assert_eq!(pod_template(&plain, ""), pod_template(&empty, ""));
        assert_ne!(pod_template(&plain, ""), pod_template(&other, ""));
        assert_ne!(
            pod_template(&plain, ""),
            pod_template(&plain, "high"),
            "priority is part of the template"
        );
    }

    #[test]
    fn an_empty_selector_is_content() {
        for selector in ["labelSelector", "namespaceSelector"] {
            let term = |extra: &Value| {
                let mut term = json!({ "topologyKey": "zone" });
                json_patch::merge(&mut term, extra);
                let affinity = json!({ "requiredDuringSchedulingIgnoredDuringExecution": [term] });
                clique(&json!({ "containers": [], "affinity": { "podAffinity": affinity } }))
            };
            let (none, all) = (term(&json!({})), term(&json!({ selector: {} })));
            assert_ne!(pod_template(&none, ""), pod_template(&all, ""), "{selector}");
        }
    }

    #[test]
    fn false_and_zero_are_content() {
        let unset = clique(&json!({ "containers": [] }));
        let set = clique(&json!({ "containers": [], "hostNetwork": false }));
        assert_ne!(pod_template(&unset, ""), pod_template(&set, ""));
    }

    /// FNV-1a of the empty text is its offset basis, 14695981039346656037.
    #[test]
    fn alphabet_is_kubernetes() {
        assert_eq!(encode(""), "58bf9fd547f78bb9b47c");
    }

    #[test]
    fn replicas_and_order_of_start_are_not_part_of_it() {
        let mut a = clique(&json!({ "containers": [{ "name": "a" }] }));
        let before = pod_template(&a, "");
        a.spec.replicas = Some(9);
        a.spec.min_available = Some(3);
        a.spec.starts_after = vec!["x".to_owned()];
        assert_eq!(before, pod_template(&a, ""));
    }

    #[test]
    fn labels_cannot_be_moved_into_each_other() {
        let mut one = clique(&json!({ "containers": [] }));
        let mut two = one.clone();
        one.labels = [("a".to_owned(), "1:x;b=1:y".to_owned())].into();
        two.labels = [("a".to_owned(), "x".to_owned()), ("b".to_owned(), "y".to_owned())].into();
        assert_ne!(pod_template(&one, ""), pod_template(&two, ""));
    }
}
