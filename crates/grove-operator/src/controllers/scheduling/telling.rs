//! What schedulers are told of gangs: by objects of their own.

use std::time::Instant;

use grove_api::{
    constants::{conditions::pod_gang as reasons, events::backend as events},
    wire::{PodCliqueSet, PodGang},
};
use grove_ownership::OwnerKey;
use grove_plan::layout::Place;
use grove_runtime::{ApplyError, EventKind, Owner, Rendered, WriteError};
use grove_scheduler::{Gang, Object};
use tracing::warn;

use crate::{
    backends::{Operation, Ready},
    controllers::{Grove, uid},
    error::Error,
    key::Key,
};

/// Why a scheduler was not told of a gang.
#[derive(Debug, thiserror::Error)]
enum NotTold {
    /// Nothing will change before the gang, its set or its objects do.
    #[error("{0}")]
    Hopeless(String),
    /// An object of its name is still going away.
    #[error("{0}")]
    Waiting(&'static str),
    /// The API server did not take it.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The gang or its set is being deleted: nothing is written for it any more.
    #[error("the gang is being deleted")]
    Ended,
}

/// Scheduler objects of a set are being written. When that ends, a set that is to go is looked at again.
struct Syncing<'a> {
    grove: &'a Grove,
    set: &'a PodCliqueSet,
}

impl<'a> Syncing<'a> {
    fn begin(grove: &'a Grove, set: &'a PodCliqueSet) -> Self {
        grove.memory.syncs.begin(uid(set));
        Self { grove, set }
    }
}

impl Drop for Syncing<'_> {
    fn drop(&mut self) {
        self.grove.memory.syncs.end(uid(self.set));
        let key = Key::of(self.set);
        let there = self.grove.seen.sets.get(&key.namespace, &key.name);
        if there.is_some_and(|it| it.metadata.deletion_timestamp.is_some()) {
            self.grove.queues.sets.add(key);
        }
    }
}

impl Grove {
    /// Tells a gang's scheduler what the gang is. Whether that worked is remembered.
    pub(in crate::controllers) async fn tell_scheduler(
        &self,
        set: &PodCliqueSet,
        gang: &PodGang,
        place: Place<'_>,
        turn: u64,
    ) -> Result<(), Error> {
        let (name, ready) = self.backend_of(set, gang);
        let ready = match ready {
            Ok(ready) => ready,
            Err(why) => {
                self.told(gang, Some(turn), Some((reasons::BACKEND_NOT_READY, why)));
                return Ok(());
            }
        };
        let started = Instant::now();
        let operation = match ready.applier.of_owner(&OwnerKey::of(gang)).as_slice() {
            [] => Operation::Create,
            _ => Operation::Update,
        };
        let result = self.sync(&ready, set, gang, place).await;
        if matches!(result, Err(NotTold::Ended)) {
            return Ok(());
        }
        self.metrics.backends.operated(&name, operation, result.is_ok(), started.elapsed());
        let Err(error) = result else {
            self.told(gang, Some(turn), None);
            return Ok(());
        };
        let words = error.to_string();
        match error {
            NotTold::Ended => {}
            NotTold::Waiting(_) => {
                self.told(gang, Some(turn), Some((reasons::BACKEND_FAILED, words)));
            }
            NotTold::Hopeless(_) => self.failed(&name, operation, gang, Some(turn), &words),
            // The cache is behind; it is tried again at once.
            NotTold::Write(error) if error.is_conflict() => return Err(error.into()),
            NotTold::Write(error) => {
                self.failed(&name, operation, gang, None, &words);
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// Makes the objects of a gang what its scheduler needs.
    async fn sync(
        &self,
        ready: &Ready,
        set: &PodCliqueSet,
        gang: &PodGang,
        place: Place<'_>,
    ) -> Result<(), NotTold> {
        let tree = self.tree(ready, set, gang, place).map_err(|it| NotTold::Hopeless(it.to_string()))?;
        let existing = ready.applier.values_of_owner(&OwnerKey::of(gang));
        let objects =
            ready.scheduler.render(&tree, &existing).map_err(|it| NotTold::Hopeless(it.to_string()))?;
        let objects: Vec<Rendered> = objects.into_iter().map(rendered).collect();
        // Noted before the caches are asked: either this sees that the set is to go, or the set's deletion sees this.
        let _syncing = Syncing::begin(self, set);
        match ready.applier.apply_while(&owner(&tree), &objects, &|| self.is_to_stay(gang)).await {
            Ok(None) => Err(NotTold::Ended),
            Ok(Some(applied)) if applied.waiting => {
                Err(NotTold::Waiting("an object of the same name is still being deleted"))
            }
            Ok(Some(_)) => Ok(()),
            Err(ApplyError::Write(error)) => Err(error.into()),
            Err(ApplyError::Refused(refused)) => {
                Err(NotTold::Hopeless(format!("the scheduler backend may not write this: {refused}")))
            }
        }
    }

    /// Whether a gang and its set exist, as far as is known now, and neither is being deleted.
    fn is_to_stay(&self, gang: &PodGang) -> bool {
        let key = Key::of(gang);
        let there = self.seen.gangs.cache.get(&key.namespace, &key.name);
        let same =
            there.is_some_and(|it| uid(it.as_ref()) == uid(gang) && it.metadata.deletion_timestamp.is_none());
        same && self.seen.set_of(&gang.metadata).is_some_and(|it| it.metadata.deletion_timestamp.is_none())
    }

    fn failed(&self, backend: &str, operation: Operation, gang: &PodGang, turn: Option<u64>, words: &str) {
        if self.told(gang, turn, Some((reasons::BACKEND_FAILED, words.to_owned()))) {
            let (key, operation) = (Key::of(gang), operation.as_str());
            warn!(backend, operation, status = "failure", podgang = ?key, words, "a scheduler cannot be told of a gang");
            self.tell_of_backend(gang, "SyncPodGang", operation, words);
        }
    }

    /// A backend failed to do something for a gang.
    pub(in crate::controllers) fn tell_of_backend(
        &self,
        gang: &PodGang,
        action: &'static str,
        operation: &'static str,
        words: &str,
    ) {
        let name = gang.metadata.name.as_deref().unwrap_or_default();
        let note = format!("Backend operation '{operation}' failed for PodGang '{name}': {words}");
        self.tell(gang, EventKind::Warning, events::OPERATION_FAILED, action, note);
    }

    /// Remembers; whether it is news.
    fn told(&self, gang: &PodGang, turn: Option<u64>, failure: Option<(&'static str, String)>) -> bool {
        let news = self.memory.told(uid(gang), turn, failure);
        if news {
            self.wake_status_of(gang);
        }
        news
    }
}

fn owner(gang: &Gang) -> Owner {
    Owner {
        api_version: gang.api_version.clone(),
        kind: gang.kind.clone(),
        namespace: gang.namespace.clone(),
        name: gang.name.clone(),
        uid: gang.uid.clone(),
    }
}

pub(in crate::controllers) fn rendered(object: Object) -> Rendered {
    let Object { resource, value, once, immutable } = object;
    Rendered { resource, object: value, once, immutable }
}
