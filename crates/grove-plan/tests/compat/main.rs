//! Holds our plans against what other projects make. Needs their files: `make compat CORPUS=DIR`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, also in its functions"
)]

#[path = "../common/mod.rs"]
mod common;
mod dynamo;
mod reads;

use std::{collections::BTreeSet, fs, path::PathBuf};

use common::{World, is_gated, references};
use grove_api::{defaulting::default_pod_clique_set, manifest, wire::PodCliqueSet};
use grove_plan::{facts::label, layout};
use serde_json::Value;

fn corpus(below: &str) -> PathBuf {
    let root =
        std::env::var("CORPUS").expect("CORPUS is the folder with other projects' files; see `make compat`");
    PathBuf::from(root).join(below)
}

/// The sets in a file, as a server would store them. Placeholders stand for values that vary.
fn sets(file: &std::path::Path) -> Vec<PodCliqueSet> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let documents = manifest::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let values = documents.into_iter().map(|it| it.value).filter(|it| it["kind"] == "PodCliqueSet");
    values
        .map(|mut value| {
            value["metadata"].as_object_mut().unwrap().remove("$strict");
            fill(&mut value);
            let mut set: PodCliqueSet = serde_json::from_value(value).unwrap();
            default_pod_clique_set(&mut set, None);
            set.metadata.uid = Some("uid-set".to_owned());
            set.metadata.generation = Some(1);
            set
        })
        .collect()
}

fn fill(value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with("$pattern:") || text.starts_with("$var:") => {
            "filled-in".clone_into(text);
        }
        Value::Array(items) => items.iter_mut().for_each(fill),
        Value::Object(fields) => fields.values_mut().for_each(fill),
        _ => {}
    }
}

/// Everything is made, listed, and let go.
fn running(set: PodCliqueSet) -> World {
    let mut world = World::new(set);
    world.settle();
    world.make_pods();
    while world.step_gangs(true) {}
    world.settle();
    world
}

/// Every pod of every sample is made, listed once, and let go; who waits, waits for cliques of its own gang.
#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn every_sample_of_upstream_comes_to_rest() {
    let mut files: Vec<PathBuf> =
        fs::read_dir(corpus("grove/samples")).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let sets = sets(&file);
        assert!(!sets.is_empty(), "{}", file.display());
        for set in sets {
            let world = running(set);
            let wanted: u32 = world.cliques().map(|it| layout::count(it.spec.replicas.unwrap())).sum();
            assert!(wanted > 0 && world.pods.len() == wanted as usize, "{}", file.display());
            assert!(world.pods.iter().all(|it| !is_gated(it)), "{}", file.display());
            let listed: Vec<String> = world
                .places()
                .iter()
                .flat_map(|it| references(world.gang(&it.0)))
                .flat_map(|it| it.1)
                .map(|it| it.name)
                .collect();
            let unique: BTreeSet<&String> = listed.iter().collect();
            assert!(unique.len() == listed.len() && listed.len() == wanted as usize, "{}", file.display());
            for clique in world.cliques() {
                let gang = label(clique.metadata.labels.as_ref(), "grove.io/podgang").unwrap();
                let groups = &world.gang(gang).spec.pod_groups;
                for parent in &clique.spec.starts_after {
                    assert!(groups.iter().any(|it| it.name == *parent), "{}: {parent}", file.display());
                }
            }
        }
    }
}
