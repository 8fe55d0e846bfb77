//! The part of `cargo metadata` that the checks read: packages, declared dependencies, the resolved graph.

use std::collections::{BTreeMap, VecDeque};
use std::env;
use std::fmt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// When a dependency is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// By the crate itself.
    Normal,
    /// By its build script.
    Build,
    /// By its tests and examples.
    Dev,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Normal => "normal",
            Self::Build => "build",
            Self::Dev => "dev",
        })
    }
}

/// A dependency as its manifest declares it.
#[derive(Debug)]
pub(crate) struct Dependency {
    /// The package's own name, whatever the manifest renames it to.
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// It is named by path, as workspace members are.
    pub(crate) is_local: bool,
}

/// One version of one crate.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    /// The SPDX expression of its manifest. Absent also when the manifest only names a licence file.
    pub(crate) licence: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// The packages of the workspace and all that they bring.
#[derive(Debug)]
pub(crate) struct Metadata {
    packages: BTreeMap<String, Package>,
    members: Vec<String>,
    /// From a package to the packages that it resolved to, dev-dependencies included.
    edges: BTreeMap<String, Vec<String>>,
}

impl Metadata {
    /// Asks cargo about the workspace at `root`.
    pub(crate) fn load(root: &Path) -> Result<Self, String> {
        // Cargo names itself to the programs that it runs, which keeps the toolchain the same.
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--format-version", "1", "--locked"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("cargo metadata failed: {}", stderr.trim()));
        }
        let value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cargo metadata did not print JSON: {error}"))?;
        Self::from_json(&value)
    }

    /// Reads format version 1 of `cargo metadata`.
    pub(crate) fn from_json(value: &Value) -> Result<Self, String> {
        let mut packages = BTreeMap::new();
        for package in list(value, "packages")? {
            let package = read_package(package)?;
            packages.insert(package.id.clone(), package);
        }
        let mut edges = BTreeMap::new();
        for node in list(&value["resolve"], "nodes")? {
            edges.insert(text(node, "id")?, texts(node, "dependencies")?);
        }
        Ok(Self { packages, members: texts(value, "workspace_members")?, edges })
    }

    /// The packages of this workspace.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Package> {
        self.members.iter().filter_map(|id| self.packages.get(id))
    }

    /// The packages that come from elsewhere, for every target and for tests too.
    pub(crate) fn externals(&self) -> impl Iterator<Item = &Package> {
        self.packages.values().filter(|package| !self.members.contains(&package.id))
    }

    /// The shortest way from a workspace member to `package`, as `member -> … -> package`.
    pub(crate) fn route_to(&self, package: &Package) -> String {
        let mut came_from: BTreeMap<&str, Option<&str>> =
            self.members.iter().map(|id| (id.as_str(), None)).collect();
        let mut queue: VecDeque<&str> = self.members.iter().map(String::as_str).collect();
        while let Some(id) = queue.pop_front() {
            for next in self.edges.get(id).into_iter().flatten() {
                if !came_from.contains_key(next.as_str()) {
                    came_from.insert(next, Some(id));
                    queue.push_back(next);
                }
            }
        }
        let mut names = vec![package.name.as_str()];
        let mut at = package.id.as_str();
        while let Some(&Some(parent)) = came_from.get(at) {
            names.push(self.packages.get(parent).map_or(parent, |it| it.name.as_str()));
            at = parent;
        }
        names.reverse();
        names.join(" -> ")
    }
}

fn read_package(value: &Value) -> Result<Package, String> {
    let dependencies = list(value, "dependencies")?.iter().map(read_dependency).collect::<Result<_, _>>()?;
    Ok(Package {
        id: text(value, "id")?,
        name: text(value, "name")?,
        version: text(value, "version")?,
        licence: value["license"].as_str().map(str::to_owned),
        dependencies,
    })
}

fn read_dependency(value: &Value) -> Result<Dependency, String> {
    let kind = match value["kind"].as_str() {
        None => Kind::Normal,
        Some("build") => Kind::Build,
        Some("dev") => Kind::Dev,
        Some(other) => return Err(format!("cargo metadata: unknown dependency kind `{other}`")),
    };
    Ok(Dependency { name: text(value, "name")?, kind, is_local: value["source"].is_null() })
}

fn list<'a>(value: &'a Value, key: &str) -> Result<&'a [Value], String> {
    value[key].as_array().map(Vec::as_slice).ok_or_else(|| format!("cargo metadata: no list `{key}`"))
}

fn text(value: &Value, key: &str) -> Result<String, String> {
    value[key].as_str().map(str::to_owned).ok_or_else(|| format!("cargo metadata: no text `{key}`"))
}

fn texts(value: &Value, key: &str) -> Result<Vec<String>, String> {
    let not_text = || format!("cargo metadata: `{key}` holds something other than text");
    list(value, key)?.iter().map(|it| it.as_str().map(str::to_owned).ok_or_else(not_text)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixture::graph;

    #[test]
    fn the_route_is_the_shortest_one() {
        let graph = graph(&[("app", "a"), ("app", "b"), ("a", "z"), ("b", "c"), ("c", "z"), ("z", "a")]);
        let target = graph.externals().find(|it| it.name == "z").unwrap();
        assert_eq!(graph.route_to(target), "app -> a -> z");
    }

    #[test]
    fn members_are_not_external() {
        let graph = graph(&[("app", "a")]);
        assert_eq!(graph.members().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["app"]);
        assert_eq!(graph.externals().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn other_json_is_an_error() {
        assert_eq!(Metadata::from_json(&json!({})).unwrap_err(), "cargo metadata: no list `packages`");
        let no_graph = json!({ "packages": [], "workspace_members": [], "resolve": null });
        assert_eq!(Metadata::from_json(&no_graph).unwrap_err(), "cargo metadata: no list `nodes`");
    }
}
