//! The example works: exact objects, rules and words, the conformance kit, and one line where the binary is put together.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, also in its functions")]

use std::{fs, path::Path, sync::Arc};

use example_backend::HerdBackend;
use grove_api::{
    config,
    wire::{PodCliqueSet, PodGang},
};
use grove_scheduler::{
    Answer, Gang, Probed, Scheduler, SchedulerBackend, backend::prepare, builtin::builtin, conformance,
    tree::from_pod_gang,
};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

/// A cluster with the definition of herds, of a release that has levels for folds or not.
fn cluster(fold_levels: bool) -> Probed {
    let mut fold = json!({ "name": {}, "least": {} });
    if fold_levels {
        fold["within"] = json!({});
    }
    let spec = json!({ "properties": { "folds": { "items": { "properties": fold } } } });
    let schema = json!({ "openAPIV3Schema": { "properties": { "spec": spec } } });
    let definition = json!({ "spec": { "versions": [{ "name": "v1", "served": true, "schema": schema }] } });
    Probed::default().with_definition("herds.herd.example.com", definition)
}

fn scheduler(fold_levels: bool) -> Arc<dyn Scheduler> {
    HerdBackend.init(&json!({}), &cluster(fold_levels)).unwrap()
}

fn gang(spec: &Value) -> Gang {
    let gang: PodGang = serde_json::from_value(json!({
        "apiVersion": "scheduler.grove.io/v1alpha1", "kind": "PodGang",
        "metadata": { "name": "inf-0", "namespace": "ml", "uid": "u" }, "spec": spec,
    }))
    .unwrap();
    from_pod_gang(&gang).unwrap()
}

fn group(name: &str, min: i32) -> Value {
    json!({ "name": name, "minReplicas": min, "podReferences": [] })
}

fn required(level: &str) -> Value {
    json!({ "packConstraint": { "required": level } })
}

#[test]
fn it_conforms() {
    for fold_levels in [true, false] {
        conformance::assert_conforms(&HerdBackend, &json!({}), &cluster(fold_levels));
    }
    conformance::assert_conforms(&HerdBackend, &json!({ "patienceSeconds": 10 }), &cluster(true));
}

#[test]
fn a_gang_is_a_herd() {
    let mut prefill = group("inf-0-prefill", 2);
    prefill["topologyConstraint"] = required("rack");
    let spec = json!({
        "podgroups": [prefill, group("inf-0-decode", 4)],
        "topologyConstraint": required("zone"),
        "priorityClassName": "high",
    });
    let objects = scheduler(true).render(&gang(&spec), &[]).unwrap();
    assert_eq!(objects.len(), 1);
    assert_eq!(
        objects[0].value,
        json!({
            "apiVersion": "herd.example.com/v1", "kind": "Herd", "metadata": { "name": "inf-0" },
            "spec": {
                "patienceSeconds": 300, "importance": "high", "within": "zone",
                "folds": [
                    { "name": "inf-0-prefill", "least": 2, "within": "rack" },
                    { "name": "inf-0-decode", "least": 4 },
                ],
            },
        })
    );
    assert_eq!(
        (objects[0].once.as_slice(), objects[0].immutable.as_slice()),
        (&["/spec/patienceSeconds".to_owned()][..], &["/spec/within".to_owned()][..],)
    );
}

#[test]
fn what_is_not_there_is_refused() {
    let error = HerdBackend.init(&json!({}), &Probed::default()).unwrap_err();
    assert_eq!(error, "herds.herd.example.com does not serve v1: install the herd scheduler");
    assert_eq!(scheduler(true).capabilities().required_topology_group, Answer::Native);
    assert!(matches!(scheduler(false).capabilities().required_topology_group, Answer::Reject(_)));
    let mut fold = group("inf-0-prefill", 2);
    fold["topologyConstraint"] = required("rack");
    let gang = gang(&json!({ "podgroups": [fold] }));
    let refusal = scheduler(false).render(&gang, &[]).unwrap_err();
    assert!(refusal.0.starts_with("inf-0-prefill requires a level: this release"), "{refusal}");
}

#[test]
fn a_pod_finds_its_herd() {
    let gang = gang(&json!({ "podgroups": [group("inf-0-decode", 4)] }));
    let pod = |clique: &str| -> Pod {
        serde_json::from_value(json!({ "metadata": { "labels": { "grove.io/podclique": clique } } })).unwrap()
    };
    let mut member = pod("inf-0-decode");
    prepare(scheduler(true).as_ref(), &mut member, &gang).unwrap();
    assert_eq!(member.metadata.labels.unwrap()["herd.example.com/fold"], "inf-0-decode");
    assert_eq!(member.metadata.annotations.unwrap()["herd.example.com/herd"], "inf-0");
    let refusal = prepare(scheduler(true).as_ref(), &mut pod("other"), &gang).unwrap_err();
    assert_eq!(refusal.0, r#"the pod's clique "other" is not in gang inf-0"#);
}

#[test]
fn its_own_rules_and_words() {
    let set = |host_network: bool| -> PodCliqueSet {
        serde_json::from_value(json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": "inf" },
            "spec": { "template": { "cliques": [
                { "name": "a", "spec": { "podSpec": { "containers": [], "hostNetwork": host_network } } },
            ] } },
        }))
        .unwrap()
    };
    let errors = |new: &PodCliqueSet, old: Option<&PodCliqueSet>| {
        let findings = scheduler(true).validate_pod_clique_set(new, old);
        findings.errors.iter().map(|it| it.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(errors(&set(false), None), Vec::<String>::new());
    assert_eq!(errors(&set(true), None), ["spec.template.cliques[0].spec.podSpec.hostNetwork"]);
    assert_eq!(errors(&set(true), Some(&set(true))), Vec::<String>::new());

    let gang = gang(&json!({ "podgroups": [group("inf-0-decode", 4)] }));
    let herd = |phase: &str| json!({ "metadata": { "name": "inf-0" }, "status": { "phase": phase, "message": "no meadow is large enough " } });
    let words = |herds: &[Value]| scheduler(true).explain(&gang, herds);
    assert_eq!(words(&[herd("Stray")]).as_deref(), Some("inf-0: no meadow is large enough"));
    assert_eq!(words(&[herd("Grazing")]), None);
    assert_eq!(words(&[]), None);
}

#[test]
fn one_line_adds_it_to_the_binary() {
    let mut registry = builtin();
    registry.register(HerdBackend).unwrap();

    let file = |settings: Value| {
        json!({
            "apiVersion": config::API_VERSION, "kind": config::KIND,
            "scheduler": { "profiles": [{ "name": "herd-scheduler", "default": true, "config": settings }] },
        })
    };
    let load = |settings: Value| registry.with_known(|known| config::load(&file(settings), known));
    let loaded = load(json!({ "patienceSeconds": 10 })).unwrap();
    assert_eq!(loaded.profiles.default_name(), "herd-scheduler");
    let active: Vec<&str> = registry.active(&loaded.profiles).map(|(it, _)| it.name()).collect();
    assert_eq!(active, ["herd-scheduler", "default-scheduler"]);
    let errors = load(json!({ "patience": 10 })).unwrap_err();
    assert!(
        errors[0].to_string().starts_with("scheduler.profiles[0].config.patience: Unknown field"),
        "{errors:?}"
    );
    let errors = load(json!({ "patienceSeconds": 0 })).unwrap_err();
    assert_eq!(errors[0].path.to_string(), "scheduler.profiles[0].config.patienceSeconds");
}

#[test]
fn no_other_crate_knows_of_it() {
    fn files(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // It selects Cargo features for the whole workspace and is in no product.
            if path.ends_with("grove-dev") {
                continue;
            }
            if path.is_dir() {
                files(&path, found);
            } else if let Ok(text) = fs::read_to_string(&path) {
                found.push((path.display().to_string(), text));
            }
        }
    }
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates"), &mut found);
    assert!(found.len() > 100, "only {} files were looked at", found.len());
    for name in ["herd-scheduler", "example-backend", "example_backend", "HerdBackend"] {
        let known: Vec<_> =
            found.iter().filter(|(_, text)| text.contains(name)).map(|(path, _)| path).collect();
        assert!(known.is_empty(), "{name} is named in {known:?}");
    }
}
