//! The pod grouper in this process, installed and connected as one that runs outside of its cluster.

use std::{collections::BTreeMap, io, net::Ipv4Addr};

use grove_api::constants::schedulers;
use grove_podgrouper::{
    Hub, Settings,
    process::{Address, Options, run_until},
};
use grove_sandbox::ControlPlane;
use grove_scheduler::{
    Registry,
    workload::{ENABLE_LABEL, ENABLED},
};
use kube::Client;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{
    component::{Component, NAMESPACE, why, write_kubeconfig},
    folder::Folder,
    objects,
    ports::Ports,
};
use crate::commands::manifests;

const ACCOUNT: &str = "grove-podgrouper";
/// Where what a user creates goes. Its pods are grouped without being asked for it.
const USERS: &str = "default";

/// Installs what it needs, starts it and waits until it is ready.
pub(super) async fn start(
    registry: &Registry,
    hub: &Hub,
    client: &Client,
    control_plane: &ControlPlane,
    folder: &Folder,
) -> io::Result<Component> {
    for object in manifests::of_pod_grouper_outside(registry, hub, schedulers::DEFAULT)? {
        objects::apply(client, &object, NAMESPACE).await?;
    }
    objects::apply(client, &labelled(USERS), "").await?;
    let kubeconfig = folder.path().join("podgrouper.kubeconfig");
    let kubeconfig = write_kubeconfig(client, control_plane, ACCOUNT, kubeconfig).await?;
    let ports = Ports::keep()?;
    let [health] = ports.numbers;
    let options = Options {
        kubeconfig: Some(kubeconfig),
        metrics: None,
        metrics_token_file: None,
        health: Some(Address { host: Ipv4Addr::LOCALHOST.to_string(), port: health }),
        lease: None,
        qps: 1000.0,
        burst: 1200,
        schedulers: vec![schedulers::DEFAULT.to_owned()],
        pod_labels: BTreeMap::new(),
        namespace_labels: BTreeMap::new(),
        settings: Settings::default(),
        kind_defaults: None,
        concurrency: 10,
        verbose: false,
    };
    let (registry, hub) = (registry.clone(), hub.clone());
    let run =
        async move { why(Box::pin(run_until(&registry, hub, options, CancellationToken::new())).await) };
    Component::start("the pod grouper", health, run).await
}

/// A namespace whose pods are to be grouped.
fn labelled(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": { "name": name, "labels": { ENABLE_LABEL: ENABLED } },
    })
}
