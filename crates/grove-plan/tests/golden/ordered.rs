//! Pods that start in order: what they have that others do not, field by field.

use grove_api::wire::CliqueStartupType;
use grove_plan::{children::Child, hash};
use serde_json::{Value, json};

use crate::{
    common::{World, merge, name_of, set},
    examples::SERVING,
};

/// The worked example with an order: the front end, then prefill, then decode. `more` is merged into decode's pods.
fn ordered(more: &Value) -> World {
    let mut set = set(SERVING.text);
    set.spec.template.startup_type = Some(CliqueStartupType::InOrder);
    merge(&mut set.spec.template.cliques[2].spec.pod_spec, more);
    let mut world = World::new(set);
    world.settle();
    world.make_pods();
    world
}

fn pod(world: &World, name: &str) -> Value {
    let pod = world.pods.iter().find(|it| name_of(&it.metadata) == name).unwrap();
    serde_json::to_value(pod).unwrap()
}

fn volume(name: &str) -> Value {
    json!({
        "name": name,
        "downwardAPI": { "items": [{
            "path": "parents-ready",
            "fieldRef": { "fieldPath": "metadata.annotations['grove.io/parents-ready']" },
        }] },
    })
}

fn container(name: &str, volume: &str, parents: &[&str]) -> Value {
    let mut arguments = vec!["--file=/var/grove/pod-info/parents-ready".to_owned()];
    arguments.extend(parents.iter().map(|it| format!("--podcliques={it}")));
    json!({
        "name": name,
        "image": "grove-initc:1",
        "args": arguments,
        "volumeMounts": [{ "name": volume, "mountPath": "/var/grove/pod-info", "readOnly": true }],
        "resources": {
            "requests": { "cpu": "100m", "memory": "32Mi" },
            "limits": { "cpu": "100m", "memory": "32Mi" },
        },
        "securityContext": {
            "runAsNonRoot": true,
            "allowPrivilegeEscalation": false,
            "privileged": false,
            "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
            "seccompProfile": { "type": "RuntimeDefault" },
        },
        "terminationMessagePolicy": "FallbackToLogsOnError",
    })
}

#[test]
fn only_those_with_parents_have_an_init_container() {
    let world = ordered(&json!({}));
    let rows: [(&str, &[&str]); 6] = [
        ("inf-0-fe-0", &[]),
        ("inf-0-pd-0-pre-0", &["inf-0-fe:1"]),
        ("inf-0-pd-0-dec-1", &["inf-0-pd-0-pre:1"]),
        // A scaled gang has an order of its own.
        ("inf-0-pd-1-pre-0", &[]),
        ("inf-0-pd-1-dec-0", &["inf-0-pd-1-pre:1"]),
        ("inf-0-pd-2-dec-0", &["inf-0-pd-2-pre:1"]),
    ];
    for (name, parents) in rows {
        let pod = pod(&world, name);
        let (init, volumes) = if parents.is_empty() {
            (Value::Null, Value::Null)
        } else {
            (json!([container("grove-initc", "pod-info-vol", parents)]), json!([volume("pod-info-vol")]))
        };
        assert_eq!(pod["spec"]["initContainers"], init, "{name}");
        assert_eq!(pod["spec"]["volumes"], volumes, "{name}");
        assert_eq!(pod["metadata"]["annotations"], Value::Null, "{name} was not told yet");
    }
}

/// Ours is the last, and what the user called like it keeps its name.
#[test]
fn names_of_the_user_stay() {
    let main = json!({ "containers": [{ "name": "grove-initc", "image": "mine" }] });
    let init = &pod(&ordered(&main), "inf-0-pd-0-dec-0")["spec"]["initContainers"];
    assert_eq!(init[0]["name"], "grove-initc-1");
    let more = json!({
        "initContainers": [{ "name": "grove-initc", "image": "mine" }, { "name": "warm", "image": "mine" }],
        "volumes": [{ "name": "pod-info-vol", "emptyDir": {} }],
    });
    let pod = pod(&ordered(&more), "inf-0-pd-0-dec-0");
    let spec = &pod["spec"];
    let theirs: Vec<&Value> =
        spec["initContainers"].as_array().unwrap().iter().map(|it| &it["image"]).collect();
    assert_eq!(theirs, ["mine", "mine", "grove-initc:1"]);
    assert_eq!(
        spec["initContainers"][2],
        container("grove-initc-1", "pod-info-vol-1", &["inf-0-pd-0-pre:1"]),
        "it has none of our variables either"
    );
    assert_eq!(
        spec["volumes"],
        json!([{ "name": "pod-info-vol", "emptyDir": {} }, volume("pod-info-vol-1")])
    );
}

/// OpenShift refuses a user that it did not choose, and a kubelet does not start root where `runAsNonRoot` is set.
#[test]
fn a_user_is_named_only_where_the_pod_is_root() {
    let rows = [
        (json!({}), Value::Null),
        (json!({ "securityContext": { "runAsUser": 1000, "runAsGroup": 0 } }), Value::Null),
        (json!({ "securityContext": { "runAsUser": 0 } }), json!(65532)),
    ];
    for (more, want) in rows {
        let pod = pod(&ordered(&more), "inf-0-pd-0-dec-0");
        let context = &pod["spec"]["initContainers"][0]["securityContext"];
        assert_eq!(context["runAsUser"], want, "{more}");
        assert_eq!(context["runAsNonRoot"], true, "{more}");
        assert_eq!(context["runAsGroup"], Value::Null, "{more}");
    }
}

/// A template cannot say that parents are ready.
#[test]
fn the_annotation_is_ours_alone() {
    let mut world = ordered(&json!({}));
    let note = json!({ "grove.io/parents-ready": "true", "note": "n" });
    for clique in &mut world.set.spec.template.cliques {
        clique.annotations = serde_json::from_value(note.clone()).unwrap();
    }
    world.pods.clear();
    world.settle();
    world.make_pods();
    for name in ["inf-0-fe-0", "inf-0-pd-0-dec-0"] {
        assert_eq!(pod(&world, name)["metadata"]["annotations"], json!({ "note": "n" }), "{name}");
    }
}

/// An operator of another version, or another image, restarts nothing.
#[test]
fn the_hash_is_that_of_the_template_alone() {
    let (with, without) = (ordered(&json!({})), {
        let mut world = World::new(set(SERVING.text));
        world.settle();
        world
    });
    let hashes = |world: &World| -> Vec<String> {
        let cliques = world.objects.iter().filter(|it| matches!(it, Child::Clique(_)));
        let hash = |it: &Child| it.metadata().labels.as_ref().unwrap()["grove.io/pod-template-hash"].clone();
        cliques.map(hash).collect()
    };
    assert_eq!(hashes(&with), hashes(&without));
    assert_eq!(hash::generation(&with.set), hash::generation(&without.set));
}
