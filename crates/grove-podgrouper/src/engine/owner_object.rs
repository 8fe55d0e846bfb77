//! How much of an owner is read and kept.

use kube::api::DynamicObject;

/// What groups depend on, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Reads {
    Metadata,
    Spec,
    Status,
}

impl Reads {
    /// Takes away what is not read.
    pub(crate) fn prune(self) -> fn(&mut DynamicObject) {
        match self {
            Self::Metadata => prune_to_metadata,
            Self::Spec => prune_status,
            Self::Status => prune,
        }
    }
}

/// Whether an object is what it was, but for its version.
pub(crate) fn is_the_same(old: &DynamicObject, new: &DynamicObject) -> bool {
    let (a, b) = (&old.metadata, &new.metadata);
    (&a.uid, &a.labels, &a.annotations, &a.owner_references)
        == (&b.uid, &b.labels, &b.annotations, &b.owner_references)
        && old.data == new.data
}

pub(crate) fn prune(object: &mut DynamicObject) {
    object.metadata.managed_fields = None;
}

fn prune_status(object: &mut DynamicObject) {
    prune(object);
    if let Some(fields) = object.data.as_object_mut() {
        fields.remove("status");
    }
}

fn prune_to_metadata(object: &mut DynamicObject) {
    prune(object);
    object.data = serde_json::json!({});
}
