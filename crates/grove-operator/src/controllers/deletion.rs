//! The end of an object: what it made goes first, in few requests, and then it may go itself.
//!
//! A set that is deleted with `--cascade=orphan` leaves everything as it is; the garbage collector cuts the ties.
//!
//! All of this needs metadata only, so that objects that cannot be decoded end in the same way (`undecodable`).

use std::{sync::Arc, time::Duration};

use grove_api::{
    constants::{finalizers, labels},
    wire::{PodClique, PodCliqueScalingGroup},
};
use grove_ownership::OwnerKey;
use grove_plan::objects::{clique_selector, group_selector, set_selector};
use grove_runtime::{Cache, Cached, Outcome, Revision};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{Resource, api::ApiResource};
use serde_json::json;
use tracing::info;

use super::{
    Grove,
    slice::{Progress, Slice},
    uid, version,
};
use crate::{
    error::Error,
    key::Key,
    seen::{Children, PodView, controller_name_of, joined, label},
};

/// The finalizer with which the garbage collector holds an object whose dependents are to stay.
const ORPHAN: &str = "orphan";
/// How long a collective deletion is given before it is asked for again.
const PATIENCE: Duration = Duration::from_secs(10);

/// An object of which nothing but the metadata is looked at.
pub(super) trait Metadata: Resource<DynamicType = ()> + Sync {}

impl<O: Resource<DynamicType = ()> + Sync> Metadata for O {}

/// All objects that a selector selects.
struct Selected<'a, K> {
    namespace: &'a str,
    selector: &'a str,
    objects: &'a [Arc<K>],
}

/// All of a set, which existed `then`.
#[derive(Clone, Copy)]
struct Whole<'a> {
    namespace: &'a str,
    of_set: &'a str,
    selector: &'a str,
    owner: &'a OwnerKey,
    then: &'a Revision,
}

impl Grove {
    pub(super) async fn delete_set<S: Metadata>(&self, set: &S) -> Result<Outcome, Error> {
        let slice = Slice::begin();
        if !has_finalizer(set, finalizers::POD_CLIQUE_SET) {
            return Ok(Outcome::Done);
        }
        let key = Key::of(set);
        if !has_finalizer(set, ORPHAN) && self.has_children(set) {
            // What its schedulers are being told arrives before the gangs go, and not after; its end wakes us.
            if self.memory.syncs.is_any(uid(set)) {
                return Ok(Outcome::After(PATIENCE));
            }
            if !self.memory.collects(uid(set), PATIENCE) {
                return Ok(Outcome::After(PATIENCE));
            }
            let Some(then) = self.still_ending(&self.seen.sets, set, finalizers::POD_CLIQUE_SET).await?
            else {
                return Ok(Outcome::Done);
            };
            info!(set = ?key, "deleting everything of the set");
            if !self.delete_children(set, &then, slice).await?.is_all() {
                self.memory.collects_on(uid(set));
                return Ok(Slice::again());
            }
            // The end of the last child wakes us.
            return Ok(Outcome::After(PATIENCE));
        }
        self.drop_finalizer(&self.seen.sets, set, finalizers::POD_CLIQUE_SET).await?;
        Ok(Outcome::Done)
    }

    /// When the server, too, had this object, being deleted and held by our finalizer; `None` where it has not. The cache
    /// may show a former life of the name, and a collection is selected by labels, which the next life's children have as
    /// well. While our finalizer holds the object there is no next life, so whatever existed then is not of one. Another
    /// operator may let the object go right after that: this is why collections are deleted as they were at that moment.
    async fn still_ending<K: Cached, O: Metadata>(
        &self,
        cache: &Cache<K>,
        object: &O,
        ours: &str,
    ) -> Result<Option<Revision>, Error> {
        let key = Key::of(object);
        let resource = ApiResource::erase::<K>(&());
        let (live, then) = self.writer.get_at(&resource, &key.namespace, &key.name).await?;
        match live.filter(|it| uid(it) == uid(object)) {
            None => {
                cache.gone(&key.namespace, &key.name, uid(object));
                Ok(None)
            }
            // Without our finalizer, which another client removed, the garbage collector deletes the rest.
            Some(live) => {
                let is_held = live.metadata.deletion_timestamp.is_some() && has_finalizer(&live, ours);
                Ok(is_held.then_some(then))
            }
        }
    }

    fn has_children<S: Metadata>(&self, set: &S) -> bool {
        let (seen, owner) = (&self.seen, OwnerKey::of(set));
        let Key { namespace, name } = Key::of(set);
        let key = joined(&namespace, &name);
        seen.groups.has_any_of(&owner)
            || seen.gangs.has_any_of(&owner)
            || seen.services.has_any_of(&owner)
            || seen.autoscalers.has_any_of(&owner)
            || seen.cliques.has_any_of(&owner)
            // Members go with their group.
            || seen.cliques.by_set.get(&key).iter().any(|it| self.is_of(&owner, it))
    }

    /// Whether a set owns a clique, itself or through a scaling group.
    fn is_of(&self, set: &OwnerKey, clique: &PodClique) -> bool {
        if set.controls(&clique.metadata) {
            return true;
        }
        let Some(name) = controller_name_of::<PodCliqueScalingGroup>(&clique.metadata) else { return false };
        let group = self.seen.groups.cache.get(set.namespace(), name);
        group.is_some_and(|it| {
            OwnerKey::of(it.as_ref()).controls(&clique.metadata) && set.controls(&it.metadata)
        })
    }

    /// All kinds at once; cliques after their pods. Collections of which a part is somebody else's are not deleted as a whole.
    async fn delete_children<S: Metadata>(
        &self,
        set: &S,
        then: &Revision,
        slice: Slice,
    ) -> Result<Progress, Error> {
        let (seen, owner) = (&self.seen, OwnerKey::of(set));
        let Key { namespace, name } = Key::of(set);
        let (namespace, name) = (namespace.as_str(), name.as_str());
        let of_set = joined(namespace, name);
        let selector = set_selector(name);
        let cliques = seen.cliques.by_set.get(&of_set);
        let ours: Vec<OwnerKey> =
            cliques.iter().filter(|it| self.is_of(&owner, it)).map(|it| OwnerKey::of(it.as_ref())).collect();
        let pods = seen.pods_by_set.get(&of_set);
        // A clique whose pods are on their way out has nothing left to do but to go.
        let pods_then_cliques = async {
            let is_ours = |it: &PodView| it.owner().is_some_and(|it| ours.contains(&it));
            let of_pods = Selected { namespace, selector: &selector, objects: &pods };
            let progress = self.delete_all(&seen.pods, of_pods, is_ours, Some(then), slice).await?;
            if !progress.is_all() {
                return Ok(progress);
            }
            let is_ours = |it: &PodClique| ours.contains(&OwnerKey::of(it));
            let of_cliques = Selected { namespace, selector: &selector, objects: &cliques };
            self.delete_all(&seen.cliques.cache, of_cliques, is_ours, Some(then), slice).await
        };
        let whole = Whole { namespace, of_set: &of_set, selector: &selector, owner: &owner, then };
        let (pods, groups, gangs, autoscalers, services) = tokio::try_join!(
            pods_then_cliques,
            self.delete_kind(&seen.groups, &whole, slice),
            self.delete_kind(&seen.gangs, &whole, slice),
            self.delete_kind(&seen.autoscalers, &whole, slice),
            self.delete_kind(&seen.services, &whole, slice),
        )?;
        let is_all = [pods, groups, gangs, autoscalers, services].into_iter().all(Progress::is_all);
        Ok(if is_all { Progress::All } else { Progress::Some })
    }

    async fn delete_kind<K: Cached>(
        &self,
        kind: &Children<K>,
        whole: &Whole<'_>,
        slice: Slice,
    ) -> Result<Progress, Error> {
        let Whole { namespace, of_set, selector, owner, then } = *whole;
        let objects = kind.by_set.get(of_set);
        let is_ours = |it: &K| owner.controls(it.meta());
        let selected = Selected { namespace, selector, objects: &objects };
        self.delete_all(&kind.cache, selected, is_ours, Some(then), slice).await
    }

    pub(super) async fn delete_group<G: Metadata>(&self, group: &G) -> Result<Outcome, Error> {
        if !has_finalizer(group, finalizers::SCALING_GROUP) {
            return Ok(Outcome::Done);
        }
        let (id, owner) = (uid(group), OwnerKey::of(group));
        if !has_finalizer(group, ORPHAN) && self.seen.cliques.has_any_of(&owner) {
            if self.set_deletes(group.meta()) {
                return Ok(Outcome::After(PATIENCE));
            }
            if !self.memory.collects(id, PATIENCE) {
                return Ok(Outcome::After(PATIENCE));
            }
            let held = self.still_ending(&self.seen.groups.cache, group, finalizers::SCALING_GROUP).await?;
            let Some(then) = held else { return Ok(Outcome::Done) };
            let key = Key::of(group);
            let set = label(group.meta(), labels::PART_OF);
            let selector = group_selector(set.unwrap_or_default(), &key.name);
            let cliques = self.seen.cliques_by_group.get(&joined(&key.namespace, &key.name));
            let is_ours = |it: &PodClique| owner.controls(&it.metadata);
            let cache = &self.seen.cliques.cache;
            let selected = Selected { namespace: &key.namespace, selector: &selector, objects: &cliques };
            if !self.delete_all(cache, selected, is_ours, Some(&then), Slice::begin()).await?.is_all() {
                self.memory.collects_on(id);
                return Ok(Slice::again());
            }
            return Ok(Outcome::After(PATIENCE));
        }
        self.drop_finalizer(&self.seen.groups.cache, group, finalizers::SCALING_GROUP).await?;
        Ok(Outcome::Done)
    }

    /// The pods of a clique are told to go; how long they take is no reason to hold the clique.
    pub(super) async fn delete_clique<C: Metadata>(&self, clique: &C) -> Result<Outcome, Error> {
        if !has_finalizer(clique, finalizers::POD_CLIQUE) {
            return Ok(Outcome::Done);
        }
        if !has_finalizer(clique, ORPHAN) && !self.set_deletes(clique.meta()) {
            let key = Key::of(clique);
            let set = label(clique.meta(), labels::PART_OF);
            let selector = clique_selector(set.unwrap_or_default(), &key.name);
            let pods = self.seen.pods_by_clique.get(&joined(&key.namespace, &key.name));
            let owner = Some(OwnerKey::of(clique));
            let is_ours = |it: &PodView| it.owner() == owner;
            // A single pod is deleted by its UID, for which nothing has to be known.
            let then = if pods.len() > 1 {
                let held =
                    self.still_ending(&self.seen.cliques.cache, clique, finalizers::POD_CLIQUE).await?;
                if held.is_none() {
                    return Ok(Outcome::Done);
                }
                held
            } else {
                None
            };
            let cache = &self.seen.pods;
            let selected = Selected { namespace: &key.namespace, selector: &selector, objects: &pods };
            if !self.delete_all(cache, selected, is_ours, then.as_ref(), Slice::begin()).await?.is_all() {
                return Ok(Slice::again());
            }
        }
        self.drop_finalizer(&self.seen.cliques.cache, clique, finalizers::POD_CLIQUE).await?;
        Ok(Outcome::Done)
    }

    /// Whether the set deletes all of its own in one request, so that nobody below it need ask again.
    fn set_deletes(&self, metadata: &ObjectMeta) -> bool {
        self.seen.set_of(metadata).is_some_and(|set| {
            set.metadata.deletion_timestamp.is_some()
                && has_finalizer(set.as_ref(), finalizers::POD_CLIQUE_SET)
                && !has_finalizer(set.as_ref(), ORPHAN)
        })
    }

    /// Deletes those of the selected objects that are ours: one by one until the time of the reconcile is up, or where all are,
    /// and it is known `when` their owner existed, in one request.
    async fn delete_all<K: Cached>(
        &self,
        cache: &Cache<K>,
        selected: Selected<'_, K>,
        is_ours: impl Fn(&K) -> bool,
        when: Option<&Revision>,
        slice: Slice,
    ) -> Result<Progress, Error> {
        let Selected { namespace, selector, objects } = selected;
        let staying = |it: &&Arc<K>| it.meta().deletion_timestamp.is_none();
        let ours: Vec<_> = objects.iter().filter(staying).filter(|it| is_ours(it)).collect();
        let all_ours = objects.iter().all(|it| is_ours(it));
        match (ours.as_slice(), when) {
            ([], _) => {}
            ([_, _, ..], Some(then)) if all_ours => {
                self.writer.delete_collection::<K>(namespace, selector, then).await?;
            }
            (some, _) => {
                for object in some {
                    if slice.is_over() {
                        return Ok(Progress::Some);
                    }
                    let name = object.meta().name.as_deref().unwrap_or_default();
                    self.delete::<K>(cache, namespace, name, uid(object.as_ref())).await?;
                }
            }
        }
        Ok(Progress::All)
    }

    async fn drop_finalizer<K: Cached, O: Metadata>(
        &self,
        cache: &Cache<K>,
        object: &O,
        ours: &str,
    ) -> Result<(), Error> {
        let present = object.meta().finalizers.as_deref().unwrap_or_default();
        let rest: Vec<&String> = present.iter().filter(|it| *it != ours).collect();
        let is_last = rest.is_empty();
        let patch = json!({ "metadata": { "finalizers": rest, "resourceVersion": version(object) } });
        let key = Key::of(object);
        let resource = ApiResource::erase::<K>(&());
        let (writer, cache, uid) = (self.writer.clone(), cache.clone(), uid(object).to_owned());
        let release = async move {
            match writer.patch_kind(&resource, &key.namespace, &key.name, &patch).await {
                Ok(_) if is_last => cache.gone(&key.namespace, &key.name, &uid),
                Ok(object) => {
                    // What cannot be decoded is in no cache.
                    if let Ok(object) = object.try_parse::<K>() {
                        cache.written(object);
                    }
                }
                Err(error) if error.is_not_found() => cache.gone(&key.namespace, &key.name, &uid),
                Err(error) => return Err(error),
            }
            Ok(())
        };
        Ok(self.writes.run(release).await?)
    }
}

pub(super) fn has_finalizer<K: Resource>(object: &K, name: &str) -> bool {
    object.meta().finalizers.iter().flatten().any(|it| it == name)
}
