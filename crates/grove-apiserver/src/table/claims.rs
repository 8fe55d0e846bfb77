//! Devices and claims for them.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::text::{age, list, text};
use super::{AGE, NAME, Printer, string};
use crate::object::Object;

pub(super) const CLAIM: Printer = Printer { columns: &[NAME, string("State"), AGE], cells: claim };
pub(super) const SLICE: Printer =
    Printer { columns: &[NAME, string("Node"), string("Driver"), string("Pool"), AGE], cells: slice };

fn claim(object: &Object, now: Timestamp) -> Vec<Value> {
    let is_allocated = object.field("/status/allocation").is_some_and(Value::is_object);
    let is_reserved = is_allocated && !list(object.value(), "/status/reservedFor").is_empty();
    let states = [
        (object.is_terminating(), "deleted"),
        (!is_allocated && !object.is_terminating(), "pending"),
        (is_allocated, "allocated"),
        (is_reserved, "reserved"),
    ];
    let states: Vec<&str> = states.into_iter().filter_map(|(is, state)| is.then_some(state)).collect();
    vec![object.name().into(), states.join(",").into(), age(object, now)]
}

fn slice(object: &Object, now: Timestamp) -> Vec<Value> {
    let spec = |field: &str| Value::from(text(object.value(), &format!("/spec/{field}")));
    vec![object.name().into(), spec("nodeName"), spec("driver"), spec("pool/name"), age(object, now)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn states_of_a_claim() {
        let allocated = json!({"allocation": {}});
        let reserved = json!({"allocation": {}, "reservedFor": [{"name": "p"}]});
        for (metadata, status, expected) in [
            (json!({}), json!({}), "pending"),
            (json!({}), allocated, "allocated"),
            (json!({}), reserved.clone(), "allocated,reserved"),
            (json!({"deletionTimestamp": "x"}), json!({}), "deleted"),
            (json!({"deletionTimestamp": "x"}), reserved, "deleted,allocated,reserved"),
        ] {
            let object = Object::new(json!({"metadata": metadata, "status": status}));
            assert_eq!(claim(&object, "2026-01-02T12:00:00Z".parse().unwrap())[1], expected);
        }
    }
}
