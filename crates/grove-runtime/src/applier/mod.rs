//! Sees to it that an owner has exactly the objects that were rendered for it: creates, applies, owns, prunes.
//!
//! Kinds are known at run time only: whoever renders declares them, and nothing else is ever written. What is there is
//! read from caches, so that nothing is written when nothing changed.

mod act;
mod content;
mod listen;
mod plan;
mod rendered;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use futures::future::join_all;
use grove_ownership::OwnerKey;
use kube::{
    Api, Client,
    api::{ApiResource, DynamicObject},
    runtime::watcher,
};
use parking_lot::Mutex;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{
    cache::{Cache, Index},
    informer::inform,
    metrics::InformerMetrics,
    writer::{Deleted, WriteError, Writer},
};
use act::Halt;
use listen::Listeners;
pub use listen::{Changed, differ_in_status_only};
use plan::{Existing, Step, Wanted};

pub use rendered::{Owner, Refused, Rendered};

/// Why an owner does not have its objects.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// What was rendered cannot be written by anybody.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The server did not take it.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// Writes that were made.
    pub writes: usize,
    /// Something is still going away; when it is gone, the owner is told of as changed and has to be looked at again.
    pub waiting: bool,
}

impl Applied {
    fn and(self, more: Self) -> Self {
        Self { writes: self.writes + more.writes, waiting: self.waiting || more.waiting }
    }
}

/// A kind of objects that owners have.
struct Kind {
    resource: ApiResource,
    cache: Cache<DynamicObject>,
    by_owner: Index<DynamicObject>,
}

/// Writes objects for owners, of the kinds that were declared.
pub struct Applier {
    writer: Writer,
    mark: &'static str,
    kinds: Vec<Kind>,
    listeners: Arc<Listeners>,
    /// By UID: the hash of what the server made of our last write.
    last: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Applier {
    /// `mark` is the annotation that tells which content was written last.
    pub fn new(
        writer: Writer,
        mark: &'static str,
        kinds: impl IntoIterator<Item = ApiResource>,
        metrics: &InformerMetrics,
    ) -> Self {
        let last: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
        let listeners: Arc<Listeners> = Arc::default();
        let kinds = kinds.into_iter().enumerate().map(|(number, resource)| {
            let cache = Cache::of_kind(&resource.kind, metrics);
            let by_owner = cache.index(|it: &DynamicObject| {
                OwnerKey::of_owners(&it.metadata).iter().map(OwnerKey::to_string).collect()
            });
            let (memory, listeners) = (Arc::clone(&last), Arc::clone(&listeners));
            cache.listen(move |change| {
                if let (Some(old), None) = (change.old, change.new) {
                    memory.lock().remove(&plan::uid(old));
                }
                listeners.tell(number, change);
            });
            Kind { resource, cache, by_owner }
        });
        Self { writer, mark, kinds: kinds.collect(), listeners, last }
    }

    /// What is known of a kind.
    pub fn cache(&self, resource: &ApiResource) -> Option<&Cache<DynamicObject>> {
        self.kinds.iter().find(|it| it.resource == *resource).map(|it| &it.cache)
    }

    /// Calls `told` with the owner after every change of its objects, and when what it waits for is gone.
    pub fn on_change(&self, told: impl Fn(&OwnerKey, Changed) + Send + Sync + 'static) {
        self.listeners.add(told);
    }

    /// Keeps the caches of all kinds equal to the server until `stop`.
    pub async fn run(&self, client: Client, stop: CancellationToken) {
        let each = self.kinds.iter().map(|kind| {
            let api = Api::all_with(client.clone(), &kind.resource);
            inform(api, watcher::Config::default(), kind.cache.clone(), prune, stop.clone())
        });
        join_all(each).await;
    }

    /// Waits until all that is there was seen once. A kind that is not served is waited for.
    pub async fn synced(&self) {
        join_all(self.kinds.iter().map(|it| it.cache.synced())).await;
    }

    /// What the owner has.
    pub fn of_owner(&self, owner: &OwnerKey) -> Vec<Arc<DynamicObject>> {
        self.kinds.iter().flat_map(|it| it.by_owner.get(&owner.to_string())).collect()
    }

    /// Likewise, as it is on the wire; each says of which kind it is.
    pub fn values_of_owner(&self, owner: &OwnerKey) -> Vec<Value> {
        let values = self.kinds.iter().flat_map(|kind| {
            kind.by_owner.get(&owner.to_string()).into_iter().filter_map(|it| {
                let mut value = serde_json::to_value(it.as_ref()).ok()?;
                value["apiVersion"] = kind.resource.api_version.clone().into();
                value["kind"] = kind.resource.kind.clone().into();
                Some(value)
            })
        });
        values.collect()
    }

    /// Makes the objects of `owner` those that were rendered.
    pub async fn apply(&self, owner: &Owner, rendered: &[Rendered]) -> Result<Applied, ApplyError> {
        Ok(self.apply_while(owner, rendered, &|| true).await?.unwrap_or_default())
    }

    /// Likewise, for as long as `is_wanted` says so: it is asked again before every object that is created or changed, so
    /// that nothing is made for an owner whose deletion was seen meanwhile. `None` where it was not wanted any more.
    pub async fn apply_while(
        &self,
        owner: &Owner,
        rendered: &[Rendered],
        is_wanted: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Applied>, ApplyError> {
        let mut applied = Applied::default();
        let steps = self.plan(owner, rendered).inspect_err(|_| self.wait_for_others(owner, rendered))?;
        for step in steps {
            if let Step::Wait { kind, name } = &step {
                self.listeners.wait(*kind, name, owner.key());
                // It may have gone before anybody waited.
                if self.kinds[*kind].cache.get(&owner.namespace, name).is_none() {
                    self.listeners.gone(*kind, &owner.namespace, name);
                }
            }
            match self.act(&owner.namespace, step, is_wanted).await {
                Ok(done) => applied = applied.and(done),
                Err(Halt::Unwanted) => return Ok(None),
                Err(Halt::Write(error)) => return Err(error.into()),
            }
        }
        Ok(Some(applied))
    }

    /// The owner is told when an object of somebody else, which is in its way, is gone.
    fn wait_for_others(&self, owner: &Owner, rendered: &[Rendered]) {
        for (number, kind) in self.kinds.iter().enumerate() {
            for it in rendered.iter().filter(|it| it.resource == kind.resource) {
                let there = kind.cache.get(&owner.namespace, it.name());
                if there.is_some_and(|it| !owner.owns(&it)) {
                    self.listeners.wait(number, it.name(), owner.key());
                }
            }
        }
    }

    /// Deletes the objects of these kinds and names, whatever else was rendered for them and whosever they are.
    pub async fn delete(&self, namespace: &str, rendered: &[Rendered]) -> Result<Applied, ApplyError> {
        let wanted: Vec<Wanted<'_>> =
            rendered.iter().map(|it| self.wanted(namespace, it)).collect::<Result<_, Refused>>()?;
        let mut applied = Applied::default();
        for Wanted { kind, rendered } in wanted {
            let name = rendered.name();
            let Some(there) = self.kinds[kind].cache.get(namespace, name) else { continue };
            let waiting = if plan::is_going(&there) {
                true
            } else {
                applied.writes += 1;
                let deleted = self.end(namespace, kind, name, &plan::uid(&there)).await?;
                matches!(deleted, Deleted::Accepted(_))
            };
            applied.waiting |= waiting;
        }
        Ok(applied)
    }

    fn plan(&self, owner: &Owner, rendered: &[Rendered]) -> Result<Vec<Step>, Refused> {
        let wanted: Vec<Wanted<'_>> =
            rendered.iter().map(|it| self.wanted(&owner.namespace, it)).collect::<Result<_, Refused>>()?;
        let mut there: Vec<(usize, Arc<DynamicObject>)> = Vec::new();
        for (number, kind) in self.kinds.iter().enumerate() {
            let mut objects = kind.by_owner.get(&owner.key().to_string());
            // Objects of the wanted names that are not the owner's are in the way.
            for it in wanted.iter().filter(|it| it.kind == number) {
                let name = it.rendered.name();
                if !objects.iter().any(|there| there.metadata.name.as_deref() == Some(name)) {
                    objects.extend(kind.cache.get(&owner.namespace, name));
                }
            }
            there.extend(objects.into_iter().map(|it| (number, it)));
        }
        let last = self.last.lock();
        let existing: Vec<Existing<'_>> = there
            .iter()
            .map(|(kind, object)| {
                let uid = object.metadata.uid.as_deref().unwrap_or_default();
                Existing { kind: *kind, object, last: last.get(uid).map(String::as_str) }
            })
            .collect();
        plan::plan(owner, self.mark, &wanted, &existing)
    }

    /// Refuses what is not ours to write, whoever rendered it.
    fn wanted<'a>(&self, namespace: &str, rendered: &'a Rendered) -> Result<Wanted<'a>, Refused> {
        let kind = self.kinds.iter().position(|it| it.resource == rendered.resource);
        let kind = kind.ok_or_else(|| rendered.refused("is of a kind that was not declared"))?;
        let resource = &rendered.resource;
        let says = |field: &str| rendered.object[field].as_str().unwrap_or_default();
        if says("apiVersion") != resource.api_version || says("kind") != resource.kind {
            return Err(rendered.refused("says that it is of another kind"));
        }
        if rendered.name().is_empty() {
            return Err(rendered.refused("has no name"));
        }
        let given = rendered.object["metadata"]["namespace"].as_str();
        if given.is_some_and(|it| it != namespace) {
            return Err(rendered.refused("is outside of its owner's namespace"));
        }
        Ok(Wanted { kind, rendered })
    }
}

/// What nobody reads.
fn prune(object: &mut DynamicObject) {
    object.metadata.managed_fields = None;
}
