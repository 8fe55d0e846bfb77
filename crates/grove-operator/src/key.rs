//! What controllers are asked to look at.

use std::fmt;

use grove_runtime::QueueKey;
use kube::Resource;

/// An object by namespace and name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Key {
    pub(crate) fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    pub(crate) fn of<K: Resource<DynamicType = ()>>(object: &K) -> Self {
        let metadata = object.meta();
        Self::new(metadata.namespace.clone().unwrap_or_default(), metadata.name.clone().unwrap_or_default())
    }
}

impl QueueKey for Key {
    fn namespace(&self) -> &str {
        &self.namespace
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// An object whose status may have to be written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StatusKey {
    Gang(Key),
    Clique(Key),
    Group(Key),
    Set(Key),
}

impl QueueKey for StatusKey {
    fn namespace(&self) -> &str {
        let (Self::Gang(key) | Self::Clique(key) | Self::Group(key) | Self::Set(key)) = self;
        &key.namespace
    }
}
