//! What the user writes into a template, and what becomes of it in the PodClique and the pod.

use serde_json::{Value, json};

use crate::{
    child,
    common::{World, merge, set},
};
use grove_plan::children::Kind;

/// A set with something of everything in the template of its only clique.
fn written() -> World {
    let mut set = set("fe=1/1");
    let pod = json!({
        "initContainers": [{ "name": "warm", "env": [{ "name": "MODE", "value": "warm" }] }],
        "containers": [
            {
                "name": "main",
                "env": [
                    { "name": "ADDRESS", "value": "$(GROVE_HEADLESS_SERVICE):80" },
                    { "name": "GROVE_PCS_NAME", "value": "mine" },
                    { "name": "LAST", "value": "1" },
                ],
            },
            { "name": "side" },
        ],
        "schedulingGates": [{ "name": "example.com/hold" }, { "name": "grove.io/podgang-pending-creation" }],
        "hostname": "mine",
        "subdomain": "mine",
        "priorityClassName": "mine",
        "nodeSelector": { "gpu": "b200" },
    });
    let template = json!({
        "cliques": [{
            "name": "fe",
            "labels": {
                "team": "a", "app.kubernetes.io/part-of": "mine", "grove.io/podgang": "mine",
                "grove.io/base-podgang": "mine", "grove.io/podcliquescalinggroup": "mine",
                "grove.io/podcliquescalinggroup-replica-index": "7", "grove.io/podclique": "mine",
                "grove.io/podclique-pod-index": "7",
            },
            "annotations": { "note": "n", "grove.io/topology-name": "dc" },
            "spec": { "roleName": "fe", "replicas": 1, "minAvailable": 1, "podSpec": pod },
        }],
        "priorityClassName": "high",
    });
    merge(
        &mut set,
        &json!({
            "metadata": { "labels": { "of-set": "1" }, "annotations": { "of-set": "1" } },
            "spec": { "template": template },
        }),
    );
    let mut world = World::new(set);
    world.settle();
    world.make_pods();
    world
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn labels_of_the_template_are_below_ours() {
    let world = written();
    let clique = child(&world, Kind::Clique, "inf-0-fe");
    let pod = serde_json::to_value(&world.pods[0]).unwrap();
    for labels in [&clique["metadata"]["labels"], &pod["metadata"]["labels"]] {
        assert_eq!(labels["team"], "a");
        assert_eq!(labels["app.kubernetes.io/part-of"], "inf");
        assert_eq!(labels["grove.io/podgang"], "inf-0");
        assert_eq!(labels.get("of-set"), None, "labels of a set are for its gangs alone");
        // A place that the clique does not have cannot be claimed.
        for key in ["base-podgang", "podcliquescalinggroup", "podcliquescalinggroup-replica-index"] {
            assert_eq!(labels.get(format!("grove.io/{key}")), None, "{key}");
        }
    }
    assert_eq!(child(&world, Kind::Gang, "inf-0")["metadata"]["labels"]["of-set"], "1");
    for (key, of_pod) in [("grove.io/podclique", "inf-0-fe"), ("grove.io/podclique-pod-index", "0")] {
        assert_eq!(clique["metadata"]["labels"].get(key), None, "{key} is for pods");
        assert_eq!(pod["metadata"]["labels"][key], of_pod);
    }
}

#[test]
fn annotations_reach_the_pods_and_our_notes_do_not() {
    let world = written();
    let clique = child(&world, Kind::Clique, "inf-0-fe");
    let mirrored = "app.kubernetes.io/part-of,grove.io/podgang,team;note";
    assert_eq!(clique["metadata"]["annotations"], json!({ "note": "n", "grove.io/mirrored-keys": mirrored }));
    let pod = serde_json::to_value(&world.pods[0]).unwrap();
    assert_eq!(pod["metadata"]["annotations"], json!({ "note": "n" }));
}

/// Ours first, so that the user's variables may refer to them; of one name, ours.
#[test]
fn every_container_has_our_variables_first() {
    let world = written();
    let pod = serde_json::to_value(&world.pods[0]).unwrap();
    let spec = &pod["spec"];
    let ours = [
        "GROVE_PCS_NAME",
        "GROVE_PCS_INDEX",
        "GROVE_PCLQ_NAME",
        "GROVE_HEADLESS_SERVICE",
        "GROVE_PCLQ_POD_INDEX",
    ];
    let rows = [
        (&spec["initContainers"][0], vec!["MODE"]),
        (&spec["containers"][0], vec!["ADDRESS", "LAST"]),
        (&spec["containers"][1], vec![]),
    ];
    for (container, theirs) in rows {
        assert_eq!(names(&container["env"]), [ours.to_vec(), theirs].concat());
        assert_eq!(container["env"][0]["value"], "inf");
    }
    let clique = child(&world, Kind::Clique, "inf-0-fe");
    assert_eq!(
        names(&clique["spec"]["podSpec"]["containers"][0]["env"]),
        ["ADDRESS", "GROVE_PCS_NAME", "LAST"]
    );
}

#[test]
fn gates_of_the_user_stay_and_ours_comes_once() {
    let pod = serde_json::to_value(&written().pods[0]).unwrap();
    assert_eq!(
        names(&pod["spec"]["schedulingGates"]),
        ["grove.io/podgang-pending-creation", "example.com/hold"]
    );
}

#[test]
fn the_address_is_ours_and_the_rest_is_the_users() {
    let world = written();
    let pod = serde_json::to_value(&world.pods[0]).unwrap();
    let spec = &pod["spec"];
    assert_eq!((&spec["hostname"], &spec["subdomain"]), (&json!("inf-0-fe-0"), &json!("inf-0")));
    assert_eq!(spec["nodeSelector"], json!({ "gpu": "b200" }));
    // The set's priority is the gang's; the pod's is what the user wrote.
    assert_eq!(spec["priorityClassName"], "mine");
    assert_eq!(child(&world, Kind::Gang, "inf-0")["spec"]["priorityClassName"], "high");
}

#[test]
fn addresses_may_wait_for_readiness() {
    let mut world = written();
    merge(
        &mut world.set,
        &json!({ "spec": { "template": { "headlessServiceConfig": { "publishNotReadyAddresses": false } } } }),
    );
    world.settle();
    assert_eq!(child(&world, Kind::Service, "inf-0")["spec"]["publishNotReadyAddresses"], false);
}
