//! Namespaces whose pods are grouped, where an admin chose some.

use std::{collections::BTreeMap, sync::Arc};

use grove_runtime::{Cache, InformerMetrics, inform};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, api::PartialObjectMeta, runtime::watcher};
use tokio_util::sync::CancellationToken;

/// The namespaces that have some labels; without any, all of them.
pub(crate) struct Namespaces {
    wanted: BTreeMap<String, String>,
    cache: Cache<PartialObjectMeta<Namespace>>,
}

impl Namespaces {
    pub(crate) fn new(wanted: BTreeMap<String, String>, metrics: &InformerMetrics) -> Self {
        Self { wanted, cache: Cache::of_kind("Namespace", metrics) }
    }

    /// Whether pods of a namespace are grouped. Of one that is not known they are not.
    pub(crate) fn has(&self, name: &str) -> bool {
        if self.wanted.is_empty() {
            return true;
        }
        let Some(namespace) = self.cache.get("", name) else { return false };
        let labels = namespace.metadata.labels.clone().unwrap_or_default();
        self.wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
    }

    /// Calls `changed` with the name of each namespace that comes, goes or changes.
    pub(crate) fn listen(&self, changed: impl Fn(&str) + Send + Sync + 'static) {
        self.cache.listen(move |change| {
            let name =
                |it: Option<&Arc<PartialObjectMeta<Namespace>>>| it.and_then(|it| it.metadata.name.clone());
            if let Some(name) = name(change.new).or_else(|| name(change.old)) {
                changed(&name);
            }
        });
    }

    /// Keeps them known until `stop`, where anybody asks.
    pub(crate) async fn watch(&self, client: Client, stop: CancellationToken) {
        if !self.wanted.is_empty() {
            inform(Api::all(client), watcher::Config::default(), self.cache.clone(), prune, stop).await;
        }
    }

    pub(crate) fn is_synced(&self) -> bool {
        self.wanted.is_empty() || self.cache.is_synced()
    }

    pub(crate) async fn synced(&self) {
        if !self.wanted.is_empty() {
            self.cache.synced().await;
        }
    }
}

fn prune(namespace: &mut PartialObjectMeta<Namespace>) {
    namespace.metadata.managed_fields = None;
    namespace.metadata.annotations = None;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_namespace_needs_all_labels() {
        type Labels = &'static [(&'static str, &'static str)];
        // Labels that are wanted, those of the namespace, and whether its pods are grouped.
        let cases: &[(Labels, Option<Labels>, bool)] = &[
            (&[], Some(&[("team", "a")]), true),
            (&[], Some(&[]), true),
            (&[], None, true),
            (&[("team", "a")], Some(&[("team", "a"), ("env", "x")]), true),
            (&[("team", "a"), ("env", "x")], Some(&[("team", "a"), ("env", "x")]), true),
            (&[("team", "a")], Some(&[("team", "b")]), false),
            (&[("team", "a"), ("env", "x")], Some(&[("team", "a")]), false),
            (&[("team", "a"), ("env", "x")], Some(&[("team", "a"), ("env", "y")]), false),
            (&[("team", "a")], Some(&[]), false),
            (&[("team", "a")], None, false),
            // An empty label is not the same as none.
            (&[("team", "")], Some(&[]), false),
            (&[("team", "")], Some(&[("team", "")]), true),
        ];
        for (wanted, there, expected) in cases {
            let namespaces = Namespaces::new(texts(wanted), &InformerMetrics::default());
            let labels = there.map(texts);
            let mut namespace = PartialObjectMeta::<Namespace>::default();
            namespace.metadata.name = Some("ns".to_owned());
            namespace.metadata.uid = Some("1".to_owned());
            namespace.metadata.resource_version = Some("1".to_owned());
            namespace.metadata.labels = labels;
            namespaces.cache.observed(namespace);
            assert_eq!(namespaces.has("ns"), *expected, "{wanted:?} {there:?}");
            assert_eq!(namespaces.has("gone"), wanted.is_empty(), "{wanted:?}");
        }
    }
}
