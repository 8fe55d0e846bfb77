//! The end of objects that cannot be decoded: written by another version, or past the rules of their definition. Nothing is
//! done for them while they stay; but when they are deleted, our finalizer must not hold them for ever.

use grove_api::{
    constants::{events::undecodable as reasons, finalizers},
    wire::{PodClique, PodCliqueScalingGroup, PodCliqueSet},
};
use grove_runtime::{Cache, Cached, EventKind, Outcome};
use kube::core::{PartialObjectMeta, PartialObjectMetaExt};
use tracing::warn;

use super::{Grove, deletion::has_finalizer};
use crate::{error::Error, key::Key};

impl Grove {
    pub(super) async fn delete_undecodable_set(&self, key: &Key) -> Result<Outcome, Error> {
        let finalizer = finalizers::POD_CLIQUE_SET;
        let Some(ending) = Ending::<PodCliqueSet>::of(&self.seen.sets, key, finalizer) else {
            return Ok(Outcome::Done);
        };
        let outcome = self.delete_set(&ending.object).await?;
        Ok(self.tell_of_release(&ending, outcome))
    }

    pub(super) async fn delete_undecodable_group(&self, key: &Key) -> Result<Outcome, Error> {
        let finalizer = finalizers::SCALING_GROUP;
        let cache = &self.seen.groups.cache;
        let Some(ending) = Ending::<PodCliqueScalingGroup>::of(cache, key, finalizer) else {
            return Ok(Outcome::Done);
        };
        let outcome = self.delete_group(&ending.object).await?;
        Ok(self.tell_of_release(&ending, outcome))
    }

    pub(super) async fn delete_undecodable_clique(&self, key: &Key) -> Result<Outcome, Error> {
        let finalizer = finalizers::POD_CLIQUE;
        let Some(ending) = Ending::<PodClique>::of(&self.seen.cliques.cache, key, finalizer) else {
            return Ok(Outcome::Done);
        };
        let outcome = self.delete_clique(&ending.object).await?;
        Ok(self.tell_of_release(&ending, outcome))
    }

    /// Says what happened, once the finalizer is gone.
    fn tell_of_release<K: Cached>(&self, ending: &Ending<K>, outcome: Outcome) -> Outcome {
        if outcome == Outcome::Done {
            let (kind, error) = (K::kind(&()), &ending.error);
            warn!(%kind, object = ?Key::of(&ending.object), error, "removed the finalizer of an object that cannot be decoded");
            let note =
                format!("removed finalizer {}: the object cannot be decoded: {error}", ending.finalizer);
            self.tell(&ending.object, EventKind::Warning, reasons::RELEASED, "Delete", note);
        }
        outcome
    }
}

/// An object that is being deleted, held by our finalizer, and cannot be decoded.
struct Ending<K> {
    object: PartialObjectMeta<K>,
    finalizer: &'static str,
    error: String,
}

impl<K: Cached> Ending<K> {
    fn of(cache: &Cache<K>, key: &Key, finalizer: &'static str) -> Option<Self> {
        let found = cache.undecodable(&key.namespace, &key.name)?;
        let object: PartialObjectMeta<K> = found.metadata.clone().into_response_partial();
        let ends = object.metadata.deletion_timestamp.is_some() && has_finalizer(&object, finalizer);
        ends.then(|| Self { object, finalizer, error: found.error.clone() })
    }
}
