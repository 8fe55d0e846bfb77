//! The bill as a CycloneDX document. Everything in it comes from the commit, so that it is the same everywhere.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::tree::{Crate, Id, Tree};
use crate::source::Source;

/// Of a program: `built` is all that takes part in building it, `linked` what is in it afterwards.
pub(super) fn of(
    source: &Source,
    built: &Tree,
    linked: &Tree,
    checksums: &BTreeMap<Id, String>,
) -> Result<Value> {
    ensure!(built.root == linked.root, "cargo tree named two programs");
    let root = &built.root;
    let mut components = Vec::new();
    for (id, of) in built.crates.iter().filter(|it| it.0 != root) {
        let scope = if linked.crates.contains_key(id) { "required" } else { "excluded" };
        let mut component = component("library", id, of);
        component["scope"] = scope.into();
        if let Some(checksum) = checksums.get(id) {
            component["purl"] = format!("pkg:cargo/{}@{}", id.name, id.version).into();
            component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
        }
        components.push(component);
    }
    let dependencies: Vec<Value> = built
        .crates
        .iter()
        .map(|(id, of)| {
            let on: Vec<String> = of.dependencies.iter().map(reference).collect();
            json!({ "ref": reference(id), "dependsOn": on })
        })
        .collect();
    let mut program = component("application", root, &built.crates[root]);
    program["properties"] = json!([{ "name": "grove:commit", "value": source.revision }]);
    Ok(json!({
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": { "timestamp": source.created()?, "component": program },
        "components": components,
        "dependencies": dependencies,
    }))
}

fn component(kind: &str, id: &Id, of: &Crate) -> Value {
    let mut component =
        json!({ "type": kind, "bom-ref": reference(id), "name": id.name, "version": id.version });
    if !of.licence.is_empty() {
        component["licenses"] = json!([{ "expression": of.licence }]);
    }
    component
}

/// What the document calls a crate. No two crates have both in common.
fn reference(id: &Id) -> String {
    format!("{}@{}", id.name, id.version)
}

#[cfg(test)]
mod tests {
    use super::super::tree::parse;
    use super::*;

    #[test]
    fn it_says_what_is_in_the_program_and_what_built_it() {
        let built = "0\ttop v0.1.0 (/x/top)\tApache-2.0\n1\ta v1.0.0\tMIT\n2\tm v2.0.0 (proc-macro)\tMIT OR ISC\n\
                     1\town v0.1.0 (/x/own)\tApache-2.0\n";
        let linked =
            "0\ttop v0.1.0 (/x/top)\tApache-2.0\n1\ta v1.0.0\tMIT\n1\town v0.1.0 (/x/own)\tApache-2.0\n";
        let id = |name: &str, version: &str| Id { name: name.to_owned(), version: version.to_owned() };
        let checksums = [(id("a", "1.0.0"), "0a".to_owned()), (id("m", "2.0.0"), "0b".to_owned())].into();
        let source = Source { revision: "c0ffee".to_owned(), seconds: 0 };
        let bill = of(&source, &parse(built).unwrap(), &parse(linked).unwrap(), &checksums).unwrap();
        let component = |name: &str, version: &str, licence: &str, scope: &str| {
            json!({
                "type": "library", "bom-ref": format!("{name}@{version}"), "name": name, "version": version,
                "licenses": [{ "expression": licence }], "scope": scope,
            })
        };
        let from_registry = |mut it: Value, checksum: &str| {
            it["purl"] =
                format!("pkg:cargo/{}@{}", it["name"].as_str().unwrap(), it["version"].as_str().unwrap())
                    .into();
            it["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
            it
        };
        assert_eq!(
            bill["components"],
            json!([
                from_registry(component("a", "1.0.0", "MIT", "required"), "0a"),
                from_registry(component("m", "2.0.0", "MIT OR ISC", "excluded"), "0b"),
                component("own", "0.1.0", "Apache-2.0", "required"),
            ])
        );
        assert_eq!(
            bill["dependencies"],
            json!([
                { "ref": "a@1.0.0", "dependsOn": ["m@2.0.0"] },
                { "ref": "m@2.0.0", "dependsOn": [] },
                { "ref": "own@0.1.0", "dependsOn": [] },
                { "ref": "top@0.1.0", "dependsOn": ["a@1.0.0", "own@0.1.0"] },
            ])
        );
        let metadata = &bill["metadata"];
        assert_eq!(metadata["timestamp"], "1970-01-01T00:00:00Z");
        assert_eq!(metadata["component"]["bom-ref"], "top@0.1.0");
        assert_eq!(
            metadata["component"]["properties"],
            json!([{ "name": "grove:commit", "value": "c0ffee" }])
        );
    }
}
