//! The tenant's own set, which it may do with as it likes.

use serde_json::{Value, json};

use super::{
    act::{Act, Who, named},
    victim::{GANG, GROVE},
};

/// One pod, and a copy of a group with one more.
pub(super) fn own_set() -> Value {
    let pod = json!({ "containers": [{ "name": "main", "image": "registry.example.com/app:1.0" }] });
    json!({
        "apiVersion": GROVE, "kind": "PodCliqueSet", "metadata": { "name": "own" },
        "spec": { "replicas": 1, "template": {
            "terminationDelay": "4h",
            "cliques": [
                { "name": "front", "spec": { "roleName": "front", "replicas": 1, "minAvailable": 1, "podSpec": pod } },
                { "name": "work", "spec": { "roleName": "work", "replicas": 1, "minAvailable": 1, "podSpec": pod } },
            ],
            "podCliqueScalingGroups": [{ "name": "pd", "cliqueNames": ["work"], "replicas": 1, "minAvailable": 1 }],
        } },
    })
}

/// Creates it with annotations, and waits until its children are there.
pub(super) fn own_until(annotations: Value) -> Vec<Act> {
    let mut set = own_set();
    set["metadata"]["annotations"] = annotations;
    vec![
        Act::create(Who::Editor, set),
        Act::until(named(GROVE, "PodClique", "own-0-front")),
        Act::until(named(GROVE, "PodCliqueScalingGroup", "own-0-pd")),
        Act::until(named(GANG, "PodGang", "own-0")),
    ]
}
