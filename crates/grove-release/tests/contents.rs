//! What Cargo puts into the programs that are shipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, also in its functions")]

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    path::Path,
    process::Command,
};

use grove_release::{architecture::Architecture, compile::Folders, program::Program, sbom, source::Source};

/// Names of the crates that a program is linked with.
fn crates(program: Program) -> BTreeSet<String> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"])
        .args(program.selection())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|it| it.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn the_operators_image_has_no_simulated_cluster() {
    let simulated = ["grove-apiserver", "grove-sandbox", "grove-e2e", "grove-release", "ratatui"];
    let operator = crates(Program::Operator);
    assert!(operator.contains("grove-operator") && operator.contains("grove-podgrouper"), "{operator:?}");
    for it in simulated {
        assert!(!operator.contains(it), "{it} is in the operator's image");
    }
    assert!(crates(Program::CommandLine).contains("grove-sandbox"), "`grove up` needs it");
}

#[test]
fn the_init_container_stays_small() {
    let initc = crates(Program::Initc);
    assert!(initc.len() < 10 && !initc.contains("tokio"), "{initc:?}");
}

#[test]
fn a_bill_of_materials_tells_what_is_linked_from_what_builds() {
    let folders = Folders::find(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))).unwrap();
    let architecture = Architecture::parse(env::consts::ARCH).unwrap();
    let source = Source { revision: String::new(), seconds: 0 };
    let bill = sbom::of(Program::Operator, architecture, &folders, &source).unwrap();
    let components = bill["components"].as_array().unwrap();
    let scopes: BTreeMap<&str, &str> =
        components.iter().map(|it| (it["name"].as_str().unwrap(), it["scope"].as_str().unwrap())).collect();
    assert_eq!(scopes.get("kube-client"), Some(&"required"));
    assert_eq!(scopes.get("serde_derive"), Some(&"excluded"), "a macro is not in the program");
    assert_eq!(scopes.get("grove-sandbox"), None);
    let linked = crates(Program::Operator);
    let required = scopes.iter().filter(|it| *it.1 == "required").map(|it| *it.0);
    assert!(required.clone().count() > 100);
    for name in required {
        assert!(linked.contains(name), "{name} is not linked");
    }
    for component in components {
        let is_ours = component["name"].as_str().unwrap().starts_with("grove-");
        assert_eq!(component["hashes"].is_null(), is_ours, "{component}");
        assert_ne!(component["licenses"][0]["expression"].as_str(), None, "{component}");
    }
}
