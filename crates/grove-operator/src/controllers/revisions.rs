//! History: the templates of a set as ControllerRevisions.

use std::{collections::BTreeSet, sync::Arc};

use grove_api::{names, wire::PodCliqueSet};
use grove_ownership::OwnerKey;
use grove_plan::{
    layout::set_name,
    revisions::{self, Step},
};
use k8s_openapi::api::apps::v1::ControllerRevision;
use serde_json::json;
use tracing::info;

use super::{Grove, uid};
use crate::{error::Error, key::Key};

impl Grove {
    /// Keeps the template in use. Nobody waits for this, and nothing stands still for want of it.
    pub(super) async fn keep_revisions(&self, key: &Key) -> Result<(), Error> {
        let Some(set) = self.seen.sets.get(&key.namespace, &key.name) else { return Ok(()) };
        let template = self.template_state(&set);
        // Changed again meanwhile, which has woken us.
        let Some(in_force) = template.set_in_force(&set) else { return Ok(()) };
        if set.metadata.deletion_timestamp.is_some() {
            return Ok(());
        }
        let hash = self.noted_hash(&set);
        let is_known = template.unknown().is_none_or(BTreeSet::is_empty);
        let steps = self.plan_revisions(in_force, &hash, is_known);
        let cache = &self.seen.revisions.cache;
        for step in steps {
            let done = match &step {
                Step::Create(revision) => {
                    info!(set = ?key, number = revisions::number_of(revision), %hash, "keeping the template");
                    self.create(cache, &key.namespace, revision.as_ref()).await
                }
                Step::Raise { name, number } => {
                    info!(set = ?key, number, %hash, "an earlier template is in use again");
                    self.patch(cache, &key.namespace, name, &json!({ "revision": number })).await
                }
                Step::Delete { name, uid } => {
                    self.delete::<ControllerRevision>(cache, &key.namespace, name, uid).await
                }
            };
            match done {
                // The name is somebody else's; the cache knows now.
                Err(error) if error.is_already_exists() => {}
                other => other?,
            }
        }
        Ok(())
    }

    fn plan_revisions(&self, set: &PodCliqueSet, hash: &str, is_known: bool) -> Vec<Step> {
        let cache = &self.seen.revisions;
        let mut seen = cache.of_owner(&OwnerKey::of(set));
        let namespace = set.metadata.namespace.as_deref().unwrap_or_default();
        let named = cache.cache.get(namespace, &names::revision(set_name(set), hash));
        // One that is somebody else's stands in the way.
        seen.extend(named.filter(|it| seen.iter().all(|other| uid(other.as_ref()) != uid(it.as_ref()))));
        let seen: Vec<&ControllerRevision> = seen.iter().map(Arc::as_ref).collect();
        revisions::plan(set, hash, &seen, is_known)
    }
}
