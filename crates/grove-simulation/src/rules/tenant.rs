//! What a tenant does in its own namespace concerns nothing of the victim's, and the operator does nothing to forged objects as
//! if they were the victim's.

use std::collections::BTreeSet;

use grove_apiserver::{Event, Object};
use serde_json::Value;

use super::{Broken, Rule};
use crate::cluster::{Cluster, NAMESPACE};

/// The operator wrote in the tenant's namespace; `forged` are the UIDs of what the tenant made.
///
/// A PodClique or PodGang is an object of its own, whatever it names as its owner: its status and finalizers are the
/// operator's to write, and what it asks for may be made, in its own namespace and owned by it.
pub(crate) fn written(cluster: &Cluster, event: &Event, forged: &BTreeSet<String>) -> Result<(), Broken> {
    let kind = &event.key.resource;
    let broken =
        |name: &str, what: &str| Err(Rule::Tenant.broken(format!("{kind} {name} of the tenant {what}")));
    match (&event.old, &event.new) {
        (None, Some(new)) if owned_by_victim(cluster, new) => {
            broken(new.name(), "was created for an owner in the victim's namespace")
        }
        (Some(old), None) if forged.contains(old.uid()) && !old.is_terminating() => {
            broken(old.name(), "was deleted by the operator")
        }
        (Some(old), Some(new)) if forged.contains(old.uid()) => {
            if new.is_terminating() && !old.is_terminating() {
                return broken(old.name(), "was deleted by the operator");
            }
            if essence(old) != essence(new) {
                return broken(old.name(), "was changed by the operator");
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn owned_by_victim(cluster: &Cluster, object: &Object) -> bool {
    let owners = object.owner_references().iter().filter_map(|it| it["uid"].as_str());
    owners.filter_map(|uid| cluster.server.store().by_uid(uid)).any(|it| it.namespace == NAMESPACE)
}

/// An object without what the operator may write: status and finalizers, and what changes with them.
fn essence(object: &Object) -> Value {
    let mut value = object.value().clone();
    if let Some(fields) = value.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = value["metadata"].as_object_mut() {
        for field in ["finalizers", "resourceVersion", "managedFields", "generation"] {
            metadata.remove(field);
        }
    }
    value
}
