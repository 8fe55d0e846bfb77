//! Against real sockets: protocols, headers, streams.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{StreamExt as _, TryStreamExt as _, stream};
use http::{Request, Response, Version};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Bytes, Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{WatchEvent, WatchParams};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::*;

type Answer = Response<UnsyncBoxBody<Bytes, Infallible>>;

/// What the server saw.
#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    heads: Mutex<Vec<(Version, String, String)>>,
    /// Lines that the watch is to send.
    lines: Mutex<Option<mpsc::UnboundedReceiver<Value>>>,
}

impl Seen {
    fn answer(&self, request: &Request<Incoming>) -> Answer {
        let header = |name: &str| {
            request.headers().get(name).map(|v| v.to_str().unwrap().to_owned()).unwrap_or_default()
        };
        self.heads.lock().push((request.version(), header("user-agent"), header("x-extra")));
        if request.uri().query().is_some_and(|query| query.contains("watch=true")) {
            let lines = self.lines.lock().take().unwrap();
            let frames = stream::unfold(lines, |mut lines| async {
                let line = lines.recv().await?;
                Some((Ok(Frame::data(Bytes::from(format!("{line}\n")))), lines))
            });
            return Response::new(StreamBody::new(frames).boxed_unsync());
        }
        let body = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "x"}});
        Response::new(Full::from(body.to_string()).boxed_unsync())
    }
}

async fn serve(tls: Option<TlsAcceptor>) -> (SocketAddr, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Seen::default()));
    let shared = seen.clone();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            shared.connections.fetch_add(1, Ordering::Relaxed);
            let (seen, tls) = (shared.clone(), tls.clone());
            let service = service_fn(move |request| {
                let answer = seen.answer(&request);
                async move { Ok::<_, Infallible>(answer) }
            });
            tokio::spawn(async move {
                let server = auto::Builder::new(TokioExecutor::new());
                match tls {
                    None => server.serve_connection(TokioIo::new(socket), service).await,
                    Some(tls) => {
                        let socket = tls.accept(socket).await.unwrap();
                        server.serve_connection(TokioIo::new(socket), service).await
                    }
                }
            });
        }
    });
    (address, seen)
}

/// A server certificate for `localhost` that speaks `protocols`.
fn tls(protocols: &[&str]) -> (TlsAcceptor, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    let mut config = config.with_single_cert(vec![certificate.clone()], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    (TlsAcceptor::from(Arc::new(config)), certificate)
}

fn client(config: Config) -> Client {
    connect(config, "grove-operator/1.2.3", Throttle::new(0.0, 0, 0), RequestMetrics::default()).unwrap()
}

async fn tls_client(protocols: &[&str]) -> (Client, Arc<Seen>) {
    let (acceptor, certificate) = tls(protocols);
    let (address, seen) = serve(Some(acceptor)).await;
    let mut config = Config::new(format!("https://127.0.0.1:{}", address.port()).parse().unwrap());
    config.root_cert = Some(vec![certificate.to_vec()]);
    config.tls_server_name = Some("localhost".into());
    (client(config), seen)
}

#[tokio::test]
async fn requests_share_one_connection_over_http2() {
    let (client, seen) = tls_client(&["h2", "http/1.1"]).await;
    let api: Api<ConfigMap> = Api::namespaced(client, "ns");
    api.get("x").await.unwrap();
    let many = stream::iter(0..50).map(|_| api.get("x")).buffer_unordered(50);
    assert_eq!(many.try_collect::<Vec<_>>().await.unwrap().len(), 50);
    assert_eq!(seen.connections.load(Ordering::Relaxed), 1);
    assert!(seen.heads.lock().iter().all(|(version, ..)| *version == Version::HTTP_2));
}

#[tokio::test]
async fn a_server_without_http2_is_served_as_well() {
    let (client, seen) = tls_client(&["http/1.1"]).await;
    Api::<ConfigMap>::namespaced(client, "ns").get("x").await.unwrap();
    assert_eq!(seen.heads.lock()[0].0, Version::HTTP_11);
}

#[tokio::test]
async fn plain_http_works_and_headers_are_sent() {
    let (address, seen) = serve(None).await;
    let mut config = Config::new(format!("http://{address}").parse().unwrap());
    config.headers.push(("x-extra".parse().unwrap(), "yes".parse().unwrap()));
    Api::<ConfigMap>::namespaced(client(config), "ns").get("x").await.unwrap();
    let heads = seen.heads.lock();
    assert_eq!(*heads, [(Version::HTTP_11, "grove-operator/1.2.3".to_owned(), "yes".to_owned())]);
}

#[tokio::test]
async fn watches_stream() {
    for protocols in [&["h2"][..], &["http/1.1"]] {
        let (client, seen) = tls_client(protocols).await;
        let (send, lines) = mpsc::unbounded_channel();
        *seen.lines.lock() = Some(lines);
        let api: Api<ConfigMap> = Api::namespaced(client, "ns");
        let mut events = Box::pin(api.watch(&WatchParams::default(), "0").await.unwrap());
        // Each line is sent only after the one before it has arrived.
        for version in ["1", "2", "3"] {
            let object = json!({"metadata": {"name": "x", "resourceVersion": version}});
            send.send(json!({"type": "ADDED", "object": object})).unwrap();
            let Some(Ok(WatchEvent::Added(object))) = events.next().await else { panic!("no event") };
            assert_eq!(object.metadata.resource_version.as_deref(), Some(version));
            // Other requests go on meanwhile.
            api.get("x").await.unwrap();
        }
        drop(send);
        assert!(events.next().await.is_none());
    }
}

#[tokio::test]
async fn a_stranger_is_not_trusted() {
    let (acceptor, _) = tls(&["h2"]);
    let (address, _seen) = serve(Some(acceptor)).await;
    let (_, other) = tls(&["h2"]);
    let mut config = Config::new(format!("https://127.0.0.1:{}", address.port()).parse().unwrap());
    config.root_cert = Some(vec![other.to_vec()]);
    config.tls_server_name = Some("localhost".into());
    let error = Api::<ConfigMap>::namespaced(client(config), "ns").get("x").await.unwrap_err();
    assert!(matches!(error, kube::Error::Service(_)), "{error:?}");
}

#[tokio::test]
async fn what_cannot_work_is_said_at_once() {
    let config = || Config::new("https://localhost:6443".parse().unwrap());
    let attempt = |config, agent| {
        let made = connect(config, agent, Throttle::new(0.0, 0, 0), RequestMetrics::default());
        made.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let mut proxied = config();
    proxied.proxy_url = Some("http://user:secret@proxy.example:3128".parse().unwrap());
    let said = attempt(proxied, "grove");
    assert!(
        said.contains("proxies are not supported, but proxy.example is configured as one by the kubeconfig"),
        "{said}"
    );
    assert!(!said.contains("secret"), "{said}");
    let mut misnamed = config();
    misnamed.tls_server_name = Some("not a name".into());
    assert!(attempt(misnamed, "grove").contains("\"not a name\" is not a server name"));
    assert!(attempt(config(), "a\nb").contains("cannot be sent as a user agent"));
    let mut distrusted = config();
    distrusted.root_cert = Some(vec![b"rubbish".to_vec()]);
    assert!(attempt(distrusted, "grove").contains("https://localhost:6443"));
}
