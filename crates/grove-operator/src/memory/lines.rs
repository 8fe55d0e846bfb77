//! Which gangs of a set have a place, which wait for one, and which could grow and wait for those.

use std::collections::{BTreeMap, BTreeSet};

use grove_plan::gang::{Waiting, may_follow, may_grow};
use parking_lot::Mutex;
use tokio::time::Instant;

/// By UID of a set.
#[derive(Default)]
pub(crate) struct Lines(Mutex<BTreeMap<String, Line>>);

/// The gangs of a set.
#[derive(Clone, Default)]
struct Line {
    /// Whether they have a place.
    places: BTreeMap<String, Place>,
    /// Those that could go on, and wait for others.
    held: BTreeSet<String>,
}

impl Line {
    fn waiting(&self) -> BTreeMap<String, Waiting> {
        let waiting = self.places.iter().filter_map(|(gang, place)| match place {
            Place::Found => None,
            Place::Wanted { since, after, is_base } => {
                let waiting = Waiting { for_: since.elapsed(), after: after.clone(), is_base: *is_base };
                Some((gang.clone(), waiting))
            }
        });
        waiting.collect()
    }
}

/// Whether a gang has a place.
#[derive(Clone)]
enum Place {
    Found,
    Wanted {
        since: Instant,
        /// The gang that it comes after.
        after: Option<String>,
        is_base: bool,
    },
}

impl Lines {
    /// The set is gone.
    pub(super) fn forget(&self, set: &str) {
        self.0.lock().remove(set);
    }

    /// How many sets are known.
    pub(super) fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Only these sets are left.
    pub(super) fn sweep(&self, sets: &BTreeSet<String>) {
        self.0.lock().retain(|set, _| sets.contains(set));
    }

    /// A gang of a set waits for a place, and before that for the gang that it comes `after`.
    pub(crate) fn waits(&self, set: &str, gang: &str, is_base: bool, after: Option<&str>) {
        let mut lines = self.0.lock();
        let places = &mut lines.entry(set.to_owned()).or_default().places;
        let after = after.map(str::to_owned);
        match places.get_mut(gang) {
            Some(Place::Wanted { since, after: known, .. }) => {
                // From now on it could have one.
                if known.is_some() && after.is_none() {
                    *since = Instant::now();
                }
                *known = after;
            }
            _ => {
                places.insert(gang.to_owned(), Place::Wanted { since: Instant::now(), after, is_base });
            }
        }
    }

    /// A gang of a set has its place, or is gone. Returns those that waited, if nobody is before them any more.
    pub(crate) fn has_place(&self, set: &str, gang: &str, is_gone: bool) -> BTreeSet<String> {
        let mut lines = self.0.lock();
        if is_gone && !lines.contains_key(set) {
            return BTreeSet::new();
        }
        let line = lines.entry(set.to_owned()).or_default();
        let before = if is_gone {
            line.places.remove(gang)
        } else {
            line.places.insert(gang.to_owned(), Place::Found)
        };
        if matches!(before, Some(Place::Found)) && !is_gone {
            return BTreeSet::new();
        }
        // What comes after it could have a place from now on, however long it has been there.
        for place in line.places.values_mut() {
            if let Place::Wanted { since, after: Some(after), .. } = place
                && after == gang
            {
                *since = Instant::now();
            }
        }
        // Scaled gangs come when all base gangs have their place; growing ones note again what else they wait for.
        let waiting = line.waiting();
        if may_follow(&waiting).is_ok() || may_grow("", &waiting).is_ok() {
            return std::mem::take(&mut line.held);
        }
        BTreeSet::new()
    }

    /// A gang could go on, and waits for others of its set.
    pub(crate) fn holds_back(&self, set: &str, gang: &str) {
        self.0.lock().entry(set.to_owned()).or_default().held.insert(gang.to_owned());
    }

    /// The gang that one that waits for a place comes after.
    pub(crate) fn comes_after(&self, set: &str, gang: &str) -> Option<String> {
        match self.0.lock().get(set)?.places.get(gang)? {
            Place::Wanted { after, .. } => after.clone(),
            Place::Found => None,
        }
    }

    /// The gangs of a set that are known to wait for a place, and those that are known to have one.
    pub(crate) fn line(&self, set: &str) -> (BTreeMap<String, Waiting>, BTreeSet<String>) {
        let lines = self.0.lock();
        let Some(line) = lines.get(set) else { return Default::default() };
        let placed = line.places.iter().filter(|(_, it)| matches!(it, Place::Found));
        (line.waiting(), placed.map(|(gang, _)| gang.clone()).collect())
    }
}
