//! PodGangMaps: upstream's record of what is in which gang, from v0.1.0-alpha.12 on. Grove reads none of them.

use serde_json::{Value, json};

use super::{
    gangs::{ANCHOR, SCALE_OUT, TAIL},
    objects::{generation_hash, metadata},
    version::Version,
};

pub(crate) const MAPS: &str = "podgangmaps.grove.io";

/// The map of every set replica.
pub(crate) fn all(version: Version) -> Vec<Value> {
    if !version.has_epochs() {
        return Vec::new();
    }
    let hash = generation_hash(version);
    let further = |epoch: &str, role: &str, replica: u32| {
        json!({
            "epoch": epoch, "podCliqueSetGenerationHash": hash, "role": role, "dependsOn": [ANCHOR],
            "pcsgReplicaIndices": { "pd": [replica] },
        })
    };
    let anchor = json!({
        "epoch": ANCHOR, "podCliqueSetGenerationHash": hash, "role": "Anchor", "anchorIndex": 0,
        "podCliques": { "fe": 2 }, "pcsgReplicaIndices": { "pd": [0] },
    });
    let labels = json!({ "app.kubernetes.io/name": "inf-0", "grove.io/podcliqueset-replica-index": "0" });
    vec![json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodGangMap",
        "metadata": metadata("inf-0", ("PodCliqueSet", "inf"), "pcs-podgangmap", labels),
        "spec": {
            "podCliqueSetReplicaIndex": 0,
            "entries": [anchor, further(TAIL, "Tail", 1), further(SCALE_OUT, "ScaleOut", 2)],
        },
    })]
}

/// The kind, as upstream's installer defines it.
pub(crate) fn definition() -> Value {
    let text = || json!({ "type": "string" });
    let number = || json!({ "type": "integer", "format": "int32" });
    let list = |items: Value| json!({ "type": "array", "items": items });
    let map = |values: Value| json!({ "type": "object", "additionalProperties": values });
    let entry = json!({
        "type": "object",
        "required": ["epoch", "podCliqueSetGenerationHash"],
        "properties": {
            "epoch": text(), "podCliqueSetGenerationHash": text(),
            "role": { "type": "string", "enum": ["Anchor", "Tail", "ScaleOut"] },
            "anchorIndex": number(), "dependsOn": list(text()), "podCliques": map(number()),
            "pcsgReplicaIndices": map(list(number())),
        },
    });
    let spec = json!({
        "type": "object",
        "required": ["podCliqueSetReplicaIndex", "entries"],
        "properties": {
            "podCliqueSetReplicaIndex": number(),
            "entries": {
                "type": "array", "items": entry, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["epoch"],
            },
        },
    });
    let schema = json!({
        "type": "object",
        "properties": {
            "apiVersion": text(), "kind": text(), "metadata": { "type": "object" }, "spec": spec,
        },
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": MAPS },
        "spec": {
            "group": "grove.io",
            "scope": "Namespaced",
            "names": {
                "kind": "PodGangMap", "listKind": "PodGangMapList", "plural": "podgangmaps", "singular": "podgangmap",
                "shortNames": ["pgm"],
            },
            "versions": [{
                "name": "v1alpha1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema },
            }],
        },
    })
}
