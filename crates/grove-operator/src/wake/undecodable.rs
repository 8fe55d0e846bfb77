//! Objects that cannot be decoded wake their controller when they are being deleted.

use std::sync::{Arc, Weak};

use grove_runtime::{Cache, Cached, Queue};

use crate::{controllers::Grove, key::Key};

impl Grove {
    pub(super) fn on_undecodable(self: &Arc<Self>) {
        self.wake_when_ending(&self.seen.sets, |grove| &grove.queues.sets);
        self.wake_when_ending(&self.seen.groups.cache, |grove| &grove.queues.groups);
        self.wake_when_ending(&self.seen.cliques.cache, |grove| &grove.queues.cliques);
    }

    fn wake_when_ending<K: Cached>(self: &Arc<Self>, cache: &Cache<K>, queue: fn(&Self) -> &Queue<Key>) {
        let grove: Weak<Self> = Arc::downgrade(self);
        cache.listen_undecodable(move |it| {
            let Some(grove) = grove.upgrade() else { return };
            if it.metadata.deletion_timestamp.is_some() {
                let name = |it: &Option<String>| it.clone().unwrap_or_default();
                queue(&grove).add(Key::new(name(&it.metadata.namespace), name(&it.metadata.name)));
            }
        });
    }
}
