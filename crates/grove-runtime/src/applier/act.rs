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

impl Applier {
    pub(super) async fn act(&self, namespace: &str, step: Step) -> Result<Applied, WriteError> {
        match step {
            Step::Wait { .. } => Ok(WAITING),
            Step::Create(new) => self.write(namespace, new, false).await,
            Step::Apply(new) => self.write(namespace, new, true).await,
            Step::Delete { kind, name, uid } => {
                self.end(namespace, kind, &name, &uid).await?;
                Ok(WRITTEN)
            }
            Step::Recreate { uid, new } => {
                let deleted = self.end(namespace, new.kind, &new.name, &uid).await?;
                let then = match deleted {
                    Deleted::Gone => self.write(namespace, new, false).await?,
                    Deleted::Accepted(old) => self.make_room(namespace, &old, new).await?,
                };
                Ok(WRITTEN.and(then))
            }
            Step::Release { uid, version, new } => self.release(namespace, &uid, &version, new).await,
        }
    }

    /// Always by apply: what a plain create has given, no later apply could take away.
    async fn write(&self, namespace: &str, new: New, force: bool) -> Result<Applied, WriteError> {
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
    async fn make_room(&self, namespace: &str, old: &DynamicObject, new: New) -> Result<Applied, WriteError> {
        if !plan::is_kept_by_its_api(old, &self.kinds[new.kind].resource.group) {
            return Ok(WAITING);
        }
        self.release(namespace, &plan::uid(old), &plan::version(old), new).await
    }

    async fn release(
        &self,
        namespace: &str,
        uid: &str,
        version: &str,
        new: New,
    ) -> Result<Applied, WriteError> {
        let collection = self.collection(new.kind, namespace);
        let released = match self.writer.release_in(&collection, &new.name, version).await {
            // Somebody was faster, and the owner is looked at again when that is seen.
            Err(error) if error.is_conflict() => return Ok(WAITING),
            released => released?,
        };
        self.note(namespace, new.kind, &new.name, uid, &released);
        match released {
            Deleted::Gone => Ok(WRITTEN.and(self.write(namespace, new, false).await?)),
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
        let uid = plan::uid(&answer);
        self.last.lock().insert(uid, content::hash(&content::seen(&answer, wanted)));
        self.kinds[kind].cache.written(answer);
    }

    fn collection(&self, kind: usize, namespace: &str) -> Collection {
        Collection::of_resource::<DynamicObject>(&self.kinds[kind].resource, namespace)
    }
}
