//! Carries out the steps of a plan, and keeps in mind what the server made of them.

use kube::api::DynamicObject;
use serde_json::Value;

use super::{
    Applied, Applier, content,
    plan::{self, New, Step},
};
use crate::writer::{Collection, Delete, Deleted, WriteError};

/// A write was made, and nothing has to be waited for.
const WRITTEN: Applied = Applied { writes: 1, waiting: false };
const WAITING: Applied = Applied { writes: 0, waiting: true };

/// Why a step was not carried out.
pub(super) enum Halt {
    /// The server did not take it.
    Write(WriteError),
    /// The owner is to have nothing any more.
    Unwanted,
}

impl From<WriteError> for Halt {
    fn from(error: WriteError) -> Self {
        Self::Write(error)
    }
}

/// Whether the owner is still to have objects.
type Wanted<'a> = &'a (dyn Fn() -> bool + Sync);

fn wanted(is_wanted: Wanted<'_>) -> Result<(), Halt> {
    if is_wanted() { Ok(()) } else { Err(Halt::Unwanted) }
}

impl Applier {
    pub(super) async fn act(
        &self,
        namespace: &str,
        step: Step,
        is_wanted: Wanted<'_>,
    ) -> Result<Applied, Halt> {
        match step {
            Step::Wait { .. } => Ok(WAITING),
            Step::Create(new) => self.write(namespace, new, false, is_wanted).await,
            Step::Apply(new) => self.write(namespace, new, true, is_wanted).await,
            Step::Delete { kind, name, uid } => {
                self.end(namespace, kind, &name, &uid).await?;
                Ok(WRITTEN)
            }
            Step::Recreate { uid, new } => {
                wanted(is_wanted)?;
                let deleted = self.end(namespace, new.kind, &new.name, &uid).await?;
                let then = match deleted {
                    Deleted::Gone => self.write(namespace, new, false, is_wanted).await?,
                    Deleted::Accepted(old) => self.make_room(namespace, &old, new, is_wanted).await?,
                };
                Ok(WRITTEN.and(then))
            }
            Step::Release { uid, version, new } => {
                self.release(namespace, &uid, &version, new, is_wanted).await
            }
        }
    }

    /// Always by apply: what a plain create has given, no later apply could take away.
    async fn write(
        &self,
        namespace: &str,
        new: New,
        force: bool,
        is_wanted: Wanted<'_>,
    ) -> Result<Applied, Halt> {
        wanted(is_wanted)?;
        let collection = self.collection(new.kind, namespace);
        let answer = self.writer.apply_in(&collection, &new.name, &new.object, force).await?;
        self.remember(new.kind, &new.lasting, answer);
        Ok(WRITTEN)
    }

    pub(super) async fn end(
        &self,
        namespace: &str,
        kind: usize,
        name: &str,
        uid: &str,
    ) -> Result<Deleted<DynamicObject>, WriteError> {
        let collection = self.collection(kind, namespace);
        let deleted = self.writer.delete_in(&collection, name, uid, Delete::default()).await?;
        self.note(namespace, kind, name, uid, &deleted);
        Ok(deleted)
    }

    /// We deleted `old` for its successor, and it is still there.
    async fn make_room(
        &self,
        namespace: &str,
        old: &DynamicObject,
        new: New,
        is_wanted: Wanted<'_>,
    ) -> Result<Applied, Halt> {
        if !plan::is_kept_by_its_api(old, &self.kinds[new.kind].resource.group) {
            return Ok(WAITING);
        }
        self.release(namespace, &plan::uid(old), &plan::version(old), new, is_wanted).await
    }

    async fn release(
        &self,
        namespace: &str,
        uid: &str,
        version: &str,
        new: New,
        is_wanted: Wanted<'_>,
    ) -> Result<Applied, Halt> {
        wanted(is_wanted)?;
        let collection = self.collection(new.kind, namespace);
        let released = match self.writer.release_in(&collection, &new.name, version).await {
            // Somebody was faster, and the owner is looked at again when that is seen.
            Err(error) if error.is_conflict() => return Ok(WAITING),
            released => released?,
        };
        self.note(namespace, new.kind, &new.name, uid, &released);
        match released {
            Deleted::Gone => Ok(WRITTEN.and(self.write(namespace, new, false, is_wanted).await?)),
            Deleted::Accepted(_) => Ok(WRITTEN.and(WAITING)),
        }
    }

    fn note(&self, namespace: &str, kind: usize, name: &str, uid: &str, deleted: &Deleted<DynamicObject>) {
        let cache = &self.kinds[kind].cache;
        match deleted {
            Deleted::Gone => cache.gone(namespace, name, uid),
            Deleted::Accepted(object) => drop(cache.written(object.clone())),
        }
    }

    fn remember(&self, kind: usize, wanted: &Value, answer: DynamicObject) {
        let (uid, cache) = (plan::uid(&answer), &self.kinds[kind].cache);
        let (namespace, name) = (answer.metadata.namespace.clone(), answer.metadata.name.clone());
        self.last.lock().insert(uid.clone(), content::hash(&content::seen(&answer, wanted)));
        cache.written(answer);
        // Where the watch saw its end before we had the answer, nobody else would forget it.
        let there = cache.get(namespace.as_deref().unwrap_or_default(), name.as_deref().unwrap_or_default());
        if there.is_none_or(|it| plan::uid(&it) != uid) {
            self.last.lock().remove(&uid);
        }
    }

    fn collection(&self, kind: usize, namespace: &str) -> Collection {
        Collection::of_resource::<DynamicObject>(&self.kinds[kind].resource, namespace)
    }
}
