//! Which keys wait, run and are delayed. Pure: the caller brings the time.

use std::collections::BTreeMap;

use tokio::time::Instant;

use super::QueueKey;
use crate::round_robin::RoundRobin;

/// Every so many takes, background work goes first: events of one tenant must not starve that of another for ever.
const BACKGROUND_SHARE: u64 = 16;

/// Who is served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lane {
    Fresh,
    Background,
}

/// Where a key is in its cycle.
#[derive(Clone, Copy, Debug)]
enum Place {
    Waiting { lane: Lane, number: u64, since: Instant },
    Running { started: Instant, again: Option<(Lane, Instant)> },
}

/// What became of an added key.
pub(super) struct Added {
    /// It was not known to be dirty before.
    pub(super) counts: bool,
    /// A worker can take it now.
    pub(super) waits: bool,
}

/// A run that ended.
pub(super) struct Run {
    pub(super) started: Instant,
    /// Whether a key may be taken that could not before.
    pub(super) wakes: bool,
}

pub(super) struct State<T> {
    places: BTreeMap<T, Place>,
    /// Waiting keys of each lane.
    fresh: RoundRobin<T>,
    background: RoundRobin<T>,
    takes: u64,
    delays: BTreeMap<(Instant, u64), T>,
    delayed: BTreeMap<T, (Instant, u64)>,
    failures: BTreeMap<T, u32>,
    /// How many keys of a namespace may run at a time. Not of cluster scope: it is not a tenant's.
    most_running: usize,
    /// Namespaces of which keys run, and how many.
    running: BTreeMap<String, usize>,
    next_number: u64,
    closed: bool,
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self {
            places: BTreeMap::new(),
            fresh: RoundRobin::default(),
            background: RoundRobin::default(),
            takes: 0,
            delays: BTreeMap::new(),
            delayed: BTreeMap::new(),
            failures: BTreeMap::new(),
            most_running: usize::MAX,
            running: BTreeMap::new(),
            next_number: 0,
            closed: false,
        }
    }
}

impl<T: QueueKey> State<T> {
    /// So many workers take keys: a namespace gets all but one of them, so that another one is served at once.
    pub(super) fn set_workers(&mut self, workers: usize) {
        self.most_running = if workers > 1 { workers - 1 } else { usize::MAX };
    }

    pub(super) fn add(&mut self, key: T, lane: Lane, now: Instant) -> Added {
        if self.closed {
            return Added { counts: false, waits: false };
        }
        match self.places.get_mut(&key) {
            None => {
                self.wait(key, lane, now);
                Added { counts: true, waits: true }
            }
            Some(&mut Place::Waiting { lane: known, number, since }) => {
                if lane < known {
                    self.lane(known).remove(number);
                    self.wait(key, lane, since);
                }
                Added { counts: false, waits: false }
            }
            Some(Place::Running { again, .. }) => {
                let counts = again.is_none();
                let (known, since) = again.unwrap_or((lane, now));
                *again = Some((lane.min(known), since));
                Added { counts, waits: false }
            }
        }
    }

    /// Takes the key that is first in order, of those whose namespace may have one more worker.
    pub(super) fn take(&mut self, now: Instant) -> Option<(T, Instant)> {
        let Self { running, most_running, fresh, background, .. } = self;
        let may_run = |it: &str| running.get(it).is_none_or(|count| count < most_running);
        let key = if self.takes % BACKGROUND_SHARE == BACKGROUND_SHARE - 1 {
            background.pop_of(may_run).or_else(|| fresh.pop_of(may_run))
        } else {
            fresh.pop_of(may_run).or_else(|| background.pop_of(may_run))
        }?;
        self.takes = self.takes.wrapping_add(1);
        if !key.namespace().is_empty() {
            *self.running.entry(key.namespace().to_owned()).or_default() += 1;
        }
        let place = self.places.insert(key.clone(), Place::Running { started: now, again: None });
        let since = match place {
            Some(Place::Waiting { since, .. }) => since,
            _ => now,
        };
        Some((key, since))
    }

    /// Ends a run; nothing if `key` does not run.
    pub(super) fn done(&mut self, key: &T) -> Option<Run> {
        let &Place::Running { started, again } = self.places.get(key)? else { return None };
        let again = again.filter(|_| !self.closed);
        let frees = self.end_run(key.namespace());
        match again {
            Some((lane, since)) => self.wait(key.clone(), lane, since),
            None => drop(self.places.remove(key)),
        }
        Some(Run { started, wakes: again.is_some() || frees })
    }

    /// One key of a namespace less runs. Whether another one may be taken that could not before.
    fn end_run(&mut self, namespace: &str) -> bool {
        let Some(count) = self.running.get_mut(namespace) else { return false };
        let was_full = *count >= self.most_running;
        *count -= 1;
        if *count == 0 {
            self.running.remove(namespace);
        }
        was_full && self.waiting() > 0
    }

    /// Adds `key` at `when`. Says whether this is now the first delay to end.
    pub(super) fn delay(&mut self, key: T, when: Instant) -> bool {
        if self.closed {
            return false;
        }
        if let Some(&known) = self.delayed.get(&key) {
            if known.0 <= when {
                return false;
            }
            self.delays.remove(&known);
        }
        let number = self.number();
        self.delayed.insert(key.clone(), (when, number));
        self.delays.insert((when, number), key);
        self.next_delay() == Some(when)
    }

    /// Queues keys whose delay has ended and returns how many of them are new.
    pub(super) fn mature(&mut self, now: Instant) -> u64 {
        let mut counted = 0;
        while let Some(first) = self.delays.first_entry().filter(|first| first.key().0 <= now) {
            let ((when, _), key) = first.remove_entry();
            self.delayed.remove(&key);
            counted += u64::from(self.add(key, Lane::Fresh, when).counts);
        }
        counted
    }

    pub(super) fn next_delay(&self) -> Option<Instant> {
        self.delays.first_key_value().map(|((when, _), _)| *when)
    }

    /// Notes a failure and returns how many there were before it.
    pub(super) fn failed(&mut self, key: &T) -> u32 {
        if self.closed {
            return 0;
        }
        let failures = self.failures.entry(key.clone()).or_default();
        let before = *failures;
        *failures = failures.saturating_add(1);
        before
    }

    pub(super) fn forget(&mut self, key: &T) {
        self.failures.remove(key);
    }

    /// Forgets all but the keys that run, and takes no others.
    pub(super) fn close(&mut self) {
        self.closed = true;
        (self.fresh, self.background) = (RoundRobin::default(), RoundRobin::default());
        self.places.retain(|_, place| matches!(place, Place::Running { .. }));
        self.delays.clear();
        self.delayed.clear();
        self.failures.clear();
    }

    /// Takes keys again. Nothing may be running.
    pub(super) fn open(&mut self) {
        self.closed = false;
        self.places.clear();
        self.running.clear();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn waiting(&self) -> usize {
        self.fresh.len() + self.background.len()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.places.is_empty() && self.delays.is_empty()
    }

    fn wait(&mut self, key: T, lane: Lane, since: Instant) {
        let number = self.number();
        self.lane(lane).push(key.namespace(), number, key.clone());
        self.places.insert(key, Place::Waiting { lane, number, since });
    }

    fn lane(&mut self, lane: Lane) -> &mut RoundRobin<T> {
        match lane {
            Lane::Fresh => &mut self.fresh,
            Lane::Background => &mut self.background,
        }
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }
}
