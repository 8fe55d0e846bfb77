//! All that the server serves, in the order of discovery: stored resources and reviews, with their subresources.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::auth::{ReviewKind, review_kinds};
use crate::digest::digest;
use crate::resource::{Resource, Resources};

const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
/// No namespace goes with others.
const NAMESPACE_VERBS: [&str; 7] = ["create", "delete", "get", "list", "patch", "update", "watch"];
const PART_VERBS: [&str; 3] = ["get", "patch", "update"];
const CREATE: [&str; 1] = ["create"];

/// All groups, by name.
#[derive(Debug)]
pub(crate) struct Catalog(pub(crate) Vec<GroupEntry>);

/// A group, with the preferred version first.
#[derive(Debug)]
pub(crate) struct GroupEntry {
    pub(crate) name: String,
    pub(crate) versions: Vec<VersionEntry>,
}

/// A version of a group.
#[derive(Debug)]
pub(crate) struct VersionEntry {
    pub(crate) name: String,
    pub(crate) resources: Vec<ResourceEntry>,
}

/// A resource.
#[derive(Debug)]
pub(crate) struct ResourceEntry {
    pub(crate) plural: String,
    pub(crate) singular: String,
    pub(crate) kind: String,
    pub(crate) namespaced: bool,
    /// Whether a CustomResourceDefinition made it.
    pub(crate) custom: bool,
    /// What changes with the form in which objects are stored; none of what is not stored.
    pub(crate) storage: Option<String>,
    pub(crate) verbs: &'static [&'static str],
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) parts: Vec<PartEntry>,
}

/// A subresource.
#[derive(Debug)]
pub(crate) struct PartEntry {
    pub(crate) name: &'static str,
    pub(crate) kind: String,
    /// The group and version of the kind, where they are not those of the resource.
    pub(crate) group_version: Option<(&'static str, &'static str)>,
    pub(crate) verbs: &'static [&'static str],
}

impl Catalog {
    pub(crate) fn of(resources: &Resources) -> Self {
        let mut groups: BTreeMap<String, BTreeMap<String, Vec<ResourceEntry>>> = BTreeMap::new();
        let mut add = |group: &str, version: &str, entry: ResourceEntry| {
            groups.entry(group.to_owned()).or_default().entry(version.to_owned()).or_default().push(entry);
        };
        for resource in resources.iter() {
            add(&resource.group, &resource.version, ResourceEntry::of(resource));
        }
        if resources.by_id("pods").is_some_and(|it| it.strict) {
            add("", "v1", ResourceEntry::bindings());
        }
        for review in review_kinds() {
            add(review.group, "v1", ResourceEntry::of_review(*review));
        }
        let group = |(name, versions): (String, BTreeMap<String, Vec<ResourceEntry>>)| {
            let versions = versions.into_iter().map(|(name, resources)| VersionEntry { name, resources });
            let mut versions: Vec<VersionEntry> = versions.collect();
            versions.sort_by_cached_key(|it| Reverse(priority(&it.name)));
            GroupEntry { name, versions }
        };
        Self(groups.into_iter().map(group).collect())
    }

    pub(crate) fn group(&self, name: &str) -> Option<&GroupEntry> {
        self.0.iter().find(|it| it.name == name)
    }
}

/// How preferred a version is: `v2`, `v1`, `v1beta2`, `v1alpha1`, anything else.
fn priority(version: &str) -> (u8, u64, u64) {
    let number = |text: &str| text.parse::<u64>().ok();
    let Some(rest) = version.strip_prefix('v') else { return (0, 0, 0) };
    let digits = rest.find(|it: char| !it.is_ascii_digit()).unwrap_or(rest.len());
    let (major, stage) = rest.split_at(digits);
    let stage = if stage.is_empty() {
        Some((3, 0))
    } else if let Some(minor) = stage.strip_prefix("beta") {
        number(minor).map(|it| (2, it))
    } else {
        stage.strip_prefix("alpha").and_then(number).map(|it| (1, it))
    };
    match (number(major), stage) {
        (Some(major), Some((stage, minor))) => (stage, major, minor),
        _ => (0, 0, 0),
    }
}

impl ResourceEntry {
    fn of(resource: &Resource) -> Self {
        Self {
            plural: resource.plural.clone(),
            singular: resource.singular.clone(),
            kind: resource.kind.clone(),
            namespaced: resource.namespaced,
            custom: resource.custom,
            storage: Some(storage(resource)),
            verbs: if resource.is("namespaces") { &NAMESPACE_VERBS } else { &VERBS },
            short_names: resource.short_names.clone(),
            categories: resource.categories.clone(),
            parts: parts(resource),
        }
    }

    /// Another way to bind a pod: the body names it.
    fn bindings() -> Self {
        Self {
            plural: "bindings".to_owned(),
            singular: "binding".to_owned(),
            kind: "Binding".to_owned(),
            namespaced: true,
            custom: false,
            storage: None,
            verbs: &CREATE,
            short_names: Vec::new(),
            categories: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn of_review(review: ReviewKind) -> Self {
        Self {
            plural: review.plural.to_owned(),
            singular: review.kind.to_lowercase(),
            kind: review.kind.to_owned(),
            namespaced: review.namespaced,
            custom: false,
            storage: None,
            verbs: &CREATE,
            short_names: Vec::new(),
            categories: Vec::new(),
            parts: Vec::new(),
        }
    }
}

/// As the real server makes it: the beginning of a digest of group, version and kind.
fn storage(resource: &Resource) -> String {
    let version = resource.served.as_ref().map_or_else(|| resource.version.clone(), |it| it.stored_version());
    let whole = digest(format!("{}/{version}/{}", resource.group, resource.kind).as_bytes());
    let bytes = whole
        .as_bytes()
        .chunks(2)
        .take(8)
        .filter_map(|it| u8::from_str_radix(str::from_utf8(it).ok()?, 16).ok());
    STANDARD.encode(bytes.collect::<Vec<u8>>())
}

fn parts(resource: &Resource) -> Vec<PartEntry> {
    let part = |name, kind: &str, group_version, verbs| PartEntry {
        name,
        kind: kind.to_owned(),
        group_version,
        verbs,
    };
    let mut parts = Vec::new();
    if resource.status {
        parts.push(part("status", &resource.kind, None, &PART_VERBS[..]));
    }
    if resource.scale.is_some() {
        parts.push(part("scale", "Scale", Some(("autoscaling", "v1")), &PART_VERBS));
    }
    match resource.id() {
        "pods" => {
            parts.push(part("binding", "Binding", None, &CREATE));
            if resource.strict {
                parts.push(part("eviction", "Eviction", Some(("policy", "v1")), &CREATE));
            }
        }
        "namespaces" => parts.push(part("finalize", &resource.kind, None, &["update"])),
        "serviceaccounts" => {
            parts.push(part("token", "TokenRequest", Some(("authentication.k8s.io", "v1")), &CREATE));
        }
        _ => {}
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_a_stored_form_is_that_of_the_real_server() {
        let resources = Resources::cluster();
        let storage = |id: &str| ResourceEntry::of(resources.by_id(id).unwrap()).storage.unwrap();
        assert_eq!(storage("pods"), "xPOwRZ+Yhw8=");
        assert_eq!(storage("configmaps"), "qFsyl6wFWjQ=");
        assert_eq!(storage("deployments.apps"), "8aSe+NMegvE=");
    }

    #[test]
    fn the_preferred_version_comes_first() {
        let mut versions = ["v1alpha1", "v11", "nonsense", "v2", "v1beta1", "v1", "v1beta2", "v", "v10beta1"];
        versions.sort_by_key(|it| Reverse(priority(it)));
        let expected = ["v11", "v2", "v1", "v10beta1", "v1beta2", "v1beta1", "v1alpha1", "nonsense", "v"];
        assert_eq!(versions, expected);
    }
}
