//! Kueue's Topologies that sets use: they are held by a finalizer, and mirrored to schedulers that have topology objects
//! of their own.

use grove_api::{
    constants::events::topology as events,
    wire::{ClusterTopologyBinding, ClusterTopologyBindingSpec},
};
use grove_plan::protection::{Protection, TopologyInUse, protect};
use grove_runtime::{ApplyError, EventKind, Outcome, Owner, Rendered};
use grove_scheduler::TopologyPart;
use k8s_openapi::{api::core::v1::ObjectReference, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Resource,
    api::{ApiResource, DynamicObject},
};
use serde_json::json;

use super::{Grove, scheduling::rendered, uid};
use crate::{backends::Ready, error::Error, kueue::decoded};

impl Grove {
    pub(crate) async fn reconcile_topology(&self, name: String) -> Result<Outcome, Error> {
        let kueue = &self.seen.kueue;
        let (Some(topology), Some(resource)) = (kueue.topologies.get("", &name), kueue.resource()) else {
            return Ok(Outcome::Done);
        };
        let users = self.users(&name);
        let is_deleted = topology.metadata.deletion_timestamp.is_some();
        let finalizers = topology.metadata.finalizers.as_deref().unwrap_or_default();
        match protect(TopologyInUse { finalizers, is_deleted, users: &users }) {
            Some(Protection::Finalizers(finalizers)) => {
                let version = &topology.metadata.resource_version;
                let patch = json!({ "metadata": { "resourceVersion": version, "finalizers": finalizers } });
                let written = self.writer.patch_kind(&resource, "", &name, &patch).await;
                match written {
                    // Another finalizer was the last, and it is gone.
                    Err(error) if error.is_not_found() => return Ok(Outcome::Done),
                    written => drop(kueue.topologies.written(written?)),
                }
            }
            Some(Protection::Held(words)) => {
                self.tell_of_topology(&topology, &resource, events::IN_USE, "Delete", words);
            }
            None => {}
        }
        for (scheduler, part) in self.backends.with_topology() {
            if let Some(ready) = self.backends.readiness(scheduler).ready() {
                self.mirror(&topology, &resource, !users.is_empty(), part, ready).await?;
            }
        }
        Ok(Outcome::Done)
    }

    /// The sets that are placed by a Kueue Topology: a binding of the same name goes first.
    fn users(&self, name: &str) -> Vec<String> {
        if !self.topology_aware || self.seen.topologies.get("", name).is_some() {
            return Vec::new();
        }
        let full_name = |it: &ObjectMeta| {
            let part = |it: &Option<String>| it.clone().unwrap_or_default();
            format!("{}/{}", part(&it.namespace), part(&it.name))
        };
        let sets = self.seen.sets_by_topology.get(name);
        let mut users: Vec<String> = sets.iter().map(|it| full_name(&it.metadata)).collect();
        users.sort();
        users
    }

    /// A scheduler has an object with the levels of a topology for as long as the topology is used.
    async fn mirror(
        &self,
        topology: &DynamicObject,
        resource: &ApiResource,
        is_used: bool,
        part: &dyn TopologyPart,
        ready: &Ready,
    ) -> Result<(), Error> {
        let Some(cache) = ready.applier.cache(&part.resource()) else { return Ok(()) };
        let owner = Owner {
            api_version: resource.api_version.clone(),
            kind: resource.kind.clone(),
            namespace: String::new(),
            name: topology.metadata.name.clone().unwrap_or_default(),
            uid: uid(topology).to_owned(),
        };
        let levels = as_binding(topology);
        let wanted: Vec<Rendered> = is_used.then(|| rendered(part.render(&levels))).into_iter().collect();
        match ready.applier.apply(&owner, &wanted).await {
            Ok(_) => Ok(()),
            Err(ApplyError::Write(error)) => Err(error.into()),
            // Somebody else sees to it; it is left alone, and has to say the same.
            Err(ApplyError::Refused(_)) => {
                let there = cache.get("", &part.name_of(&levels));
                let there = there.and_then(|it| serde_json::to_value(it.as_ref()).ok());
                if let Some(how) = there.and_then(|it| part.drift(&levels, &it)) {
                    let kind = part.resource().kind;
                    let words = format!("{kind} {:?} has another owner, and {how}", part.name_of(&levels));
                    self.tell_of_topology(topology, resource, events::DRIFT, "SyncTopology", words);
                }
                Ok(())
            }
        }
    }

    /// Tells once for each sentence.
    fn tell_of_topology(
        &self,
        topology: &DynamicObject,
        resource: &ApiResource,
        reason: &'static str,
        action: &'static str,
        words: String,
    ) {
        if self.memory.is_news(uid(topology), reason, &words) {
            let reference: ObjectReference = topology.object_ref(resource);
            self.events.publish(reference, EventKind::Warning, reason, action, words);
        }
    }
}

/// What backends are told of a topology, in the form that they know.
fn as_binding(topology: &DynamicObject) -> ClusterTopologyBinding {
    let spec = ClusterTopologyBindingSpec { levels: decoded(topology).spec.levels(), ..Default::default() };
    let metadata = ObjectMeta { name: topology.metadata.name.clone(), ..ObjectMeta::default() };
    ClusterTopologyBinding { metadata, spec, status: None }
}
