//! Who is around a clique or another object, and is woken with it.

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueScalingGroup},
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

use crate::{
    controllers::Grove,
    key::{Key, StatusKey},
    seen::{controller_name_of, joined, label},
};

impl Grove {
    /// Pods of those that start after a clique wait for its pods.
    pub(super) fn wake_cliques_after(&self, clique: &Key) {
        for later in self.seen.cliques_by_parent.get(&joined(&clique.namespace, &clique.name)) {
            self.queues.cliques.add(Key::of(later.as_ref()));
        }
    }

    /// Everything of the set replica that an object belongs to: its base gang, and its cliques.
    pub(super) fn wake_replica(&self, set: &Key, metadata: &ObjectMeta) {
        let Some(index) = label(metadata, labels::SET_REPLICA_INDEX) else { return };
        for clique in self.seen.cliques.by_set.get(&joined(&set.namespace, &set.name)) {
            if label(&clique.metadata, labels::SET_REPLICA_INDEX) == Some(index) {
                self.queues.cliques.add(Key::of(clique.as_ref()));
                self.wake_gang_of(&clique);
            }
        }
    }

    /// The owner makes the clique again where it is gone, and mends it where somebody changed it.
    pub(super) fn wake_owner_of(&self, clique: &PodClique) {
        let namespace = clique.metadata.namespace.clone().unwrap_or_default();
        match controller_name_of::<PodCliqueScalingGroup>(&clique.metadata) {
            Some(group) => self.queues.groups.add(Key::new(namespace, group)),
            None => {
                if let Some(set) = self.seen.set_key_of(&clique.metadata) {
                    self.queues.sets.add(set);
                }
            }
        }
        // A set that is deleted waits for the last of its cliques.
        if let Some(set) = self.seen.set_of(&clique.metadata)
            && set.metadata.deletion_timestamp.is_some()
        {
            self.queues.sets.add(Key::of(set.as_ref()));
        }
    }

    /// Its group replaces its pods, where they can be made.
    pub(super) fn wake_group_of(&self, clique: &PodClique) {
        if let Some(group) = label(&clique.metadata, labels::SCALING_GROUP) {
            let namespace = clique.metadata.namespace.clone().unwrap_or_default();
            self.queues.groups.add(Key::new(namespace, group.to_owned()));
        }
    }

    pub(crate) fn wake_gang_of(&self, clique: &PodClique) {
        let namespace = clique.metadata.namespace.clone().unwrap_or_default();
        if let Some(gang) = label(&clique.metadata, labels::POD_GANG) {
            let gang = Key::new(namespace, gang);
            self.wake_held_by_minimum(&gang, clique.metadata.name.as_deref().unwrap_or_default());
            self.queues.gangs.add(gang);
        }
    }

    /// Everything that reports on a clique.
    pub(crate) fn wake_reports_of_clique(&self, clique: &PodClique) {
        let namespace = clique.metadata.namespace.clone().unwrap_or_default();
        self.queues.report(StatusKey::Clique(Key::of(clique)));
        if let Some(gang) = label(&clique.metadata, labels::POD_GANG) {
            self.queues.report(StatusKey::Gang(Key::new(namespace.clone(), gang)));
        }
        if let Some(group) = label(&clique.metadata, labels::SCALING_GROUP) {
            self.queues.report(StatusKey::Group(Key::new(namespace, group)));
        }
        if let Some(set) = self.seen.set_key_of(&clique.metadata) {
            self.queues.look_at_set_soon(set);
        }
    }

    pub(crate) fn wake_status_of<K: Resource<DynamicType = ()>>(&self, object: &K) {
        let key = Key::of(object);
        let kind = K::kind(&());
        self.queues.report(match kind.as_ref() {
            "PodCliqueSet" => StatusKey::Set(key),
            "PodCliqueScalingGroup" => StatusKey::Group(key),
            "PodGang" => StatusKey::Gang(key),
            _ => StatusKey::Clique(key),
        });
    }
}
