//! What concerns those who wait for quota.

use std::sync::Arc;

use grove_plan::quota::Change;

use crate::{
    controllers::Grove,
    seen::{PodView, QuotaView},
};

impl Grove {
    /// Where a quota is exhausted, another gang may have its turn.
    pub(crate) fn wake_quota(&self, namespace: &str) {
        if self.memory.quotas.is_exhausted(namespace) {
            self.queues.quotas.add(namespace.to_owned());
        }
    }

    /// Only a quota that allows more, or of which less is used, wakes anybody.
    pub(super) fn quota_changed(&self, old: Option<&Arc<QuotaView>>, new: Option<&Arc<QuotaView>>) {
        let Some(namespace) = new.or(old).and_then(|it| it.metadata.namespace.as_deref()) else { return };
        let change = Change::between(old.map(|it| &it.usage), new.map(|it| &it.usage));
        self.room_changed(namespace, change);
    }

    /// A pod of an exhausted namespace came, went, or was let go.
    pub(super) fn quota_of_pod_changed(&self, namespace: &str, new: Option<&Arc<PodView>>) {
        // A quota that is not a ResourceQuota of the namespace does not tell that it is used less.
        let is_unseen = || self.memory.quotas.is_exhausted(namespace) && !self.sees_quota(namespace);
        let freed = (new.is_none() && is_unseen()).then_some(Change::Freed);
        self.room_changed(namespace, freed);
        self.wake_quota(namespace);
    }

    fn room_changed(&self, namespace: &str, change: Option<Change>) {
        if change.is_some_and(|change| self.memory.quotas.note(namespace, change, self.now())) {
            self.queues.quotas.add(namespace.to_owned());
        }
    }
}
