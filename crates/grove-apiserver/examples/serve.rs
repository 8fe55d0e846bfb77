//! Serves an API without anything in it, and writes a kubeconfig: `cargo run -p grove-apiserver --example serve -- config.yaml`,
//! then `kubectl --kubeconfig config.yaml api-resources`. CustomResourceDefinitions may follow as further arguments.

use std::error::Error;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use grove_apiserver::{
    ApiServer, Authentication, Authorization, Resources, ServeOptions, ServiceAccountTokens, StaticTokens,
    UserInfo, bootstrap_roles, serve, tls_config,
};
use k8s_openapi::jiff::Timestamp;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let kubeconfig = arguments.next().ok_or("where should the kubeconfig be written?")?;
    let mut resources = Resources::kubernetes();
    for path in arguments {
        resources = resources.with_crd(&serde_saphyr::from_str(&std::fs::read_to_string(path)?)?)?;
    }
    let server = ApiServer::new(resources, Timestamp::now, 1);
    bootstrap_roles(&server)?;
    let tokens = StaticTokens::default()
        .with("admin", UserInfo::new("admin", &["system:masters"]))
        .with("jane", UserInfo::new("jane", &[]));
    let service_accounts = Some(ServiceAccountTokens::generate()?);
    // Not even on the loopback interface does kubectl send a token without TLS.
    let key = rcgen::KeyPair::generate()?;
    let certificate = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()])?.self_signed(&key)?.pem();
    let tls = tls_config(certificate.as_bytes(), key.serialize_pem().as_bytes(), None)?;
    let options = ServeOptions {
        tls: Some(Arc::new(tls)),
        authentication: Authentication { tokens, service_accounts, anonymous: false },
        authorization: Authorization::Rbac,
        ..ServeOptions::default()
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let handle = serve(listener, server, options)?;
    let config = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{{name: c, cluster: {{server: 'https://{}', certificate-authority-data: {}}}}}]\n\
         users: [{{name: admin, user: {{token: admin}}}}, {{name: jane, user: {{token: jane}}}}]\n\
         contexts: [{{name: c, context: {{cluster: c, user: admin}}}}, {{name: jane, context: {{cluster: c, user: jane}}}}]\n",
        handle.address(),
        STANDARD.encode(certificate)
    );
    std::fs::write(kubeconfig, config)?;
    println!("listening on {}", handle.address());
    std::future::pending::<()>().await;
    Ok(())
}
