//! Volumes, claims, and the drivers behind them.

use k8s_openapi::jiff::Timestamp;
use serde_json::Value;

use super::text::{NONE, UNSET, age, list, or, shown, text};
use super::{AGE, NAME, Printer, boolean, integer, string, wide};
use crate::object::Object;

pub(super) const VOLUME: Printer = Printer {
    columns: &[
        NAME,
        string("Capacity"),
        string("Access Modes"),
        string("Reclaim Policy"),
        string("Status"),
        string("Claim"),
        string("StorageClass"),
        string("VolumeAttributesClass"),
        string("Reason"),
        AGE,
        wide("VolumeMode"),
    ],
    cells: volume,
};
pub(super) const CLAIM: Printer = Printer {
    columns: &[
        NAME,
        string("Status"),
        string("Volume"),
        string("Capacity"),
        string("Access Modes"),
        string("StorageClass"),
        string("VolumeAttributesClass"),
        AGE,
        wide("VolumeMode"),
    ],
    cells: claim,
};
pub(super) const CLASS: Printer = Printer {
    columns: &[
        NAME,
        string("Provisioner"),
        string("ReclaimPolicy"),
        string("VolumeBindingMode"),
        string("AllowVolumeExpansion"),
        AGE,
    ],
    cells: class,
};
pub(super) const CSI_NODE: Printer = Printer { columns: &[NAME, integer("Drivers"), AGE], cells: csi_node };
pub(super) const CSI_DRIVER: Printer = Printer {
    columns: &[
        NAME,
        boolean("AttachRequired"),
        boolean("PodInfoOnMount"),
        boolean("StorageCapacity"),
        string("TokenRequests"),
        boolean("RequiresRepublish"),
        string("Modes"),
        AGE,
    ],
    cells: csi_driver,
};
pub(super) const CAPACITY: Printer =
    Printer { columns: &[NAME, string("StorageClassName"), string("Capacity")], cells: capacity };

const DEFAULT_CLASS: &str = "/metadata/annotations/storageclass.kubernetes.io~1is-default-class";

/// Access modes by their initials.
fn modes(value: &Value, pointer: &str) -> String {
    let short = |mode: &Value| match mode.as_str()? {
        "ReadWriteOnce" => Some("RWO"),
        "ReadOnlyMany" => Some("ROX"),
        "ReadWriteMany" => Some("RWX"),
        "ReadWriteOncePod" => Some("RWOP"),
        _ => None,
    };
    let mut modes: Vec<&str> = list(value, pointer).iter().filter_map(short).collect();
    modes.dedup();
    modes.join(",")
}

fn phase(object: &Object) -> Value {
    if object.is_terminating() { "Terminating".into() } else { text(object.value(), "/status/phase").into() }
}

fn or_unset(value: &Value, pointer: &str) -> Value {
    or(text(value, pointer), UNSET).into()
}

fn volume(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let claim = value.pointer("/spec/claimRef").filter(|it| it.is_object());
    let claim = claim.map(|it| format!("{}/{}", text(it, "/namespace"), text(it, "/name")));
    vec![
        object.name().into(),
        shown(value, "/spec/capacity/storage").unwrap_or_else(|| "0".to_owned()).into(),
        modes(value, "/spec/accessModes").into(),
        text(value, "/spec/persistentVolumeReclaimPolicy").into(),
        phase(object),
        claim.unwrap_or_default().into(),
        text(value, "/spec/storageClassName").into(),
        or_unset(value, "/spec/volumeAttributesClassName"),
        text(value, "/status/reason").into(),
        age(object, now),
        or_unset(value, "/spec/volumeMode"),
    ]
}

fn claim(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let volume = text(value, "/spec/volumeName");
    let (capacity, modes) = match volume {
        "" => (String::new(), String::new()),
        _ => (
            shown(value, "/status/capacity/storage").unwrap_or_else(|| "0".to_owned()),
            modes(value, "/status/accessModes"),
        ),
    };
    vec![
        object.name().into(),
        phase(object),
        volume.into(),
        capacity.into(),
        modes.into(),
        text(value, "/spec/storageClassName").into(),
        or_unset(value, "/spec/volumeAttributesClassName"),
        age(object, now),
        or_unset(value, "/spec/volumeMode"),
    ]
}

fn class(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let name = match value.pointer(DEFAULT_CLASS) {
        Some(it) if it == "true" => format!("{} (default)", object.name()),
        _ => object.name().to_owned(),
    };
    vec![
        name.into(),
        text(value, "/provisioner").into(),
        or(text(value, "/reclaimPolicy"), "Delete").into(),
        or_unset(value, "/volumeBindingMode"),
        value.get("allowVolumeExpansion").and_then(Value::as_bool).unwrap_or_default().into(),
        age(object, now),
    ]
}

fn csi_node(object: &Object, now: Timestamp) -> Vec<Value> {
    vec![object.name().into(), list(object.value(), "/spec/drivers").len().into(), age(object, now)]
}

fn csi_driver(object: &Object, now: Timestamp) -> Vec<Value> {
    let value = object.value();
    let flag = |field: &str, default: bool| {
        Value::from(value.pointer(&format!("/spec/{field}")).and_then(Value::as_bool).unwrap_or(default))
    };
    let requests = list(value, "/spec/tokenRequests");
    let audiences: Vec<&str> = requests.iter().map(|it| text(it, "/audience")).collect();
    let tokens = if requests.is_empty() { UNSET.to_owned() } else { audiences.join(",") };
    let modes: Vec<&str> =
        list(value, "/spec/volumeLifecycleModes").iter().filter_map(Value::as_str).collect();
    vec![
        object.name().into(),
        flag("attachRequired", true),
        flag("podInfoOnMount", false),
        flag("storageCapacity", false),
        tokens.into(),
        flag("requiresRepublish", false),
        or(&modes.join(","), NONE).into(),
        age(object, now),
    ]
}

fn capacity(object: &Object, _: Timestamp) -> Vec<Value> {
    let value = object.value();
    let capacity = shown(value, "/capacity").unwrap_or_else(|| UNSET.to_owned());
    vec![object.name().into(), text(value, "/storageClassName").into(), capacity.into()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn volumes_and_claims() {
        let now: Timestamp = "2026-01-02T12:00:00Z".parse().unwrap();
        let modes = json!(["ReadWriteOnce", "ReadOnlyMany"]);
        let spec = json!({"capacity": {"storage": "1Gi"}, "accessModes": modes, "claimRef": {"namespace": "n", "name": "c"}});
        let row = volume(&Object::new(json!({"spec": spec, "status": {"phase": "Bound"}})), now);
        assert_eq!(row[1..6], ["1Gi", "RWO,ROX", "", "Bound", "n/c"]);
        let status = json!({"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": modes});
        let row = claim(&Object::new(json!({"spec": {"volumeName": "v"}, "status": status})), now);
        assert_eq!(row[1..5], ["Bound", "v", "1Gi", "RWO,ROX"]);
        let pending =
            claim(&Object::new(json!({"metadata": {"deletionTimestamp": "x"}, "status": status})), now);
        assert_eq!(pending[1..5], ["Terminating", "", "", ""]);
        let annotations = json!({"storageclass.kubernetes.io/is-default-class": "true"});
        let row = class(&Object::new(json!({"metadata": {"name": "s", "annotations": annotations}})), now);
        assert_eq!(row[0..3], ["s (default)", "", "Delete"]);
    }
}
