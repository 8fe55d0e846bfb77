//! The API suite on the embedded API server as `grove up` serves it: over TLS on loopback, with users and RBAC, and with the cluster
//! controllers of the sandbox. Every row has to hold, as on a real API server.
// A test, also in the functions that it is made of.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use grove_apiserver::{
    ApiServer, Authentication, Authorization, Resources, ServeOptions, ServerHandle, ServiceAccountTokens,
    StaticTokens, UserInfo, bootstrap_roles, run_garbage_collector, serve, tls_config,
};
use grove_e2e::api_suite;
use grove_sandbox::{Sandbox, SandboxOptions};
use k8s_openapi::{api::core::v1::Namespace, jiff::Timestamp};
use kube::{
    Client, Config,
    api::{Api, ObjectMeta, PostParams},
};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::net::TcpListener;

const TOKEN: &str = "admin-token";
const NAMESPACE: &str = "suite";

/// Serves this server on a free port with a certificate of its own; and a client that reaches it by its URL.
async fn served(server: &ApiServer) -> (ServerHandle, Client) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let tls = tls_config(cert.pem().as_bytes(), signing_key.serialize_pem().as_bytes(), None).unwrap();
    let options = ServeOptions {
        tls: Some(Arc::new(tls)),
        authentication: Authentication {
            tokens: StaticTokens::default().with(TOKEN, UserInfo::new("admin", &["system:masters"])),
            service_accounts: Some(ServiceAccountTokens::generate().unwrap()),
            ..Authentication::default()
        },
        authorization: Authorization::Rbac,
        ..ServeOptions::default()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let handle = serve(listener, server.clone(), options).unwrap();
    let mut config = Config::new(format!("https://{}", handle.address()).parse().unwrap());
    config.root_cert = Some(vec![cert.der().to_vec()]);
    config.auth_info.token = Some(TOKEN.to_owned().into());
    // A row wants the first answer.
    config.default_retry = false;
    (handle, Client::try_from(config).unwrap())
}

#[tokio::test]
async fn the_embedded_server_answers_over_tls_as_a_real_one() {
    let server = ApiServer::new(Resources::cluster().with_definitions(), Timestamp::now, 1);
    bootstrap_roles(&server).unwrap();
    let (handle, client) = served(&server).await;
    let sandbox = Sandbox::start(client.clone(), SandboxOptions::default());
    let collector = tokio::spawn(run_garbage_collector(server, std::future::pending()));
    let metadata = ObjectMeta { name: Some(NAMESPACE.to_owned()), ..ObjectMeta::default() };
    let namespace = Namespace { metadata, ..Namespace::default() };
    Api::all(client.clone()).create(&PostParams::default(), &namespace).await.unwrap();

    let result = api_suite::run(client, NAMESPACE).await;

    sandbox.stop().await;
    collector.abort();
    handle.shutdown().await;
    if let Err(failed) = result {
        panic!("{failed:#}");
    }
}
