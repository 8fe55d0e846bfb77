//! Carries out what was decided about children. Knows no policy.

use futures::{StreamExt, stream};
use grove_api::wire::{LastError, PodClique, PodCliqueScalingGroup, PodGang, Time};
use grove_plan::children::{Action, Blocked, Child, Kind};
use grove_runtime::{Cache, Cached, Delete, Deleted, WriteError};
use k8s_openapi::api::{autoscaling::v2::HorizontalPodAutoscaler, core::v1::Service};
use kube::Resource;
use serde_json::{Value, json};

use super::{Grove, IN_FLIGHT, version};
use crate::{error::Error, seen::controller_uid};

/// Changes that one reconcile makes; a set with more is looked at again at once, and sees what happened meanwhile.
pub(super) const BATCH: usize = 512;
/// Batches of one reconcile, so that it stays within its deadline.
pub(super) const ROUNDS: usize = 16;

impl Grove {
    /// Makes the changes; those after a failed one too. What failed is told, remembered, and given back.
    pub(super) async fn carry_out<K: Resource<DynamicType = ()>>(
        &self,
        owner: &K,
        actions: &[Action],
        blocked: &[Blocked],
    ) -> Result<(), Error> {
        let namespace = owner.meta().namespace.as_deref().unwrap_or_default();
        let mut done = Vec::new();
        let mut failed: Option<(Action, WriteError)> = None;
        let mut results = stream::iter(actions.iter().cloned())
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
        match (failed, blocked.first()) {
            (Some((_, error)), _) => Err(error.into()),
            (None, Some(blocked)) => Err(Error::Blocked(blocked.message())),
            (None, None) => Ok(()),
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
        match self.writer.create(namespace, object).await {
            Ok(created) => {
                cache.written(created);
                Ok(())
            }
            // Somebody took off the labels by which we watch, or it is somebody else's, which the next look then sees.
            Err(error) if error.is_already_exists() => {
                let name = object.meta().name.as_deref().unwrap_or_default();
                let Some(existing) = self.writer.get::<K>(namespace, name).await? else { return Err(error) };
                if controller_uid(existing.meta()) == controller_uid(object.meta()) {
                    let patch = json!({ "metadata": { "labels": object.meta().labels } });
                    cache.written(self.writer.patch(namespace, name, &patch).await?);
                    return Ok(());
                }
                cache.written(existing);
                Err(error)
            }
            Err(error) => {
                if error.is_namespace_terminating() {
                    self.memory.namespace_ends(namespace);
                }
                Err(error)
            }
        }
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
        let after: K = self.writer.patch(namespace, name, patch).await?;
        if before.is_some() && version(&after) == was {
            self.memory.had_no_effect(id, was, text);
        }
        cache.written(after);
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
        match self.writer.delete::<K>(namespace, name, uid, how).await? {
            Deleted::Gone => cache.gone(namespace, name, uid),
            Deleted::Accepted(object) => {
                cache.written(object);
            }
        }
        Ok(())
    }
}

/// Whether a failure only says that the cache is behind.
fn is_passing(error: &WriteError) -> bool {
    error.is_conflict() || error.is_not_found() || error.is_already_exists()
}

fn kind_of(action: &Action) -> Kind {
    match action {
        Action::Create(child) => child.kind(),
        Action::Patch { kind, .. } | Action::Delete { kind, .. } => *kind,
    }
}
