//! Events, which two groups serve with other names for some fields. The real server stores each once and converts it; here a write is
//! repeated for the other group, with a revision of its own.

use serde_json::{Map, Value};

use crate::kinds;
use crate::metadata;
use crate::resource::Resource;
use crate::store::{Key, Transaction};

const CORE: &str = "events";
const OWN: &str = "events.events.k8s.io";

/// Fields by their names in the core group and in their own.
const FIELDS: [(&str, &str); 7] = [
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("reportingComponent", "reportingController"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
];

/// Fields that only the core group shows where they say nothing.
const SHY: [&str; 2] = ["reportingController", "reportingInstance"];

/// After a write of events of these namespaces and names: the other group has the same ones.
pub(super) fn repeat(tx: &mut Transaction<'_>, resource: &Resource, written: &[(String, String)]) {
    let Some(other) = other(resource) else { return };
    for (namespace, name) in written {
        let twin = Key::new(other, namespace, name);
        match tx.get(&Key::new(resource.shared_id(), namespace, name)) {
            Some(event) => {
                let converted = converted(event.value(), other == CORE);
                tx.put(&twin, converted);
            }
            None => tx.remove(&twin),
        }
    }
}

/// Whether a resource is one of the two.
pub(super) fn is_event(resource: &Resource) -> bool {
    other(resource).is_some()
}

fn other(resource: &Resource) -> Option<&'static str> {
    match resource.id() {
        CORE => Some(OWN),
        OWN => Some(CORE),
        _ => None,
    }
}

fn converted(event: &Value, to_core: bool) -> Value {
    let target = |field: &str| {
        FIELDS.iter().find_map(|(core, own)| {
            let (from, to) = if to_core { (own, core) } else { (core, own) };
            (*from == field).then_some(*to)
        })
    };
    let fields = event.as_object().into_iter().flatten();
    let mut new: Map<String, Value> =
        fields.map(|(field, value)| (target(field).unwrap_or(field).to_owned(), value.clone())).collect();
    if !to_core {
        new.retain(|field, value| *value != "" || !SHY.contains(&field.as_str()));
    }
    let mut new = Value::Object(new);
    let (group, version) = if to_core { ("", "v1") } else { ("events.k8s.io", "events.k8s.io/v1") };
    metadata::map_mut(&mut new).insert("apiVersion".to_owned(), version.into());
    if let Some(definition) = kinds::of_kind(group, "v1", "Event") {
        kinds::complete(definition, &mut new);
    }
    new
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_renamed_and_come_back() {
        let own = json!({
            "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": { "name": "e" },
            "regarding": { "name": "p" }, "note": "from 1 to 2", "reason": "Scaled", "type": "Normal",
            "reportingController": "grove.io/operator", "eventTime": "2026-01-02T03:04:05.000006Z",
        });
        let core = converted(&own, true);
        assert_eq!(
            core,
            json!({
                "apiVersion": "v1", "kind": "Event", "metadata": { "name": "e" },
                "involvedObject": { "name": "p" }, "message": "from 1 to 2", "reason": "Scaled", "type": "Normal",
                "reportingComponent": "grove.io/operator", "eventTime": "2026-01-02T03:04:05.000006Z",
                "source": {}, "firstTimestamp": null, "lastTimestamp": null, "reportingInstance": "",
            })
        );
        let again = converted(&core, false);
        for (field, value) in own.as_object().unwrap() {
            assert_eq!(&again[field], value, "{field}");
        }
        assert!(again.get("involvedObject").is_none());
    }
}
