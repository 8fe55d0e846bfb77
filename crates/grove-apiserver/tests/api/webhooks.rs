//! Admission webhooks, called over TLS.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use grove_apiserver::{ApiServer, Resource, Resources};
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt;

use crate::support::{CONFIG_MAPS, Said, delete, get, merge, noon, post};

type Hook = dyn Fn(&str, &Value) -> Value + Send + Sync;

/// A program that answers reviews, and what it was asked.
struct Webhook {
    address: SocketAddr,
    bundle: String,
    asked: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Webhook {
    /// Listens; `answer` gets the path and the request of each review.
    async fn start(answer: impl Fn(&str, &Value) -> Value + Send + Sync + 'static) -> Self {
        let names = vec!["hook.default.svc".to_owned(), "localhost".to_owned()];
        let made = rcgen::generate_simple_self_signed(names).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, answer): (_, Arc<Hook>) = (Arc::clone(&asked), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, log, answer) = (acceptor.clone(), Arc::clone(&log), Arc::clone(&answer));
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(stream).await else { return };
                    let service = hyper::service::service_fn(move |request| {
                        respond(request, Arc::clone(&log), Arc::clone(&answer))
                    });
                    let connection = hyper::server::conn::http1::Builder::new();
                    drop(connection.serve_connection(TokioIo::new(stream), service).await);
                });
            }
        });
        let bundle = base64(made.cert.pem().as_bytes());
        Self { address, bundle, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().iter().map(|(path, _)| path.clone()).collect()
    }

    fn last(&self) -> Value {
        self.asked.lock().last().unwrap().1.clone()
    }

    /// A server that finds it behind the service `hook`.
    fn server(&self) -> ApiServer {
        let row = |kind: &str, plural: &str| {
            let mut row = Resource::built_in("admissionregistration.k8s.io", "v1", kind, plural);
            row.namespaced = false;
            row
        };
        let resources = Resources::kubernetes()
            .with_definitions()
            .with(row("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"))
            .with(row("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"));
        let server = ApiServer::new(resources, noon, 7);
        let address = self.address;
        server.call_webhooks(move |namespace, name, port| {
            ((namespace, name, port) == ("default", "hook", 443)).then_some(address)
        });
        server
    }

    /// One webhook on ConfigMaps, with more or other fields.
    async fn configure(&self, server: &ApiServer, kind: &str, name: &str, more: Value) {
        let mut webhook = json!({
            "name": format!("{name}.example.com"), "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"caBundle": self.bundle, "service": {"namespace": "default", "name": "hook", "path": format!("/{name}")}},
            "rules": [{"operations": ["*"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}],
        });
        webhook.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let path = format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations");
        let (code, said) =
            post(server, &path, json!({"metadata": {"name": name}, "webhooks": [webhook]})).await;
        assert_eq!(code, 201, "{said}");
    }
}

async fn respond(
    request: Request<Incoming>,
    log: Arc<Mutex<Vec<(String, Value)>>>,
    answer: Arc<Hook>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let review: Value = serde_json::from_slice(&body).unwrap();
    let asked = review["request"].clone();
    let mut response = answer(&path, &asked);
    response["uid"] = asked["uid"].clone();
    log.lock().push((path, asked));
    let said = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    Ok(Response::new(Full::new(Bytes::from(said.to_string()))))
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn allow() -> Value {
    json!({"allowed": true})
}

fn patch(steps: Value) -> Value {
    json!({"allowed": true, "patchType": "JSONPatch", "patch": base64(steps.to_string().as_bytes())})
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"a": "1"}})
}

/// A creation, and what the client is warned of.
async fn create_warned(server: &ApiServer, body: Value) -> (u16, Vec<String>) {
    let request = Request::post(CONFIG_MAPS).body(Full::new(Bytes::from(body.to_string()))).unwrap();
    let response = server.service().oneshot(request).await.unwrap();
    let warnings = response.headers().get_all("warning").iter();
    (response.status().as_u16(), warnings.map(|it| it.to_str().unwrap().to_owned()).collect())
}

#[tokio::test]
async fn a_mutating_webhook_changes_what_is_stored() {
    let hook = Webhook::start(|path, asked| {
        if path == "/first" {
            return patch(json!([{"op": "add", "path": "/data/b", "value": "2"}]));
        }
        assert_eq!(asked["object"]["data"]["b"], "2", "the second sees what the first did");
        patch(json!([{"op": "add", "path": "/metadata/labels", "value": {"by": "second"}}]))
    })
    .await;
    let server = hook.server();
    hook.configure(&server, "mutating", "first", json!({})).await;
    hook.configure(&server, "mutating", "second", json!({})).await;
    let (code, said) = post(&server, CONFIG_MAPS, map("a")).await;
    assert_eq!((code, &said["data"]), (201, &json!({"a": "1", "b": "2"})), "{said}");
    assert_eq!(said["metadata"]["labels"], json!({"by": "second"}));
    assert_eq!(hook.asked(), ["/first", "/second"]);
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/a")).await.1, said);
}

#[tokio::test]
async fn a_review_says_what_is_done() {
    let hook = Webhook::start(|_, _| allow()).await;
    let server = hook.server();
    hook.configure(&server, "validating", "check", json!({})).await;
    let (_, made) = post(&server, CONFIG_MAPS, map("a")).await;
    let asked = hook.last();
    assert_eq!(
        asked["object"]["metadata"]["uid"], made["metadata"]["uid"],
        "what is judged is what is stored"
    );
    assert_eq!(
        (&asked["operation"], &asked["name"], &asked["namespace"]),
        (&json!("CREATE"), &json!("a"), &json!("default"))
    );
    assert_eq!(asked["kind"], json!({"group": "", "version": "v1", "kind": "ConfigMap"}));
    assert_eq!(asked["resource"], json!({"group": "", "version": "v1", "resource": "configmaps"}));
    assert_eq!((&asked["oldObject"], &asked["dryRun"]), (&Value::Null, &json!(false)));
    assert!(asked["userInfo"]["username"].is_string());
    merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"data": {"a": "2"}})).await;
    let asked = hook.last();
    assert_eq!((&asked["operation"], &asked["oldObject"]["data"]), (&json!("UPDATE"), &json!({"a": "1"})));
    assert_eq!(asked["options"]["kind"], "UpdateOptions");
    delete(&server, &format!("{CONFIG_MAPS}/a"), Value::Null).await;
    let asked = hook.last();
    assert_eq!((&asked["operation"], &asked["object"]), (&json!("DELETE"), &Value::Null));
    assert_eq!(asked["oldObject"]["data"], json!({"a": "2"}));
    assert_eq!(hook.asked().len(), 3);
}

#[tokio::test]
async fn a_validating_webhook_refuses_and_warns() {
    let hook = Webhook::start(|_, asked| {
        if asked["object"]["data"]["a"] == "bad" {
            json!({"allowed": false, "status": {"message": "bad data", "code": 422, "reason": "Invalid"}})
        } else {
            json!({"allowed": true, "warnings": ["beware of \"a\""]})
        }
    })
    .await;
    let server = hook.server();
    hook.configure(&server, "validating", "check", json!({})).await;
    let bad = json!({"metadata": {"name": "a"}, "data": {"a": "bad"}});
    let (code, said) = post(&server, CONFIG_MAPS, bad).await;
    let message = "admission webhook \"check.example.com\" denied the request: bad data";
    assert_eq!(
        (code, said["message"].as_str(), said["reason"].as_str()),
        (422, Some(message), Some("Invalid"))
    );
    assert_eq!(get(&server, &format!("{CONFIG_MAPS}/a")).await.0, 404);
    let (code, warnings) = create_warned(&server, map("a")).await;
    assert_eq!((code, warnings), (201, vec![r#"299 - "beware of \"a\"""#.to_owned()]));
}

#[tokio::test]
async fn a_webhook_that_cannot_be_asked() {
    let hook = Webhook::start(|_, _| allow()).await;
    let server = hook.server();
    let elsewhere = json!({"caBundle": hook.bundle, "service": {"namespace": "default", "name": "none"}});
    hook.configure(&server, "validating", "gone", json!({"clientConfig": elsewhere})).await;
    let (code, said) = post(&server, CONFIG_MAPS, map("a")).await;
    let begins = "Internal error occurred: failed calling webhook \"gone.example.com\": failed to call webhook: Post \"https://none.default.svc:443/?timeout=10s\": ";
    assert_eq!((code, said["reason"].as_str()), (500, Some("InternalError")));
    assert!(said["message"].as_str().unwrap().starts_with(begins), "{said}");
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/gone";
    let steps = json!([{"op": "add", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]);
    assert_eq!(crate::support::json_patch(&server, path, steps).await.0, 200);
    assert_eq!(post(&server, CONFIG_MAPS, map("a")).await.0, 201);
    // A certificate of another authority is no better.
    let other = Webhook::start(|_, _| allow()).await;
    hook.configure(
        &server,
        "validating",
        "untrusted",
        json!({"clientConfig": {"caBundle": other.bundle,
        "service": {"namespace": "default", "name": "hook"}}}),
    )
    .await;
    assert_eq!(post(&server, CONFIG_MAPS, map("b")).await.0, 500);
    assert!(hook.asked().is_empty());
}

#[tokio::test]
async fn only_what_matches_is_asked_about() {
    let hook = Webhook::start(|_, _| allow()).await;
    let server = hook.server();
    let rules = |resources: Value, operations: Value| json!({"rules": [{"operations": operations, "apiGroups": [""], "apiVersions": ["v1"], "resources": resources}]});
    hook.configure(&server, "validating", "pods", rules(json!(["pods"]), json!(["*"]))).await;
    hook.configure(&server, "validating", "updates", rules(json!(["configmaps"]), json!(["UPDATE"]))).await;
    hook.configure(&server, "validating", "labelled", json!({"objectSelector": {"matchLabels": {"x": "y"}}}))
        .await;
    hook.configure(
        &server,
        "validating",
        "elsewhere",
        json!({"namespaceSelector": {"matchExpressions": [
        {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["default"]}]}}),
    )
    .await;
    hook.configure(
        &server,
        "validating",
        "condition",
        json!({"matchConditions": [
        {"name": "big", "expression": "object.data.a == 'big'"}]}),
    )
    .await;
    post(&server, CONFIG_MAPS, map("a")).await;
    assert_eq!(hook.asked(), [""; 0]);
    post(
        &server,
        CONFIG_MAPS,
        json!({"metadata": {"name": "b", "labels": {"x": "y"}}, "data": {"a": "small"}}),
    )
    .await;
    assert_eq!(hook.asked(), ["/labelled"]);
    post(&server, CONFIG_MAPS, json!({"metadata": {"name": "c"}, "data": {"a": "big"}})).await;
    assert_eq!(hook.asked(), ["/labelled", "/condition"]);
    post(&server, "/api/v1/namespaces/kube-system/configmaps", map("a")).await;
    assert_eq!(hook.asked().last().unwrap(), "/elsewhere");
    merge(&server, &format!("{CONFIG_MAPS}/a"), json!({"data": {"a": "2"}})).await;
    assert_eq!(hook.asked().last().unwrap(), "/updates");
    let before = hook.asked().len();
    server.write(request(&server, "d")).unwrap();
    assert_eq!(hook.asked().len(), before, "writers within the process skip webhooks");
    let all = json!({"rules": [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]}]});
    hook.configure(&server, "validating", "all", all).await;
    let path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/all";
    assert_eq!(delete(&server, path, Value::Null).await.0, 200);
    assert_eq!(hook.asked().len(), before, "a webhook cannot refuse that it is removed");
}

fn request(server: &ApiServer, name: &str) -> grove_apiserver::WriteRequest {
    grove_apiserver::WriteRequest {
        resource: Arc::clone(server.resources().by_id("configmaps").unwrap()),
        namespace: "default".to_owned(),
        name: String::new(),
        subresource: None,
        manager: "test".to_owned(),
        dry_run: false,
        action: grove_apiserver::Action::Create(json!({"metadata": {"name": name, "labels": {"x": "y"}}})),
    }
}

#[tokio::test]
async fn dry_runs_ask_only_those_without_side_effects() {
    let hook = Webhook::start(|_, _| allow()).await;
    let server = hook.server();
    hook.configure(&server, "validating", "pure", json!({})).await;
    let dry = &format!("{CONFIG_MAPS}?dryRun=All");
    assert_eq!(post(&server, dry, map("a")).await.0, 201);
    assert_eq!(hook.last()["dryRun"], true);
    hook.configure(&server, "validating", "some", json!({"sideEffects": "Some"})).await;
    let (code, said) = post(&server, dry, map("a")).await;
    let message = "admission webhook \"some.example.com\" does not support dry run";
    assert_eq!((code, said["message"].as_str()), (400, Some(message)));
}

#[tokio::test]
async fn what_was_judged_is_what_is_stored() {
    // A concurrent write while the webhook is asked: it is asked again about the new state.
    let (server, other): (Arc<Mutex<Option<ApiServer>>>, _) = (Arc::default(), Arc::default());
    let writes: Arc<Mutex<usize>> = other;
    let (held, count) = (Arc::clone(&server), Arc::clone(&writes));
    let hook = Webhook::start(move |_, asked| {
        if asked["operation"] == "UPDATE" && *count.lock() == 0 {
            *count.lock() += 1;
            let server = held.lock().clone().unwrap();
            let patch = json!({"data": {"other": "x"}});
            let mut write = request(&server, "");
            write.name = "a".to_owned();
            write.action = grove_apiserver::Action::Patch(grove_apiserver::PatchBody::Merge(patch));
            server.write(write).unwrap();
        }
        allow()
    })
    .await;
    let api = hook.server();
    *server.lock() = Some(api.clone());
    hook.configure(&api, "validating", "check", json!({})).await;
    post(&api, CONFIG_MAPS, map("a")).await;
    let (code, said) = merge(&api, &format!("{CONFIG_MAPS}/a"), json!({"data": {"a": "2"}})).await;
    assert_eq!((code, &said["data"]), (200, &json!({"a": "2", "other": "x"})));
    assert_eq!(hook.asked().len(), 3, "once for the creation, twice for the update");
    assert_eq!(hook.last()["object"]["data"], json!({"a": "2", "other": "x"}));
    // A patch with a version is a conflict instead.
    *writes.lock() = 0;
    let version = said["metadata"]["resourceVersion"].clone();
    let (code, _): Said = merge(
        &api,
        &format!("{CONFIG_MAPS}/a"),
        json!({"metadata": {"resourceVersion": version}, "data": {"a": "3"}}),
    )
    .await;
    assert_eq!(code, 200, "nothing changes when the same is written twice");
}

#[tokio::test]
async fn defaults_are_filled_in_before_and_after_webhooks() {
    let hook = Webhook::start(|path, asked| {
        assert_eq!(asked["object"]["spec"]["size"], 1, "{path}");
        if path == "/change" {
            patch(json!([{"op": "add", "path": "/spec/part", "value": {}}]))
        } else {
            allow()
        }
    })
    .await;
    let server = hook.server();
    let part = json!({"type": "object", "properties": {"depth": {"type": "integer", "default": 2}}});
    let spec = json!({"size": {"type": "integer", "default": 1}, "part": part});
    let definition = json!({
        "metadata": {"name": "gadgets.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": {"kind": "Gadget", "plural": "gadgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}}}]}});
    assert_eq!(
        post(&server, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition).await.0,
        201
    );
    let rules = json!({"rules": [{"operations": ["CREATE"], "apiGroups": ["example.com"], "apiVersions": ["*"], "resources": ["*"]}]});
    hook.configure(&server, "mutating", "change", rules.clone()).await;
    hook.configure(&server, "validating", "check", rules).await;
    let gadget = json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"generateName": "g-"}, "spec": {}});
    let (code, said) = post(&server, "/apis/example.com/v1/namespaces/default/gadgets", gadget).await;
    assert_eq!((code, &said["spec"]), (201, &json!({"size": 1, "part": {"depth": 2}})), "{said}");
    assert_eq!(
        hook.last()["object"]["metadata"]["name"],
        said["metadata"]["name"],
        "the name is made up once"
    );
    assert_eq!(hook.asked(), ["/change", "/check"]);
}
