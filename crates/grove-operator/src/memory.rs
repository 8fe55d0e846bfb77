//! What is remembered between reconciles and is in no object. All of it is by UID, and all of it comes back by itself:
//! a restart only means that something is tried once more.
//!
//! What is remembered of an object is forgotten with it. A reconcile that was under way then may note something once more;
//! such notes are found by a sweep against the caches, when there are many more than there were after the last one.

mod batches;
mod creations;
mod dry_runs;
mod lines;
mod nodes;
mod quotas;
mod syncs;
mod templates;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use grove_api::wire::LastError;
use grove_plan::facts::Refusal;
use k8s_openapi::jiff::Timestamp;
use parking_lot::Mutex;
use tokio::time::Instant;

use self::{
    creations::Creations, dry_runs::DryRuns, lines::Lines, nodes::Nodes, quotas::Quotas, syncs::Syncs,
    templates::TemplateNotes,
};
pub(crate) use self::{
    dry_runs::{Replacement, TemplateRefusal},
    nodes::{Purpose, REREAD},
    templates::ReadTemplate,
};

/// First and longest pause after the API server refused a pod.
const REFUSED_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// Likewise where a quota is exceeded: a change of the quota is seen, and ends the pause.
const QUOTA_PAUSE: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(2));
/// How long a namespace that is being deleted is left in peace.
const ENDING_PAUSE: Duration = Duration::from_secs(10);
/// Notes beyond twice those of the last sweep before there is another one.
const SPARE: usize = 256;
/// Likewise between replacements of pods that fail.
const FAILED_PAUSE: (Duration, Duration) = (Duration::from_secs(10), Duration::from_mins(5));

#[derive(Default)]
pub(crate) struct Memory {
    by_uid: Mutex<BTreeMap<String, Notes>>,
    /// Who waits for a place.
    pub(crate) lines: Lines,
    /// Whose turn it is to create pods where a quota is exhausted.
    pub(crate) quotas: Quotas,
    /// Whose pods may have been created without an answer.
    pub(crate) creations: Creations,
    /// Nodes as the API server described them just now.
    pub(crate) nodes: Nodes,
    /// Whose scheduler objects are being written.
    pub(crate) syncs: Syncs,
    /// How many notes there were after the last sweep.
    kept: Mutex<usize>,
    /// Namespaces that take no new objects, and until when nobody need ask again.
    ending: Mutex<BTreeMap<String, Instant>>,
    /// When everything was forgotten last.
    cleared: Mutex<Option<Instant>>,
}

/// What is remembered of one object.
#[derive(Clone, Default)]
struct Notes {
    acted: Option<i64>,
    refusal: Option<Refusal>,
    refused: Pause,
    /// When a pod was last refused because a quota was exceeded, if that is why pods are refused.
    quota_refused_at: Option<Timestamp>,
    /// Why pods are not created although nobody refuses them.
    held: Option<Refusal>,
    failed: Pause,
    skipped: usize,
    errors: Vec<LastError>,
    status_written: Option<Instant>,
    was_scheduled: bool,
    /// Since when a clique is seen below its minimum.
    breached_since: Option<Timestamp>,
    /// A generation, and when it was first seen.
    generation_seen: Option<(Option<i64>, Timestamp)>,
    collected: Option<Instant>,
    no_effect: Option<(String, String)>,
    template: TemplateNotes,
    dry_runs: DryRuns,
    scheduler: Option<&'static str>,
    telling: Telling,
    told: BTreeMap<&'static str, String>,
}

/// What a gang's scheduler was told.
#[derive(Clone, Default)]
struct Telling {
    /// Counts what there is to tell.
    turn: u64,
    /// The last that was told, or cannot be.
    told: Option<u64>,
    /// Whether it was tried at all.
    tried: bool,
    /// Why it was not: a reason, and words.
    failure: Option<(&'static str, String)>,
    /// Since when so many pods are bound, and not all that belong together.
    split: Option<(Instant, u32)>,
    /// When the scheduler's words were written last.
    reworded: Option<Instant>,
}

/// A pause that doubles.
#[derive(Clone, Copy, Default)]
struct Pause {
    times: u32,
    last: Option<Instant>,
    until: Option<Instant>,
}

impl Pause {
    fn again(&mut self, (first, longest): (Duration, Duration)) {
        let pause = first.saturating_mul(2_u32.saturating_pow(self.times)).min(longest);
        self.times = self.times.saturating_add(1);
        self.last = Some(Instant::now());
        self.until = Some(Instant::now() + pause);
    }

    fn remaining(self) -> Option<Duration> {
        self.until.and_then(|it| it.checked_duration_since(Instant::now())).filter(|it| !it.is_zero())
    }
}

impl Memory {
    fn note<R>(&self, uid: &str, change: impl FnOnce(&mut Notes) -> R) -> R {
        change(self.by_uid.lock().entry(uid.to_owned()).or_default())
    }

    fn look<R>(&self, uid: &str, read: impl FnOnce(&Notes) -> R) -> Option<R> {
        self.by_uid.lock().get(uid).map(read)
    }

    /// The namespace is being deleted: nothing can be created in it any more.
    pub(crate) fn namespace_ends(&self, namespace: &str) {
        let mut ending = self.ending.lock();
        ending.retain(|_, until| *until > Instant::now());
        ending.insert(namespace.to_owned(), Instant::now() + ENDING_PAUSE);
    }

    /// How long nothing need be tried in a namespace.
    pub(crate) fn ending_for(&self, namespace: &str) -> Option<Duration> {
        let until = self.ending.lock().get(namespace).copied()?;
        until.checked_duration_since(Instant::now()).filter(|it| !it.is_zero())
    }

    /// The object is gone. Whether it is time for a sweep.
    pub(crate) fn forget(&self, uid: &str) -> bool {
        self.lines.forget(uid);
        self.creations.settled(uid);
        let mut notes = self.by_uid.lock();
        notes.remove(uid);
        let left = notes.len().max(self.lines.len()).max(self.creations.len());
        left > self.kept.lock().saturating_mul(2).saturating_add(SPARE)
    }

    /// Forgets all of which `live` does not know. It is asked while nothing can be noted: what it does not know of is gone.
    pub(crate) fn sweep(&self, live: impl FnOnce() -> BTreeSet<String>) {
        let mut notes = self.by_uid.lock();
        let live = live();
        notes.retain(|uid, _| live.contains(uid));
        self.lines.sweep(&live);
        self.creations.sweep(&live);
        *self.kept.lock() = notes.len();
    }

    /// Forgets everything, as a restart would. What is being written then says itself when it ends.
    pub(crate) fn clear(&self) {
        *self.cleared.lock() = Some(Instant::now());
        self.by_uid.lock().clear();
        self.ending.lock().clear();
        *self.kept.lock() = 0;
        self.lines.sweep(&BTreeSet::new());
        self.quotas.clear();
        self.nodes.forget_wanted();
    }

    /// How long it has remembered what it saw.
    pub(crate) fn age(&self) -> Duration {
        self.cleared.lock().map(|it| it.elapsed()).unwrap_or_default()
    }

    /// Whether something else is said now than the last time, for this reason.
    pub(crate) fn is_news(&self, uid: &str, reason: &'static str, words: &str) -> bool {
        self.note(uid, |notes| notes.told.insert(reason, words.to_owned()).as_deref() != Some(words))
    }

    /// Everything that this generation asks for was done. Whether that is news.
    pub(crate) fn acted_on(&self, uid: &str, generation: Option<i64>) -> bool {
        self.note(uid, |notes| std::mem::replace(&mut notes.acted, generation) != generation)
    }

    pub(crate) fn acted(&self, uid: &str) -> Option<i64> {
        self.look(uid, |notes| notes.acted).flatten()
    }

    /// The API server refuses pods of a clique. Returns the pause, and whether the words are new.
    pub(crate) fn refused(&self, uid: &str, refusal: Refusal, over_quota: bool) -> (Duration, bool) {
        self.note(uid, |notes| {
            notes.refused.again(if over_quota { QUOTA_PAUSE } else { REFUSED_PAUSE });
            notes.quota_refused_at = over_quota.then_some(refusal.since);
            let old = notes.refusal.take();
            let is_new = old.as_ref().is_none_or(|it| it.message != refusal.message);
            let since = old.map_or(refusal.since, |it| it.since);
            notes.refusal = Some(Refusal { since, ..refusal });
            (notes.refused.remaining().unwrap_or_default(), is_new)
        })
    }

    /// Why there are no more pods of a clique: other gangs come first, or the API server's words.
    pub(crate) fn refusal(&self, uid: &str) -> Option<Refusal> {
        self.look(uid, |notes| notes.held.clone().or_else(|| notes.refusal.clone())).flatten()
    }

    /// Whether pods are refused for another reason than a quota.
    pub(crate) fn is_refused_otherwise(&self, uid: &str) -> bool {
        self.look(uid, |notes| notes.refusal.is_some() && notes.quota_refused_at.is_none()) == Some(true)
    }

    pub(crate) fn quota_refused_at(&self, uid: &str) -> Option<Timestamp> {
        self.look(uid, |notes| notes.quota_refused_at).flatten()
    }

    /// Other gangs come before a clique, or none does. Whether that is news.
    pub(crate) fn hold(&self, uid: &str, reason: Option<&str>, now: Timestamp) -> bool {
        let known = self.look(uid, |notes| notes.held.as_ref().map(|it| it.message.clone())).flatten();
        if known.as_deref() == reason {
            return false;
        }
        self.note(uid, |notes| {
            let since = notes.held.as_ref().map_or(now, |it| it.since);
            notes.held = reason.map(|it| Refusal { message: it.to_owned(), since });
        });
        true
    }

    /// What pods of a clique were refused for may be over: the rest of the pause that is left, a second after the last try
    /// at the latest.
    pub(crate) fn retry_soon(&self, uid: &str) -> Option<Duration> {
        self.look(uid, |notes| notes.refused.remaining()).flatten()?;
        self.note(uid, |notes| {
            let soon = notes.refused.last.map(|it| it + QUOTA_PAUSE.0);
            notes.refused.until = soon.min(notes.refused.until);
            Some(notes.refused.remaining().unwrap_or_default())
        })
    }

    pub(crate) fn refused_for(&self, uid: &str) -> Option<Duration> {
        self.look(uid, |notes| notes.refused.remaining()).flatten()
    }

    /// The API server takes pods again. Whether it had not.
    pub(crate) fn admitted(&self, uid: &str) -> bool {
        self.look(uid, |notes| notes.refusal.is_some()) == Some(true)
            && self.note(uid, |notes| {
                notes.refused = Pause::default();
                notes.quota_refused_at = None;
                notes.refusal.take().is_some()
            })
    }

    /// A pod that failed is replaced; the next one waits longer.
    pub(crate) fn replaced(&self, uid: &str) {
        self.note(uid, |notes| {
            // A clique that was well for a long time begins anew.
            let quiet = notes.failed.until.is_some_and(|it| it.elapsed() > FAILED_PAUSE.1);
            if quiet {
                notes.failed = Pause::default();
            }
            notes.failed.again(FAILED_PAUSE);
        });
    }

    pub(crate) fn failed_for(&self, uid: &str) -> Option<Duration> {
        self.look(uid, |notes| notes.failed.remaining()).flatten()
    }

    /// What went wrong with the children of a set. Whether that is news.
    pub(crate) fn failed_with(&self, uid: &str, errors: Vec<LastError>) -> bool {
        let words = |errors: &[LastError]| -> Vec<(String, String)> {
            errors.iter().map(|it| (it.code.clone(), it.description.clone())).collect()
        };
        self.note(uid, |notes| {
            let news = words(&notes.errors) != words(&errors);
            if news {
                notes.errors = errors;
            }
            news
        })
    }

    pub(crate) fn errors(&self, uid: &str) -> Vec<LastError> {
        self.look(uid, |notes| notes.errors.clone()).unwrap_or_default()
    }

    /// The status of an object was written.
    pub(crate) fn status_written(&self, uid: &str) {
        self.note(uid, |notes| notes.status_written = Some(Instant::now()));
    }

    /// Whether the minimum of a clique is bound, or was since it is to have pods: that is written later.
    pub(crate) fn note_scheduled(&self, uid: &str, was_scheduled: bool) {
        self.note(uid, |notes| {
            // What was missing before it had its place is no breach.
            if was_scheduled && !notes.was_scheduled {
                notes.breached_since = None;
            }
            notes.was_scheduled = was_scheduled;
        });
    }

    /// Since when a clique is seen below its minimum, where it `is_breached`.
    pub(crate) fn breached_since(&self, uid: &str, is_breached: bool, now: Timestamp) -> Option<Timestamp> {
        if is_breached {
            return Some(self.note(uid, |notes| *notes.breached_since.get_or_insert(now)));
        }
        if self.look(uid, |notes| notes.breached_since.is_some()) == Some(true) {
            self.note(uid, |notes| notes.breached_since = None);
        }
        None
    }

    /// When this generation of an object was first asked for.
    pub(crate) fn generation_seen(&self, uid: &str, generation: Option<i64>, now: Timestamp) -> Timestamp {
        self.note(uid, |notes| {
            let known = notes.generation_seen.filter(|it| it.0 == generation);
            notes.generation_seen.insert(known.unwrap_or((generation, now))).1
        })
    }

    /// Whether the minimum of a clique was seen bound since the operator started.
    pub(crate) fn was_scheduled(&self, uid: &str) -> bool {
        self.look(uid, |notes| notes.was_scheduled) == Some(true)
    }

    pub(crate) fn since_status_written(&self, uid: &str) -> Option<Duration> {
        self.look(uid, |notes| notes.status_written.map(|it| it.elapsed())).flatten()
    }

    /// Everything of an object is being deleted. False where that was asked for only just now.
    pub(crate) fn collects(&self, uid: &str, pause: Duration) -> bool {
        self.note(uid, |notes| {
            let due = notes.collected.is_none_or(|it| it.elapsed() >= pause);
            if due {
                notes.collected = Some(Instant::now());
            }
            due
        })
    }

    /// A collective deletion has to go on: it may be asked for again at once.
    pub(crate) fn collects_on(&self, uid: &str) {
        self.note(uid, |notes| notes.collected = None);
    }

    /// A patch of a child changed nothing: the server reads our wish as what it has. It is not sent again for as long
    /// as it is the same patch of the same version.
    pub(crate) fn had_no_effect(&self, uid: &str, version: &str, patch: String) {
        self.note(uid, |notes| notes.no_effect = Some((version.to_owned(), patch)));
    }

    pub(crate) fn has_no_effect(&self, uid: &str, version: &str, patch: &str) -> bool {
        let same = |(of, text): &(String, String)| of == version && text == patch;
        self.look(uid, |notes| notes.no_effect.as_ref().is_some_and(same)) == Some(true)
    }

    /// The scheduler of a set, decided once.
    pub(crate) fn scheduler(&self, uid: &str, decide: impl FnOnce() -> &'static str) -> &'static str {
        let known = self.look(uid, |notes| notes.scheduler).flatten();
        known.unwrap_or_else(|| {
            let decided = decide();
            self.note(uid, |notes| *notes.scheduler.insert(decided))
        })
    }

    /// The scheduler of a gang has to be told again.
    pub(crate) fn untell(&self, uid: &str) {
        self.note(uid, |notes| notes.telling.turn += 1);
    }

    /// What there is to tell now.
    pub(crate) fn turn(&self, uid: &str) -> u64 {
        self.look(uid, |notes| notes.telling.turn).unwrap_or_default()
    }

    /// What was to tell at `turn` was told, or cannot be; without a turn it is tried again. Whether the failure, or that
    /// there is none, is news.
    pub(crate) fn told(&self, uid: &str, turn: Option<u64>, failure: Option<(&'static str, String)>) -> bool {
        self.note(uid, |notes| {
            notes.telling.told = turn;
            let news = notes.telling.failure != failure || !notes.telling.tried;
            notes.telling.tried = true;
            notes.telling.failure = failure;
            news
        })
    }

    /// Whether anybody has tried to tell the scheduler since the operator started.
    pub(crate) fn has_tried(&self, uid: &str) -> bool {
        self.look(uid, |notes| notes.telling.tried) == Some(true)
    }

    /// Whether the scheduler was told all there is to tell, and why it was not when it was tried last.
    pub(crate) fn telling(&self, uid: &str) -> (bool, Option<(&'static str, String)>) {
        let read = |notes: &Notes| {
            let Telling { turn, told, failure, .. } = &notes.telling;
            (*told == Some(*turn), failure.clone())
        };
        self.look(uid, read).unwrap_or_default()
    }

    /// Whether the words on a gang may change: the last time was so long ago. Else how long it is until then.
    pub(crate) fn reworded(&self, uid: &str, pace: Duration) -> Result<(), Duration> {
        self.note(uid, |notes| {
            let last = notes.telling.reworded.get_or_insert_with(Instant::now);
            match pace.saturating_sub(last.elapsed()) {
                Duration::ZERO => {
                    *last = Instant::now();
                    Ok(())
                }
                rest => Err(rest),
            }
        })
    }

    /// Whether a gang has been split for so long, with as many pods bound as now; else how long it is until then.
    pub(crate) fn is_split_for(&self, uid: &str, bound: Option<u32>, long: Duration) -> Result<(), Duration> {
        self.note(uid, |notes| {
            let split = &mut notes.telling.split;
            *split = bound.map(|bound| {
                let unchanged = split.filter(|(_, before)| *before == bound);
                unchanged.unwrap_or_else(|| (Instant::now(), bound))
            });
            match split.map(|it| long.saturating_sub(it.0.elapsed())) {
                Some(Duration::ZERO) => Ok(()),
                rest => Err(rest.unwrap_or(long)),
            }
        })
    }
}

#[cfg(test)]
mod tests;
