//! Every namespace has the certificate of the API server's authority in a ConfigMap `kube-root-ca.crt`.

use std::sync::Arc;

use grove_runtime::{Cache, Outcome, Queue, Writer, inform_guarded};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, runtime::watcher::Config};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    Context,
    error::{ControllerError, is_settled},
    namespaces::is_terminating,
    queue, serve,
};
use crate::caches::without_managers;

const COMPONENT: &str = "root-ca-certificate-publisher";
const NAME: &str = "kube-root-ca.crt";
const KEY: &str = "ca.crt";

pub(super) struct RootCertificates {
    context: Context,
    writer: Writer,
    queue: Queue<String>,
    published: Cache<ConfigMap>,
    certificate: String,
}

impl RootCertificates {
    pub(super) fn new(context: Context, certificate: String) -> Arc<Self> {
        let (queue, published) = (queue::<String>(COMPONENT), Cache::<ConfigMap>::new());
        let woken = queue.clone();
        context.caches.namespaces.listen(move |change| {
            let name = change.new.filter(|it| !is_terminating(it)).and_then(|it| it.metadata.name.clone());
            if let Some(name) = name {
                woken.add(name);
            }
        });
        let woken = queue.clone();
        published.listen(move |change| {
            let namespace = change.new.or(change.old).and_then(|it| it.metadata.namespace.clone());
            if let Some(namespace) = namespace {
                woken.add(namespace);
            }
        });
        let writer = Writer::new(context.client.clone(), COMPONENT);
        Arc::new(Self { context, writer, queue, published, certificate })
    }

    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        let api = Api::all(self.context.client.clone());
        let config = Config::default().fields(&format!("metadata.name={NAME}"));
        let watching = inform_guarded(api, config, self.published.clone(), without_managers, stop.clone());
        let working = async {
            let synced = async {
                self.context.caches.synced().await;
                self.published.synced().await;
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
        if known.is_none_or(|it| is_terminating(&it)) {
            return Ok(Outcome::Done);
        }
        let result = match self.published.get(&namespace, NAME) {
            None => self.writer.create(&namespace, &self.config_map()).await,
            Some(published) => {
                let content = published.data.as_ref().and_then(|it| it.get(KEY));
                if content == Some(&self.certificate) {
                    return Ok(Outcome::Done);
                }
                let patch = json!({ "data": { KEY: self.certificate } });
                self.writer.patch(&namespace, NAME, &patch).await
            }
        };
        match result {
            Ok(written) => drop(self.published.written(written)),
            Err(error) if is_settled(&error) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Outcome::Done)
    }

    fn config_map(&self) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": NAME },
            "data": { KEY: self.certificate },
        })
    }
}
