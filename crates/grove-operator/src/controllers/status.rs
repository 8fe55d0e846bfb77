//! Writes what is, where it differs from what is written. A changed condition is written at once; counters alone once a
//! second at most.

use std::{sync::Arc, time::Duration};

use grove_api::{
    constants::{events::pod_clique as reasons, labels},
    wire::{PodClique, PodCliqueSet},
};
use grove_ownership::OwnerKey;
use grove_plan::{
    allotment::{Allotment, Existing},
    facts::{Tally, index_label, template_hash},
    gang::{self, Seen as GangSeen},
    layout::{self, count, group_named, set_name},
    restart_policy::Rules,
    rollout::{self, TemplateState, has_noted_template},
    status::{
        self, CliqueReport, CliqueState, GroupReport, Reported, SetReport, Urgency, status_patch, urgency,
    },
};
use grove_runtime::{Cache, Cached, EventKind, Lane, Outcome};
use kube::Resource;
use serde::Serialize;

use super::{Grove, node_loss::news, set::by_name, sooner, uid, update::has_turn, version};
use crate::{
    error::Error,
    key::{Key, StatusKey},
    memory::Purpose,
    seen::joined,
};

/// Shortest time between two writes of counters of one object.
const PACE: Duration = Duration::from_secs(1);

/// How soon changed conditions are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// At once.
    Prompt,
    /// Like counters. During an update pods come and go all the time.
    Calm,
    /// At once, and before other statuses: pods on lost nodes are replaced because of it.
    Loss,
}

fn mode(set: &PodCliqueSet) -> Mode {
    let progress = set.status.as_ref().and_then(|it| it.update_progress.as_ref());
    if rollout::is_open(progress) { Mode::Calm } else { Mode::Prompt }
}

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
        let hash = self.noted_hash(&set);
        let written = clique.status.as_ref();
        let known = written.and_then(|it| it.current_pod_clique_set_generation_hash.as_deref());
        // Only where it would change is it worth a close look. A hash that names another template than the set has now, because
        // that was just set back, is not taken for one's own.
        let applies =
            (known == Some(hash.as_str()) && has_noted_template(&clique)) || self.is_in_force(&set, &clique);
        let pods = self.seen.pods_of(&clique);
        let own = template_hash(&clique.metadata);
        let replacing = pods.iter().map(|it| &it.fact).find(|it| it.terminating && it.hash != own);
        let watch = self.with_losses(&clique, &pods, |it| it.watch()).unwrap_or_default();
        self.read_nodes(&watch.unconfirmed, Purpose::Lost);
        let report = CliqueReport {
            clique: &clique,
            tally: Tally::of(pods.iter().map(|it| &it.fact), own),
            was_scheduled: self.memory.was_scheduled(uid(clique.as_ref())),
            refusal: refusal.as_ref(),
            set: set_name(&set),
            generation_hash: &hash,
            is_current: applies,
            pace: rollout::pace(&set),
            has_turn: has_turn(&set, &clique),
            replacing: replacing.map(|it| it.name.as_str()),
            restarts: Rules::of_clique(&set, &hash, &clique),
            lost: &watch.nodes,
            acted: self.memory.acted(uid(clique.as_ref())),
            now: self.now(),
        };
        let new = status::clique(&report);
        // It may be over before it is written. Only what wants no pods is like new: the minimum may have been bound just now.
        if new.was_scheduled == Some(true) || clique.spec.replicas == Some(0) {
            self.memory.note_scheduled(uid(clique.as_ref()), new.was_scheduled == Some(true));
        }
        let lost = written.is_some_and(|it| it.scheduled_replicas > 0) && new.scheduled_replicas == 0;
        let noted = written.map(|it| it.lost_nodes.as_slice()).unwrap_or_default();
        let is_loss = noted != new.lost_nodes.as_slice();
        let mode = if is_loss { Mode::Loss } else { mode(&set) };
        let outcome = self.write_status(cache, clique.as_ref(), written, &new, mode).await?;
        if lost && outcome == Outcome::Done {
            let note = "no pods of the PodClique are scheduled any more".to_owned();
            self.tell(clique.as_ref(), EventKind::Warning, reasons::ALL_SCHEDULED_LOST, "Report", note);
        }
        if let Some(note) = news(written, &new).filter(|_| outcome == Outcome::Done) {
            self.tell(clique.as_ref(), EventKind::Warning, reasons::NODE_LOST, "Report", note);
        }
        Ok(sooner(outcome, watch.next.map(|it| self.until(it))))
    }

    pub(crate) fn tally(&self, clique: &PodClique) -> Tally {
        Tally::of(self.seen.pods_of(clique).iter().map(|it| &it.fact), template_hash(&clique.metadata))
    }

    pub(super) fn state<'a>(&self, set: &PodCliqueSet, clique: &'a PodClique) -> CliqueState<'a> {
        // Nearly always it is of the template that it has noted, or of the only one that there has ever been. A template that is
        // not noted yet is nobody's measure: the update begins with the note.
        let is_behind = !has_noted_template(clique)
            && set.metadata.generation != Some(1)
            && self.template_state(set) == TemplateState::Current
            && !self.is_in_force(set, clique);
        let refusal = self.memory.refusal(uid(clique));
        let mut state = CliqueState {
            clique,
            tally: self.tally(clique),
            refusal,
            is_behind,
            was_scheduled: self.memory.was_scheduled(uid(clique)),
            breached_since: None,
        };
        let is_breached = state.is_present() && state.is_breached();
        state.breached_since = self.memory.breached_since(uid(clique), is_breached, self.now());
        state
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
            let states = members.map(|it| cliques.get(it.name.as_str()).map(|it| self.state(&set, it)));
            (group_replica, states.collect())
        });
        let hash = self.noted_hash(&set);
        let report = GroupReport {
            group: &group,
            replicas: replicas.collect(),
            set: set_name(&set),
            generation_hash: &hash,
            pace: rollout::pace(&set),
            has_turn: rollout::turn(&set) == Some(replica),
            acted: self.memory.acted(uid(group.as_ref())),
            now: self.now(),
        };
        let new = status::group(&report);
        self.write_status(cache, group.as_ref(), group.status.as_ref(), &new, mode(&set)).await
    }

    async fn report_gang(&self, key: &Key) -> Result<Outcome, Error> {
        let Some(read) = self.read_gang(key, true) else { return Ok(Outcome::Done) };
        let seen = read.seen(self);
        // What it said before the operator started holds until its scheduler was asked; of a gang that is held, it is not.
        if !self.memory.has_tried(uid(seen.gang)) && !gang::is_held(&seen) {
            return Ok(Outcome::Done);
        }
        let words = self.after_others(&seen).or_else(|| self.words_of(&seen));
        let words = words.map(|words| self.steady(seen.gang, words));
        let words = words.as_ref().map(|(reason, words)| (*reason, words.as_str()));
        let seen = GangSeen { told: read.told_in_words(), words, ..seen };
        let new = status::gang(&seen, false, self.now());
        let mode = mode(seen.context.set);
        let (cache, written) = (&self.seen.gangs.cache, seen.gang.status.as_ref());
        let outcome = self.write_status(cache, seen.gang, written, &new, mode).await?;
        if outcome == Outcome::Done {
            self.count_stages(seen.context.set, seen.gang, &new);
        }
        Ok(outcome)
    }

    async fn report_set(&self, key: &Key) -> Result<Outcome, Error> {
        let cache = &self.seen.sets;
        let Some(set) = cache.get(&key.namespace, &key.name) else { return Ok(Outcome::Done) };
        // Nothing is said of a template that is not noted yet: who waits for it would take the words on the former for its own.
        let is_unobserved = self.template_state(&set) == TemplateState::Unobserved;
        if set.metadata.deletion_timestamp.is_some() || is_unobserved {
            return Ok(Outcome::Done);
        }
        let children = self.children_of(&set);
        let gangs = self.seen.gangs.of_owner(&OwnerKey::of(set.as_ref()));
        let state = self.observe(&set, &children);
        let existing =
            || Existing::of(state.cliques.values().map(|it| it.clique), state.groups.values().copied());
        let report = SetReport {
            allotment: Allotment::within(self.caps, &set, &state.groups, existing),
            state,
            gangs: gangs.iter().map(Arc::as_ref).collect(),
            passed_over: self.passed_over(&set, children.topology.as_ref()),
            update: self.update_seen(&set),
            errors: self.memory.errors(uid(set.as_ref())),
            acted: self.memory.acted(uid(set.as_ref())),
        };
        let new = status::set(&report);
        let late = status::update_deadline(&report, new.update_progress.as_ref());
        let late = late.filter(|it| *it > report.state.now).map(|it| self.until(it));
        let outcome = self.write_status(cache, set.as_ref(), set.status.as_ref(), &new, Mode::Prompt).await?;
        // An update that is stuck says so when it is.
        Ok(sooner(outcome, late))
    }

    /// How long to wait until the status of an object is written again.
    fn pause<K: Resource>(&self, object: &K) -> Option<Duration> {
        let since = self.memory.since_status_written(uid(object));
        since.and_then(|it| PACE.checked_sub(it)).filter(|it| !it.is_zero())
    }

    async fn write_status<K, S>(
        &self,
        cache: &Cache<K>,
        object: &K,
        old: Option<&S>,
        new: &S,
        mode: Mode,
    ) -> Result<Outcome, Error>
    where
        K: Cached,
        S: Reported + Serialize,
    {
        let is_step = old.is_none_or(|it| it.is_step(new));
        let wait = match urgency(old, new) {
            Urgency::Now if mode == Mode::Calm && !is_step => self.pause(object),
            Urgency::Same => return Ok(Outcome::Done),
            _ if mode == Mode::Loss => None,
            Urgency::Now => None,
            Urgency::Soon => self.pause(object),
        };
        if let Some(wait) = wait {
            return Ok(Outcome::After(wait));
        }
        let key = Key::of(object);
        let patch = status_patch(old, new, version(object));
        // A set speaks for everything below it, and is written once a second at most.
        let is_first = K::kind(&()) == PodCliqueSet::kind(&()) || mode == Mode::Loss;
        let lane = if is_first { Lane::Change } else { Lane::Status };
        self.patch_status(cache, Some(lane), key, patch).await?;
        self.memory.status_written(uid(object));
        Ok(Outcome::Done)
    }
}
