//! A cluster of its own, whose kubelets run the shipped image, and how an installation on it is doing.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ContainerStatus, Pod},
};
use kube::{Api, ResourceExt, api::ListParams};

use crate::{
    cluster::{Cluster, Options, last_words},
    nodes::Hall,
    operator::account::{NAMESPACE, USER},
    pods::{Image, PodRunner},
    scenario::{Artefacts, Context},
};

/// What manifests call the image, which is in no registry.
pub(super) const REPOSITORY: &str = "registry.example.com/grove";
/// Likewise.
pub(super) const TAG: &str = "shipped";
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(200);
/// The Deployment.
const DEPLOYMENT: &str = "grove-operator";

/// A cluster for installations.
pub(super) struct Stage {
    /// Its own, with a namespace for users.
    pub(super) context: Context,
    pub(super) runner: PodRunner,
    pub(super) artefacts: Artefacts,
}

impl Stage {
    /// Starts it. It ends when it is dropped.
    pub(super) async fn open(outer: &Context, hall: Hall) -> Result<Self> {
        let folder = outer.cluster.options.folder.join(&outer.namespace);
        let options = Options { folder: folder.clone(), ..outer.cluster.options.clone() };
        let cluster = Cluster::start(options, outer.cluster.programs.clone()).await?;
        let artefacts = Artefacts::find();
        let image = Image::unpack(&artefacts.image, &folder.join("image")).await?;
        let images = BTreeMap::from([(format!("{REPOSITORY}:{TAG}"), image)]);
        let runner = PodRunner::start(&cluster, images)?;
        let mut context = Context::new(cluster).await?;
        context.begin("users").await?;
        context.nodes(hall).await?;
        Ok(Self { context, runner, artefacts })
    }

    /// Waits until all pods of the Deployment are of its newest template and ready. A container that fails is an error at once.
    pub(super) async fn until_ready(&self, deadline: Duration) -> Result<()> {
        self.wait(deadline, false).await
    }

    /// Likewise, after a container was killed.
    pub(super) async fn until_ready_again(&self, deadline: Duration) -> Result<()> {
        self.wait(deadline, true).await
    }

    async fn wait(&self, deadline: Duration, may_fail: bool) -> Result<()> {
        let deployments: Api<Deployment> = Api::namespaced(self.context.client(), NAMESPACE);
        let end = Instant::now() + deadline;
        loop {
            let deployment = deployments.get_opt(DEPLOYMENT).await?;
            let pods = self.pods().await?;
            if deployment.as_ref().is_some_and(|it| is_rolled_out(it) && are_ready(it, &pods)) {
                return Ok(());
            }
            for pod in pods {
                let failed = !may_fail && container(&pod).is_some_and(|it| it.restart_count > 0);
                ensure!(!failed, "a container failed: {}", line(&pod));
            }
            if Instant::now() > end {
                bail!("the operator is not ready within {deadline:?}");
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The pods of the operator.
    pub(super) async fn pods(&self) -> Result<Vec<Pod>> {
        let pods: Api<Pod> = Api::namespaced(self.context.client(), NAMESPACE);
        Ok(pods.list(&ListParams::default()).await?.items)
    }

    /// The operator's pods and the ends of their logs, for failures.
    pub(super) async fn report(&self) -> Result<String> {
        let mut text = String::new();
        for pod in self.pods().await? {
            let log = self.context.cluster.log(&format!("pod-{}", pod.name_any()));
            let _ = write!(text, "\n  {}\n  end of its log:{}", line(&pod), last_words(&log));
        }
        Ok(if text.is_empty() { "\n  there are no pods".to_owned() } else { text })
    }

    /// Fails if the operator was refused something for want of a right.
    pub(super) fn nothing_was_refused(&self) -> Result<()> {
        let requests = self.context.cluster.requests_of(USER)?;
        let refused: Vec<String> = requests.iter().filter(|it| it.refused).map(ToString::to_string).collect();
        ensure!(!requests.is_empty(), "the operator asked for nothing");
        ensure!(refused.is_empty(), "the operator's account may not: {}", refused.join("; "));
        Ok(())
    }

    /// Ends the cluster, and adds the report to a failure.
    pub(super) async fn close(self, result: Result<()>) -> Result<()> {
        if let Err(error) = result {
            let report = self.report().await.unwrap_or_default();
            let logs = self.context.cluster.log("*");
            bail!("{error:#}\n  the operator's pods:{report}\n  all logs: less {}", logs.display());
        }
        drop(self.runner);
        self.context.cluster.stop().await
    }
}

fn is_rolled_out(deployment: &Deployment) -> bool {
    let Some(status) = &deployment.status else { return false };
    let wanted = deployment.spec.replicas.or(Some(1));
    status.observed_generation >= deployment.metadata.generation
        && [status.replicas, status.updated_replicas, status.available_replicas] == [wanted; 3]
}

/// As many pods as the Deployment asks for, all ready and none terminating: its status may be older than its pods.
fn are_ready(deployment: &Deployment, pods: &[Pod]) -> bool {
    let wanted = deployment.spec.replicas.unwrap_or(1);
    let is_ready =
        |it: &Pod| it.metadata.deletion_timestamp.is_none() && container(it).is_some_and(|it| it.ready);
    usize::try_from(wanted) == Ok(pods.len()) && pods.iter().all(is_ready)
}

fn container(pod: &Pod) -> Option<&ContainerStatus> {
    pod.status.as_ref()?.container_statuses.as_ref()?.first()
}

/// A pod in one line: its node, and whether and why it is not ready.
fn line(pod: &Pod) -> String {
    let status = pod.status.clone().unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    // ContainersReady has the same message. A pod that is on no node has PodScheduled alone.
    let unmet = conditions.into_iter().filter(|it| it.status != "True" && it.type_ != "ContainersReady");
    let why: Vec<String> = unmet.filter_map(|it| Some(format!("{}: {}", it.type_, it.message?))).collect();
    let node = pod.spec.as_ref().and_then(|it| it.node_name.clone()).unwrap_or_else(|| "no node".to_owned());
    let mut line = format!("{} on {node}, {}", pod.name_any(), status.phase.unwrap_or_default());
    if let Some(it) = container(pod) {
        let _ = write!(line, ", ready: {}, restarts: {}", it.ready, it.restart_count);
        if let Some(end) = it.last_state.as_ref().and_then(|it| it.terminated.as_ref()) {
            let _ = write!(line, ", ended with {}", end.exit_code);
        }
    }
    if why.is_empty() { line } else { format!("{line}; {}", why.join("; ")) }
}
