//! Writes what is, where it differs from what is written. A changed condition is written at once; counters alone once a
//! second at most.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use grove_api::{
    constants::{events::pod_clique as reasons, labels},
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    children::clique_patch,
    facts::{Tally, index_label},
    layout::{self, count, set_name, set_namespace},
    objects,
    status::{
        self, CliqueReport, CliqueState, GroupReport, Reported, SetReport, Urgency, status_patch, urgency,
    },
};
use grove_runtime::{Cache, Cached, EventKind, Lane, Outcome};
use kube::Resource;
use serde::Serialize;

use super::{
    Grove,
    set::{by_name, group_named, place_of},
    uid, version,
};
use crate::{
    error::Error,
    key::{Key, StatusKey},
    seen::{joined, label},
};

/// Shortest time between two writes of counters of one object.
const PACE: Duration = Duration::from_secs(1);

impl Grove {
    pub(crate) async fn reconcile_status(&self, key: StatusKey) -> Result<Outcome, Error> {
        match key {
            StatusKey::Clique(key) => self.report_clique(&key).await,
            StatusKey::Group(key) => self.report_group(&key).await,
            StatusKey::Gang(key) => self.report_gang(&key).await,
            StatusKey::Set(key) => self.report_set(&key).await,
        }
    }

    async fn report_clique(&self, key: &Key) -> Result<Outcome, Error> {
        let cache = &self.seen.cliques.cache;
        let Some(clique) = cache.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        let Some(set) = self.seen.set_of(&clique.metadata) else { return Ok(Outcome::Done) };
        if clique.metadata.deletion_timestamp.is_some() || set.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done);
        }
        let refusal = self.memory.refusal(uid(clique.as_ref()));
        let hash = self.generation_hash(&set);
        let written = clique.status.as_ref();
        let known = written.and_then(|it| it.current_pod_clique_set_generation_hash.as_deref());
        // Only where it would change is it worth a close look.
        let applies = known == Some(hash.as_str()) || self.is_current(&set, &clique);
        let report = CliqueReport {
            clique: &clique,
            tally: self.tally(&clique),
            refusal: refusal.as_ref(),
            set: set_name(&set),
            generation_hash: applies.then_some(hash.as_str()),
            acted: self.memory.acted(uid(clique.as_ref())),
            now: self.now(),
        };
        let new = status::clique(&report);
        let lost = written.is_some_and(|it| it.scheduled_replicas > 0) && new.scheduled_replicas == 0;
        let outcome = self.write_status(cache, clique.as_ref(), written, &new).await?;
        if lost && outcome == Outcome::Done {
            let note = "no pod of the clique is bound to a node any more".to_owned();
            self.tell(clique.as_ref(), EventKind::Warning, reasons::ALL_SCHEDULED_LOST, "Report", note);
        }
        Ok(outcome)
    }

    /// Whether a clique is what the template says.
    fn is_current(&self, set: &PodCliqueSet, clique: &PodClique) -> bool {
        place_of(set, clique).is_some_and(|place| {
            clique_patch(clique, &objects::clique(self.context(set), &place, None)).is_none()
        })
    }

    fn tally(&self, clique: &PodClique) -> Tally {
        let hash = label(&clique.metadata, labels::POD_TEMPLATE_HASH).unwrap_or_default();
        Tally::of(self.seen.pods_of(uid(clique)).iter().map(|it| &it.fact), hash)
    }

    fn state<'a>(&self, clique: &'a PodClique) -> CliqueState<'a> {
        CliqueState { clique, tally: self.tally(clique), refusal: self.memory.refusal(uid(clique)) }
    }

    async fn report_group(&self, key: &Key) -> Result<Outcome, Error> {
        let cache = &self.seen.groups.cache;
        let Some(group) = cache.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        let Some(set) = self.seen.set_of(&group.metadata) else { return Ok(Outcome::Done) };
        if group.metadata.deletion_timestamp.is_some() || set.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done);
        }
        let Some(replica) = index_label(group.metadata.labels.as_ref(), labels::SET_REPLICA_INDEX) else {
            return Ok(Outcome::Done);
        };
        let Some(config) = group_named(&set, replica, &key.name) else { return Ok(Outcome::Done) };
        let cliques = self.seen.cliques_by_group.get(&joined(&key.namespace, &key.name));
        let cliques = by_name(&cliques);
        let replicas = (0..count(group.spec.replicas)).map(|group_replica| {
            let members = layout::members(&set, replica, config, group_replica);
            let states = members.map(|it| cliques.get(it.name.as_str()).map(|it| self.state(it)));
            (group_replica, states.collect())
        });
        let hash = self.generation_hash(&set);
        let report = GroupReport {
            group: &group,
            replicas: replicas.collect(),
            set: set_name(&set),
            generation_hash: Some(&hash),
            acted: self.memory.acted(uid(group.as_ref())),
            now: self.now(),
        };
        let new = status::group(&report);
        self.write_status(cache, group.as_ref(), group.status.as_ref(), &new).await
    }

    async fn report_gang(&self, key: &Key) -> Result<Outcome, Error> {
        let Some(read) = self.read_gang(key, true) else { return Ok(Outcome::Done) };
        let seen = read.seen(self);
        let new = status::gang(&seen, false, self.now());
        self.write_status(&self.seen.gangs.cache, seen.gang, seen.gang.status.as_ref(), &new).await
    }

    async fn report_set(&self, key: &Key) -> Result<Outcome, Error> {
        let cache = &self.seen.sets;
        let Some(set) = cache.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        if set.metadata.deletion_timestamp.is_some() {
            return Ok(Outcome::Done);
        }
        let of_set = joined(set_namespace(&set), set_name(&set));
        let cliques: Vec<Arc<PodClique>> = self.seen.cliques.by_set.get(&of_set);
        let states: BTreeMap<&str, CliqueState<'_>> =
            by_name(&cliques).into_iter().map(|(name, clique)| (name, self.state(clique))).collect();
        let groups = self.seen.groups.of_owner(uid(set.as_ref()));
        let gangs = self.seen.gangs.of_owner(uid(set.as_ref()));
        let binding = self.binding(&set);
        let report = SetReport {
            set: &set,
            cliques: states,
            groups: by_name(&groups),
            gangs: gangs.iter().map(Arc::as_ref).collect(),
            topology: self.topology_seen(binding.as_ref()),
            generation_hash: self.generation_hash(&set),
            errors: self.memory.errors(uid(set.as_ref())),
            acted: self.memory.acted(uid(set.as_ref())),
            now: self.now(),
        };
        let new = status::set(&report);
        self.write_status(cache, set.as_ref(), set.status.as_ref(), &new).await
    }

    async fn write_status<K, S>(
        &self,
        cache: &Cache<K>,
        object: &K,
        old: Option<&S>,
        new: &S,
    ) -> Result<Outcome, Error>
    where
        K: Cached,
        S: Reported + Serialize,
    {
        let wait = match urgency(old, new) {
            Urgency::Same => return Ok(Outcome::Done),
            Urgency::Now => None,
            Urgency::Soon => {
                let since = self.memory.since_status_written(uid(object));
                since.and_then(|it| PACE.checked_sub(it)).filter(|it| !it.is_zero())
            }
        };
        if let Some(wait) = wait {
            return Ok(Outcome::After(wait));
        }
        let key = Key::of(object);
        let patch = status_patch(old, new, version(object));
        // A set speaks for everything below it, and is written once a second at most.
        let lane = if K::kind(&()) == PodCliqueSet::kind(&()) { Lane::Change } else { Lane::Status };
        let writer = self.writer.in_lane(lane);
        cache.written(writer.patch_status(&key.namespace, &key.name, &patch).await?);
        self.memory.status_written(uid(object));
        Ok(Outcome::Done)
    }
}
