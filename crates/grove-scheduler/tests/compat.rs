//! Holds what we render against the CRDs of the schedulers themselves. Needs their files: `make compat CORPUS=DIR`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]
#![allow(clippy::needless_pass_by_value, reason = "`json!` reads better without borrowing it")]

mod common;

use std::{fs, path::PathBuf};

use common::{both, config, gang, group, placed, preferred, required};
use grove_api::manifest;
use grove_scheduler::{
    Domains, Gang, Probed, Scheduler, SchedulerBackend, kai::KaiBackend, topology::TopologyPart,
    volcano::VolcanoBackend,
};
use kube::core::GroupVersionResource;
use serde_json::{Value, json};

fn definition(file: &str) -> Value {
    let root =
        std::env::var("CORPUS").expect("CORPUS is the folder with other projects' files; see `make compat`");
    let file = PathBuf::from(root).join(file);
    let text = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    manifest::parse(&text).unwrap().remove(0).value
}

/// The schema of a version.
fn schema(definition: &Value, version: &str) -> Value {
    let versions = definition["spec"]["versions"].as_array().unwrap();
    let it = versions.iter().find(|it| it["name"] == version && it["served"] == true).unwrap();
    it["schema"]["openAPIV3Schema"].clone()
}

/// What a server with this schema would drop or refuse of an object.
fn faults(value: &Value, schema: &Value, path: &str, found: &mut Vec<String>) {
    let keeps_all = schema["x-kubernetes-preserve-unknown-fields"] == true;
    match value {
        Value::Object(fields) => {
            for required in schema["required"].as_array().into_iter().flatten() {
                if !fields.contains_key(required.as_str().unwrap()) {
                    found.push(format!("{path}: lacks {required}"));
                }
            }
            for (key, value) in fields {
                let below = format!("{path}.{key}");
                match (&schema["properties"][key], &schema["additionalProperties"]) {
                    (Value::Object(it), _) | (_, Value::Object(it)) => {
                        faults(value, &Value::Object(it.clone()), &below, found);
                    }
                    _ if keeps_all => {}
                    _ => found.push(format!("{below}: unknown")),
                }
            }
        }
        Value::Array(items) => {
            for it in items {
                faults(it, &schema["items"], &format!("{path}[]"), found);
            }
        }
        Value::Number(number) => {
            let minimum = schema["minimum"].as_f64();
            if minimum.is_some_and(|it| number.as_f64().unwrap() < it) {
                found.push(format!("{path}: {number} is below the minimum"));
            }
        }
        Value::String(text) => {
            let choices = schema["enum"].as_array();
            if choices.is_some_and(|it| !it.contains(&json!(text))) {
                found.push(format!("{path}: {text:?} is no choice"));
            }
        }
        _ => {}
    }
}

fn gangs(levels: [&str; 3]) -> Vec<Gang> {
    let [zone, rack, host] = levels;
    let mut gangs = vec![
        gang(json!({ "podgroups": [group("web-0-a", 2, 4)] })),
        gang(json!({
            "podgroups": [group("web-0-a", 2, 4), group("web-0-b", 1, 1)],
            "topologyConstraint": both(zone, rack), "priorityClassName": "high",
        })),
        gang(json!({
            "podgroups": [group("web-0-a", 1, 1), group("web-0-x-0-b", 2, 2), placed(group("web-0-x-0-c", 1, 1), preferred(host))],
            "topologyConstraint": required(zone),
            "topologyConstraintGroupConfigs": [placed(config("web-0-x-0", &["web-0-x-0-b", "web-0-x-0-c"]), required(rack))],
        })),
    ];
    for gang in &mut gangs {
        gang.labels.insert("kai.scheduler/queue".to_owned(), "test".to_owned());
    }
    gangs
}

fn check(scheduler: &dyn Scheduler, gangs: &[Gang], definition: &Value) {
    for gang in gangs {
        for object in scheduler.render(gang, &[]).unwrap_or_else(|error| panic!("{}: {error}", gang.name)) {
            let mut found = Vec::new();
            faults(
                &object.value["spec"],
                &schema(definition, &object.resource.version)["properties"]["spec"],
                "spec",
                &mut found,
            );
            assert!(found.is_empty(), "{found:?}\n{:#}", object.value);
        }
    }
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn kais_newest_crd_takes_all_that_we_render() {
    let definition = definition("kai/crds/scheduling.run.ai_podgroups.yaml");
    let topologies = kube::core::GroupVersionResource::gvr("kai.scheduler", "v1alpha1", "topologies");
    let cluster = Probed::default()
        .with_definition("podgroups.scheduling.run.ai", definition.clone())
        .with_served(&topologies, true);
    let scheduler = KaiBackend.init(&json!({}), &cluster).unwrap();
    assert_eq!(scheduler.version().as_deref(), Some("0.17 or newer"));
    check(scheduler.as_ref(), &gangs(["zone", "rack", "host"]), &definition);
    // The newest form is really used.
    let rendered = scheduler.render(&gangs(["zone", "rack", "host"])[2], &[]).unwrap();
    assert_eq!(rendered[0].value["spec"]["subGroups"][0]["minSubGroup"], 2, "{:#}", rendered[0].value);
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn kais_newest_crd_takes_our_topologies() {
    let definition = definition("kai/crds/kai.scheduler_topologies.yaml");
    let binding = serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "hall" },
        "spec": { "levels": [{ "domain": "zone", "key": "zone" }, { "domain": "host", "key": "kubernetes.io/hostname" }] },
    }))
    .unwrap();
    let part: &dyn TopologyPart = KaiBackend.topology().unwrap();
    let object = part.render(&binding);
    let mut found = Vec::new();
    faults(&object.value["spec"], &schema(&definition, "v1alpha1")["properties"]["spec"], "spec", &mut found);
    assert!(found.is_empty(), "{found:?}");
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn volcanos_newest_crd_takes_our_hyper_nodes() {
    let definition = definition("volcano/crds/topology.volcano.sh_hypernodes.yaml");
    let binding = serde_json::from_value(json!({
        "apiVersion": "grove.io/v1alpha1", "kind": "ClusterTopologyBinding", "metadata": { "name": "hall" },
        "spec": { "levels": [{ "domain": "zone", "key": "zone" }, { "domain": "rack", "key": "rack" }] },
    }))
    .unwrap();
    let mut domains = Domains::new(["zone", "rack"]);
    domains.add(|_| Some("a"));
    let objects = VolcanoBackend.topology_tree().unwrap().render(&binding, &domains).unwrap();
    assert_eq!(objects.len(), 2);
    for object in objects {
        let mut found = Vec::new();
        let schema = &schema(&definition, "v1alpha1")["properties"]["spec"];
        faults(&object.value["spec"], schema, "spec", &mut found);
        assert!(found.is_empty(), "{found:?}");
    }
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn volcanos_newest_crd_takes_all_that_we_render() {
    let definition = definition("volcano/crds/scheduling.volcano.sh_podgroups.yaml");
    let hyper_nodes = GroupVersionResource::gvr("topology.volcano.sh", "v1alpha1", "hypernodes");
    let tier = |tier: i64, name: &str| json!({ "spec": { "tier": tier, "tierName": name } });
    let cluster = Probed::default()
        .with_definition("podgroups.scheduling.volcano.sh", definition.clone())
        .with_served(&hyper_nodes, true)
        .with_objects(&hyper_nodes, vec![tier(1, "rack"), tier(2, "zone")]);
    let scheduler = VolcanoBackend.init(&json!({}), &cluster).unwrap();
    check(scheduler.as_ref(), &gangs(["zone", "rack", "rack"])[..2], &definition);
}
