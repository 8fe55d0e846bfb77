//! What an owner is to have: the objects as they were rendered, and whose they are.

use grove_ownership::{OwnerKey, controller, group_of};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::{ApiResource, DynamicObject};
use serde_json::Value;

/// For whom objects are rendered; they go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its API version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace, which is that of all its objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
}

impl Owner {
    pub(super) fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// What the index of its objects has it under.
    pub(super) fn key(&self) -> OwnerKey {
        OwnerKey::new(&self.namespace, &self.api_version, &self.kind, &self.uid)
    }

    pub(super) fn owns(&self, object: &DynamicObject) -> bool {
        self.key().owns(&object.metadata)
    }

    /// Whether the object was made for a former owner of this name, which is gone: two cannot have the same name.
    pub(super) fn succeeds(&self, object: &DynamicObject) -> bool {
        let (now, group) = (self.key(), group_of(&self.api_version));
        controller(&object.metadata).is_some_and(|it| {
            !now.controls(&object.metadata)
                && object.metadata.namespace.as_deref().unwrap_or_default() == self.namespace
                && (group_of(&it.api_version), &it.kind, &it.name) == (group, &self.kind, &self.name)
        })
    }
}

/// One object to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// Its kind.
    pub resource: ApiResource,
    /// The whole object. Its namespace may be left out; owner and mark are added.
    pub object: Value,
    /// JSON pointers of fields that are given when it is created, and belong to others afterwards.
    pub once: Vec<String>,
    /// JSON pointers of fields that cannot be changed: where one has to be, the object is made anew.
    pub immutable: Vec<String>,
}

impl Rendered {
    pub(super) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// What is applied to an object that is there: as it was rendered, with those fields that belong to others by now
    /// as they are. The version sees to it that they have not changed since, the UID that nothing is created: to the
    /// server, a version alone is no reason not to.
    pub(super) fn over(&self, lasting: &Value, there: &DynamicObject) -> Value {
        let mut object = lasting.clone();
        let now = serde_json::to_value(there).unwrap_or_default();
        for pointer in &self.once {
            let Some((parent, key)) = pointer.rsplit_once('/') else { continue };
            if let (Some(value), Some(Value::Object(parent))) =
                (now.pointer(pointer), object.pointer_mut(parent))
            {
                parent.insert(unescaped(key), value.clone());
            }
        }
        object["metadata"]["resourceVersion"] = there.metadata.resource_version.clone().into();
        object["metadata"]["uid"] = there.metadata.uid.clone().into();
        object
    }

    /// What is kept as it is for as long as the object lives.
    pub(super) fn lasting(&self) -> Value {
        let mut object = self.object.clone();
        for pointer in &self.once {
            let Some((parent, key)) = pointer.rsplit_once('/') else { continue };
            if let Some(Value::Object(parent)) = object.pointer_mut(parent) {
                parent.remove(&unescaped(key));
            }
        }
        object
    }

    pub(super) fn refused(&self, why: &str) -> Refused {
        Refused { kind: self.resource.kind.clone(), name: self.name().to_owned(), why: why.to_owned() }
    }
}

/// An object that must not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {name:?} {why}")]
pub struct Refused {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

/// A key as a JSON pointer has it.
fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}
