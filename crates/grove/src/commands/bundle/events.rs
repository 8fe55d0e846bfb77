//! Which Events belong into a bundle: those about what is in it, and about what its sets had before.

use std::collections::BTreeSet;

use serde_json::Value;

use super::scope::is_of;

/// What Events may be about.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    /// Kind, namespace and name of all objects.
    objects: BTreeSet<[String; 3]>,
    /// Namespaces and names of the sets.
    sets: BTreeSet<[String; 2]>,
}

impl Subjects {
    pub(super) fn add(&mut self, object: &Value) {
        let metadata = &object["metadata"];
        let [kind, namespace, name] = [&object["kind"], &metadata["namespace"], &metadata["name"]].map(text);
        if kind == "PodCliqueSet" {
            self.sets.insert([namespace.clone(), name.clone()]);
        }
        self.objects.insert([kind, namespace, name]);
    }

    pub(super) fn has(&self, event: &Value) -> bool {
        let about = &event["regarding"];
        let [kind, namespace, name] = [&about["kind"], &about["namespace"], &about["name"]].map(text);
        // Pods that are gone often matter most.
        let was_of_set = || self.sets.iter().any(|[of, set]| *of == namespace && is_of(&name, set));
        was_of_set() || self.objects.contains(&[kind, namespace, name])
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_about_what_is_there() {
        let mut subjects = Subjects::default();
        subjects.add(&json!({ "kind": "PodCliqueSet", "metadata": { "namespace": "ml", "name": "chat" } }));
        subjects.add(&json!({ "kind": "Pod", "metadata": { "namespace": "ml", "name": "other-0" } }));
        subjects.add(&json!({ "kind": "SchedulerBackend", "metadata": { "name": "volcano" } }));
        let rows = [
            (json!({ "kind": "PodCliqueSet", "namespace": "ml", "name": "chat" }), true),
            (json!({ "kind": "Pod", "namespace": "ml", "name": "chat-0-a-gone" }), true),
            (json!({ "kind": "Pod", "namespace": "lab", "name": "chat-0-a" }), false),
            (json!({ "kind": "Pod", "namespace": "ml", "name": "other-0" }), true),
            (json!({ "kind": "Pod", "namespace": "ml", "name": "other-1" }), false),
            (json!({ "kind": "Job", "namespace": "ml", "name": "other-0" }), false),
            (json!({ "kind": "SchedulerBackend", "name": "volcano" }), true),
        ];
        for (about, want) in rows {
            assert_eq!(subjects.has(&json!({ "regarding": about })), want, "{about}");
        }
    }
}
