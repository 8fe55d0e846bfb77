//! Which controller a change concerns. To wake too many is only work; to wake too few would be a hang.

mod around;
mod everything;
mod pods;
mod quotas;
mod schedulers;
mod topologies;
mod undecodable;

use std::sync::{Arc, Weak};

use grove_api::{
    constants::annotations,
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet, PodGang, RestartCount, RestartPolicy},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    rollout::{self, Pace},
    topology::topology_name,
};
use grove_runtime::{Cache, Cached, Change, Stored};
use k8s_openapi::{
    api::apps::v1::ControllerRevision, apimachinery::pkg::apis::meta::v1::ObjectMeta, jiff::Timestamp,
};
use kube::Resource;

use crate::{
    controllers::Grove,
    key::{Key, StatusKey},
    seen::{Children, joined},
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
        self.on(&self.seen.nodes, Self::node_changed);
        self.on(&self.seen.quotas, Self::quota_changed);
        self.on(&self.seen.topologies, Self::topology_changed);
        self.on(&self.seen.backends, Self::backend_changed);
        self.on_topologies();
        self.on_undecodable();
        self.on_minor(&self.seen.services);
        self.on_minor(&self.seen.autoscalers);
        self.on_minor(&self.seen.revisions);
        self.on(&self.seen.revisions.cache, Self::revision_appeared);
        self.on_rewound_or_refused(&self.seen.sets);
        self.on_rewound_or_refused(&self.seen.groups.cache);
        self.on_rewound_or_refused(&self.seen.cliques.cache);
        self.on_rewound_or_refused(&self.seen.gangs.cache);
        self.on_rewound_or_refused(&self.seen.pods);
        self.on_rewound(&self.seen.nodes);
        self.on_rewound(&self.seen.quotas);
        self.on_rewound_or_refused(&self.seen.topologies);
        self.on_rewound_or_refused(&self.seen.backends);
        self.on_rewound_or_refused(&self.seen.services.cache);
        self.on_rewound_or_refused(&self.seen.autoscalers.cache);
        self.on_rewound_or_refused(&self.seen.revisions.cache);
        self.on_rewound(&self.seen.kueue.topologies);
    }

    /// Begins anew when a cache shows a state that the server was set back to; the others list again then, too.
    fn on_rewound<K: Stored>(self: &Arc<Self>, cache: &Cache<K>) {
        let grove: Weak<Self> = Arc::downgrade(self);
        cache.share_history(&self.history);
        cache.listen_rewound(move || {
            if let Some(grove) = grove.upgrade() {
                grove.begin_anew();
            }
        });
    }

    /// Likewise, of a kind that we write: that a write is refused again and again may be all that tells.
    fn on_rewound_or_refused<K: Cached>(self: &Arc<Self>, cache: &Cache<K>) {
        self.writer.doubt_after_conflicts(cache);
        self.on_rewound(cache);
    }

    fn on<K: Cached>(self: &Arc<Self>, cache: &Cache<K>, changed: Listener<K>) {
        let grove: Weak<Self> = Arc::downgrade(self);
        cache.listen(move |change: &Change<'_, K>| {
            if let Some(grove) = grove.upgrade() {
                changed(&grove, change.old, change.new);
                if let (Some(old), None) = (change.old, change.new) {
                    let is_sweep_due = grove.memory.forget(old.meta().uid.as_deref().unwrap_or_default());
                    if is_sweep_due {
                        grove.memory.sweep(|| grove.seen.live());
                    }
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

    /// A revision that somebody puts back may keep the template that is in force while updates are paused.
    fn revision_appeared(
        &self,
        old: Option<&Arc<ControllerRevision>>,
        new: Option<&Arc<ControllerRevision>>,
    ) {
        let set = new.filter(|_| old.is_none()).and_then(|it| self.seen.set_of(&it.metadata));
        if let Some(set) = set.filter(|it| rollout::pace(it) == Pace::Paused) {
            self.queues.sets.add(Key::of(set.as_ref()));
        }
    }

    fn set_changed(&self, old: Option<&Arc<PodCliqueSet>>, new: Option<&Arc<PodCliqueSet>>) {
        if new.is_none() || old.is_none() {
            // Who uses a topology is no longer what it was.
            if let Some(name) = new.or(old).and_then(|it| topology_name(it)) {
                self.queues.topologies.add(name.to_owned());
            }
        }
        let Some(set) = new else { return };
        let key = Key::of(set.as_ref());
        let hash = |it: &PodCliqueSet| it.status.as_ref().and_then(|it| it.current_generation_hash.clone());
        let asked = old.is_none_or(|old| differs(&old.metadata, &set.metadata));
        if asked {
            self.queues.sets.add(key.clone());
            self.queues.look_at_set(key.clone());
        }
        // What was looked at without the set was left alone.
        // And one that waits for a template that is set back meanwhile goes on with the one it has.
        if old.is_none_or(|old| old.metadata.generation != set.metadata.generation) {
            for clique in self.seen.cliques.by_set.get(&joined(&key.namespace, &key.name)) {
                self.queues.cliques.add(Key::of(clique.as_ref()));
            }
        }
        if asked {
            let owner = OwnerKey::of(set.as_ref());
            for group in self.seen.groups.of_owner(&owner) {
                self.queues.groups.add(Key::of(group.as_ref()));
            }
            for gang in self.seen.gangs.of_owner(&owner) {
                // Templates say things to schedulers, too.
                self.memory.untell(gang.metadata.uid.as_deref().unwrap_or_default());
                self.queues.gangs.add(Key::of(gang.as_ref()));
            }
        }
        if old.is_some_and(|old| hash(old) != hash(set)) {
            self.queues.look_at_set(key.clone());
            for clique in self.seen.cliques.by_set.get(&joined(&key.namespace, &key.name)) {
                self.queues.report(StatusKey::Clique(Key::of(clique.as_ref())));
            }
            // They do nothing before a change of the template is noted, and say of which one their update is.
            for group in self.seen.groups.of_owner(&OwnerKey::of(set.as_ref())) {
                let key = Key::of(group.as_ref());
                self.queues.groups.add(key.clone());
                self.queues.report(StatusKey::Group(key));
            }
        }
        if old.is_some_and(|old| {
            rollout::turn(old) != rollout::turn(set)
                || rollout::pace(old) != rollout::pace(set)
                || restart_policy(old) != restart_policy(set)
        }) {
            self.queues.recovery.add(key);
            self.wake_turns(set);
        }
    }

    /// Another set replica has its turn in an update, or pods that failed are seen to in another way.
    pub(crate) fn wake_turns(&self, set: &PodCliqueSet) {
        let key = Key::of(set);
        for clique in self.seen.cliques.by_set.get(&joined(&key.namespace, &key.name)) {
            let key = Key::of(clique.as_ref());
            self.queues.cliques.add(key.clone());
            self.queues.report(StatusKey::Clique(key));
        }
        for group in self.seen.groups.of_owner(&OwnerKey::of(set)) {
            let key = Key::of(group.as_ref());
            self.queues.groups.add(key.clone());
            self.queues.report(StatusKey::Group(key));
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
        let began = |it: &Arc<PodCliqueScalingGroup>| {
            let progress = it.status.as_ref().and_then(|it| it.update_progress.as_ref());
            progress.map(|it| (it.pod_clique_set_generation_hash.clone(), it.update_ended_at.is_some()))
        };
        if old.is_some_and(|old| new.is_some_and(|new| began(old) != began(new))) {
            self.queues.groups.add(key.clone());
        }
        if asks(old, new) {
            self.queues.groups.add(key.clone());
            self.queues.report(StatusKey::Group(key));
            if old.is_none() {
                // Likewise; and its pods may be what others wait for.
                for clique in self.seen.cliques.of_owner(&OwnerKey::of(group.as_ref())) {
                    self.queues.cliques.add(Key::of(clique.as_ref()));
                    self.wake_cliques_after(&Key::of(clique.as_ref()));
                }
            }
            // Scaled to zero or up from there it leaves its gang or joins it, and others start after it or do not.
            let is_zero = |it: &Arc<PodCliqueScalingGroup>| it.spec.replicas == 0;
            if old.map(is_zero) != new.map(is_zero)
                && let Some(set) = &set
            {
                self.wake_replica(set, &group.metadata);
            }
            // It makes the gangs of the group's replicas, and the group itself where it is gone.
            if let Some(set) = set.clone().filter(|_| old.is_some()) {
                self.queues.sets.add(set);
            }
        }
        if let Some(set) = set {
            self.queues.look_at_set(set);
        }
    }

    fn clique_changed(&self, old: Option<&Arc<PodClique>>, new: Option<&Arc<PodClique>>) {
        let Some(clique) = new.or(old) else { return };
        let key = Key::of(clique.as_ref());
        if old.is_none() {
            // The pace of its status counts from here.
            self.memory.status_written(clique.metadata.uid.as_deref().unwrap_or_default());
        }
        let began = |it: &Arc<PodClique>| {
            let progress = it.status.as_ref().and_then(|it| it.update_progress.as_ref());
            progress.map(|it| (it.pod_template_hash.clone(), it.update_ended_at.is_some()))
        };
        if old.is_some_and(|old| new.is_some_and(|new| began(old) != began(new))) {
            self.queues.cliques.add(key.clone());
        }
        if asks(old, new) {
            self.queues.cliques.add(key.clone());
            self.wake_gang_of(clique);
            if old.is_some() {
                self.wake_owner_of(clique);
            }
            // Whose it is may have changed, and with it whose pods are ready.
            self.wake_cliques_after(&key);
            self.wake_quota(&key.namespace);
        } else if old.map(|it| notes(it)) != new.map(|it| notes(it)) {
            self.queues.cliques.add(key);
        }
        if new.is_none_or(|new| old.is_none_or(|old| old.status != new.status) || asks(old, Some(new))) {
            self.wake_reports_of_clique(clique);
        }
    }

    fn gang_changed(&self, old: Option<&Arc<PodGang>>, new: Option<&Arc<PodGang>>) {
        let Some(gang) = new.or(old) else { return };
        let key = Key::of(gang.as_ref());
        let initialized = |it: &Arc<PodGang>| grove_plan::gang::is_initialized(it);
        let form = |it: &Arc<PodGang>| {
            it.metadata.annotations.as_ref().and_then(|it| it.get(annotations::SCHEDULER_FORM)).cloned()
        };
        let appeared = old.is_none() || new.is_none();
        if appeared {
            // A base gang that comes again may have its place already, of which nothing else would tell.
            self.wake_scaled_gangs(&key);
        }
        let noted = old.is_some_and(|old| new.is_some_and(|new| form(old) != form(new)));
        if appeared || asks(old, new) {
            self.wake_quota(&key.namespace);
        }
        // One that was scaled to zero makes pods when it is back in its gang.
        let groups = |it: &Arc<PodGang>| -> Vec<String> {
            it.spec.pod_groups.iter().map(|it| it.name.clone()).collect()
        };
        let regrouped = old.is_some_and(|old| new.is_some_and(|new| groups(old) != groups(new)));
        if noted
            || regrouped
            || appeared
            || old.is_some_and(|old| new.is_some_and(|new| initialized(old) != initialized(new)))
        {
            for clique in self.seen.cliques_by_gang.get(&joined(&key.namespace, &key.name)) {
                self.queues.cliques.add(Key::of(clique.as_ref()));
                self.wake_group_of(&clique);
            }
        }
        if asks(old, new) {
            if let Some(new) = new {
                self.memory.untell(new.metadata.uid.as_deref().unwrap_or_default());
            }
            self.queues.gangs.add(key.clone());
        }
        if let Some(set) = old.filter(|_| new.is_none()).and_then(|old| self.seen.set_of(&old.metadata)) {
            self.wake_held(&key, set.metadata.uid.as_deref().unwrap_or_default(), true);
        }
        self.queues.report(StatusKey::Gang(key));
        if let Some(set) = self.seen.set_key_of(&gang.metadata) {
            // The set sees to it that the gang is there; what it says is the gang's own business.
            if new.is_none() {
                self.queues.sets.add(set.clone());
            }
            self.queues.look_at_set(set);
        }
        // Last: this calls a backend, which may be anybody's.
        if let Some(left) = old.filter(|_| new.is_none()).and_then(|old| self.left_by(old)) {
            // Nobody takes them while another operator leads: that one clears away.
            let _ = self.leftovers.send(gang.metadata.namespace.as_deref().unwrap_or_default(), left);
        }
    }
}

/// What is noted of pods that have to go: those that are older than this, those that failed when this allows it, and those
/// on these nodes.
fn notes(clique: &PodClique) -> (Option<Timestamp>, Option<&RestartCount>, Vec<&str>) {
    let Some(status) = &clique.status else { return (None, None, Vec::new()) };
    let lost = status.lost_nodes.iter().filter(|it| it.lost_at.is_some());
    (
        status.restart.as_ref().map(|it| it.before.0),
        status.restarts.as_ref(),
        lost.map(|it| it.name.as_str()).collect(),
    )
}

/// The restart policy of a set, and when somebody reset its budget.
fn restart_policy(set: &PodCliqueSet) -> (Option<&RestartPolicy>, Option<&str>) {
    (set.spec.template.restart_policy.as_ref(), grove_plan::restart_policy::reset(set))
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
