//! Carries out what was decided about children. Knows no policy.

use futures::{StreamExt, future};
use grove_api::wire::{LastError, PodClique, PodCliqueScalingGroup, PodGang, Time};
use grove_ownership::OwnerKey;
use grove_plan::children::{Action, Batch, Blocked, Child, ChildPlan, Kind};
use grove_runtime::{Cache, Cached, Delete, Deleted, WriteError, Writer};
use k8s_openapi::api::{autoscaling::v2::HorizontalPodAutoscaler, core::v1::Service};
use kube::Resource;
use serde_json::{Value, json};

use super::{
    Grove, IN_FLIGHT,
    slice::{Progress, Slice},
    version,
};
use crate::error::Error;

/// Children that are planned, and created or changed, at a time; as many may be deleted. A set with more is looked at again at
/// once, and sees what happened meanwhile.
const BATCH: usize = 512;
/// Batches of one reconcile, so that it stays within its deadline.
pub(super) const ROUNDS: usize = 16;

impl Grove {
    /// Makes the changes, those after a failed one too, until the time of the reconcile is up. What failed is told, remembered, and
    /// given back.
    pub(super) async fn carry_out<K: Resource<DynamicType = ()>>(
        &self,
        owner: &K,
        actions: Vec<Action>,
        blocked: &[Blocked],
        slice: Slice,
    ) -> Result<Progress, Error> {
        let namespace = owner.meta().namespace.as_deref().unwrap_or_default();
        let (mut done, planned) = (Vec::new(), actions.len());
        let mut failed: Option<(Action, WriteError)> = None;
        let mut results = self
            .unless_stopping(actions)
            .take_while(|_| future::ready(!slice.is_over()))
            .map(|action| async move {
                let result = self.change(namespace, &action).await;
                (action, result)
            })
            .buffer_unordered(IN_FLIGHT);
        while let Some((action, result)) = results.next().await {
            match result {
                Ok(()) => done.push(action),
                // An expected failure says that the cache is behind: it settles by itself and is nothing to tell.
                Err(error)
                    if failed.as_ref().is_some_and(|(_, it)| !is_passing(it)) || is_passing(&error) =>
                {
                    failed.get_or_insert((action, error));
                }
                Err(error) => failed = Some((action, error)),
            }
        }
        drop(results);
        self.tell_of_children(owner, &done);
        let uid = owner.meta().uid.as_deref().unwrap_or_default();
        let mut errors: Vec<LastError> =
            blocked.iter().map(|it| self.last_error(it.kind, it.message())).collect();
        if let Some((action, error)) = &failed
            && !is_passing(error)
        {
            self.tell_of_failure(owner, action, error.to_string());
            errors.push(self.last_error(kind_of(action), error.to_string()));
        }
        let news = self.memory.failed_with(uid, errors);
        if news {
            self.wake_status_of(owner);
        }
        let is_left = failed.is_none() && done.len() < planned;
        match (failed, blocked.first()) {
            (Some((_, error)), _) => Err(error.into()),
            _ if is_left && self.is_stopping() => Err(Error::Stopping),
            _ if is_left => Ok(Progress::Some),
            (None, Some(blocked)) => Err(Error::Blocked(blocked.message())),
            (None, None) => Ok(Progress::All),
        }
    }

    /// How much of the children of the object with this UID is planned now.
    pub(super) fn batch(&self, owner: &str) -> Batch {
        Batch { size: BATCH, skip: self.memory.skipped(owner) }
    }

    /// Carries out a plan that was made for a batch. Where that is not all there is to do, it is planned again.
    ///
    /// What failed is not planned again before all others had their turn: what is refused for ever does not keep them waiting.
    pub(super) async fn carry_out_batch<K: Resource<DynamicType = ()>>(
        &self,
        owner: &K,
        plan: &mut ChildPlan,
        slice: Slice,
    ) -> Result<Progress, Error> {
        let (id, actions) = (super::uid(owner), std::mem::take(&mut plan.actions));
        let (skip, count) = (self.memory.skipped(id), actions.len());
        let result = self.carry_out(owner, actions, &plan.blocked, slice).await;
        let next = match &result {
            Err(Error::Blocked(_)) => skip,
            Err(_) if plan.more => skip.saturating_add(count),
            Ok(_) if count > 0 => skip,
            _ => 0,
        };
        self.memory.skip(id, next);
        match result {
            // What is in the way of one child is not in the way of those that are planned next.
            Err(Error::Blocked(_)) if plan.more && count > 0 => Ok(Progress::Some),
            Ok(Progress::All) if plan.more => Ok(Progress::Some),
            result => result,
        }
    }

    fn last_error(&self, kind: Kind, description: String) -> LastError {
        let code = match kind {
            Kind::Service => "ERR_SYNC_PODCLIQUESET_SERVICE",
            Kind::Autoscaler => "ERR_SYNC_HPA",
            Kind::Clique => "ERR_SYNC_PODCLIQUE",
            Kind::Group => "ERR_SYNC_PODCLIQUESCALINGGROUP",
            Kind::Gang => "ERR_CREATE_OR_PATCH_PODGANG",
        };
        LastError { code: code.to_owned(), description, observed_at: Time(self.now()) }
    }

    async fn change(&self, namespace: &str, action: &Action) -> Result<(), WriteError> {
        let seen = &self.seen;
        match action {
            Action::Create(child) => match child {
                Child::Service(it) => self.create(&seen.services.cache, namespace, it).await,
                Child::Autoscaler(it) => self.create(&seen.autoscalers.cache, namespace, it).await,
                Child::Clique(it) => self.create(&seen.cliques.cache, namespace, it).await,
                Child::Group(it) => self.create(&seen.groups.cache, namespace, it).await,
                Child::Gang(it) => self.create(&seen.gangs.cache, namespace, it).await,
            },
            Action::CreateClique(draft) => self.create(&seen.cliques.cache, namespace, &draft.object()).await,
            Action::Patch { kind, name, patch } => match kind {
                Kind::Service => self.patch(&seen.services.cache, namespace, name, patch).await,
                Kind::Autoscaler => self.patch(&seen.autoscalers.cache, namespace, name, patch).await,
                Kind::Clique => self.patch(&seen.cliques.cache, namespace, name, patch).await,
                Kind::Group => self.patch(&seen.groups.cache, namespace, name, patch).await,
                Kind::Gang => self.patch(&seen.gangs.cache, namespace, name, patch).await,
            },
            Action::Delete { kind, name, uid } => match kind {
                Kind::Service => self.delete::<Service>(&seen.services.cache, namespace, name, uid).await,
                Kind::Autoscaler => {
                    self.delete::<HorizontalPodAutoscaler>(&seen.autoscalers.cache, namespace, name, uid)
                        .await
                }
                Kind::Clique => self.delete::<PodClique>(&seen.cliques.cache, namespace, name, uid).await,
                Kind::Group => {
                    self.delete::<PodCliqueScalingGroup>(&seen.groups.cache, namespace, name, uid).await
                }
                Kind::Gang => self.delete::<PodGang>(&seen.gangs.cache, namespace, name, uid).await,
            },
        }
    }

    pub(super) async fn create<K: Cached + serde::Serialize>(
        &self,
        cache: &Cache<K>,
        namespace: &str,
        object: &K,
    ) -> Result<(), WriteError> {
        let (writer, cache, object) = (self.writer.clone(), cache.clone(), object.clone());
        let place = namespace.to_owned();
        let result = self.writes.run(async move { create(&writer, &cache, &place, &object).await }).await;
        if result.as_ref().is_err_and(WriteError::is_namespace_terminating) {
            self.memory.namespace_ends(namespace);
        }
        result
    }

    /// A patch that changes nothing would be sent at every look, because the wish and what the server makes of it never
    /// become equal: it is sent once.
    pub(super) async fn patch<K: Cached>(
        &self,
        cache: &Cache<K>,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<(), WriteError> {
        let before = cache.get(namespace, name);
        let (id, was) = match &before {
            Some(it) => (super::uid(it.as_ref()), version(it.as_ref())),
            None => ("", ""),
        };
        let text = patch.to_string();
        if self.memory.has_no_effect(id, was, &text) {
            return Ok(());
        }
        let (writer, cache, patch) = (self.writer.clone(), cache.clone(), patch.clone());
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let after = self.writes.run(async move {
            let after: K = writer.patch(&namespace, &name, &patch).await?;
            let now = version(&after).to_owned();
            cache.written(after);
            Ok::<_, WriteError>(now)
        });
        if after.await? == was && before.is_some() {
            self.memory.had_no_effect(id, was, text);
        }
        Ok(())
    }

    pub(super) async fn delete<K: Cached>(
        &self,
        cache: &Cache<K>,
        namespace: &str,
        name: &str,
        uid: &str,
    ) -> Result<(), WriteError> {
        self.delete_as(cache, namespace, name, uid, Delete::default()).await
    }

    pub(super) async fn delete_as<K: Cached>(
        &self,
        cache: &Cache<K>,
        namespace: &str,
        name: &str,
        uid: &str,
        how: Delete,
    ) -> Result<(), WriteError> {
        let (writer, cache) = (self.writer.clone(), cache.clone());
        let (namespace, name, uid) = (namespace.to_owned(), name.to_owned(), uid.to_owned());
        let deletion = async move {
            match writer.delete::<K>(&namespace, &name, &uid, how).await? {
                Deleted::Gone => cache.gone(&namespace, &name, &uid),
                Deleted::Accepted(object) => drop(cache.written(object)),
            }
            Ok(())
        };
        self.writes.run(deletion).await
    }
}

async fn create<K: Cached + serde::Serialize>(
    writer: &Writer,
    cache: &Cache<K>,
    namespace: &str,
    object: &K,
) -> Result<(), WriteError> {
    match writer.create(namespace, object).await {
        Ok(created) => drop(cache.written(created)),
        // Somebody took off the labels by which we watch, or it is somebody else's, which the next look then sees.
        Err(error) if error.is_already_exists() => {
            let name = object.meta().name.as_deref().unwrap_or_default();
            let Some(existing) = writer.get::<K>(namespace, name).await? else { return Err(error) };
            if OwnerKey::of_controller(existing.meta()) != OwnerKey::of_controller(object.meta()) {
                cache.written(existing);
                return Err(error);
            }
            let patch = json!({ "metadata": { "labels": object.meta().labels } });
            cache.written(writer.patch(namespace, name, &patch).await?);
        }
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Whether a failure only says that the cache is behind.
fn is_passing(error: &WriteError) -> bool {
    error.is_conflict() || error.is_not_found() || error.is_already_exists()
}

fn kind_of(action: &Action) -> Kind {
    match action {
        Action::Create(child) => child.kind(),
        Action::CreateClique(_) => Kind::Clique,
        Action::Patch { kind, .. } | Action::Delete { kind, .. } => *kind,
    }
}
