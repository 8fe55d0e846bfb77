//! The vocabulary of scenarios.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use anyhow::{Context as _, Result};
use k8s_openapi::{
    api::core::v1::{Namespace, Node, Pod},
    jiff::Timestamp,
};
use kube::{
    Api, Client,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use super::{GangState, PodState, WatchLog, words::Words};
use crate::{
    cluster::{Cluster, Gates, Scheduler},
    nodes::{Hall, kubelet},
    objects,
    operator::{Operator, OperatorOptions, account},
};

/// How long anything may take, on a machine that also builds.
pub(crate) const DEADLINE: Duration = Duration::from_mins(3);

/// What a scenario works with: a cluster, a namespace of its own, the history of its pods.
pub struct Context {
    /// The cluster; programs can be stopped and started in it.
    pub cluster: Cluster,
    /// The scenario's own namespace.
    pub namespace: String,
    /// The history of pods.
    pub log: WatchLog<PodState>,
    operator: Option<(Operator, WatchLog<GangState>)>,
    pub(super) words: Words,
    /// When the scenario last changed something that a scheduler may react to.
    pub(super) last_change: Mutex<Timestamp>,
    hall: Option<Hall>,
}

impl Context {
    /// A context over `cluster`, without a namespace yet.
    pub(crate) async fn new(cluster: Cluster) -> Result<Self> {
        let log = WatchLog::open(cluster.client.clone()).await;
        let words = Words::open(cluster.client.clone());
        let last_change = Mutex::new(Timestamp::now());
        Ok(Self { cluster, namespace: String::new(), log, words, operator: None, last_change, hall: None })
    }

    /// Begins a scenario: a namespace of its own.
    pub(crate) async fn begin(&mut self, name: &str) -> Result<()> {
        self.namespace = name.replace('_', "-");
        let namespace: Namespace = serde_json::from_value(json!({ "metadata": { "name": self.namespace } }))?;
        Api::all(self.client()).create(&PostParams::default(), &namespace).await?;
        // Pods are refused until the service account is there.
        let accounts: Api<k8s_openapi::api::core::v1::ServiceAccount> =
            Api::namespaced(self.client(), &self.namespace);
        let waiting = async {
            while accounts.get_opt("default").await?.is_none() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok::<(), kube::Error>(())
        };
        tokio::time::timeout(DEADLINE, waiting).await.context("no service account")??;
        Ok(())
    }

    /// Takes the nodes that the scenario asked for.
    pub(super) fn take_hall(&mut self) -> Option<Hall> {
        self.hall.take()
    }

    /// Starts an operator that ends with the scenario, on a cluster that knows our kinds.
    pub async fn start_operator(&mut self, options: OperatorOptions) -> Result<()> {
        objects::install_crds(&self.client()).await?;
        let gangs = WatchLog::open(self.client()).await;
        let operator = Operator::start(&self.cluster, options).await?;
        self.operator = Some((operator, gangs));
        Ok(())
    }

    /// The operator.
    pub fn operator(&mut self) -> Result<&mut Operator> {
        Ok(&mut self.operator.as_mut().context("no operator was started")?.0)
    }

    /// The operator, to be asked.
    pub fn operator_ref(&self) -> Result<&Operator> {
        Ok(&self.operator.as_ref().context("no operator was started")?.0)
    }

    /// The history of gangs, since the operator was started for the first time.
    pub fn gangs(&self) -> Result<&WatchLog<GangState>> {
        Ok(&self.operator.as_ref().context("no operator was started")?.1)
    }

    /// Ends the operator, if there is one. As it should: one that is killed holds its lease, and the next would wait for it.
    pub(crate) async fn end_operator(&mut self) -> Result<bool> {
        let Some((mut operator, _)) = self.operator.take() else { return Ok(false) };
        if operator.is_running() {
            operator.stop().await?;
        }
        if operator.has_webhooks() {
            account::remove_webhooks(&self.client()).await?;
        }
        Ok(true)
    }

    /// An admin's client.
    pub fn client(&self) -> Client {
        self.cluster.client.clone()
    }

    /// The scheduler under test.
    pub fn scheduler(&self) -> Scheduler {
        self.cluster.options.scheduler
    }

    /// The features of the cluster.
    pub fn gates(&self) -> Gates {
        self.cluster.options.gates
    }

    /// Makes the nodes of the scenario; they go with it.
    pub async fn nodes(&mut self, hall: Hall) -> Result<()> {
        self.hall = Some(hall);
        hall.create(&self.client(), self.scheduler()).await?;
        let nodes: Api<Node> = Api::all(self.client());
        let wanted = hall.to_nodes().len();
        let waiting = async {
            loop {
                let list = nodes.list_metadata(&ListParams::default()).await?;
                let ready =
                    nodes.list(&ListParams::default()).await?.items.iter().filter(|it| is_ready(it)).count();
                if ready >= wanted && list.items.len() >= wanted {
                    return Ok::<(), kube::Error>(());
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        tokio::time::timeout(DEADLINE, waiting).await.context("nodes do not become ready")??;
        Ok(())
    }

    /// Applies YAML, into the scenario's namespace.
    pub async fn apply(&self, text: &str) -> Result<()> {
        objects::apply_text(&self.client(), text, Some(&self.namespace)).await?;
        self.changed();
        Ok(())
    }

    fn changed(&self) {
        *self.last_change.lock().unwrap_or_else(PoisonError::into_inner) = Timestamp::now();
    }

    /// Creates a pod that asks for GPUs. `more` is merged into it.
    pub async fn pod(&self, name: &str, gpus: u32, more: Value) -> Result<()> {
        let mut pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": { "name": name },
            "spec": {
                "schedulerName": self.scheduler().pod_name(),
                "terminationGracePeriodSeconds": 0,
                "containers": [{
                    "name": "main",
                    "image": "none",
                    "resources": {
                        "requests": { "cpu": "1", "nvidia.com/gpu": gpus.to_string() },
                        "limits": { "nvidia.com/gpu": gpus.to_string() },
                    },
                }],
            },
        });
        json_patch::merge(&mut pod, &more);
        let pods: Api<Pod> = Api::namespaced(self.client(), &self.namespace);
        pods.create(&PostParams::default(), &serde_json::from_value(pod)?).await?;
        self.changed();
        Ok(())
    }

    /// Deletes a pod and waits until it is gone.
    pub async fn delete_pod(&self, name: &str) -> Result<()> {
        let pods: Api<Pod> = Api::namespaced(self.client(), &self.namespace);
        pods.delete(name, &DeleteParams::default().grace_period(0)).await?;
        let gone = |pods: &[PodState]| pods.iter().all(|it| it.name != name);
        self.expect(&format!("pod {name} is gone"), gone).await?;
        self.changed();
        Ok(())
    }

    /// A node's kubelet is silent from now on, or back again.
    pub async fn lose_node(&self, node: &str, lost: bool) -> Result<()> {
        let client = self.client();
        if lost {
            kubelet::silence(&client, node).await?;
        } else {
            kubelet::revive(&client, node).await?;
        }
        self.changed();
        Ok(())
    }

    /// Sets an annotation of a pod.
    pub async fn annotate_pod(&self, pod: &str, key: &str, value: &str) -> Result<()> {
        let pods: Api<Pod> = Api::namespaced(self.client(), &self.namespace);
        let patch = json!({ "metadata": { "annotations": { key: value } } });
        pods.patch(pod, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        Ok(())
    }

    /// Keeps new pods off a node, or lets them on again.
    pub async fn cordon(&self, node: &str, cordoned: bool) -> Result<()> {
        let nodes: Api<Node> = Api::all(self.client());
        let patch = json!({ "spec": { "unschedulable": cordoned } });
        nodes.patch(node, &PatchParams::default(), &Patch::Merge(&patch)).await?;
        self.changed();
        Ok(())
    }

    /// Waits until the pods of the namespace are as `wanted` says.
    pub async fn expect(&self, what: &str, wanted: impl Fn(&[PodState]) -> bool) -> Result<Vec<PodState>> {
        self.log.until(&self.namespace, what, DEADLINE, wanted).await
    }

    /// Pods whose names begin with `prefix`, all bound: the nodes they are on.
    pub async fn expect_all_bound(&self, prefix: &str, count: usize) -> Result<Vec<String>> {
        let of = |pods: &[PodState]| {
            pods.iter()
                .filter(|it| it.name.starts_with(prefix))
                .filter_map(|it| it.node.clone())
                .collect::<Vec<_>>()
        };
        let pods =
            self.expect(&format!("{count} pods {prefix}* are bound"), |pods| of(pods).len() == count).await?;
        Ok(of(&pods))
    }
}

fn is_ready(node: &Node) -> bool {
    let conditions = node.status.as_ref().and_then(|it| it.conditions.as_ref());
    let ready = conditions.into_iter().flatten().any(|it| it.type_ == "Ready" && it.status == "True");
    let tainted = node.spec.as_ref().and_then(|it| it.taints.as_ref()).is_some_and(|it| !it.is_empty());
    ready && !tainted
}
