//! A simulated cluster as one program: the API server, nodes, scheduler and controllers of `grove up`, and nothing of Grove.

use std::{
    fs::{self, File},
    io::Write as _,
    net::Ipv4Addr,
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::Result;
use grove_apiserver::{AuditSink, StaticTokens};
use grove_sandbox::{
    Certificate, ClusterOptions, ControlPlane, ControlPlaneOptions, ControllerOptions, SandboxCluster,
    SandboxOptions, scheduler::SchedulerOptions,
};
use serde_json::Value;
use tokio::net::TcpListener;

use super::client;

/// A real one waits longer, because its kubelets are a program that competes with others for the processors.
const NODE_GRACE: Duration = Duration::from_secs(5);
/// Whose reads are audited.
const ACCOUNTS: &str = "system:serviceaccount:grove-system:";

/// Serves a cluster with the certificates in the folder until `stop` resolves.
pub async fn serve_sandbox(
    folder: &Path,
    port: u16,
    with_scheduler: bool,
    stop: impl Future<Output = Result<()>>,
) -> Result<()> {
    let pki = |file: &str| fs::read(folder.join("pki").join(file));
    let control_plane = ControlPlane::start(ControlPlaneOptions {
        listener: TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?,
        certificate: Certificate { certificate: pki("apiserver.crt")?, key: pki("apiserver.key")? },
        authority: String::from_utf8(pki("ca.crt")?)?,
        has_client_certificates: true,
        tokens: StaticTokens::default(),
        audit: Some(audit(&folder.join("log/audit.log"))?),
    })?;
    let client = client(&folder.join("admin.kubeconfig")).await?;
    let controllers =
        ControllerOptions { node_monitor_grace_period: NODE_GRACE, ..ControllerOptions::default() };
    let options = ClusterOptions {
        sandbox: SandboxOptions { controllers, ..SandboxOptions::default() },
        scheduler: with_scheduler.then(SchedulerOptions::default),
    };
    let cluster = SandboxCluster::start(control_plane, &client, options);
    stop.await?;
    cluster.stop().await;
    Ok(())
}

/// What the audit policy of a real cluster keeps.
fn audit(file: &Path) -> Result<AuditSink> {
    let file = Mutex::new(File::create(file)?);
    Ok(AuditSink::new(move |line| {
        let Ok(event) = serde_json::from_str::<Value>(line) else { return };
        let is_read = ["get", "list", "watch"].iter().any(|it| event["verb"] == *it);
        let is_ours = event["user"]["username"].as_str().is_some_and(|it| it.starts_with(ACCOUNTS));
        let is_heartbeat = event["objectRef"]["apiGroup"] == "coordination.k8s.io";
        if is_ours || !(is_read || is_heartbeat) {
            // Who reads it notices what is missing.
            let _ = writeln!(file.lock().unwrap_or_else(PoisonError::into_inner), "{}", line.trim_end());
        }
    }))
}
