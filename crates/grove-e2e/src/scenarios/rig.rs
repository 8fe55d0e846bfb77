//! The rig itself: what it simulates, what it runs for real, and that it leaves nothing behind.

use std::{
    net::TcpStream,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::gang;
use crate::{
    cluster::{Cluster, Options, Simulated, client, detached},
    nodes::{Hall, INIT_CONTAINER, InitContainers, node_name},
    scenario::{Context, DEADLINE, PodState, eventually},
};

fn annotated(key: &str, value: &str) -> Value {
    json!({ "metadata": { "annotations": { format!("e2e.grove.io/{key}"): value } } })
}

/// Pods become ready, late, never; they end, fail, crash again and again, and take their time to go: by annotation.
pub(super) async fn simulated_pods(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(2)).await?;
    for (name, key, value) in [
        ("late", "ready-after", "8s"),
        ("never", "never-ready", "true"),
        ("ends", "complete-after", "100ms"),
        ("fails", "fail-after", "100ms"),
        ("crashes", "crash-after", "100ms"),
        ("lingers", "terminate-after", "8s"),
    ] {
        context.pod(name, 1, annotated(key, value)).await?;
    }
    context.pod("plain", 1, json!({})).await?;
    let get =
        |pods: &[PodState], name: &str| pods.iter().find(|it| it.name == name).cloned().unwrap_or_default();

    // The late one is not ready when a plain one, created after it, is.
    let pods = context.expect("a plain pod is ready", |pods| get(pods, "plain").ready).await?;
    ensure!(!get(&pods, "late").ready, "the late pod was not late");
    let pods = context
        .expect("all have come to what they should", |pods| {
            get(pods, "late").ready
                && get(pods, "ends").phase == "Succeeded"
                && get(pods, "fails").phase == "Failed"
                && get(pods, "crashes").restarts >= 2
        })
        .await?;
    ensure!(
        get(&pods, "never").phase == "Running" && !get(&pods, "never").ready,
        "the pod that is never ready is"
    );

    let api: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    for name in ["lingers", "plain"] {
        api.delete(name, &DeleteParams::default().grace_period(30)).await?;
    }
    let pods =
        context.expect("a plain pod goes at once", |pods| pods.iter().all(|it| it.name != "plain")).await?;
    ensure!(get(&pods, "lingers").terminating, "the lingering pod did not linger");
    context.expect("the lingering pod goes", |pods| pods.iter().all(|it| it.name != "lingers")).await?;
    Ok(())
}

/// A node that is lost is noticed: tainted, and its pod no longer ready until the node is back.
pub(super) async fn lost_node(context: &mut Context) -> Result<()> {
    context.nodes(Hall::racks(1).nodes(1)).await?;
    context.pod("victim", 1, json!({})).await?;
    context.expect("the pod is ready", |pods| pods.iter().any(|it| it.ready)).await?;
    context.lose_node(&node_name(0, 0), true).await?;
    context.expect("the pod is not ready", |pods| pods.iter().all(|it| !it.ready)).await?;
    eventually("the node is tainted", DEADLINE, || async {
        let node = Api::<Node>::all(context.client()).get(&node_name(0, 0)).await?;
        let taints = node.spec.and_then(|it| it.taints).unwrap_or_default();
        ensure!(taints.iter().any(|it| it.key == "node.kubernetes.io/unreachable"), "no taint: {taints:?}");
        Ok(())
    })
    .await?;
    context.lose_node(&node_name(0, 0), false).await?;
    context.expect("the pod is ready again", |pods| pods.iter().any(|it| it.ready)).await?;
    Ok(())
}

/// The init container of a pod is a real process that sees the pod's annotations change, and its failure counts.
pub(super) async fn init_containers_run_for_real(context: &mut Context) -> Result<()> {
    let _running = InitContainers::start(&context.cluster, Path::new("/bin/sh"));
    context.nodes(Hall::racks(1).nodes(1)).await?;
    let waits = "until grep -q go=.yes /podinfo/annotations; do sleep 0.05; done; test \"$CODE $(cat /podinfo/name)\" = \"0 waits\"";
    for (name, script, code) in [("waits", waits, "0"), ("fails", "exit $CODE", "3")] {
        let pod = json!({ "spec": {
            "initContainers": [{
                "name": INIT_CONTAINER,
                "image": "none",
                "args": ["-c", script],
                "env": [{ "name": "CODE", "value": code }],
                "volumeMounts": [{ "name": "podinfo", "mountPath": "/podinfo" }],
            }],
            "volumes": [{ "name": "podinfo", "downwardAPI": { "items": [
                { "path": "annotations", "fieldRef": { "fieldPath": "metadata.annotations" } },
                { "path": "name", "fieldRef": { "fieldPath": "metadata.name" } },
            ] } }],
        } });
        context.pod(name, 1, pod).await?;
    }
    let api: Api<Pod> = Api::namespaced(context.client(), &context.namespace);
    let failed = async {
        loop {
            let status = api.get("fails").await?.status.unwrap_or_default();
            let init = status.init_container_statuses.into_iter().flatten().next();
            let code =
                init.as_ref().and_then(|it| it.state.as_ref()?.terminated.as_ref().map(|it| it.exit_code));
            if code == Some(3) && init.is_some_and(|it| it.restart_count > 0) {
                return Ok::<(), kube::Error>(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(DEADLINE, failed).await.context("the failure is not reported")??;
    let ready = |pods: &[PodState], name: &str| pods.iter().any(|it| it.name == name && it.ready);
    ensure!(
        !ready(&context.log.now(&context.namespace), "waits"),
        "the pod did not wait for its init container"
    );
    context.annotate_pod("waits", "go", "yes").await?;
    let pods = context.expect("the pod that waited is ready", |pods| ready(pods, "waits")).await?;
    ensure!(!ready(&pods, "fails"), "a pod whose init container fails is ready");

    // What kwok does where it creates a pod a second time, from a state that is older than the report.
    let conditions = ["Initialized", "Ready"].map(|it| json!({ "type": it, "status": "False" }));
    let waits_again = json!({ "status": { "phase": "Pending", "conditions": conditions } });
    api.patch_status("waits", &PatchParams::default(), &Patch::Strategic(&waits_again)).await?;
    eventually("the pod that waits again is ready", DEADLINE, || async {
        let status = api.get("waits").await?.status.unwrap_or_default();
        let conditions = status.conditions.unwrap_or_default();
        ensure!(conditions.iter().any(|it| it.type_ == "Ready" && it.status == "True"), "{conditions:?}");
        Ok(())
    })
    .await
}

/// Two clusters do not know of each other, and one goes on when the other ends.
pub(super) async fn two_clusters_side_by_side(context: &mut Context) -> Result<()> {
    let folder = context.cluster.options.folder.join("second");
    let options = Options { folder, ..context.cluster.options.clone() };
    let second = Cluster::start(options, context.cluster.programs.clone()).await?;
    let here: Api<ConfigMap> = Api::namespaced(context.client(), &context.namespace);
    let there: Api<ConfigMap> = Api::namespaced(second.client.clone(), "default");
    let mark: ConfigMap = serde_json::from_value(json!({ "metadata": { "name": "mark" } }))?;
    here.create(&PostParams::default(), &mark).await?;
    ensure!(there.get_opt("mark").await?.is_none(), "the second cluster sees the first one's objects");
    there.create(&PostParams::default(), &mark).await?;
    second.stop().await?;
    ensure!(there.get("mark").await.is_err(), "the second cluster still answers");
    here.get("mark").await.context("the first cluster went with the second")?;
    Ok(())
}

/// Kubernetes' own scheduler, as it is released, places a gang on the API server, the nodes and the controllers of the sandbox.
pub(super) async fn kube_scheduler_on_the_sandbox(context: &mut Context) -> Result<()> {
    let folder = context.cluster.options.folder.join("sandbox");
    let options =
        Options { folder, simulated: Simulated::AllButScheduler, ..context.cluster.options.clone() };
    let mut sandbox = Context::new(Cluster::start(options, context.cluster.programs.clone()).await?).await?;
    sandbox.begin("gang").await?;
    gang::hierarchy_in_one_rack(&mut sandbox).await?;
    sandbox.cluster.stop().await
}

/// SIGKILL of a harness in the middle leaves no process and no port.
pub(super) async fn killed_harness_leaves_nothing(context: &mut Context) -> Result<()> {
    let folder = context.cluster.options.folder.join("doomed");
    let mut harness = tokio::process::Command::new(std::env::current_exe()?)
        .args(["cluster", "--racks=1", "--nodes=1", "--folder"])
        .arg(&folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let up = async {
        while detached(&folder).is_none() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(DEADLINE, up).await.context("the second harness does not start")?;
    let server = client(&folder.join("admin.kubeconfig")).await;
    server?.apiserver_version().await.context("the second cluster does not answer")?;
    let port = api_port(&folder)?;
    let before = processes_in(&folder);
    ensure!(before.len() >= 5, "only {before:?} run in {}", folder.display());

    harness.kill().await?;
    let gone = async {
        while !processes_in(&folder).is_empty() || TcpStream::connect(("127.0.0.1", port)).is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    if tokio::time::timeout(DEADLINE, gone).await.is_err() {
        bail!("still there: {:?}, port {port}", processes_in(&folder));
    }
    Ok(())
}

pub(super) fn api_port(folder: &Path) -> Result<u16> {
    let text = std::fs::read_to_string(folder.join("admin.kubeconfig"))?;
    let port = text.split("127.0.0.1:").nth(1).and_then(|it| it.split('"').next());
    port.and_then(|it| it.parse().ok()).context("no port in the kubeconfig")
}

/// Programs that run in a cluster's folder or below, as all of its programs do.
pub(super) fn processes_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let runs_here =
        |it: &PathBuf| std::fs::read_link(it.join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    entries.map(|it| it.path()).filter(runs_here).collect()
}
