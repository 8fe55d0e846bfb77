//! Every namespace has a ServiceAccount `default`.

use std::sync::Arc;

use grove_runtime::{Cache, Outcome, Queue, Writer, inform_guarded};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::{Api, runtime::watcher::Config};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    Context,
    error::{ControllerError, is_settled},
    namespaces::is_terminating,
    queue, serve,
};
use crate::caches::without_managers;

const COMPONENT: &str = "service-account-controller";
const NAME: &str = "default";

pub(super) struct ServiceAccounts {
    context: Context,
    writer: Writer,
    queue: Queue<String>,
    accounts: Cache<ServiceAccount>,
}

impl ServiceAccounts {
    pub(super) fn new(context: Context) -> Arc<Self> {
        let (queue, accounts) = (queue::<String>(COMPONENT), Cache::<ServiceAccount>::new());
        let woken = queue.clone();
        context.caches.namespaces.listen(move |change| {
            let name = change.new.filter(|it| !is_terminating(it)).and_then(|it| it.metadata.name.clone());
            if let Some(name) = name {
                woken.add(name);
            }
        });
        let woken = queue.clone();
        accounts.listen(move |change| {
            if let (Some(old), None) = (change.old, change.new) {
                old.metadata.namespace.iter().for_each(|it| woken.add(it.clone()));
            }
        });
        let writer = Writer::new(context.client.clone(), COMPONENT);
        Arc::new(Self { context, writer, queue, accounts })
    }

    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let api = Api::all(self.context.client.clone());
        let config = Config::default().fields(&format!("metadata.name={NAME}"));
        let watching = inform_guarded(api, config, self.accounts.clone(), without_managers, stop.clone());
        let working = async {
            let synced = async {
                self.context.caches.synced().await;
                self.accounts.synced().await;
            };
            if stop.run_until_cancelled(synced).await.is_none() {
                return;
            }
            let namespaces = self.context.caches.namespaces.list();
            let names = namespaces.iter().filter_map(|it| it.metadata.name.clone()).collect();
            let this = Arc::clone(&self);
            serve(&self.queue, &stop, names, move |name| Arc::clone(&this).reconcile(name)).await;
        };
        tokio::join!(watching, working);
    }

    async fn reconcile(self: Arc<Self>, namespace: String) -> Result<Outcome, ControllerError> {
        let known = self.context.caches.namespaces.get("", &namespace);
        let is_active = known.is_some_and(|it| !is_terminating(&it));
        if !is_active || self.accounts.get(&namespace, NAME).is_some() {
            return Ok(Outcome::Done);
        }
        let account = json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": NAME } });
        match self.writer.create(&namespace, &account).await {
            Ok(written) => drop(self.accounts.written(written)),
            Err(error) if is_settled(&error) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Outcome::Done)
    }
}
