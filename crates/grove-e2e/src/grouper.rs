//! Grove's pod grouper as a process of a cluster, with its own account.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client, api::PostParams};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    cluster::{Cluster, Command, Scheduler, free_ports},
    objects,
    operator::{account, program},
};

/// What it is called among the programs of the cluster.
pub const GROUPER: &str = "podgrouper";
/// Its service account.
const ACCOUNT: &str = "grove-podgrouper";
/// How the API server calls it.
pub const USER: &str = "system:serviceaccount:grove-system:grove-podgrouper";
/// How long it may take until it is ready.
const DEADLINE: Duration = Duration::from_mins(1);

/// Installs what a pod grouper of these schedulers needs, starts it, and waits until it is ready. It ends with the
/// scenario.
pub async fn start(cluster: &mut Cluster, schedulers: &[&str]) -> Result<()> {
    let program = program()?;
    let names: Vec<String> = schedulers.iter().map(|it| format!("--scheduler-name={it}")).collect();
    let mut arguments: Vec<&str> = vec!["--pod-grouper"];
    arguments.extend(names.iter().map(String::as_str));
    let all = objects::parse(&account::manifests(&program, &arguments).await?)?;
    for object in all.iter().filter(|it| it["kind"] != "Deployment") {
        objects::apply(&cluster.client, object.clone(), None).await?;
    }
    account::until_granted(&cluster.client, ACCOUNT, &all).await?;
    if schedulers.contains(&Scheduler::Kube.pod_name()) {
        until_policy_holds(&cluster.client).await?;
    }
    let kubeconfig = account::kubeconfig(cluster, ACCOUNT, GROUPER).await?;
    let [port] = free_ports()?;
    let mut arguments = vec![
        "podgrouper".to_owned(),
        "--metrics-bind-address=0".to_owned(),
        format!("--health-probe-bind-address=127.0.0.1:{port}"),
        "--qps=1000".to_owned(),
        "--burst=1000".to_owned(),
    ];
    arguments.extend(names);
    let command = Command {
        name: GROUPER.to_owned(),
        program,
        arguments,
        environment: [("KUBECONFIG".to_owned(), kubeconfig.display().to_string())].into(),
        log: cluster.log(GROUPER),
        folder: cluster.options.folder.clone(),
    };
    cluster.run_besides(command).await?;
    let asking = async {
        while !is_ready(port).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(DEADLINE, asking).await.is_err() {
        bail!("the pod grouper is not ready within {DEADLINE:?}; see {}", cluster.log(GROUPER).display());
    }
    Ok(())
}

/// Waits until the API server knows the policy that names groups: it reads it as everybody does, by watching.
async fn until_policy_holds(client: &Client) -> Result<()> {
    let owner = json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "none", "uid": "none", "controller": true });
    let pod = json!({
        "metadata": {
            "name": "policy-probe", "labels": { "grove.io/pod-grouper": "enabled" }, "ownerReferences": [owner],
        },
        "spec": { "containers": [{ "name": "main", "image": "none" }] },
    });
    let pod: Pod = serde_json::from_value(pod)?;
    let pods: Api<Pod> = Api::namespaced(client.clone(), "default");
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let asking = async {
        loop {
            let made = pods.create(&dry, &pod).await?;
            if made.spec.is_some_and(|it| it.scheduling_group.is_some()) {
                return Ok::<(), kube::Error>(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(DEADLINE, asking).await.context("the policy does not hold")??;
    Ok(())
}

async fn is_ready(port: u16) -> bool {
    let asking = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok::<bool, std::io::Error>(answer.starts_with("HTTP/1.1 200"))
    };
    asking.await.unwrap_or(false)
}
