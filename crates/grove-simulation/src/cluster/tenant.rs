//! A hostile tenant: it may do what it likes in its own namespace, and nothing elsewhere.
//!
//! It copies objects of the victim with their owner references, labels, gates and finalizers, and says in their status what
//! suits it. The garbage collector deletes what names an owner of another namespace, so that a forged object that is to stay
//! names a kind that does not exist, or has a finalizer.

use std::sync::Arc;

use grove_apiserver::{Action, Object, PatchBody, Subresource, WriteRequest};
use serde_json::{Value, json};

use super::{
    AUTOSCALERS, CLIQUES, Cluster, GANGS, GROUPS, PODS, SERVICES,
    backends::{COMPOSITES, KAI_POD_GROUPS, POD_GROUPS},
};
use crate::random::choose;

/// The tenant's namespace.
pub(crate) const TENANT: &str = "tenant";
const REVISIONS: &str = "controllerrevisions.apps";
/// Holds what the garbage collector deletes.
const HOLD: &str = "tenant.example.com/hold";

/// Kinds whose owners the operator looks up.
pub(crate) const FORGED: [&str; 10] =
    [PODS, CLIQUES, GROUPS, GANGS, SERVICES, AUTOSCALERS, REVISIONS, POD_GROUPS, COMPOSITES, KAI_POD_GROUPS];

/// How a forged object outlives the garbage collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// It does not, and is seen for a moment.
    Short,
    /// It is being deleted for as long as its finalizer stays.
    Held,
    /// Its owner is of a kind that does not exist, so that the garbage collector cannot tell.
    Long,
}

/// A tenant. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Tenant {
    pub(crate) cluster: Cluster,
}

impl Tenant {
    pub(crate) fn new(cluster: Cluster) -> Self {
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": TENANT } });
        drop(cluster.write("tenant", "namespaces", "", None, Action::Create(namespace)));
        Self { cluster }
    }

    /// Forges one object of each kind that the victim has.
    pub(crate) fn forge(&self, pick: u64) {
        for (number, kind) in FORGED.into_iter().enumerate() {
            let pick = pick.rotate_right(u32::try_from(number * 7).unwrap_or_default());
            if let Some(victim) = choose(pick, &self.cluster.list(kind)) {
                self.copy(kind, victim, pick);
            }
        }
    }

    fn copy(&self, kind: &str, victim: &Object, pick: u64) {
        let life =
            [Life::Long, Life::Held, Life::Long, Life::Short][usize::try_from(pick >> 8 & 3).unwrap_or(0)];
        let mut object = victim.value().clone();
        let status = object.as_object_mut().and_then(|it| it.remove("status"));
        let Some(metadata) = object["metadata"].as_object_mut() else { return };
        for field in
            ["uid", "resourceVersion", "managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"]
        {
            metadata.remove(field);
        }
        metadata.insert("namespace".to_owned(), TENANT.into());
        // The victim's own name, or another one where that is taken.
        if self.cluster.server.store().get(kind, TENANT, victim.name()).is_some() {
            metadata.insert("name".to_owned(), format!("{}-f{}", victim.name(), pick >> 16 & 0xff).into());
        }
        match life {
            Life::Short => {}
            Life::Held => {
                let mut held: Vec<Value> = victim.finalizers().map(Value::from).collect();
                held.push(HOLD.into());
                metadata.insert("finalizers".to_owned(), held.into());
            }
            Life::Long => {
                for owner in
                    metadata.get_mut("ownerReferences").and_then(Value::as_array_mut).into_iter().flatten()
                {
                    owner["apiVersion"] = "example.com/v1".into();
                    owner["kind"] = "Nothing".into();
                }
            }
        }
        let name = metadata.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if kind == PODS
            && let Some(spec) = object["spec"].as_object_mut()
        {
            // A pod may name its node when it is created, also one that does not exist; then it has no gates.
            spec.remove("nodeName");
            if pick >> 12 & 1 == 1 {
                spec.remove("schedulingGates");
                spec.insert("nodeName".to_owned(), format!("invented-{}", pick >> 24 & 0xff).into());
            } else if pick >> 10 & 1 == 1 {
                let gates = json!([{ "name": grove_api::constants::gates::POD_GANG_PENDING }]);
                spec.insert("schedulingGates".to_owned(), gates);
            }
        }
        if self.write(kind, "", None, Action::Create(object)).is_some() {
            let status = if pick >> 11 & 1 == 1 { lies(kind) } else { status.unwrap_or_else(|| lies(kind)) };
            let patch = Action::Patch(PatchBody::Merge(json!({ "status": status })));
            self.write(kind, &name, Some(Subresource::Status), patch);
        }
    }

    fn write(&self, kind: &str, name: &str, subresource: Option<Subresource>, action: Action) -> Option<()> {
        let resource = Arc::clone(self.cluster.server.resources().by_id(kind)?);
        let request = WriteRequest {
            namespace: TENANT.to_owned(),
            resource,
            name: name.to_owned(),
            subresource,
            manager: "tenant".to_owned(),
            dry_run: false,
            action,
        };
        self.cluster.server.write(request).ok().map(drop)
    }
}

/// A status that would change what the operator does if it were the victim's.
fn lies(kind: &str) -> Value {
    let condition = |type_: &str, status: &str| json!({ "type": type_, "status": status, "reason": "Forged", "message": "", "lastTransitionTime": "2020-01-01T00:00:00Z" });
    match kind {
        PODS => json!({ "phase": "Failed", "conditions": [condition("Ready", "False")] }),
        CLIQUES | GROUPS => json!({
            "observedGeneration": 99, "replicas": 99,
            "conditions": [condition("MinAvailableBreached", "True"), condition("PodCliqueScheduled", "True")],
        }),
        GANGS => json!({ "phase": "Running", "conditions": [condition("Initialized", "True")] }),
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::SETS;

    #[tokio::test(start_paused = true)]
    async fn forged_objects_name_the_victims_uids() {
        let cluster = Cluster::new(1);
        let tenant = Tenant::new(cluster.clone());
        let make = |kind: &str, object: Value| {
            cluster.write("user", kind, "", None, Action::Create(object)).unwrap();
        };
        let spec = json!({ "replicas": 1, "template": { "cliques": [] } });
        make(
            SETS,
            json!({ "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": { "name": "s0", "namespace": "ml" }, "spec": spec }),
        );
        let uid = cluster.get(SETS, "s0").unwrap().uid().to_owned();
        let owner = json!([{ "apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "name": "s0", "uid": uid, "controller": true }]);
        make(
            SERVICES,
            json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "s0-0", "namespace": "ml", "ownerReferences": owner }, "spec": {} }),
        );
        for pick in 0..8 {
            tenant.forge(pick << 8 << 28);
        }
        let forged = cluster.server.store().list(SERVICES, Some(TENANT));
        assert!(!forged.is_empty());
        assert!(forged.iter().all(|it| it.owner_references()[0]["uid"] == uid.as_str()));
        assert_eq!(cluster.list(SERVICES).len(), 1, "the victim's are left alone");
    }
}
