//! The same request over plain TCP, over TLS, and over HTTP/2 in TLS: a server has to answer the same on all three.

use std::sync::Arc;

use bytes::Bytes;
use grove_apiserver::{Action, WriteRequest};
use http::Request;
use http_body_util::Full;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

use crate::support::{ADMIN, Setup, Stage, http2, read, request};

/// The ConfigMap that is there.
pub(crate) const THERE: &str = "/api/v1/namespaces/default/configmaps/there";

/// A server without TLS and one with it.
pub(crate) struct Everywhere {
    plain: Stage,
    tls: Stage,
}

/// What is sent, besides the credentials.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    method: &'static str,
    path: String,
    headers: Vec<(&'static str, String)>,
    body: Bytes,
}

impl Sent {
    pub(crate) fn get(path: impl Into<String>) -> Self {
        Self { method: "GET", path: path.into(), headers: Vec::new(), body: Bytes::new() }
    }

    /// A body of a content type.
    pub(crate) fn body(
        method: &'static str,
        path: impl Into<String>,
        content_type: &str,
        body: impl Into<Bytes>,
    ) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self { method, path: path.into(), headers, body: body.into() }
    }

    pub(crate) fn with(mut self, header: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((header, value.into()));
        self
    }

    fn request(&self, origin: &str) -> Request<Full<Bytes>> {
        let mut request = request(self.method, &format!("{origin}{}", self.path), ADMIN);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.body(Full::from(self.body.clone())).unwrap()
    }
}

impl std::fmt::Display for Sent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = format!("{} {} {:?} ", self.method, self.path, self.headers);
        let body = String::from_utf8_lossy(self.body.get(..100).unwrap_or(&self.body));
        f.write_str(&text.chars().take(200).chain(body.chars()).collect::<String>())
    }
}

impl Everywhere {
    /// Both have the ConfigMap [`THERE`], and nothing else that is tested.
    pub(crate) async fn new() -> Self {
        let plain = Stage::plain().await;
        let tls = Stage::new(Setup { tls: true, ..Setup::default() }).await;
        for stage in [&plain, &tls] {
            let object = json!({"metadata": {"name": "there"}, "data": {"a": "1"}});
            let resource = Arc::clone(stage.server.resources().by_id("configmaps").unwrap());
            let request = WriteRequest {
                resource,
                namespace: "default".to_owned(),
                name: String::new(),
                subresource: None,
                manager: "test".to_owned(),
                dry_run: false,
                action: Action::Create(object),
            };
            stage.server.write(request).unwrap();
        }
        Self { plain, tls }
    }

    /// The answer, which is the same everywhere.
    pub(crate) async fn ask(&self, sent: &Sent) -> (u16, Value) {
        let plain = read(self.plain.send(sent.request("")).await).await;
        let stream = self.tls.connect_tls(&["http/1.1"], None).await;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let tls = read(sender.send_request(sent.request("")).await.unwrap()).await;
        assert_eq!(plain, tls, "over TLS: {sent}");
        let mut sender = http2(self.tls.connect_tls(&["h2"], None).await).await;
        let second = read(sender.send_request(sent.request("https://kubernetes")).await.unwrap()).await;
        assert_eq!(plain, second, "over HTTP/2: {sent}");
        plain
    }

    /// It is refused everywhere with this code, in a `Status`; what that says.
    pub(crate) async fn refused(&self, sent: &Sent, code: u16) -> String {
        let (got, said) = self.ask(sent).await;
        assert_eq!(
            (got, &said["kind"], &said["code"]),
            (code, &json!("Status"), &json!(code)),
            "{sent}: {said}"
        );
        said["message"].as_str().unwrap().to_owned()
    }

    /// Nothing was written.
    pub(crate) fn assert_untouched(&self) {
        for stage in [&self.plain, &self.tls] {
            let config_maps = stage.server.store().list("configmaps", None);
            assert_eq!(config_maps.iter().map(|it| it.name()).collect::<Vec<_>>(), ["there"]);
            assert_eq!(config_maps[0].field("/data"), Some(&json!({"a": "1"})));
        }
    }
}
