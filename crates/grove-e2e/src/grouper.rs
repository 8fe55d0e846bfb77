//! Grove's pod grouper as a process of a cluster, with its own account.

use std::time::Duration;

use anyhow::{Result, bail};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    cluster::{Cluster, Command, free_ports},
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
