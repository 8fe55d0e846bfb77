//! Which controller a change concerns. To wake too many is only work; to wake too few would be a hang.

use std::sync::{Arc, Weak};

use grove_api::{
    constants::labels,
    wire::{ClusterTopologyBinding, PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang},
};
use grove_plan::{facts::Phase, status::topology_name};
use grove_runtime::{Cache, Cached, Change};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;

use crate::{
    controllers::Grove,
    key::{Key, StatusKey},
    seen::{Children, PodView, controller, joined, label},
};

/// What is done about a change: the object before, and after.
type Listener<K> = fn(&Grove, Option<&Arc<K>>, Option<&Arc<K>>);

impl Grove {
    /// Wakes controllers from now on, for every change that a cache sees.
    pub(crate) fn listen(self: &Arc<Self>) {
        self.on(&self.seen.sets, Self::set_changed);
        self.on(&self.seen.groups.cache, Self::group_changed);
        self.on(&self.seen.cliques.cache, Self::clique_changed);
        self.on(&self.seen.gangs.cache, Self::gang_changed);
        self.on(&self.seen.pods, Self::pod_changed);
        self.on(&self.seen.topologies, Self::topology_changed);
        self.on_minor(&self.seen.services);
        self.on_minor(&self.seen.autoscalers);
    }

    fn on<K: Cached>(self: &Arc<Self>, cache: &Cache<K>, changed: Listener<K>) {
        let grove: Weak<Self> = Arc::downgrade(self);
        cache.listen(move |change: &Change<'_, K>| {
            if let Some(grove) = grove.upgrade() {
                changed(&grove, change.old, change.new);
                if let (Some(old), None) = (change.old, change.new) {
                    grove.memory.forget(old.meta().uid.as_deref().unwrap_or_default());
                }
            }
        });
    }

    /// Children that only their set looks at: it mends them when somebody else changed or deleted them.
    fn on_minor<K: Cached>(self: &Arc<Self>, children: &Children<K>) {
        self.on(&children.cache, |grove, old, _| {
            if let Some(old) = old
                && let Some(set) = grove.seen.set_key_of(old.meta())
            {
                grove.queues.sets.add(set);
            }
        });
    }

    fn set_changed(&self, old: Option<&Arc<PodCliqueSet>>, new: Option<&Arc<PodCliqueSet>>) {
        let Some(set) = new else { return };
        let key = Key::of(set.as_ref());
        let hash = |it: &PodCliqueSet| it.status.as_ref().and_then(|it| it.current_generation_hash.clone());
        let asked = old.is_none_or(|old| differs(&old.metadata, &set.metadata));
        if asked {
            self.queues.sets.add(key.clone());
            self.queues.report(StatusKey::Set(key.clone()));
        }
        // What was looked at without the set was left alone.
        if old.is_none() {
            for clique in self.seen.cliques.by_set.get(&joined(&key.namespace, &key.name)) {
                self.queues.cliques.add(Key::of(clique.as_ref()));
            }
        }
        if asked {
            let uid = set.metadata.uid.as_deref().unwrap_or_default();
            for group in self.seen.groups.of_owner(uid) {
                self.queues.groups.add(Key::of(group.as_ref()));
            }
            for gang in self.seen.gangs.of_owner(uid) {
                self.queues.gangs.add(Key::of(gang.as_ref()));
            }
        }
        if old.is_some_and(|old| hash(old) != hash(set)) {
            for clique in self.seen.cliques.by_set.get(&joined(&key.namespace, &key.name)) {
                self.queues.report(StatusKey::Clique(Key::of(clique.as_ref())));
            }
        }
    }

    fn group_changed(
        &self,
        old: Option<&Arc<PodCliqueScalingGroup>>,
        new: Option<&Arc<PodCliqueScalingGroup>>,
    ) {
        let Some(group) = new.or(old) else { return };
        let key = Key::of(group.as_ref());
        let set = self.seen.set_key_of(&group.metadata);
        if asks(old, new) {
            self.queues.groups.add(key.clone());
            self.queues.report(StatusKey::Group(key));
            if old.is_none() {
                // Likewise; and its pods may be what others wait for.
                for clique in self.seen.cliques.of_owner(group.metadata.uid.as_deref().unwrap_or_default()) {
                    self.queues.cliques.add(Key::of(clique.as_ref()));
                    self.wake_cliques_after(&Key::of(clique.as_ref()));
                }
            }
            // It makes the gangs of the group's replicas, and the group itself where it is gone.
            if let Some(set) = set.clone().filter(|_| old.is_some()) {
                self.queues.sets.add(set);
            }
        }
        if let Some(set) = set {
            self.queues.report(StatusKey::Set(set));
        }
    }

    fn clique_changed(&self, old: Option<&Arc<PodClique>>, new: Option<&Arc<PodClique>>) {
        let Some(clique) = new.or(old) else { return };
        let key = Key::of(clique.as_ref());
        if old.is_none() {
            // The pace of its status counts from here.
            self.memory.status_written(clique.metadata.uid.as_deref().unwrap_or_default());
        }
        if asks(old, new) {
            self.queues.cliques.add(key.clone());
            self.wake_gang_of(clique);
            if old.is_some() {
                self.wake_owner_of(clique);
            }
            // Whose it is may have changed, and with it whose pods are ready.
            self.wake_cliques_after(&key);
        }
        if new.is_none_or(|new| old.is_none_or(|old| old.status != new.status) || asks(old, Some(new))) {
            self.wake_reports_of_clique(clique);
        }
    }

    fn gang_changed(&self, old: Option<&Arc<PodGang>>, new: Option<&Arc<PodGang>>) {
        let Some(gang) = new.or(old) else { return };
        let key = Key::of(gang.as_ref());
        let initialized = |it: &Arc<PodGang>| grove_plan::gang::is_initialized(it);
        let appeared = old.is_none() || new.is_none();
        if appeared || old.is_some_and(|old| new.is_some_and(|new| initialized(old) != initialized(new))) {
            for clique in self.seen.cliques_by_gang.get(&joined(&key.namespace, &key.name)) {
                self.queues.cliques.add(Key::of(clique.as_ref()));
            }
        }
        if asks(old, new) {
            self.queues.gangs.add(key.clone());
        }
        self.queues.report(StatusKey::Gang(key));
        if let Some(set) = self.seen.set_key_of(&gang.metadata) {
            // The set sees to it that the gang is there; what it says is the gang's own business.
            if new.is_none() {
                self.queues.sets.add(set.clone());
            }
            self.queues.report(StatusKey::Set(set));
        }
    }

    fn pod_changed(&self, old: Option<&Arc<PodView>>, new: Option<&Arc<PodView>>) {
        let Some(pod) = new.or(old) else { return };
        if old.is_some_and(|old| new.is_some_and(|new| old.fact == new.fact)) {
            return;
        }
        let clique = Key::new(pod.namespace(), pod.clique.clone());
        let gang = Key::new(pod.namespace(), pod.fact.gang.clone());
        let set = Key::new(pod.namespace(), pod.set.clone());
        let presence =
            |it: &Arc<PodView>| (it.fact.is_live(), it.fact.phase, it.fact.index, it.fact.awaits_parents);
        if old.map(presence) != new.map(presence) {
            self.queues.cliques.add(clique.clone());
        }
        let serves = |it: &PodView| it.fact.ready || it.fact.phase == Phase::Succeeded;
        let ready = |it: Option<&Arc<PodView>>| it.is_some_and(|it| serves(it) && it.fact.is_live());
        if ready(old) != ready(new) {
            self.wake_cliques_after(&clique);
        }
        let place = |it: &Arc<PodView>| (it.fact.is_live(), it.fact.bound, it.fact.gates.clone());
        if old.map(place) != new.map(place) {
            let bound = |it: Option<&Arc<PodView>>| it.is_some_and(|it| it.fact.bound && it.fact.is_live());
            if bound(old) != bound(new) {
                self.wake_scaled_gangs(&gang);
            }
            self.queues.gangs.add(gang.clone());
        }
        self.queues.report(StatusKey::Gang(gang));
        self.queues.report(StatusKey::Clique(clique));
        if let Some(group) = &pod.group {
            self.queues.report(StatusKey::Group(Key::new(pod.namespace(), group.clone())));
        }
        self.queues.report_soon(StatusKey::Set(set));
    }

    /// Pods of those that start after a clique wait for its pods.
    fn wake_cliques_after(&self, clique: &Key) {
        for later in self.seen.cliques_by_parent.get(&joined(&clique.namespace, &clique.name)) {
            self.queues.cliques.add(Key::of(later.as_ref()));
        }
    }

    /// What was scaled out waits for its base gang.
    fn wake_scaled_gangs(&self, base: &Key) {
        let mut last = None;
        for clique in self.seen.cliques_by_base.get(&joined(&base.namespace, &base.name)) {
            let gang = label(&clique.metadata, labels::POD_GANG).map(str::to_owned);
            if let Some(name) = &gang
                && last != gang
            {
                self.queues.gangs.add(Key::new(base.namespace.clone(), name.clone()));
            }
            last = gang;
        }
    }

    fn topology_changed(
        &self,
        old: Option<&Arc<ClusterTopologyBinding>>,
        new: Option<&Arc<ClusterTopologyBinding>>,
    ) {
        let Some(binding) = new.or(old).filter(|_| asks(old, new)) else { return };
        for set in self.seen.sets.list() {
            if topology_name(&set) == binding.metadata.name.as_deref() {
                let uid = set.metadata.uid.as_deref().unwrap_or_default();
                for gang in self.seen.gangs.of_owner(uid) {
                    self.queues.gangs.add(Key::of(gang.as_ref()));
                }
                self.queues.report(StatusKey::Set(Key::of(set.as_ref())));
            }
        }
    }

    /// The owner makes the clique again where it is gone, and mends it where somebody changed it.
    fn wake_owner_of(&self, clique: &PodClique) {
        let namespace = clique.metadata.namespace.clone().unwrap_or_default();
        match controller(&clique.metadata) {
            Some(owner) if owner.kind == PodCliqueScalingGroup::kind(&()) => {
                self.queues.groups.add(Key::new(namespace, owner.name.clone()));
            }
            _ => {
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

    pub(crate) fn wake_gang_of(&self, clique: &PodClique) {
        let namespace = clique.metadata.namespace.clone().unwrap_or_default();
        if let Some(gang) = label(&clique.metadata, labels::POD_GANG) {
            let gang = Key::new(namespace, gang);
            // Others of the gang may have waited for this one's minimum.
            for other in self.seen.cliques_by_gang.get(&joined(&gang.namespace, &gang.name)) {
                if other.spec.replicas != other.spec.min_available
                    && other.metadata.name != clique.metadata.name
                {
                    self.queues.cliques.add(Key::of(other.as_ref()));
                }
            }
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
            self.queues.report_soon(StatusKey::Set(set));
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

/// Whether a change asks for more than a look at the status: the object came or went, or somebody wants something else.
fn asks<K: Resource>(old: Option<&Arc<K>>, new: Option<&Arc<K>>) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => differs(old.meta(), new.meta()),
        _ => true,
    }
}

fn differs(old: &ObjectMeta, new: &ObjectMeta) -> bool {
    old.generation != new.generation
        || old.deletion_timestamp != new.deletion_timestamp
        || old.labels != new.labels
        || old.annotations != new.annotations
        || old.finalizers != new.finalizers
        || old.owner_references != new.owner_references
}
