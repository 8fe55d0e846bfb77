//! Replaces every pod by an update that changes nothing else: pure functions.
//!
//! As `kubectl rollout restart`, it notes the time on the pod templates. The note is a part of what makes pods, so that the
//! hash of every clique changes and the update goes its usual way, one set replica after the other.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

/// The annotation that `kubectl rollout restart` uses.
pub(super) const RESTARTED_AT: &str = "kubectl.kubernetes.io/restartedAt";

/// Why a restart would replace nothing, and what to do instead.
pub(super) fn refusal(set: &Value, name: &str) -> Option<String> {
    let strategy = &set["spec"]["updateStrategy"];
    if strategy["type"] == "OnDelete" {
        return Some(format!(
            "{name} has the update strategy OnDelete: delete its pods yourself \
             (`kubectl delete pod -l app.kubernetes.io/part-of={name}`), or set spec.updateStrategy.type to \
             RollingRecreate"
        ));
    }
    if strategy["paused"] == true {
        return Some(format!("updates of {name} are paused; run `grove rollout resume {name}` first"));
    }
    set["metadata"]["deletionTimestamp"].is_string().then(|| format!("{name} is being deleted"))
}

/// A template whose pods are all of another version; `None` where the last restart was in the same second.
pub(super) fn restarted(template: &Value, now: Timestamp) -> Option<Value> {
    // Whole seconds, as kubectl writes it.
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now).to_string();
    let mut template = template.clone();
    let mut is_changed = false;
    for clique in template["cliques"].as_array_mut()? {
        let annotations = &mut clique["annotations"];
        if !annotations.is_object() {
            *annotations = json!({});
        }
        is_changed |= annotations[RESTARTED_AT] != now;
        annotations[RESTARTED_AT] = json!(now);
    }
    is_changed.then_some(template)
}

#[cfg(test)]
mod tests {
    use grove_api::wire::{PodCliqueSet, SetTemplate};
    use grove_plan::hash;

    use super::*;

    fn template() -> Value {
        let clique = |name: &str| {
            json!({ "name": name, "spec": { "roleName": name, "replicas": 1,
                "podSpec": { "containers": [{ "name": "c", "image": "x:1" }] } } })
        };
        let mut noted = clique("b");
        noted["annotations"] = json!({ "team": "a" });
        json!({ "cliques": [clique("a"), noted] })
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    #[test]
    fn every_clique_gets_another_hash() {
        let after = restarted(&template(), at(1_800_000_000)).unwrap();
        let read = |it: &Value| -> SetTemplate { serde_json::from_value(it.clone()).unwrap() };
        for (old, new) in read(&template()).cliques.iter().zip(&read(&after).cliques) {
            assert_ne!(hash::pod_template(old), hash::pod_template(new), "{}", old.name);
        }
        let set = |it: &Value| {
            let mut set = PodCliqueSet::default();
            set.spec.template = read(it);
            hash::generation(&set)
        };
        assert_ne!(set(&template()), set(&after));
    }

    #[test]
    fn only_the_note_is_added() {
        let mut want = template();
        want["cliques"][0]["annotations"] = json!({ RESTARTED_AT: "2027-01-15T08:00:00Z" });
        want["cliques"][1]["annotations"][RESTARTED_AT] = json!("2027-01-15T08:00:00Z");
        assert_eq!(restarted(&template(), at(1_800_000_000)), Some(want));
    }

    #[test]
    fn twice_in_a_second_is_once() {
        let once = restarted(&template(), at(1_800_000_000)).unwrap();
        assert_eq!(restarted(&once, at(1_800_000_000)), None);
        assert!(restarted(&once, at(1_800_000_001)).is_some());
    }

    #[test]
    fn a_restart_that_would_do_nothing_says_what_to_do() {
        let with = |strategy: Value| json!({ "metadata": {}, "spec": { "updateStrategy": strategy } });
        let why = |strategy| refusal(&with(strategy), "chat").unwrap_or_default();
        assert_eq!(why(json!({ "type": "RollingRecreate", "paused": false })), "");
        assert_eq!(why(Value::Null), "");
        let paused = why(json!({ "paused": true }));
        assert!(paused.ends_with("`grove rollout resume chat` first"), "{paused}");
        // Resuming would not help.
        let on_delete = why(json!({ "type": "OnDelete", "paused": true }));
        assert!(on_delete.contains("set spec.updateStrategy.type to RollingRecreate"), "{on_delete}");
        let leaving = json!({ "metadata": { "deletionTimestamp": "2027-01-01T00:00:00Z" }, "spec": {} });
        assert_eq!(refusal(&leaving, "chat").as_deref(), Some("chat is being deleted"));
    }
}
