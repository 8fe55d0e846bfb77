//! The operator in this process, installed and connected as one that runs outside of its cluster.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    time::Duration,
};

use grove_operator::{Options, run_until};
use grove_scheduler::Registry;
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::ServiceAccount,
};
use kube::{Api, Client, api::PostParams};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::watch,
    task::JoinHandle,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::{control_plane::ControlPlane, credentials, folder::Folder, objects};
use crate::{
    commands::{config::load_configuration, manifests},
    findings::Report,
    input::Source,
};

const NAMESPACE: &str = "grove-system";
const ACCOUNT: &str = "grove-operator";
/// Longer than anyone keeps a sandbox running.
const TOKEN_SECONDS: i64 = 365 * 24 * 60 * 60;
/// It takes under a second; this only ends the wait if something is broken.
const TIMEOUT: Duration = Duration::from_mins(1);
/// Between two probes.
const PROBE_PERIOD: Duration = Duration::from_millis(20);

/// An operator that runs.
pub(super) struct Operator {
    task: JoinHandle<()>,
    /// Why it ended.
    ended: watch::Receiver<Option<String>>,
}

impl Operator {
    /// Installs what it needs, starts it and waits until it is ready.
    pub(super) async fn start(
        registry: &Registry,
        client: &Client,
        control_plane: &ControlPlane,
        folder: &Folder,
        node_grace: Duration,
    ) -> io::Result<Self> {
        let [webhooks, health, metrics] = free_ports()?;
        let source = Source {
            name: folder.path().join("operator.yaml").display().to_string(),
            text: configuration([webhooks, health, metrics], node_grace),
        };
        let file = folder.path().join("operator.yaml");
        Folder::write_private(&file, &source.text)?;
        let url = format!("https://{}", SocketAddr::from((Ipv4Addr::LOCALHOST, webhooks)));
        for object in manifests::for_webhook_url(registry, &file, &url)? {
            objects::apply(client, &object, NAMESPACE).await?;
        }
        let kubeconfig = folder.path().join("operator.kubeconfig");
        let token = token(client).await?;
        let text = credentials::kubeconfig(
            control_plane.address(),
            control_plane.authority(),
            ACCOUNT,
            &token,
            NAMESPACE,
        );
        Folder::write_private(&kubeconfig, &text)?;

        let mut report = Report::default();
        let loaded = load_configuration(&source, registry, &mut report)
            .ok_or_else(|| io::Error::other("the operator's configuration is invalid"))?;
        let options = Options { kubeconfig: Some(kubeconfig), ..Options::default() };
        let (registry, (end, ended)) = (registry.clone(), watch::channel(None));
        let task = tokio::spawn(async move {
            let why = match Box::pin(run_until(&registry, loaded, options, CancellationToken::new())).await {
                Ok(()) => "it was stopped".to_owned(),
                Err(error) => error.to_string(),
            };
            end.send_replace(Some(why));
        });
        let this = Self { task, ended };
        tokio::select! {
            ready = tokio::time::timeout(TIMEOUT, until_ready(health)) => match ready {
                Ok(()) => Ok(this),
                Err(_) => Err(io::Error::other(format!("the operator is not ready after {TIMEOUT:?}"))),
            },
            error = this.ended() => Err(error),
        }
    }

    /// Resolves when it has ended: why.
    pub(super) async fn ended(&self) -> io::Error {
        let mut ended = self.ended.clone();
        let why = match ended.wait_for(Option::is_some).await {
            Ok(why) => why.clone().unwrap_or_default(),
            // Its task ended without a word.
            Err(_) => "it panicked".to_owned(),
        };
        io::Error::other(format!("the operator ended: {why}"))
    }

    /// Ends it at once: its cluster ends with it, so that there is no request to answer and no lease to release.
    pub(super) fn stop(&self) {
        self.task.abort();
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        self.stop();
    }
}

/// All of it on the loopback interface. There is one operator: no leader election.
fn configuration([webhooks, health, metrics]: [u16; 3], node_loss: Duration) -> String {
    let node_loss = node_loss.as_millis().max(1);
    format!(
        "\
apiVersion: operator.config.grove.io/v1alpha1
kind: OperatorConfiguration
runtimeClientConnection: {{ qps: 1000, burst: 1200 }}
leaderElection: {{ enabled: false }}
server:
  webhooks: {{ bindAddress: 127.0.0.1, port: {webhooks} }}
  healthProbes: {{ bindAddress: 127.0.0.1, port: {health} }}
  metrics: {{ bindAddress: 127.0.0.1, port: {metrics} }}
topologyAwareScheduling: {{ enabled: true }}
nodeLoss: {{ after: {node_loss}ms, replaceUnitAfter: {node_loss}ms }}
"
    )
}

/// Ports that are free now. Another process may take one before the operator listens on it, which it then reports.
fn free_ports() -> io::Result<[u16; 3]> {
    let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    // All at once, so that they differ.
    let listeners = [listen()?, listen()?, listen()?];
    let [webhooks, health, metrics] = listeners.each_ref().map(|it| it.local_addr().map(|it| it.port()));
    Ok([webhooks?, health?, metrics?])
}

async fn token(client: &Client) -> io::Result<String> {
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    let spec = TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let answer = accounts.create_token_request(ACCOUNT, &PostParams::default(), &request).await;
    let status = answer.map_err(io::Error::other)?.status;
    status.and_then(|it| it.token).ok_or_else(|| io::Error::other("the API server gave out no token"))
}

/// Asks as a kubelet does.
async fn until_ready(port: u16) {
    while !is_ready(port).await.unwrap_or(false) {
        sleep(PROBE_PERIOD).await;
    }
}

async fn is_ready(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer.starts_with("HTTP/1.1 200"))
}

#[cfg(test)]
mod tests {
    use grove_scheduler::builtin::builtin;

    use super::*;

    #[test]
    fn the_configuration_is_valid() {
        let [webhooks, health, metrics] = free_ports().unwrap();
        let source = Source {
            name: "test".to_owned(),
            text: configuration([webhooks, health, metrics], Duration::from_millis(2500)),
        };
        let mut report = Report::default();
        let loaded = load_configuration(&source, &builtin(), &mut report).unwrap();
        assert!(!loaded.config.leader_election.enabled && loaded.warnings.is_empty());
        assert_eq!(loaded.config.server.webhooks.port, webhooks);
        assert_eq!(loaded.config.node_loss.after.nanos(), Ok(2_500_000_000));
    }
}
