//! Hashes of templates, in the form that upstream Grove's labels have.
//!
//! A hash is over a canonical form ([`canonical_pod_spec`]). It names content and is never compared with a hash of another
//! implementation, or of another version of the form: objects whose content is equal keep the hash they have.

mod canonical;
mod quantity;

use std::{collections::BTreeMap, fmt::Write};

use grove_api::wire::{CliqueTemplate, PodCliqueSet, SetTemplate};

pub use self::canonical::canonical_pod_spec;

/// Version of the canonical form. It is part of the hash: a new form must not be taken for a new template, so that a
/// change of it needs the same adoption as a hash of another implementation.
const FORM: &str = "grove/2";

/// Hash of a clique's pod template: of everything that its pods have from it. The priority class of the set is no part of
/// it; PodGangs have that one, and pods have not.
pub fn pod_template(clique: &CliqueTemplate) -> String {
    let mut text = String::from(FORM);
    write_clique(&mut text, clique);
    encode(&text)
}

/// Hash of all pod templates of a set, in whatever order they stand: their order makes no other pods.
pub fn generation(set: &PodCliqueSet) -> String {
    template(&set.spec.template)
}

/// Likewise, of a template that may be no set's any more.
pub fn template(template: &SetTemplate) -> String {
    let mut text = String::from(FORM);
    let mut cliques: Vec<&CliqueTemplate> = template.cliques.iter().collect();
    cliques.sort_by_key(|it| &it.name);
    for clique in cliques {
        text.push('\n');
        text.push_str(&clique.name);
        write_clique(&mut text, clique);
    }
    encode(&text)
}

fn write_clique(text: &mut String, clique: &CliqueTemplate) {
    write_map(text, &clique.labels);
    write_map(text, &clique.annotations);
    text.push_str(&canonical_pod_spec(&clique.spec.pod_spec));
}

fn write_map(text: &mut String, map: &BTreeMap<String, String>) {
    for (key, value) in map {
        let _ = write!(text, "{}={}:{value};", key, value.len());
    }
    text.push('|');
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
    use serde_json::{Value, json};

    use super::*;
    use crate::fixture::set;

    fn clique(pod: &Value) -> CliqueTemplate {
        serde_json::from_value(json!({ "name": "c", "spec": { "podSpec": pod } })).unwrap()
    }

    /// FNV-1a of the empty text is its offset basis, 14695981039346656037.
    #[test]
    fn alphabet_is_kubernetes() {
        assert_eq!(encode(""), "58bf9fd547f78bb9b47c");
    }

    #[test]
    fn replicas_and_order_of_start_are_not_part_of_it() {
        let mut a = clique(&json!({ "containers": [{ "name": "a" }] }));
        let before = pod_template(&a);
        a.spec.replicas = Some(9);
        a.spec.min_available = Some(3);
        a.spec.starts_after = vec!["x".to_owned()];
        assert_eq!(before, pod_template(&a));
    }

    #[test]
    fn labels_cannot_be_moved_into_each_other() {
        let mut one = clique(&json!({ "containers": [] }));
        let mut two = one.clone();
        one.labels = [("a".to_owned(), "1:x;b=1:y".to_owned())].into();
        two.labels = [("a".to_owned(), "x".to_owned()), ("b".to_owned(), "y".to_owned())].into();
        assert_ne!(pod_template(&one), pod_template(&two));
    }

    #[test]
    fn the_priority_of_pods_is_part_of_it_and_that_of_gangs_is_not() {
        let plain = clique(&json!({ "containers": [{ "name": "a" }] }));
        let urgent = clique(&json!({ "containers": [{ "name": "a" }], "priorityClassName": "high" }));
        assert_ne!(pod_template(&plain), pod_template(&urgent));
        let (set, mut other) = (set("fe=2/1"), set("fe=2/1"));
        other.spec.template.priority_class_name = "high".to_owned();
        assert_eq!(generation(&set), generation(&other));
    }

    #[test]
    fn the_order_of_cliques_is_not_part_of_it() {
        let (one, other) = (set("fe=2/1 be=1/1"), set("be=1/1 fe=2/1"));
        assert_eq!(generation(&one), generation(&other));
        let mut exchanged = one.clone();
        exchanged.spec.template.cliques[0].labels = [("tier".to_owned(), "x".to_owned())].into();
        let mut labelled = one.clone();
        labelled.spec.template.cliques[1].labels = [("tier".to_owned(), "x".to_owned())].into();
        assert_ne!(generation(&exchanged), generation(&labelled), "which clique it is, is");
    }

    /// Hashes are on objects in clusters. Where this fails, a library writes pods otherwise than before, or the form
    /// changed: give it a new version and see that the old hashes are still adopted, then pin the new ones.
    #[test]
    fn hashes_are_pinned() {
        let pod = json!({
            "containers": [{
                "name": "main", "image": "model:1", "args": ["--port", "80"],
                "env": [{ "name": "B", "value": "1" }, { "name": "A", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }],
                "ports": [{ "name": "http", "containerPort": 80, "protocol": "TCP" }],
                "resources": { "limits": { "nvidia.com/gpu": "8", "memory": "64Gi" } },
                "readinessProbe": { "httpGet": { "path": "/health", "port": "http" }, "periodSeconds": 5 },
                "volumeMounts": [{ "name": "models", "mountPath": "/models", "readOnly": true }],
            }],
            "volumes": [{ "name": "models", "persistentVolumeClaim": { "claimName": "models" } }],
            "tolerations": [{ "key": "nvidia.com/gpu", "operator": "Exists" }],
            "terminationGracePeriodSeconds": 30, "priorityClassName": "high",
        });
        let mut template = clique(&pod);
        template.labels = [("team".to_owned(), "a".to_owned())].into();
        assert_eq!(pod_template(&template), "949b79fcb64c8b5f569");
        let mut set = set("fe=2/1");
        set.spec.template.cliques = vec![template];
        assert_eq!(generation(&set), "6f8c5bb6cc9578dfc48");
    }
}
