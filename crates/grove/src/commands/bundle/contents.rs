//! What is in a bundle. Nothing gets into a file but through this module, which redacts it.

use std::{collections::BTreeMap, fmt::Write as _};

use kube::api::ApiResource;
use serde_json::Value;

use super::{redact, text};

/// Bytes that are kept of one log.
const MAX_LOG: usize = 2 * 1024 * 1024;

const ABOUT: &str = "\
A bundle of Grove for a bug report. Look at it before you send it.

  cluster/      objects without a namespace, and nodes
  namespaces/   objects of each namespace, one file for each kind
  operator/     Deployments and pods of the operator and the pod grouper, the operator's configuration, logs
  versions.yaml versions of grove and of the API server, and the operator's images
  errors.txt    what could not be read; absent where there is nothing

Secrets are never read, and ConfigMaps only for the operator's configuration. Values of environment variables, commands,
arguments and copies of objects in annotations are taken out, and what looks like a credential in any other text.
";

/// Files by their paths.
#[derive(Debug, Default)]
pub(super) struct Contents {
    files: BTreeMap<String, String>,
    /// Objects of each file that has any.
    counts: BTreeMap<String, usize>,
    problems: Vec<String>,
    notes: Vec<String>,
}

impl Contents {
    /// Adds an object to the file of its kind in a folder.
    pub(super) fn object(&mut self, folder: &str, resource: &ApiResource, mut object: Value) {
        redact::object(&mut object);
        let name = full_name(resource);
        match serde_saphyr::to_string(&object) {
            Ok(yaml) => {
                let path = format!("{folder}/{name}.yaml");
                let file = self.files.entry(path.clone()).or_default();
                file.push_str("---\n");
                file.push_str(&yaml);
                *self.counts.entry(path).or_default() += 1;
            }
            Err(error) => self.problem(&name, &error.to_string()),
        }
    }

    /// Adds a file that is no list of objects.
    pub(super) fn value(&mut self, path: &str, mut value: Value) {
        redact::object(&mut value);
        match serde_saphyr::to_string(&value) {
            Ok(yaml) => drop(self.files.insert(path.to_owned(), yaml)),
            Err(error) => self.problem(path, &error.to_string()),
        }
    }

    /// Adds the end of a log.
    pub(super) fn log(&mut self, path: &str, log: &str) {
        // Redacted first: the end of a key without its beginning would not be known as one.
        let clean = text::redacted(log);
        let end = text::tail(clean.as_deref().unwrap_or(log), MAX_LOG);
        self.files.insert(path.to_owned(), end.to_owned());
    }

    /// Notes that something could not be read.
    pub(super) fn problem(&mut self, what: &str, why: &str) {
        let line = format!("{what}: {why}");
        self.problems.push(text::redacted(&line).unwrap_or(line));
    }

    /// Notes something that is as it should be.
    pub(super) fn note(&mut self, line: String) {
        self.notes.push(line);
    }

    pub(super) fn problems(&self) -> &[String] {
        &self.problems
    }

    pub(super) fn objects(&self) -> usize {
        self.counts.values().sum()
    }

    /// All files, with those that describe the others. `about` says what was asked for, and when.
    pub(super) fn into_files(mut self, about: &str) -> BTreeMap<String, String> {
        let mut readme = format!("{ABOUT}\n{about}\n");
        let mut line = |text: &str| {
            // Writing to a string does not fail.
            let _ = writeln!(readme, "{text}");
        };
        for path in self.files.keys() {
            match self.counts.get(path) {
                Some(1) => line(&format!("  {path}: 1 object")),
                Some(count) => line(&format!("  {path}: {count} objects")),
                None => line(&format!("  {path}")),
            }
        }
        self.notes.iter().for_each(|it| line(it));
        if !self.problems.is_empty() {
            line("Not all could be read: see errors.txt.");
            self.files.insert("errors.txt".to_owned(), self.problems.join("\n") + "\n");
        }
        self.files.insert("README.txt".to_owned(), readme);
        self.files
    }
}

/// `podcliques.grove.io`, or `pods`.
pub(super) fn full_name(resource: &ApiResource) -> String {
    match resource.group.as_str() {
        "" => resource.plural.clone(),
        group => format!("{}.{group}", resource.plural),
    }
}

/// The folder of an object of the cluster. A server may say anything: what it says stays inside of the folder.
pub(super) fn folder(object: &Value) -> String {
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => format!("namespaces/{}", component(namespace)),
        None => "cluster".to_owned(),
    }
}

/// A part of a path.
pub(super) fn component(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.');
    let plain: String = name.chars().map(|it| if is_plain(it) { it } else { '_' }).collect();
    format!("{}{}", if plain.starts_with('.') { "_" } else { "" }, plain)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_described() {
        let mut contents = Contents::default();
        let pods = ApiResource::erase::<Pod>(&());
        for name in ["a", "b"] {
            contents.object("namespaces/ml", &pods, json!({ "kind": "Pod", "metadata": { "name": name } }));
        }
        contents.log("operator/logs/o/c.log", "Authorization: Bearer c4n4ry\n");
        contents.problem("nodes", "refused to https://me:c4n4ry@host");
        contents.note("Not served: things".to_owned());
        assert_eq!((contents.objects(), contents.problems().len()), (2, 1));
        let files = contents.into_files("Namespace ml.");
        let names: Vec<&str> = files.keys().map(String::as_str).collect();
        assert_eq!(names, ["README.txt", "errors.txt", "namespaces/ml/pods.yaml", "operator/logs/o/c.log"]);
        assert_eq!(files["errors.txt"], "nodes: refused to https://<redacted>@host\n");
        assert_eq!(files["namespaces/ml/pods.yaml"].matches("---\n").count(), 2);
        let readme = &files["README.txt"];
        let end = "Namespace ml.\n  namespaces/ml/pods.yaml: 2 objects\n  operator/logs/o/c.log\nNot served: things\n\
                   Not all could be read: see errors.txt.\n";
        assert!(readme.ends_with(end), "{readme}");
        assert!(files.values().all(|it| !it.contains("c4n4ry")));
    }

    #[test]
    fn paths_stay_inside() {
        let rows =
            [("ml", "ml"), ("a.b-c", "a.b-c"), ("..", "_.."), ("../a", "_.._a"), ("a/b", "a_b"), ("", "")];
        for (name, want) in rows {
            assert_eq!(component(name), want);
        }
        assert_eq!(folder(&json!({ "metadata": { "namespace": "../a" } })), "namespaces/_.._a");
        assert_eq!(folder(&json!({ "metadata": { "name": "n" } })), "cluster");
    }
}
