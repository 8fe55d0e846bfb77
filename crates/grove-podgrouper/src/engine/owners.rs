//! Who owns a pod, from the nearest owner to the one at the top.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::api::DynamicObject;
use serde_json::Value;

use super::{
    object_key::{KindName, ObjectKey},
    objects::NotRead,
    pod_view::PodView,
};
use crate::workload::Owner;

/// Owners above one another; no workload has as many.
const MOST: usize = 32;

/// The owners of a pod.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chain {
    /// The nearest first.
    pub(crate) owners: Vec<Owner>,
    /// The one at the top, whole; `None` where the pod has none that can be read.
    pub(crate) top: Option<Value>,
}

/// Why owners are not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unresolved {
    /// In a sentence for the pod's user.
    pub(crate) why: String,
    /// Whether only time can help: nobody tells of what is missing.
    pub(crate) needs_time: bool,
}

/// Reads the owners of a pod by `read`, one after the other.
pub(crate) async fn owners_of<F>(
    pod: &PodView,
    mut read: impl FnMut(ObjectKey, String) -> F,
) -> Result<Chain, Unresolved>
where
    F: Future<Output = Result<Arc<DynamicObject>, NotRead>>,
{
    let mut chain = Chain::default();
    // A pod may have several owners, of which the first counts.
    let mut next: Option<OwnerReference> = pod.owners().first().cloned();
    while let Some(reference) = next {
        let key = ObjectKey::of(&reference, pod.namespace());
        if chain.owners.iter().any(|it| it.object.uid == reference.uid) || reference.uid == pod.uid() {
            return Err(stays(format!("the owners of the pod go round in a circle: {key} owns itself")));
        }
        if chain.owners.len() == MOST {
            return Err(stays(format!(
                "the pod has more than {MOST} owners above one another, the last is {key}"
            )));
        }
        let object = match read(key.clone(), reference.uid.clone()).await {
            Ok(object) => object,
            // What may not be read cannot be the top: the last one that may be read is. Nor can what belongs to no namespace:
            // its labels would be copied into that of the user who named it.
            Err(NotRead::Forbidden | NotRead::ClusterScoped) => break,
            Err(error) => return Err(unread(&key, &reference.uid, error)),
        };
        let uid = object.metadata.uid.as_deref().unwrap_or_default();
        if uid != reference.uid {
            return Err(stays(format!(
                "the owner {key} with UID {} is gone: the one of this name has UID {uid}",
                reference.uid
            )));
        }
        next = above(&object, &key)?;
        let value = value_of(&object, &key.kind);
        chain.owners.push(Owner::of(&value));
        chain.top = Some(value);
    }
    Ok(chain)
}

/// The owner of an owner. More than one and nobody knows which of them counts.
fn above(object: &DynamicObject, key: &ObjectKey) -> Result<Option<OwnerReference>, Unresolved> {
    match object.metadata.owner_references.as_deref().unwrap_or_default() {
        [] => Ok(None),
        [only] => Ok(Some(only.clone())),
        many => {
            Err(stays(format!("{key} has {} owners, so its workload is ambiguous: keep one", many.len())))
        }
    }
}

fn unread(key: &ObjectKey, uid: &str, error: NotRead) -> Unresolved {
    match error {
        NotRead::Invalid(why) => stays(format!("the pod has an owner that cannot exist: {why}")),
        NotRead::Absent | NotRead::Forbidden | NotRead::ClusterScoped => {
            stays(format!("the owner {key} with UID {uid} does not exist"))
        }
        NotRead::NoKind => Unresolved {
            why: format!("the API server does not serve the kind of the owner {key}, UID {uid}"),
            needs_time: true,
        },
        NotRead::Failed(why) => {
            Unresolved { why: format!("the owner {key}, UID {uid}, cannot be read: {why}"), needs_time: true }
        }
    }
}

fn stays(why: String) -> Unresolved {
    Unresolved { why, needs_time: false }
}

/// An object as it is on the wire. What comes in a list does not say of which kind it is.
pub(crate) fn value_of(object: &DynamicObject, kind: &KindName) -> Value {
    let mut value = if object.data.is_object() { object.data.clone() } else { serde_json::json!({}) };
    value["apiVersion"] = kind.api_version.clone().into();
    value["kind"] = kind.kind.clone().into();
    value["metadata"] = serde_json::to_value(&object.metadata).unwrap_or_default();
    value
}

#[cfg(test)]
mod tests;
