//! What a process does that begins to lead, or that notices that etcd was restored from a backup: it looks at everything once, as
//! if all of it were new.

use grove_runtime::{Cache, Cached, Switch};

use super::Listener;
use crate::controllers::Grove;

impl Grove {
    /// Opens the queues and fills them from the caches. What was remembered of a term before is forgotten: another leader
    /// may have acted since.
    pub(crate) fn begin_term(&self) {
        self.memory.clear();
        self.queues.all().into_iter().for_each(Switch::open);
        self.look_at_everything();
    }

    /// A cache shows what the server was set back to, because etcd was restored from a backup. Also objects of which only the
    /// status went back are looked at, and what was remembered is of another history.
    pub(super) fn begin_anew(&self) {
        self.memory.clear();
        self.look_at_everything();
    }

    fn look_at_everything(&self) {
        self.look_at_all(&self.seen.sets, Self::set_changed);
        self.look_at_all(&self.seen.groups.cache, Self::group_changed);
        self.look_at_all(&self.seen.cliques.cache, Self::clique_changed);
        self.look_at_all(&self.seen.gangs.cache, Self::gang_changed);
        self.look_at_all(&self.seen.pods, Self::pod_changed);
        self.look_at_all(&self.seen.nodes, Self::node_changed);
        self.look_at_all(&self.seen.quotas, Self::quota_changed);
        self.look_at_all(&self.seen.topologies, Self::topology_changed);
        self.look_at_all(&self.seen.revisions.cache, Self::revision_appeared);
        for topology in self.seen.kueue.topologies.list() {
            self.kueue_topology_changed(None, Some(&topology));
        }
        self.look_at_undecodable();
        self.look_at_backends();
    }

    fn look_at_all<K: Cached>(&self, cache: &Cache<K>, appeared: Listener<K>) {
        for object in cache.list() {
            appeared(self, None, Some(&object));
        }
    }
}
