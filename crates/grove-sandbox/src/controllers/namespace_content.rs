//! Everything that is in a namespace, of whatever kind: found by discovery, deleted by collection.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, ListParams},
};

/// Objects of a kind whose finalizers are looked at.
const LOOKED_AT: u32 = 500;
/// Longest list of words in a message.
const LONGEST: usize = 20;

/// What is left of a namespace's content, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Remaining {
    /// How many objects there are of each resource.
    resources: BTreeMap<String, usize>,
    /// On how many of them each finalizer is.
    finalizers: BTreeMap<String, usize>,
    /// Groups that could not be discovered.
    undiscovered: Vec<String>,
    /// What could not be deleted.
    failures: Vec<String>,
}

impl Remaining {
    pub(super) fn is_empty(&self) -> bool {
        self.resources.is_empty() && self.undiscovered.is_empty() && self.failures.is_empty()
    }

    /// Type, status, reason and message of each condition, as kube-controller-manager has them.
    pub(super) fn conditions(&self) -> [(&'static str, bool, &'static str, String); 5] {
        let pick = |holds: bool, yes: &'static str, no: &'static str| if holds { yes } else { no };
        let list = |words: &[String]| words.iter().take(LONGEST).cloned().collect::<Vec<_>>().join(", ");
        let undiscovered = !self.undiscovered.is_empty();
        let failed = !self.failures.is_empty();
        let has_content = !self.resources.is_empty();
        let has_finalizers = !self.finalizers.is_empty();
        let resources: Vec<String> =
            self.resources.iter().map(|it| format!("{} has {} resource instances", it.0, it.1)).collect();
        let finalizers: Vec<String> =
            self.finalizers.iter().map(|it| format!("{} in {} resource instances", it.0, it.1)).collect();
        let words = |holds: bool, yes: String, no: &str| if holds { yes } else { no.to_owned() };
        [
            (
                "NamespaceDeletionDiscoveryFailure",
                undiscovered,
                pick(undiscovered, "DiscoveryFailed", "ResourcesDiscovered"),
                words(
                    undiscovered,
                    format!("Discovery failed for some groups: {}", list(&self.undiscovered)),
                    "All resources successfully discovered",
                ),
            ),
            (
                "NamespaceDeletionGroupVersionParsingFailure",
                false,
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed".to_owned(),
            ),
            (
                "NamespaceDeletionContentFailure",
                failed,
                pick(failed, "ContentDeletionFailed", "ContentDeleted"),
                words(
                    failed,
                    format!(
                        "Failed to delete all resource types, {} remaining: {}",
                        self.failures.len(),
                        list(&self.failures)
                    ),
                    "All content successfully deleted, may be waiting on finalization",
                ),
            ),
            (
                "NamespaceContentRemaining",
                has_content,
                pick(has_content, "SomeResourcesRemain", "ContentRemoved"),
                words(
                    has_content,
                    format!("Some resources are remaining: {}", list(&resources)),
                    "All content successfully removed",
                ),
            ),
            (
                "NamespaceFinalizersRemaining",
                has_finalizers,
                pick(has_finalizers, "SomeFinalizersRemain", "ContentHasNoFinalizers"),
                words(
                    has_finalizers,
                    format!("Some content in the namespace has finalizers remaining: {}", list(&finalizers)),
                    "All content-preserving finalizers finished",
                ),
            ),
        ]
    }
}

/// Deletes what is in the namespace, and says what is left.
pub(super) async fn delete_content(client: &Client, namespace: &str) -> Remaining {
    let mut remaining = Remaining::default();
    for resource in discover(client, &mut remaining).await {
        let name = if resource.group.is_empty() {
            resource.plural.clone()
        } else {
            format!("{}.{}", resource.plural, resource.group)
        };
        if let Err(error) = delete_kind(client, namespace, &resource, &name, &mut remaining).await {
            remaining.failures.push(format!("{name}: {error}"));
        }
    }
    remaining
}

async fn delete_kind(
    client: &Client,
    namespace: &str,
    resource: &ApiResource,
    name: &str,
    remaining: &mut Remaining,
) -> kube::Result<()> {
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, resource);
    let some = ListParams::default().limit(LOOKED_AT);
    let found = api.list(&some).await?;
    if found.items.is_empty() {
        return Ok(());
    }
    let is_new = |it: &DynamicObject| it.metadata.deletion_timestamp.is_none();
    let is_whole = found.metadata.continue_.as_ref().is_none_or(String::is_empty);
    let left = if found.items.iter().any(is_new) || !is_whole {
        api.delete_collection(&DeleteParams::background(), &ListParams::default()).await?;
        api.list(&some).await?
    } else {
        found
    };
    if left.items.is_empty() {
        return Ok(());
    }
    let more = left.metadata.remaining_item_count.and_then(|it| usize::try_from(it).ok()).unwrap_or_default();
    remaining.resources.insert(name.to_owned(), left.items.len() + more);
    for finalizer in left.items.iter().flat_map(|it| it.metadata.finalizers.iter().flatten()) {
        *remaining.finalizers.entry(finalizer.clone()).or_default() += 1;
    }
    Ok(())
}

/// All resources that live in namespaces and can be deleted.
async fn discover(client: &Client, remaining: &mut Remaining) -> Vec<ApiResource> {
    let mut found = Vec::new();
    match client.list_core_api_resources("v1").await {
        Ok(list) => found.extend(deletable(&list, "", "v1")),
        Err(error) => remaining.undiscovered.push(format!("v1: {error}")),
    }
    let groups = match client.list_api_groups().await {
        Ok(groups) => groups.groups,
        Err(error) => {
            remaining.undiscovered.push(error.to_string());
            return found;
        }
    };
    for group in groups {
        let preferred = group.preferred_version.or_else(|| group.versions.into_iter().next());
        let Some(version) = preferred else { continue };
        match client.list_api_group_resources(&version.group_version).await {
            Ok(list) => found.extend(deletable(&list, &group.name, &version.version)),
            Err(error) => remaining.undiscovered.push(format!("{}: {error}", version.group_version)),
        }
    }
    found
}

fn deletable(list: &APIResourceList, group: &str, version: &str) -> Vec<ApiResource> {
    let can = |verbs: &[String], verb: &str| verbs.iter().any(|it| it == verb);
    let rows = list.resources.iter().filter(|it| {
        it.namespaced
            && !it.name.contains('/')
            && can(&it.verbs, "deletecollection")
            && can(&it.verbs, "list")
    });
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    rows.map(|it| ApiResource {
        group: group.to_owned(),
        version: version.to_owned(),
        api_version: api_version.clone(),
        kind: it.kind.clone(),
        plural: it.name.clone(),
    })
    .collect()
}
