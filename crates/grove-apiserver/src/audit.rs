//! The audit log: one `audit.k8s.io/v1` event per request, at level Metadata, when the response is complete.

use std::net::IpAddr;
use std::sync::Arc;

use http::StatusCode;
use http::header::USER_AGENT;
use http::request::Parts;
use k8s_openapi::jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::auth::{Attributes, UserInfo};
use crate::store::Store;

/// Gets each event as one line of JSON, without its end.
#[derive(Clone)]
pub struct AuditSink(Arc<dyn Fn(&str) + Send + Sync>);

impl AuditSink {
    /// A sink that calls `write` for each event, which should return soon.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }
}

impl std::fmt::Debug for AuditSink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AuditSink")
    }
}

/// What becomes known of a request while it is handled.
#[derive(Debug, Default)]
pub(crate) struct Audited {
    pub(crate) user: Option<UserInfo>,
    pub(crate) impersonated_user: Option<UserInfo>,
    pub(crate) allowed: Option<bool>,
    name: Option<String>,
}

/// An event to be written when the response is complete, which is when this is dropped.
pub(crate) struct PendingEvent {
    sink: AuditSink,
    store: Arc<Store>,
    event: Value,
}

impl Audited {
    /// Takes the name of a new object from its body: the path does not have it.
    pub(crate) fn read_name(&mut self, body: &[u8]) {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            name: String,
        }
        self.name = serde_json::from_slice(body).ok().map(|it: Object| it.metadata.name);
    }
}

impl PendingEvent {
    pub(crate) fn new(
        sink: &AuditSink,
        store: &Arc<Store>,
        parts: &Parts,
        attributes: &Attributes,
        source: IpAddr,
    ) -> Self {
        let agent = parts.headers.get(USER_AGENT).and_then(|it| it.to_str().ok()).unwrap_or_default();
        let uri = parts.uri.path_and_query().map_or("/", |it| it.as_str());
        let mut event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": audit_id(),
            "stage": "ResponseComplete", "requestURI": uri, "verb": attributes.verb, "user": {},
            "sourceIPs": [source.to_string()], "userAgent": agent,
        });
        if attributes.is_resource() {
            event["objectRef"] = object_ref(attributes);
        }
        event["requestReceivedTimestamp"] = time_micros(store.now());
        Self { sink: sink.clone(), store: Arc::clone(store), event }
    }

    /// Adds what became known, and how the request was answered.
    pub(crate) fn answered(mut self, audited: Audited, status: StatusCode) -> Self {
        let event = &mut self.event;
        event["user"] = audited.user.map_or_else(|| json!({}), |it| it.to_json());
        if let Some(user) = audited.impersonated_user {
            event["impersonatedUser"] = user.to_json();
        }
        if let (Some(Value::Object(object)), Some(name)) = (event.get_mut("objectRef"), audited.name) {
            object.entry("name").or_insert(name.into());
        }
        event["responseStatus"] = json!({"metadata": {}, "code": status.as_u16()});
        if let Some(allowed) = audited.allowed {
            let decision = if allowed { "allow" } else { "forbid" };
            event["annotations"] = json!({"authorization.k8s.io/decision": decision});
        }
        self
    }
}

impl Drop for PendingEvent {
    fn drop(&mut self) {
        self.event["stageTimestamp"] = time_micros(self.store.now());
        (self.sink.0)(&self.event.to_string());
    }
}

fn object_ref(attributes: &Attributes) -> Value {
    let fields = [
        ("resource", &attributes.resource),
        ("namespace", &attributes.namespace),
        ("name", &attributes.name),
        ("apiGroup", &attributes.group),
        ("apiVersion", &attributes.version),
        ("subresource", &attributes.subresource),
    ];
    let said = fields.into_iter().filter(|(_, text)| !text.is_empty());
    Value::Object(said.map(|(field, text)| (field.to_owned(), text.as_str().into())).collect::<Map<_, _>>())
}

fn time_micros(time: Timestamp) -> Value {
    time.strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string().into()
}

/// An id of its own for each request. Not from the seed of the store: audit events must not change what objects get.
fn audit_id() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    crate::random::Random::new(NEXT.fetch_add(1, Ordering::Relaxed)).uid()
}
