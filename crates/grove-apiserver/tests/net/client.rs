//! kube's client over TLS, and both versions of HTTP.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::{StreamExt as _, pin_mut};
use http_body_util::{BodyExt as _, Full};
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Api, Client};
use serde_json::{Value, json};

use crate::support::{ADMIN, Authority, CONFIG_MAPS, Leaf, Setup, Stage, http2, read, request};

/// A client with a token.
fn token_config(stage: &Stage, token: &str) -> kube::Config {
    config(stage, json!({"token": token}))
}

/// A client with a certificate.
fn certificate_config(stage: &Stage, leaf: &Leaf) -> kube::Config {
    let encode = |text: &str| STANDARD.encode(text);
    config(
        stage,
        json!({"client-certificate-data": encode(&leaf.certificate), "client-key-data": encode(&leaf.key)}),
    )
}

/// With credentials as a kubeconfig has them.
fn config(stage: &Stage, credentials: Value) -> kube::Config {
    let mut config = stage.config("https");
    config.auth_info = serde_json::from_value(credentials).unwrap();
    config
}

async fn tls() -> Stage {
    Stage::new(Setup { tls: true, ..Setup::default() }).await
}

async fn whoami(client: Client) -> (String, Vec<String>) {
    let api: Api<SelfSubjectReview> = Api::all(client);
    let review = api.create(&PostParams::default(), &SelfSubjectReview::default()).await.unwrap();
    let user = review.status.unwrap().user_info.unwrap();
    (user.username.unwrap(), user.groups.unwrap())
}

#[tokio::test]
async fn a_client_with_a_token() {
    let stage = tls().await;
    let client = Client::try_from(token_config(&stage, ADMIN)).unwrap();
    let (name, groups) = whoami(client.clone()).await;
    assert_eq!(
        (name.as_str(), groups),
        ("admin", vec!["system:masters".to_owned(), "system:authenticated".to_owned()])
    );
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    let config_map = |name: &str| serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    api.create(&PostParams::default(), &config_map("a")).await.unwrap();
    let events = watcher(api.clone(), watcher::Config::default()).applied_objects();
    pin_mut!(events);
    assert_eq!(events.next().await.unwrap().unwrap().metadata.name.as_deref(), Some("a"));
    api.create(&PostParams::default(), &config_map("b")).await.unwrap();
    assert_eq!(events.next().await.unwrap().unwrap().metadata.name.as_deref(), Some("b"));
    let wrong = Client::try_from(token_config(&stage, "wrong")).unwrap();
    let error = Api::<ConfigMap>::default_namespaced(wrong).get("a").await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 401), "{error}");
}

#[tokio::test]
async fn a_client_with_a_certificate() {
    let stage = tls().await;
    let leaf = stage.ca.sign("joe", "ops");
    let client = Client::try_from(certificate_config(&stage, &leaf)).unwrap();
    let (name, groups) = whoami(client).await;
    assert_eq!((name.as_str(), groups), ("joe", vec!["ops".to_owned(), "system:authenticated".to_owned()]));
    // A certificate of somebody else's authority gets no connection.
    let leaf = Authority::new().sign("admin", "system:masters");
    let client = Client::try_from(certificate_config(&stage, &leaf)).unwrap();
    let api: Api<ConfigMap> = Api::default_namespaced(client);
    assert!(!matches!(api.get("a").await.unwrap_err(), kube::Error::Api(_)));
}

#[tokio::test]
async fn both_versions_of_http_with_and_without_tls() {
    let stage = tls().await;
    let (_, session) = stage.connect_tls(&["http/1.1"], None).await.into_inner();
    assert_eq!(session.alpn_protocol(), Some(&b"http/1.1"[..]));
    let stream = stage.connect_tls(&["h2", "http/1.1"], None).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    for (stage, mut sender) in [(None, http2(stream).await), {
        let plain = Stage::plain().await;
        let sender = http2(plain.connect().await).await;
        (Some(plain), sender)
    }] {
        let body = || Full::from(json!({"metadata": {"name": "a"}}).to_string());
        let post = request("POST", &format!("http://kubernetes{CONFIG_MAPS}"), ADMIN);
        let (code, said) = read(sender.send_request(post.body(body()).unwrap()).await.unwrap()).await;
        assert_eq!(code, 201, "{said}");
        // Watches and other requests share a connection.
        let watch = request("GET", &format!("http://kubernetes{CONFIG_MAPS}?watch=true"), ADMIN);
        let mut lines = sender.send_request(watch.body(Full::default()).unwrap()).await.unwrap().into_body();
        let line = lines.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(line.starts_with(br#"{"type":"ADDED""#), "{line:?}");
        let delete = request("DELETE", &format!("http://kubernetes{CONFIG_MAPS}/a"), ADMIN);
        let (code, _) = read(sender.send_request(delete.body(Full::default()).unwrap()).await.unwrap()).await;
        assert_eq!(code, 200);
        let line = lines.frame().await.unwrap().unwrap().into_data().unwrap();
        assert!(line.starts_with(br#"{"type":"DELETED""#), "{line:?}");
        drop(stage);
    }
}
