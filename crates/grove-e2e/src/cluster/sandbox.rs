//! A simulated cluster as one program: the API server, nodes, scheduler and controllers of `grove up`, and nothing of Grove.

use std::{
    fs::{self, File},
    io::Write as _,
    net::Ipv4Addr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Result, anyhow};
use grove_apiserver::{
    ApiServer, AuditSink, Authentication, Authorization, Resources, ServeOptions, ServiceAccountTokens,
    bootstrap_roles, run_garbage_collector, serve, tls_config,
};
use grove_sandbox::{
    ControllerOptions, Sandbox, SandboxOptions,
    scheduler::{Scheduler, SchedulerOptions},
};
use k8s_openapi::jiff::Timestamp;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

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
    let (authority, certificate) = (pki("ca.crt")?, pki("apiserver.crt")?);
    let tls = tls_config(&certificate, &pki("apiserver.key")?, Some(&authority))?;
    let seed = Timestamp::now().as_nanosecond().unsigned_abs() & u128::from(u64::MAX);
    let server = ApiServer::new(
        Resources::cluster().with_definitions(),
        Timestamp::now,
        u64::try_from(seed).unwrap_or_default(),
    );
    bootstrap_roles(&server).map_err(|it| anyhow!(it.message))?;
    // Webhooks are reached by their URL: no Service has an address here.
    server.call_webhooks(|_, _, _| None);
    let options = ServeOptions {
        tls: Some(Arc::new(tls)),
        authentication: Authentication {
            service_accounts: Some(ServiceAccountTokens::generate()?),
            ..Authentication::default()
        },
        authorization: Authorization::Rbac,
        audit: Some(audit(&folder.join("log/audit.log"))?),
        ..ServeOptions::default()
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let handle = serve(listener, server.clone(), options)?;

    let client = client(&folder.join("admin.kubeconfig")).await?;
    let controllers = ControllerOptions {
        node_monitor_grace_period: NODE_GRACE,
        root_certificate: Some(String::from_utf8(authority)?),
        ..ControllerOptions::default()
    };
    let sandbox = Sandbox::start(client.clone(), SandboxOptions { controllers, ..SandboxOptions::default() });
    if with_scheduler {
        sandbox.parts().add("scheduler", move |stop: CancellationToken| {
            let scheduler = Scheduler::new(client.clone(), SchedulerOptions::default());
            async move { scheduler.run(stop).await }
        });
    }
    sandbox.parts().add("garbage-collector", move |stop: CancellationToken| {
        run_garbage_collector(server.clone(), stop.cancelled_owned())
    });
    stop.await?;
    sandbox.stop().await;
    handle.shutdown().await;
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
