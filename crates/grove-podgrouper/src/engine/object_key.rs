//! Which object it is.

use std::fmt;

use grove_runtime::QueueKey;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

/// A kind, as owner references name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KindName {
    pub(crate) api_version: String,
    pub(crate) kind: String,
}

impl KindName {
    pub(crate) fn is_pod(&self) -> bool {
        self.api_version == "v1" && self.kind == "Pod"
    }
}

/// An object, as its namespace knows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectKey {
    pub(crate) kind: KindName,
    /// That of the pod for whose sake it is looked at, also where the object is in none.
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl ObjectKey {
    pub(crate) fn new(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        let kind = KindName { api_version: api_version.to_owned(), kind: kind.to_owned() };
        Self { kind, namespace: namespace.to_owned(), name: name.to_owned() }
    }

    pub(crate) fn of(reference: &OwnerReference, namespace: &str) -> Self {
        Self::new(&reference.api_version, &reference.kind, namespace, &reference.name)
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let KindName { api_version, kind } = &self.kind;
        write!(f, "{kind} {}/{} ({api_version})", self.namespace, self.name)
    }
}

/// A pod of one of the schedulers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PodKey {
    /// Place of the scheduler in the list of those that are served.
    pub(crate) scheduler: usize,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl QueueKey for PodKey {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}
