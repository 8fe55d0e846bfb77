//! A described cluster in a file.

use grove_api::{
    field::Path,
    limits::MAX_DESCRIBED_NODES,
    manifest::{Document, parse as parse_manifest},
};
use k8s_openapi::api::core::v1 as core;
use serde_json::Value;

use super::{Shape, TopologyError, error, standard_levels};
use crate::cluster::{Cluster, Node};

/// The cluster that a YAML or JSON text describes: the keys of the one line, or Node objects, one by one or in a List.
pub fn parse_file(text: &str) -> Result<Cluster, TopologyError> {
    let documents =
        parse_manifest(text).map_err(|it| TopologyError { line: it.line, ..error("", it.message) })?;
    let documents: Vec<Document> = documents.into_iter().flat_map(Document::flatten).collect();
    match documents.as_slice() {
        [] => Err(error("", "the file is empty: write for example racks: 2, or Node objects")),
        [one] if one.value.get("kind").is_none() => shape(one),
        all => nodes(all),
    }
}

fn shape(document: &Document) -> Result<Cluster, TopologyError> {
    let Value::Object(fields) = &document.value else {
        return Err(error("", "is not a mapping: write for example racks: 2"));
    };
    let mut shape = Shape::default();
    for (key, value) in fields {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let line = Some(document.line_of(&Path::root().child(key)));
        shape.set(key, &text).map_err(|it| TopologyError { line, ..it })?;
    }
    shape.check()?;
    Ok(shape.to_cluster())
}

fn nodes(documents: &[Document]) -> Result<Cluster, TopologyError> {
    if documents.len() as u64 > MAX_DESCRIBED_NODES {
        let message = format!("{} nodes, of {MAX_DESCRIBED_NODES} allowed: leave some out", documents.len());
        return Err(error("", message));
    }
    let mut nodes = Vec::new();
    for document in documents {
        let wrong =
            |key: &str, message: String| TopologyError { line: Some(document.line), ..error(key, message) };
        let kind = document.value.get("kind").and_then(Value::as_str).unwrap_or_default();
        if kind != "Node" {
            return Err(wrong("kind", format!("{kind:?} is not a Node: leave it out")));
        }
        // Only what placement knows: what else a node says need not be readable.
        let field = |pointer: &str| document.value.pointer(pointer).cloned().unwrap_or_default();
        let known = serde_json::json!({
            "metadata": { "name": field("/metadata/name"), "labels": field("/metadata/labels") },
            "spec": { "taints": field("/spec/taints"), "unschedulable": field("/spec/unschedulable") },
            "status": { "allocatable": field("/status/allocatable") },
        });
        let node: core::Node = serde_json::from_value(known).map_err(|it| wrong("Node", it.to_string()))?;
        nodes.push(Node::from_object(&node).map_err(|it| wrong("", it.to_string()))?);
    }
    let exists = |key: &str| nodes.iter().any(|it: &Node| it.label(key).is_some());
    let levels = standard_levels().into_iter().filter(|it| exists(&it.key)).collect();
    Ok(Cluster::new(nodes, levels))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_the_line() {
        let cluster = parse_file("racks: 2\nhosts: 2\ngpus: \"8\"\nmemory: 64Gi\n").unwrap();
        assert_eq!(cluster, super::super::parse("racks=2,hosts=2,gpus=8,memory=64Gi").unwrap());
    }

    #[test]
    fn node_objects() {
        let text = "
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: { name: b, labels: { topology.kubernetes.io/rack: r1 } }
  spec: { taints: [{ key: gpu, effect: NoSchedule }] }
  status: { allocatable: { cpu: '4', pods: '110' }, nodeInfo: null }
- apiVersion: v1
  kind: Node
  metadata: { name: a }
";
        let cluster = parse_file(text).unwrap();
        let names: Vec<&str> = cluster.nodes().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(cluster.nodes()[1].taints.len(), 1);
        assert_eq!(cluster.levels().iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["rack"]);
    }

    #[test]
    fn errors_have_a_line() {
        let rows = [
            ("racks: 2\nhots: 4\n", "line 2: hots: unknown key, did you mean hosts?"),
            ("racks: 2\nhosts: many\n", "line 2: hosts: \"many\" is not a whole number"),
            ("racks: 1.5\n", "line 1: racks: \"1.5\" is not a whole number"),
            ("kind: Pod\n", "line 1: kind: \"Pod\" is not a Node"),
            ("- 1\n", "is not a mapping"),
            ("", "the file is empty"),
            (
                "kind: Node\nmetadata: { name: a }\nstatus: { allocatable: { cpu: x } }\n",
                "line 1: node a: cpu: \"x\"",
            ),
        ];
        for (text, want) in rows {
            let error = parse_file(text).unwrap_err().to_string();
            assert!(error.starts_with(want), "{text}: {error}");
        }
        assert!(parse_file("racks: [").is_err());
    }
}
