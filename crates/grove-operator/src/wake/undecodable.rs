//! Objects that cannot be decoded wake their controller when they are being deleted.

use std::sync::{Arc, Weak};

use grove_runtime::{Cache, Cached, Queue, Undecodable};

use crate::{controllers::Grove, key::Key};

impl Grove {
    pub(super) fn on_undecodable(self: &Arc<Self>) {
        self.wake_when_ending(&self.seen.sets, |grove| &grove.queues.sets);
        self.wake_when_ending(&self.seen.groups.cache, |grove| &grove.queues.groups);
        self.wake_when_ending(&self.seen.cliques.cache, |grove| &grove.queues.cliques);
    }

    /// Those that are there already.
    pub(super) fn look_at_undecodable(&self) {
        add_ending(&self.queues.sets, self.seen.sets.list_undecodable().iter().map(AsRef::as_ref));
        add_ending(&self.queues.groups, self.seen.groups.cache.list_undecodable().iter().map(AsRef::as_ref));
        add_ending(
            &self.queues.cliques,
            self.seen.cliques.cache.list_undecodable().iter().map(AsRef::as_ref),
        );
    }

    fn wake_when_ending<K: Cached>(self: &Arc<Self>, cache: &Cache<K>, queue: fn(&Self) -> &Queue<Key>) {
        let grove: Weak<Self> = Arc::downgrade(self);
        cache.listen_undecodable(move |it| {
            if let Some(grove) = grove.upgrade() {
                add_ending(queue(&grove), [it]);
            }
        });
    }
}

fn add_ending<'a>(queue: &Queue<Key>, found: impl IntoIterator<Item = &'a Undecodable>) {
    for it in found.into_iter().filter(|it| it.metadata.deletion_timestamp.is_some()) {
        let name = |it: &Option<String>| it.clone().unwrap_or_default();
        queue.add(Key::new(name(&it.metadata.namespace), name(&it.metadata.name)));
    }
}
