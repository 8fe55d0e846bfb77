//! What topologies wake: bindings and Kueue's Topologies, and the sets that are placed by them.

use std::{sync::Arc, time::Duration};

use grove_api::wire::ClusterTopologyBinding;
use grove_ownership::OwnerKey;
use grove_runtime::Change;
use kube::api::DynamicObject;

use super::asks;
use crate::{controllers::Grove, key::Key, seen::NodeView};

/// For how long a binding gathers changes of nodes before it looks at them.
const NODES: Duration = Duration::from_secs(1);

impl Grove {
    /// Kueue's Topologies are of a kind that is known at run time only, so that they are listened to apart.
    pub(super) fn on_topologies(self: &Arc<Self>) {
        let grove = Arc::downgrade(self);
        self.seen.kueue.topologies.listen(move |change: &Change<'_, DynamicObject>| {
            let Some(grove) = grove.upgrade() else { return };
            grove.kueue_topology_changed(change.old, change.new);
            if let (Some(old), None) = (change.old, change.new) {
                grove.memory.forget(old.metadata.uid.as_deref().unwrap_or_default());
            }
        });
    }

    pub(super) fn kueue_topology_changed(
        &self,
        old: Option<&Arc<DynamicObject>>,
        new: Option<&Arc<DynamicObject>>,
    ) {
        let Some(topology) = new.or(old) else { return };
        let name = topology.metadata.name.as_deref().unwrap_or_default();
        if asks(old, new) {
            self.queues.topologies.add(name.to_owned());
        }
        // What is applied of it is in its spec alone.
        if old.map(|it| &it.data["spec"]) != new.map(|it| &it.data["spec"]) {
            self.wake_sets_of(name);
        }
    }

    pub(super) fn topology_changed(
        &self,
        old: Option<&Arc<ClusterTopologyBinding>>,
        new: Option<&Arc<ClusterTopologyBinding>>,
    ) {
        let Some(binding) = new.or(old).filter(|_| asks(old, new)) else { return };
        let name = binding.metadata.name.as_deref().unwrap_or_default();
        self.queues.bindings.add(name.to_owned());
        // A binding goes before a Kueue Topology of its name.
        self.queues.topologies.add(name.to_owned());
        self.wake_sets_of(name);
    }

    /// A node came, went or has other labels: those bindings are looked at that have a level for one of them.
    pub(super) fn wake_bindings_by(&self, old: Option<&Arc<NodeView>>, new: Option<&Arc<NodeView>>) {
        for binding in self.seen.topologies.list() {
            let mut keys = binding.spec.levels.iter().map(|it| it.key.as_str());
            let came_or_went = old.is_some() != new.is_some();
            let label =
                |node: Option<&Arc<NodeView>>, key| node.and_then(|it| it.label(key)).map(str::to_owned);
            if came_or_went || keys.any(|key| label(old, key) != label(new, key)) {
                self.queues.bindings.add_after(binding.metadata.name.clone().unwrap_or_default(), NODES);
            }
        }
    }

    fn wake_sets_of(&self, topology: &str) {
        for set in self.seen.sets_by_topology.get(topology) {
            for gang in self.seen.gangs.of_owner(&OwnerKey::of(set.as_ref())) {
                // A scheduler may know the topology by another name now.
                self.memory.untell(gang.metadata.uid.as_deref().unwrap_or_default());
                self.queues.gangs.add(Key::of(gang.as_ref()));
            }
            self.queues.look_at_set(Key::of(set.as_ref()));
        }
    }

    /// Something that bindings and Topologies are held against may have changed. There are few of them.
    pub(crate) fn look_at_topologies(&self) {
        for binding in self.seen.topologies.list() {
            self.queues.bindings.add(binding.metadata.name.clone().unwrap_or_default());
        }
        for topology in self.seen.kueue.topologies.list() {
            self.queues.topologies.add(topology.metadata.name.clone().unwrap_or_default());
        }
    }
}
