//! Holds us against upstream's manifests and CRDs. Needs their files: `make compat CORPUS=DIR`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking, also in its functions"
)]

#[path = "../config/backends.rs"]
mod backends;
mod differences;

use std::{collections::BTreeSet, fs, path::PathBuf};

use grove_api::{
    config,
    field::Path,
    manifest,
    review::{Review, review},
    schema::CRDS,
    validation::Environment,
};
use serde_json::Value;

/// Differences between upstream's CRDs and ours that are meant, each below its reason.
const MEANT: &str = include_str!("meant.txt");

fn corpus(below: &str) -> PathBuf {
    let root =
        std::env::var("CORPUS").expect("CORPUS is the folder with other projects' files; see `make compat`");
    PathBuf::from(root).join(below)
}

fn values(file: &std::path::Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let documents = manifest::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    documents.into_iter().map(|it| it.value).collect()
}

fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}

fn assert_valid(value: &Value, name: &str) {
    match review(value, &Environment::default()) {
        Review::Checked(verdict) => assert_eq!(verdict.errors, [], "{name}"),
        Review::Foreign => panic!("{name}: not one of our kinds"),
    }
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn every_sample_of_upstream_is_valid() {
    for file in files(&corpus("grove/samples")) {
        for value in values(&file) {
            assert_valid(&value, &file.display().to_string());
        }
    }
}

/// What Dynamo's operator makes. The file is an expectation of its tests: placeholders stand for values that vary.
#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn what_dynamo_makes_is_valid() {
    let mut value = values(&corpus("dynamo/output.yaml")).remove(0);
    value["metadata"].as_object_mut().unwrap().remove("$strict");
    fill(&mut value);
    assert_valid(&value, "dynamo/output.yaml");
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

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn upstream_configuration_files_load_or_fail_alike() {
    let load = |name: &str| config::load(&values(&corpus("grove/config").join(name))[0], backends::BACKENDS);
    for name in ["valid-config.yaml", "valid-config-mnnvl-enabled.yaml"] {
        let loaded = load(name).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        assert_eq!(
            loaded.profiles.names().collect::<Vec<_>>(),
            ["kai-scheduler", "default-scheduler"],
            "{name}"
        );
        assert_eq!(loaded.profiles.default_name(), "default-scheduler", "{name}");
    }
    let errors = load("invalid-config.yaml").unwrap_err();
    let paths: Vec<&Path> = errors.iter().map(|it| &it.path).collect();
    assert_eq!(paths, [&Path::parse("runtimeClientConnection.burst")]);
}

#[test]
#[ignore = "needs other projects' files: make compat CORPUS=DIR"]
fn crds_differ_from_upstream_only_where_meant() {
    let mut found = BTreeSet::new();
    for file in files(&corpus("grove/crds")) {
        let theirs = values(&file).remove(0);
        let ours = CRDS
            .iter()
            .find(|crd| theirs["metadata"]["name"] == crd.name())
            .unwrap_or_else(|| panic!("{}: we have no such CRD", file.display()));
        found.extend(differences::between(&theirs, &ours.to_value()));
    }
    let meant: BTreeSet<String> =
        MEANT.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect();
    let show = |lines: Vec<&str>| lines.join("\n");
    let (new, gone) = (
        show(found.difference(&meant).map(String::as_str).collect()),
        show(meant.difference(&found).map(String::as_str).collect()),
    );
    assert!(new.is_empty() && gone.is_empty(), "not in meant.txt:\n{new}\nno longer there:\n{gone}");
}
