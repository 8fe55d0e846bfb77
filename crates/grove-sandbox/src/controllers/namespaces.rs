//! Namespaces that are deleted: everything in them is deleted, and when nothing is left their finalizer is removed.

use std::sync::Arc;

use grove_runtime::{Outcome, Queue, Writer};
use k8s_openapi::{
    api::core::v1::{Namespace, NamespaceCondition},
    apimachinery::pkg::apis::meta::v1::Time,
};
use kube::{Api, api::PostParams};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    Context,
    error::ControllerError,
    namespace_content::{Remaining, delete_content},
    queue, serve,
};

const COMPONENT: &str = "namespace-controller";
/// The finalizer, in the spec, that this controller removes.
const FINALIZER: &str = "kubernetes";

pub(super) struct Namespaces {
    context: Context,
    writer: Writer,
    queue: Queue<String>,
}

impl Namespaces {
    pub(super) fn new(context: Context) -> Arc<Self> {
        let queue = queue::<String>(COMPONENT);
        let woken = queue.clone();
        context.caches.namespaces.listen(move |change| {
            if let Some(namespace) = change.new.filter(|it| is_terminating(it)) {
                namespace.metadata.name.iter().for_each(|it| woken.add(it.clone()));
            }
        });
        // Pods take the longest to go. What else is left is found by asking again.
        let (woken, namespaces) = (queue.clone(), context.caches.namespaces.clone());
        context.caches.pods.listen(move |change| {
            if let (Some(old), None) = (change.old, change.new) {
                let name = old.metadata.namespace.as_deref().unwrap_or_default();
                if namespaces.get("", name).is_some_and(|it| is_terminating(&it)) {
                    woken.add(name.to_owned());
                }
            }
        });
        let writer = Writer::new(context.client.clone(), COMPONENT);
        Arc::new(Self { context, writer, queue })
    }

    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        if stop.run_until_cancelled(self.context.caches.synced()).await.is_none() {
            return;
        }
        let namespaces = self.context.caches.namespaces.list();
        let terminating = namespaces.iter().filter(|it| is_terminating(it));
        let names = terminating.filter_map(|it| it.metadata.name.clone()).collect();
        let this = Arc::clone(&self);
        serve(&self.queue, &stop, names, move |name| Arc::clone(&this).reconcile(name)).await;
    }

    async fn reconcile(self: Arc<Self>, name: String) -> Result<Outcome, ControllerError> {
        let namespace = self.context.caches.namespaces.get("", &name);
        let Some(namespace) = namespace.filter(|it| is_terminating(it)) else { return Ok(Outcome::Done) };
        let remaining = delete_content(&self.context.client, &name).await;
        if remaining.is_empty() {
            self.finalize(&name, &namespace).await?;
            return Ok(Outcome::Done);
        }
        self.report(&name, &namespace, &remaining).await?;
        // Nothing tells when objects of kinds that are not watched are gone.
        Ok(Outcome::Again)
    }

    /// Lets the namespace go, unless somebody else holds it, too.
    async fn finalize(&self, name: &str, namespace: &Namespace) -> Result<(), ControllerError> {
        let mut namespace = namespace.clone();
        let finalizers = namespace.spec.get_or_insert_default().finalizers.get_or_insert_default();
        if !finalizers.iter().any(|it| it == FINALIZER) {
            return Ok(());
        }
        finalizers.retain(|it| it != FINALIZER);
        let api: Api<Namespace> = Api::all(self.context.client.clone());
        let params = PostParams { field_manager: Some(COMPONENT.to_owned()), ..PostParams::default() };
        match api.replace_subresource("finalize", name, &params, &namespace).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            result => result.map(drop).map_err(Into::into),
        }
    }

    /// Says in the conditions what holds the namespace, where that has changed.
    async fn report(
        &self,
        name: &str,
        namespace: &Namespace,
        remaining: &Remaining,
    ) -> Result<(), ControllerError> {
        let known = namespace.status.as_ref().and_then(|it| it.conditions.clone()).unwrap_or_default();
        let now = Some(Time(self.context.clock.now()));
        let mut conditions = known.clone();
        for (type_, holds, reason, message) in remaining.conditions() {
            let status = if holds { "True" } else { "False" }.to_owned();
            let mut condition = NamespaceCondition {
                type_: type_.to_owned(),
                status,
                reason: Some(reason.to_owned()),
                message: Some(message),
                last_transition_time: now.clone(),
            };
            match conditions.iter_mut().find(|it| it.type_ == type_) {
                Some(known) => {
                    if known.status == condition.status {
                        condition.last_transition_time.clone_from(&known.last_transition_time);
                    }
                    *known = condition;
                }
                None => conditions.push(condition),
            }
        }
        if conditions == known {
            return Ok(());
        }
        let version = &namespace.metadata.resource_version;
        let patch =
            json!({ "metadata": { "resourceVersion": version }, "status": { "conditions": conditions } });
        let written = self.writer.patch_status::<Namespace>("", name, &patch).await?;
        self.context.caches.namespaces.written(written);
        Ok(())
    }
}

pub(super) fn is_terminating(namespace: &Namespace) -> bool {
    namespace.metadata.deletion_timestamp.is_some()
}
