//! The set that is applied, and what is said of it.

use std::{collections::BTreeSet, io};

use grove_api::{defaulting::default_pod_clique_set, manifest, names, wire::PodCliqueSet};
use kube::ResourceExt as _;
use serde_json::Value;

use super::NAMESPACE;
use crate::{
    follow::{Pod, Snapshot},
    input::Source,
};

/// The sample of the binary: it needs no file.
const CHAT: &str = include_str!("../../../../../samples/12-chat.yaml");
const CHAT_NAME: &str = "samples/12-chat.yaml";

/// A manifest with one PodCliqueSet at least.
#[derive(Debug)]
pub(super) struct Sample {
    /// The whole manifest.
    pub(super) text: String,
    /// Where it comes from.
    pub(super) source: String,
    /// Name of the first PodCliqueSet.
    pub(super) set: String,
    /// Its namespace, if the manifest names one.
    pub(super) namespace: Option<String>,
    /// All namespaces that the manifest names.
    pub(super) namespaces: BTreeSet<String>,
    /// Pods of that set.
    pub(super) pods: usize,
    /// Its first scaling group, and twice the replicas that it has.
    pub(super) group: Option<(String, usize)>,
}

impl Sample {
    pub(super) fn builtin() -> io::Result<Self> {
        Self::of(Source { name: CHAT_NAME.to_owned(), text: CHAT.to_owned() })
    }

    pub(super) fn of(source: Source) -> io::Result<Self> {
        let invalid =
            |why: String| io::Error::new(io::ErrorKind::InvalidInput, format!("{}: {why}", source.name));
        let documents = manifest::parse(&source.text).map_err(|it| invalid(it.message))?;
        let set = documents.iter().find(|it| it.value["kind"] == "PodCliqueSet");
        let set = set.ok_or_else(|| {
            invalid(
                "has no PodCliqueSet; start an empty cluster with --empty and use kubectl apply".to_owned(),
            )
        })?;
        let namespace = |it: &Value| it["metadata"]["namespace"].as_str().map(str::to_owned);
        let namespaces = documents.iter().filter_map(|it| namespace(&it.value)).collect();
        let set: Result<PodCliqueSet, _> = serde_json::from_value(set.value.clone());
        let mut set =
            set.map_err(|it| invalid(format!("{it}; check it with: grove validate -f {}", source.name)))?;
        default_pod_clique_set(&mut set, None);
        let (name, template) = (set.name_any(), &set.spec.template);
        let count = |it: Option<i32>| it.and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
        let copies = |clique: &str| template.group_of(clique).map_or(1, |it| count(it.replicas));
        let each = template.cliques.iter().map(|it| count(it.spec.replicas).saturating_mul(copies(&it.name)));
        let each = each.fold(0_usize, usize::saturating_add);
        let group = template.scaling_groups.first();
        Ok(Self {
            pods: each.saturating_mul(count(Some(set.spec.replicas))),
            group: group
                .map(|it| (names::scaling_group(&name, 0, &it.name), count(it.replicas).saturating_mul(2))),
            namespace: set.namespace(),
            namespaces,
            set: name,
            text: source.text,
            source: source.name,
        })
    }

    /// Whether all pods of the set are ready, and the status of its gangs says so.
    pub(super) fn is_ready(&self, snapshot: &Snapshot) -> bool {
        let namespace = self.namespace.as_deref().unwrap_or(NAMESPACE);
        let pods = snapshot.pods.iter().filter(|it| it.set == self.set && it.namespace == namespace);
        let (ready, waiting): (Vec<&Pod>, Vec<&Pod>) = pods.partition(|it| it.is_available());
        let mut gangs = snapshot.gangs.iter().filter(|it| it.set == self.set && it.namespace == namespace);
        waiting.is_empty() && ready.len() >= self.pods && gangs.all(|it| it.running)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "set.yaml".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn pods_are_counted_with_the_replicas_of_groups() {
        let sample = Sample::builtin().unwrap();
        // Cache, two of prefill, two of the router, and twice a leader and two workers.
        assert_eq!((sample.set.as_str(), sample.pods), ("chat", 11));
        assert_eq!(sample.group, Some(("chat-0-decode".to_owned(), 4)));
    }

    #[test]
    fn a_manifest_that_cannot_be_shown_is_refused_with_the_remedy() {
        let refused = |text: &str| Sample::of(source(text)).unwrap_err().to_string();
        assert!(
            refused("kind: Pod\n")
                .contains("set.yaml: has no PodCliqueSet; start an empty cluster with --empty")
        );
        let wrong = "apiVersion: grove.io/v1alpha1\nkind: PodCliqueSet\nspec: { replicas: many }\n";
        assert!(refused(wrong).contains("grove validate -f set.yaml"), "{}", refused(wrong));
        assert!(refused("a: [").starts_with("set.yaml: "));
    }
}
