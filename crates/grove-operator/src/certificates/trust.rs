//! Puts the authorities into the webhook configurations, and again when somebody takes them out.
//!
//! Only the `caBundle` of our own entries is written, by name; all else of a configuration belongs to whoever made it.

use std::sync::Arc;

use futures::future::BoxFuture;
use grove_api::constants::webhooks::Webhook;
use grove_runtime::{Cache, Cached, WriteError, Writer, inform};
use http::{Method, header};
use k8s_openapi::{
    ByteString,
    api::admissionregistration::v1::{MutatingWebhookConfiguration, ValidatingWebhookConfiguration},
};
use kube::{Api, Client, runtime::watcher};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tracing::info;

/// A kind of webhook configuration.
pub(super) trait Configuration: Cached {
    /// Names of its webhooks, and whom each trusts.
    fn entries(&self) -> Vec<(&str, Option<&ByteString>)>;
}

impl Configuration for MutatingWebhookConfiguration {
    fn entries(&self) -> Vec<(&str, Option<&ByteString>)> {
        let all = self.webhooks.iter().flatten();
        all.map(|it| (it.name.as_str(), it.client_config.ca_bundle.as_ref())).collect()
    }
}

impl Configuration for ValidatingWebhookConfiguration {
    fn entries(&self) -> Vec<(&str, Option<&ByteString>)> {
        let all = self.webhooks.iter().flatten();
        all.map(|it| (it.name.as_str(), it.client_config.ca_bundle.as_ref())).collect()
    }
}

/// One webhook configuration of ours.
pub(super) struct Trust<K> {
    webhook: Webhook,
    cache: Cache<K>,
    /// Told of every change.
    changed: Arc<Notify>,
    /// Whether its absence was told.
    told: Mutex<bool>,
}

/// A webhook configuration of any kind.
pub(super) trait Trusting: Send + Sync {
    /// Whether the cluster has been asked for it.
    fn is_known(&self) -> bool;
    /// Whether it trusts exactly `bundle`, or does not exist.
    fn trusts(&self, bundle: &[u8]) -> bool;
    /// Makes it trust `bundle`; writes nothing where it does. Whether it wrote.
    fn assert<'a>(&'a self, writer: &'a Writer, bundle: &'a [u8]) -> BoxFuture<'a, Result<bool, WriteError>>;
    /// Watches it until `stop`.
    fn watch(&self, client: Client, stop: CancellationToken) -> BoxFuture<'static, ()>;
}

impl<K: Configuration> Trust<K> {
    /// Watches over the configuration of `webhook`; `changed` is told of every change of it.
    pub(super) fn new(webhook: Webhook, changed: &Arc<Notify>) -> Self {
        let cache: Cache<K> = Cache::new();
        let listener = Arc::clone(changed);
        cache.listen(move |_| listener.notify_one());
        Self { webhook, cache, changed: Arc::clone(changed), told: Mutex::new(false) }
    }

    fn current(&self) -> Option<Arc<K>> {
        self.cache.get("", self.webhook.configuration)
    }
}

impl<K: Configuration> Trusting for Trust<K> {
    fn is_known(&self) -> bool {
        self.cache.is_synced()
    }

    fn trusts(&self, bundle: &[u8]) -> bool {
        self.current().is_none_or(|it| patch(&it.entries(), self.webhook.name, bundle).is_none())
    }

    fn assert<'a>(&'a self, writer: &'a Writer, bundle: &'a [u8]) -> BoxFuture<'a, Result<bool, WriteError>> {
        Box::pin(async move {
            let Some(current) = self.current() else {
                let mut told = self.told.lock();
                if self.is_known() && !std::mem::replace(&mut *told, true) {
                    info!(
                        name = self.webhook.configuration,
                        "no such webhook configuration: it is not called"
                    );
                }
                return Ok(false);
            };
            let Some(patch) = patch(&current.entries(), self.webhook.name, bundle) else { return Ok(false) };
            let name = self.webhook.configuration;
            let request = http::Request::builder()
                .method(Method::PATCH)
                .uri(format!("{}/{name}?fieldManager=grove-operator", K::url_path(&(), None)))
                .header(header::CONTENT_TYPE, "application/json-patch+json")
                .body(patch.to_string().into_bytes());
            let failed = |source: kube::Error| WriteError {
                verb: "patch",
                kind: K::kind(&()).into_owned(),
                name: name.to_owned(),
                source: Box::new(source),
            };
            let request = request.map_err(|error| failed(kube::Error::HttpError(error)))?;
            let answer: K = writer.request(request).await.map_err(failed)?;
            info!(name, "the webhook configuration trusts our authority now");
            self.cache.written(answer);
            Ok(true)
        })
    }

    fn watch(&self, client: Client, stop: CancellationToken) -> BoxFuture<'static, ()> {
        // One watch for each name, so that the right to it can be limited to that name.
        let only = format!("metadata.name={}", self.webhook.configuration);
        let config = watcher::Config::default().fields(&only);
        let prune = |it: &mut K| it.meta_mut().managed_fields = None;
        let informing = inform(Api::all_with(client, &()), config, self.cache.clone(), prune, stop);
        let (cache, changed) = (self.cache.clone(), Arc::clone(&self.changed));
        let known = async move {
            // That there is none is news, too, which no listener hears.
            cache.synced().await;
            changed.notify_one();
            std::future::pending::<()>().await;
        };
        Box::pin(async move {
            tokio::select! {
                () = informing => {}
                () = known => {}
            }
        })
    }
}

/// The JSON patch that makes the webhooks called `name` trust `bundle`; `None` where they do.
fn patch(entries: &[(&str, Option<&ByteString>)], name: &str, bundle: &[u8]) -> Option<Value> {
    let wrong = |(_, (it, trusted)): &(usize, &(&str, Option<&ByteString>))| {
        *it == name && trusted.is_none_or(|it| it.0 != bundle)
    };
    let steps: Vec<Value> = entries
        .iter()
        .enumerate()
        .filter(wrong)
        .flat_map(|(at, _)| {
            [
                // The list may have been changed meanwhile.
                json!({ "op": "test", "path": format!("/webhooks/{at}/name"), "value": name }),
                json!({
                    "op": "add",
                    "path": format!("/webhooks/{at}/clientConfig/caBundle"),
                    "value": ByteString(bundle.to_vec()),
                }),
            ]
        })
        .collect();
    (!steps.is_empty()).then(|| Value::Array(steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_entries_are_patched_and_only_where_they_differ() {
        let (ours, stale, other) =
            (ByteString(b"A".into()), ByteString(b"B".into()), ByteString(b"C".into()));
        let entries =
            [("theirs", Some(&other)), ("ours", Some(&stale)), ("ours", Some(&ours)), ("ours", None)];
        let got = patch(&entries, "ours", b"A").unwrap();
        let want = json!([
            { "op": "test", "path": "/webhooks/1/name", "value": "ours" },
            { "op": "add", "path": "/webhooks/1/clientConfig/caBundle", "value": "QQ==" },
            { "op": "test", "path": "/webhooks/3/name", "value": "ours" },
            { "op": "add", "path": "/webhooks/3/clientConfig/caBundle", "value": "QQ==" },
        ]);
        assert_eq!(got, want);
        assert_eq!(patch(&entries[..1], "ours", b"A"), None);
        assert_eq!(patch(&entries[2..3], "ours", b"A"), None);
    }
}
