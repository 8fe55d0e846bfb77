//! A server to ask, and sets to ask about.

use std::{net::SocketAddr, sync::Arc};

use grove_api::validation::Environment;
use grove_operator::{
    admission::{Desk, Knowledge, Limits, Snapshot, serve},
    certificates::Served,
};
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::client::Client;

/// A server that ends with the test.
pub(crate) struct Stage {
    pub(crate) client: Client,
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) serving: JoinHandle<std::io::Result<()>>,
}

impl Stage {
    pub(crate) async fn new(limits: Limits) -> Self {
        let environment = Environment { topology_aware: Some(true), ..Environment::default() };
        Self::knowing(limits, Arc::new(Snapshot { environment, ..Snapshot::default() })).await
    }

    pub(crate) async fn knowing(limits: Limits, knowledge: Arc<dyn Knowledge>) -> Self {
        let (certificate, key) = self_signed();
        let served = Arc::new(Served::default());
        served.load(certificate.as_bytes(), key.as_bytes()).unwrap();
        let (address, stop, serving) = listen(limits, knowledge, served).await;
        Self { client: Client::new(certificate.as_bytes(), address), address, stop, serving }
    }
}

/// Serves on a free port.
pub(crate) async fn listen(
    limits: Limits,
    knowledge: Arc<dyn Knowledge>,
    served: Arc<Served>,
) -> (SocketAddr, CancellationToken, JoinHandle<std::io::Result<()>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let desk = Desk::new(knowledge, None);
    let serving = tokio::spawn(serve(listener, served, desk, limits, stop.clone()));
    (address, stop, serving)
}

/// A certificate for 127.0.0.1 and its key.
pub(crate) fn self_signed() -> (String, String) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// A set with so many cliques.
pub(crate) fn set(cliques: usize) -> Value {
    let clique = |at: usize| {
        json!({
            "name": format!("c{at}"),
            "spec": {
                "roleName": format!("r{at}"),
                "replicas": 4,
                "podSpec": { "containers": [{ "name": "main", "image": "engine:1" }] },
            },
        })
    };
    json!({
        "apiVersion": "grove.io/v1alpha1",
        "kind": "PodCliqueSet",
        "metadata": { "name": "web", "namespace": "ml" },
        "spec": { "replicas": 1, "template": { "cliques": (0..cliques).map(clique).collect::<Vec<_>>() } },
    })
}
