//! What objects of a group are called, and carry.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Group;

/// What kubectl keeps for itself: on an object that it did not make, it would take it for its own.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The metadata of a group's object, with the group's labels and annotations.
pub(crate) fn metadata(group: &Group) -> Value {
    let annotations = group.annotations.iter().filter(|it| it.0 != LAST_APPLIED);
    let annotations = annotations.map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let labels = group.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let mut metadata = json!({
        "name": group.name,
        "namespace": group.namespace,
        "ownerReferences": [group.owner.reference()],
    });
    let texts: [(&str, BTreeMap<&str, &str>); 2] = [("labels", labels), ("annotations", annotations)];
    for (field, texts) in texts.into_iter().filter(|it| !it.1.is_empty()) {
        metadata[field] = json!(texts);
    }
    metadata
}
