//! Sees to it that an owner has exactly the objects that were rendered for it: creates, applies, owns, prunes.
//!
//! Kinds are known at run time only: whoever renders declares them, and nothing else is ever written. What is there is
//! read from caches, so that nothing is written when nothing changed.

mod plan;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
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
    writer::{Collection, Delete, Deleted, WriteError, Writer},
};
use plan::{Existing, Step, Wanted};

/// For whom objects are rendered; they go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Its API version.
    pub api_version: String,
    /// Its kind.
    pub kind: String,
    /// Its namespace, which is that of all its objects.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its UID.
    pub uid: String,
}

impl Owner {
    fn reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.api_version.clone(),
            kind: self.kind.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    fn owns(&self, object: &DynamicObject) -> bool {
        object.metadata.owner_references.iter().flatten().any(|it| it.uid == self.uid)
    }
}

/// One object to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// Its kind.
    pub resource: ApiResource,
    /// The whole object. Its namespace may be left out; owner and mark are added.
    pub object: Value,
    /// JSON pointers of fields that are given when it is created, and belong to others afterwards.
    pub once: Vec<String>,
}

impl Rendered {
    fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }

    /// What is applied to an object that is there: as it was rendered, with those fields that belong to others by now
    /// as they are. The version sees to it that they have not changed since.
    fn over(&self, lasting: &Value, there: &DynamicObject) -> Value {
        let mut object = lasting.clone();
        let now = serde_json::to_value(there).unwrap_or_default();
        for pointer in &self.once {
            let Some((parent, key)) = pointer.rsplit_once('/') else { continue };
            if let (Some(value), Some(Value::Object(parent))) =
                (now.pointer(pointer), object.pointer_mut(parent))
            {
                parent.insert(unescaped(key), value.clone());
            }
        }
        object["metadata"]["resourceVersion"] = there.metadata.resource_version.clone().into();
        object
    }

    /// What is kept as it is for as long as the object lives.
    fn lasting(&self) -> Value {
        let mut object = self.object.clone();
        for pointer in &self.once {
            let Some((parent, key)) = pointer.rsplit_once('/') else { continue };
            if let Some(Value::Object(parent)) = object.pointer_mut(parent) {
                parent.remove(&unescaped(key));
            }
        }
        object
    }

    fn refused(&self, why: &str) -> Refused {
        Refused { kind: self.resource.kind.clone(), name: self.name().to_owned(), why: why.to_owned() }
    }
}

/// An object that must not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {name:?} {why}")]
pub struct Refused {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub why: String,
}

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
    /// Something is still going away; when it is gone, the owner has to be looked at again.
    pub waiting: bool,
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
        let kinds = kinds.into_iter().map(|resource| {
            let cache = Cache::of_kind(&resource.kind, metrics);
            let by_owner = cache.index(owners_of);
            let memory = Arc::clone(&last);
            cache.listen(move |change| {
                if let (Some(old), None) = (change.old, change.new) {
                    memory.lock().remove(old.metadata.uid.as_deref().unwrap_or_default());
                }
            });
            Kind { resource, cache, by_owner }
        });
        Self { writer, mark, kinds: kinds.collect(), last }
    }

    /// What is known of a kind, to listen to its changes.
    pub fn cache(&self, resource: &ApiResource) -> Option<&Cache<DynamicObject>> {
        self.kinds.iter().find(|it| it.resource == *resource).map(|it| &it.cache)
    }

    /// Keeps the cache of a kind equal to the server until `stop`.
    pub async fn inform(&self, client: Client, resource: &ApiResource, stop: CancellationToken) {
        let Some(cache) = self.cache(resource) else { return };
        let api = Api::all_with(client, resource);
        inform(api, watcher::Config::default(), cache.clone(), prune, stop).await;
    }

    /// What the owner has.
    pub fn of_owner(&self, uid: &str) -> Vec<Arc<DynamicObject>> {
        self.kinds.iter().flat_map(|it| it.by_owner.get(uid)).collect()
    }

    /// Makes the objects of `owner` those that were rendered.
    pub async fn apply(&self, owner: &Owner, rendered: &[Rendered]) -> Result<Applied, ApplyError> {
        let steps = self.plan(owner, rendered)?;
        let mut applied = Applied::default();
        for step in steps {
            if step == Step::Wait {
                applied.waiting = true;
                continue;
            }
            self.act(owner, step).await?;
            applied.writes += 1;
        }
        Ok(applied)
    }

    fn plan(&self, owner: &Owner, rendered: &[Rendered]) -> Result<Vec<Step>, Refused> {
        let wanted: Vec<Wanted<'_>> =
            rendered.iter().map(|it| self.wanted(owner, it)).collect::<Result<_, Refused>>()?;
        let mut there: Vec<(usize, Arc<DynamicObject>)> = Vec::new();
        for (number, kind) in self.kinds.iter().enumerate() {
            let mut objects = kind.by_owner.get(&owner.uid);
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
    fn wanted<'a>(&self, owner: &Owner, rendered: &'a Rendered) -> Result<Wanted<'a>, Refused> {
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
        let namespace = rendered.object["metadata"]["namespace"].as_str();
        if namespace.is_some_and(|it| it != owner.namespace) {
            return Err(rendered.refused("is outside of its owner's namespace"));
        }
        Ok(Wanted { kind, rendered })
    }

    async fn act(&self, owner: &Owner, step: Step) -> Result<(), WriteError> {
        let (kind, wanted, answer) = match step {
            Step::Wait => return Ok(()),
            // By apply, too: what a plain create has given, no later apply could take away.
            Step::Create { kind, name, object, lasting } => {
                let collection = self.collection(kind, owner);
                (kind, lasting, self.writer.apply_in(&collection, &name, &object, false).await?)
            }
            Step::Apply { kind, name, object, lasting } => {
                let collection = self.collection(kind, owner);
                (kind, lasting, self.writer.apply_in(&collection, &name, &object, true).await?)
            }
            Step::Delete { kind, name, uid } => {
                let collection = self.collection(kind, owner);
                let cache = &self.kinds[kind].cache;
                match self.writer.delete_in(&collection, &name, &uid, Delete::default()).await? {
                    Deleted::Gone => cache.gone(&owner.namespace, &name, &uid),
                    Deleted::Accepted(object) => drop(cache.written(object)),
                }
                return Ok(());
            }
        };
        self.remember(kind, &wanted, answer);
        Ok(())
    }

    fn remember(&self, kind: usize, wanted: &Value, answer: DynamicObject) {
        let uid = answer.metadata.uid.clone().unwrap_or_default();
        self.last.lock().insert(uid, plan::hash(&plan::seen(&answer, wanted)));
        self.kinds[kind].cache.written(answer);
    }

    fn collection(&self, kind: usize, owner: &Owner) -> Collection {
        Collection::of_resource::<DynamicObject>(&self.kinds[kind].resource, &owner.namespace)
    }
}

/// A key as a JSON pointer has it.
fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

fn owners_of(object: &DynamicObject) -> Vec<String> {
    object.metadata.owner_references.iter().flatten().map(|it| it.uid.clone()).collect()
}

/// What nobody reads.
fn prune(object: &mut DynamicObject) {
    object.metadata.managed_fields = None;
}
