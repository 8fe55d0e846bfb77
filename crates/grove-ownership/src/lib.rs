//! Who owns an object: one key, [`OwnerKey`], that every index, plan and deletion compares.
//!
//! An owner reference is text that the author of an object chooses. A tenant may write the UID of another tenant's object
//! into it, and the garbage collector leaves such an object alone where it cannot find the kind. What the author cannot
//! choose is the namespace of the object, and an owner is in the namespace of what it owns. So a UID alone identifies
//! nothing: namespace, API group, kind and UID are compared together, and none of them alone can be asked for.

use std::fmt;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::Resource;

/// An object as the owner of others.
///
/// The version of the API is no part of it: the same object is served in several. A cluster-scoped owner has the namespace
/// `""`, and so have the objects that it owns: a namespaced object with a reference to one is not counted as owned.
///
/// ```
/// use grove_ownership::OwnerKey;
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
/// use kube::Resource;
///
/// let in_namespace = |namespace: &str| ObjectMeta { namespace: Some(namespace.into()), ..ObjectMeta::default() };
/// let mut owner = ConfigMap { metadata: in_namespace("a"), ..ConfigMap::default() };
/// owner.metadata.name = Some("owner".into());
/// owner.metadata.uid = Some("1".into());
/// let reference = owner.controller_owner_ref(&()).unwrap();
///
/// let mut pod = Pod { metadata: in_namespace("a"), ..Pod::default() };
/// pod.metadata.owner_references = Some(vec![reference]);
/// assert!(OwnerKey::of(&owner).controls(&pod.metadata));
///
/// pod.metadata.namespace = Some("b".into());
/// assert!(!OwnerKey::of(&owner).controls(&pod.metadata));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerKey {
    namespace: String,
    group: String,
    kind: String,
    uid: String,
}

impl OwnerKey {
    /// The owner of this namespace, `apiVersion`, kind and UID.
    pub fn new(namespace: &str, api_version: &str, kind: &str, uid: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            group: group_of(api_version).to_owned(),
            kind: kind.to_owned(),
            uid: uid.to_owned(),
        }
    }

    /// An object as an owner.
    pub fn of<K: Resource<DynamicType = ()>>(object: &K) -> Self {
        let metadata = object.meta();
        Self::of_kind::<K>(namespace_of(metadata), metadata.uid.as_deref().unwrap_or_default())
    }

    /// The owner of the kind `K`, of this namespace and UID.
    pub fn of_kind<K: Resource<DynamicType = ()>>(namespace: &str, uid: &str) -> Self {
        Self::new(namespace, &K::api_version(&()), &K::kind(&()), uid)
    }

    /// The controller that an object names.
    pub fn of_controller(metadata: &ObjectMeta) -> Option<Self> {
        controller(metadata).map(|it| Self::of_reference(namespace_of(metadata), it))
    }

    /// All owners that an object names.
    pub fn of_owners(metadata: &ObjectMeta) -> Vec<Self> {
        let references = metadata.owner_references.iter().flatten();
        references.map(|it| Self::of_reference(namespace_of(metadata), it)).collect()
    }

    /// The owner that an object of this namespace names.
    pub fn of_reference(namespace: &str, reference: &OwnerReference) -> Self {
        Self::new(namespace, &reference.api_version, &reference.kind, &reference.uid)
    }

    /// Whether it controls the object.
    pub fn controls(&self, metadata: &ObjectMeta) -> bool {
        controller(metadata).is_some_and(|it| self.is_meant(metadata, it))
    }

    /// Whether it is an owner of the object, the controller or another one.
    pub fn owns(&self, metadata: &ObjectMeta) -> bool {
        metadata.owner_references.iter().flatten().any(|it| self.is_meant(metadata, it))
    }

    /// Whether it is of the kind `K`.
    pub fn is_a<K: Resource<DynamicType = ()>>(&self) -> bool {
        self.group == K::group(&()) && self.kind == K::kind(&())
    }

    /// Its namespace, `""` for a cluster-scoped owner.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Its UID. Only for what is looked up among objects that are known to be in its namespace.
    pub fn uid(&self) -> &str {
        &self.uid
    }

    fn is_meant(&self, metadata: &ObjectMeta, reference: &OwnerReference) -> bool {
        namespace_of(metadata) == self.namespace
            && group_of(&reference.api_version) == self.group
            && reference.kind == self.kind
            && reference.uid == self.uid
    }
}

/// As the key of an index. The namespace comes first: whatever else a reference says, it stays within its namespace.
impl fmt::Display for OwnerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, group, kind, uid } = self;
        write!(f, "{namespace}/{group}/{kind}/{uid}")
    }
}

/// The reference to the controller of an object. The API server admits one at most.
pub fn controller(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    metadata.owner_references.iter().flatten().find(|it| it.controller == Some(true))
}

/// The API group of an `apiVersion`.
pub fn group_of(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or("", |(group, _)| group)
}

fn namespace_of(metadata: &ObjectMeta) -> &str {
    metadata.namespace.as_deref().unwrap_or_default()
}

#[cfg(test)]
mod tests;
