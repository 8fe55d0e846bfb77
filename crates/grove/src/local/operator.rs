//! The operator in this process, installed and connected as one that runs outside of its cluster.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use grove_operator::{Options, run_until};
use grove_sandbox::ControlPlane;
use grove_scheduler::Registry;
use kube::Client;
use tokio_util::sync::CancellationToken;

use super::{
    component::{Component, NAMESPACE, why, write_kubeconfig},
    folder::Folder,
    objects,
    ports::Ports,
};
use crate::{
    commands::{config::load_configuration, manifests},
    findings::Report,
    input::Source,
};

const ACCOUNT: &str = "grove-operator";

/// Installs what it needs, starts it and waits until it is ready.
pub(super) async fn start(
    registry: &Registry,
    client: &Client,
    control_plane: &ControlPlane,
    folder: &Folder,
    node_grace: Duration,
) -> io::Result<Component> {
    let ports = Ports::keep()?;
    let [webhooks, health, metrics] = ports.numbers;
    let file = folder.path().join("operator.yaml");
    let source = Source {
        name: file.display().to_string(),
        text: configuration([webhooks, health, metrics], node_grace),
    };
    Folder::write_private(&file, &source.text)?;
    let url = format!("https://{}", SocketAddr::from((Ipv4Addr::LOCALHOST, webhooks)));
    for object in manifests::for_webhook_url(registry, &file, &url)? {
        objects::apply(client, &object, NAMESPACE).await?;
    }
    let kubeconfig = folder.path().join("operator.kubeconfig");
    let kubeconfig = write_kubeconfig(client, control_plane, ACCOUNT, kubeconfig).await?;
    let loaded = load_configuration(&source, registry, &mut Report::default())
        .ok_or_else(|| io::Error::other("the operator's configuration is invalid"))?;
    let options = Options { kubeconfig: Some(kubeconfig), ..Options::default() };
    let registry = registry.clone();
    let run =
        async move { why(Box::pin(run_until(&registry, loaded, options, CancellationToken::new())).await) };
    Component::start("the operator", health, run).await
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

#[cfg(test)]
mod tests {
    use grove_scheduler::builtin::builtin;

    use super::*;

    #[test]
    fn the_configuration_is_valid() {
        let [webhooks, health, metrics] = [9443, 9444, 9445];
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
