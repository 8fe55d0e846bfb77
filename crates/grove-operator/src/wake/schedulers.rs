//! What schedulers' backends and their objects wake.

use std::time::Duration;

use grove_api::constants::labels;
use grove_ownership::OwnerKey;
use grove_runtime::Changed;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{
    controllers::Grove,
    key::{Key, StatusKey},
    seen::{joined, label},
};

impl Grove {
    /// An object that a scheduler's backend made for this owner changed.
    pub(crate) fn scheduler_object_changed(&self, owner: &OwnerKey, what: Changed) {
        let Some(gang) = self.seen.gang_of(owner) else { return };
        let key = Key::of(gang.as_ref());
        if what == Changed::Object {
            self.memory.untell(owner.uid());
            self.queues.gangs.add(key.clone());
        }
        self.queues.report(StatusKey::Gang(key));
    }

    /// A scheduler's backend is ready now, or is not any more: its gangs are looked at with what it is now.
    pub(crate) fn scheduler_changed(&self, name: &str) {
        self.look_at_topologies();
        let is_of =
            |metadata: &ObjectMeta| label(metadata, labels::SCHEDULER_NAME).is_none_or(|it| it == name);
        let gangs = self.seen.gangs.cache.list();
        for gang in gangs.iter().filter(|it| is_of(&it.metadata)) {
            self.memory.untell(gang.metadata.uid.as_deref().unwrap_or_default());
            let key = Key::of(gang.as_ref());
            self.queues.gangs.add(key.clone());
            for clique in self.seen.cliques_by_gang.get(&joined(&key.namespace, &key.name)) {
                self.queues.cliques.add(Key::of(clique.as_ref()));
                self.wake_group_of(&clique);
            }
            if let Some(set) = self.seen.set_key_of(&gang.metadata) {
                // A changed template waits for the dry run of a pod, which needs the backend.
                self.queues.sets.add(set.clone());
                self.queues.look_at_set(set);
            }
            self.queues.report(StatusKey::Gang(key));
        }
    }

    pub(crate) fn look_at_gang_after(&self, gang: Key, pause: Duration) {
        self.queues.status.add_after(StatusKey::Gang(gang), pause);
    }
}
