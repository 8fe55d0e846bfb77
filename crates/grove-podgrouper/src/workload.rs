//! A pod and what owns it.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use crate::{group::GroupOwner, metadata};

/// A pod and what owns it, all of one namespace.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'a> {
    /// The pod.
    pub pod: &'a Value,
    /// The owner at the top, whole; the pod itself where it has none.
    pub top: &'a Value,
    /// What is known of the owners, the nearest first, the one at the top last; empty where the pod has none.
    pub owners: &'a [Owner],
}

/// An owner, as far as its metadata tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Owner {
    /// Which object it is.
    pub object: GroupOwner,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
}

impl<'a> Workload<'a> {
    /// The owners, the nearest first; what is at the top where there is no list.
    pub fn chain(self) -> Cow<'a, [Owner]> {
        if self.owners.is_empty() { vec![Owner::of(self.top)].into() } else { self.owners.into() }
    }

    /// Which object is at the top.
    pub(crate) fn top_owner(self) -> GroupOwner {
        Owner::of(self.top).object
    }
}

impl Owner {
    /// What an object, or its metadata, says of itself.
    pub fn of(object: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            object: GroupOwner {
                api_version: text(&object["apiVersion"]),
                kind: text(&object["kind"]),
                name: metadata::name(object).to_owned(),
                uid: metadata::uid(object).to_owned(),
            },
            labels: metadata::labels(object),
            annotations: metadata::annotations(object),
        }
    }
}

/// A kind of objects; a version of `*` is any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Kind<'a> {
    /// API group; empty for the core.
    pub group: &'a str,
    /// Version.
    pub version: &'a str,
    /// Kind.
    pub kind: &'a str,
}

impl<'a> Kind<'a> {
    /// That of an object.
    pub fn of(object: &'a Value) -> Self {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        Self::parse(text("apiVersion"), text("kind"))
    }

    /// `group/version` or `version`, and the kind.
    pub fn parse(api_version: &'a str, kind: &'a str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self { group, version, kind }
    }
}
