//! What is asked, noted, and done to pods.

use grove_api::wire::ReplicaSpread;
use serde_json::{Value, json};

use super::*;
use crate::topology::{missing_levels, topology_name};

fn set(spread: Value) -> PodCliqueSet {
    let mut set = PodCliqueSet::default();
    set.spec.replica_spread = serde_json::from_value::<Option<ReplicaSpread>>(spread).unwrap();
    set
}

fn topology() -> Topology {
    let level = |domain: &str| json!({ "domain": domain, "key": format!("example.com/{domain}") });
    let levels = [level("zone"), level("rack")].map(|it| serde_json::from_value(it).unwrap());
    Topology { name: "dc".to_owned(), levels: levels.into() }
}

#[test]
fn a_level_that_is_not_there_spreads_nothing_and_is_told() {
    let topology = topology();
    for (spread, key, missing) in [
        (json!(null), None, None),
        (json!({ "topologyDomain": "zone" }), Some("example.com/zone"), None),
        (json!({ "topologyDomain": "block" }), None, Some("block")),
    ] {
        let set = set(spread);
        assert_eq!(Spread::asked(&set, Some(&topology)).map(|it| it.key), key);
        assert_eq!(Spread::asked(&set, None), None, "no topology");
        assert_eq!(missing_levels(&set, &topology).first().copied(), missing);
    }
}

#[test]
fn it_names_a_topology_where_the_template_names_none() {
    let mut set = set(json!({ "topologyDomain": "zone", "topologyName": "dc" }));
    assert_eq!(topology_name(&set), Some("dc"));
    let policy = json!({ "topologyName": "hall" });
    set.spec.template.scheduling_policy_config = serde_json::from_value(policy).unwrap();
    assert_eq!(topology_name(&set), Some("hall"));
}

#[test]
fn a_note_says_what_was_asked() {
    let topology = topology();
    for mode in ["Preferred", "Required"] {
        let set = set(json!({ "topologyDomain": "rack", "mode": mode }));
        let asked = Spread::asked(&set, Some(&topology)).unwrap();
        let mut gang = PodGang::default();
        assert_eq!(Spread::noted(&gang), None);
        asked.note_on(&mut gang);
        let note = &gang.metadata.annotations.as_ref().unwrap()["grove.io/replica-spread"];
        assert_eq!(*note, format!("{mode} example.com/rack"));
        assert_eq!(Spread::noted(&gang), Some(asked));
    }
    let mut gang = PodGang::default();
    for note in ["", "Required", "Often example.com/rack"] {
        let notes = [(annotations::REPLICA_SPREAD.to_owned(), note.to_owned())];
        gang.metadata.annotations = Some(notes.into());
        assert_eq!(Spread::noted(&gang), None, "{note}");
    }
}

#[test]
fn pods_stay_away_from_other_replicas_and_keep_what_their_template_says() {
    let own = json!({ "topologyKey": "kubernetes.io/hostname" });
    let with_own = json!({ "affinity": { "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [own],
    } }, "containers": [] });
    let ours = json!({
        "labelSelector": {
            "matchLabels": {
                "app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": "inf",
            },
            "matchExpressions": [
                { "key": "grove.io/podcliqueset-replica-index", "operator": "NotIn", "values": ["3"] },
            ],
        },
        "topologyKey": "example.com/zone",
    });
    let weighted = json!([{ "weight": 100, "podAffinityTerm": ours }]);
    for (pod, mode, required, preferred) in [
        (json!({ "containers": [] }), SpreadMode::Required, json!([ours]), json!(null)),
        (json!({ "containers": [] }), SpreadMode::Preferred, json!(null), weighted.clone()),
        (with_own.clone(), SpreadMode::Required, json!([own, ours]), json!(null)),
        (with_own, SpreadMode::Preferred, json!([own]), weighted),
    ] {
        let mut pod: PodSpec = serde_json::from_value(pod).unwrap();
        Spread { key: "example.com/zone", mode }.add_to(&mut pod, "inf", 3);
        let apart = serde_json::to_value(&pod).unwrap()["affinity"]["podAntiAffinity"].clone();
        assert_eq!(apart["requiredDuringSchedulingIgnoredDuringExecution"], required, "{mode:?}");
        assert_eq!(apart["preferredDuringSchedulingIgnoredDuringExecution"], preferred, "{mode:?}");
    }
}
