//! Everything that happened to pods, in order: scenarios wait on it, and prove with it that something did not happen.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use futures::{StreamExt, pin_mut};
use k8s_openapi::api::core::v1::Pod;
use kube::{
    Api, Client, ResourceExt,
    runtime::{
        WatchStreamExt,
        watcher::{self, Event},
    },
};
use tokio::sync::watch;

/// What a scenario needs to know of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodState {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Node it is bound to.
    pub node: Option<String>,
    /// Whether it is ready.
    pub ready: bool,
    /// Names of its scheduling gates.
    pub gates: Vec<String>,
    /// Phase.
    pub phase: String,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// The scheduler's word on it: reason and message of the condition PodScheduled while it is False.
    pub unschedulable: Option<(String, String)>,
    /// Restarts of all its containers.
    pub restarts: i32,
}

impl PodState {
    fn of(pod: &Pod) -> Self {
        let (spec, status) = (pod.spec.clone().unwrap_or_default(), pod.status.clone().unwrap_or_default());
        let conditions = status.conditions.unwrap_or_default();
        let condition = |type_: &str| conditions.iter().find(|it| it.type_ == type_);
        let waiting = condition("PodScheduled").filter(|it| it.status == "False");
        Self {
            namespace: pod.namespace().unwrap_or_default(),
            name: pod.name_any(),
            node: spec.node_name,
            ready: condition("Ready").is_some_and(|it| it.status == "True"),
            gates: spec.scheduling_gates.into_iter().flatten().map(|it| it.name).collect(),
            phase: status.phase.unwrap_or_default(),
            terminating: pod.metadata.deletion_timestamp.is_some(),
            unschedulable: waiting
                .map(|it| (it.reason.clone().unwrap_or_default(), it.message.clone().unwrap_or_default())),
            restarts: status.container_statuses.into_iter().flatten().map(|it| it.restart_count).sum(),
        }
    }
}

/// One change; `after` is `None` where the pod is gone.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) at: Duration,
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) after: Option<PodState>,
}

#[derive(Default)]
struct History {
    now: BTreeMap<(String, String), PodState>,
    changes: Vec<Change>,
}

/// The history of all pods of a cluster since the log was opened.
#[derive(Clone)]
pub struct WatchLog {
    history: Arc<Mutex<History>>,
    changed: watch::Receiver<usize>,
}

impl WatchLog {
    /// Watches all pods from now on, for as long as the process lives.
    pub async fn open(client: Client) -> Self {
        let history: Arc<Mutex<History>> = Arc::default();
        let (notify, mut changed) = watch::channel(0);
        let writer = Arc::clone(&history);
        tokio::spawn(async move {
            let started = Instant::now();
            let events =
                watcher::watcher(Api::<Pod>::all(client), watcher::Config::default()).default_backoff();
            pin_mut!(events);
            // A watch that fails is tried again; a gap shows as a jump of states, never as a wrong one.
            while let Some(event) = events.next().await {
                let Ok(event) = event else { continue };
                let mut history = writer.lock().unwrap_or_else(PoisonError::into_inner);
                match event {
                    Event::Apply(pod) | Event::InitApply(pod) => {
                        let state = PodState::of(&pod);
                        let key = (state.namespace.clone(), state.name.clone());
                        if history.now.get(&key) != Some(&state) {
                            let change = Change {
                                at: started.elapsed(),
                                name: key.1.clone(),
                                namespace: key.0.clone(),
                                after: Some(state.clone()),
                            };
                            history.changes.push(change);
                            history.now.insert(key, state);
                        }
                    }
                    Event::Delete(pod) => {
                        let key = (pod.namespace().unwrap_or_default(), pod.name_any());
                        history.now.remove(&key);
                        history.changes.push(Change {
                            at: started.elapsed(),
                            name: key.1,
                            namespace: key.0,
                            after: None,
                        });
                    }
                    Event::Init | Event::InitDone => {}
                }
                drop(history);
                notify.send_modify(|count| *count += 1);
            }
        });
        // The first events say that the watch stands.
        let _ = changed.changed().await;
        Self { history, changed }
    }

    /// The pods of a namespace as they are now.
    pub fn pods(&self, namespace: &str) -> Vec<PodState> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.now.values().filter(|it| it.namespace == namespace).cloned().collect()
    }

    /// A place in the history, to look back to.
    pub fn mark(&self) -> usize {
        self.history.lock().unwrap_or_else(PoisonError::into_inner).changes.len()
    }

    /// What happened in a namespace since `mark`.
    pub(crate) fn since(&self, mark: usize, namespace: &str) -> Vec<Change> {
        let history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
        history.changes[mark..].iter().filter(|it| it.namespace == namespace).cloned().collect()
    }

    /// Waits until the pods of a namespace are as `wanted` says.
    pub async fn until(
        &self,
        namespace: &str,
        what: &str,
        deadline: Duration,
        wanted: impl Fn(&[PodState]) -> bool,
    ) -> Result<Vec<PodState>> {
        let mut changed = self.changed.clone();
        let waiting = async {
            loop {
                let pods = self.pods(namespace);
                if wanted(&pods) {
                    return pods;
                }
                if changed.changed().await.is_err() {
                    // The watcher never ends by itself.
                    futures::future::pending::<()>().await;
                }
            }
        };
        match tokio::time::timeout(deadline, waiting).await {
            Ok(pods) => Ok(pods),
            Err(_) => bail!("not within {deadline:?}: {what}; pods are: {}", summary(&self.pods(namespace))),
        }
    }
}

/// Pods in one line each.
pub(crate) fn summary(pods: &[PodState]) -> String {
    let line = |it: &PodState| {
        let place = it
            .node
            .clone()
            .unwrap_or_else(|| it.unschedulable.as_ref().map_or("-".to_owned(), |it| it.0.clone()));
        let ready = if it.ready { " ready" } else { "" };
        let gates =
            if it.gates.is_empty() { String::new() } else { format!(" gated by {}", it.gates.join(",")) };
        let terminating = if it.terminating { " terminating" } else { "" };
        format!("\n    {} {} on {place}{ready}{gates}{terminating}", it.name, it.phase)
    };
    if pods.is_empty() { "none".to_owned() } else { pods.iter().map(line).collect() }
}
