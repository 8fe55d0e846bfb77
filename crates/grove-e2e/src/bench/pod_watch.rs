//! When pods came, were bound, became ready and went. The clock is read where the event arrives, and of a pod only what
//! is asked for is kept, because the machine that is measured is the one that we run on.

use std::{collections::BTreeMap, time::Instant};

use anyhow::{Context as _, Result, bail};
use futures::{StreamExt, pin_mut};
use kube::{Client, core::WatchEvent};
use serde::Deserialize;
use tokio::{sync::watch, task::JoinHandle};

use crate::cluster::http_get;

/// Longer than any run.
const WATCH_SECONDS: u32 = 3600;

/// What becomes of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    Created,
    /// Without a gate.
    Released,
    Bound,
    Ready,
    Gone,
}

/// How many pods have reached a stage, when the first of them did and when the last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) count: usize,
    pub(super) first: Option<Instant>,
    pub(super) last: Option<Instant>,
}

/// How far all pods are.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress {
    steps: BTreeMap<Stage, Step>,
    /// Why nothing more is known.
    pub(super) ended: Option<String>,
}

impl Progress {
    pub(super) fn of(&self, stage: Stage) -> Step {
        self.steps.get(&stage).copied().unwrap_or_default()
    }

    /// Takes note that a pod which was at `before` is now at `stage`; stages it was not seen in, it passed. Of a pod that
    /// goes this is not said: it may never have been bound.
    fn reached(&mut self, before: Option<Stage>, stage: Stage, at: Instant) {
        let passed = match stage {
            Stage::Created => &[Stage::Created][..],
            Stage::Released => &[Stage::Created, Stage::Released],
            Stage::Bound => &[Stage::Created, Stage::Released, Stage::Bound],
            Stage::Ready => &[Stage::Created, Stage::Released, Stage::Bound, Stage::Ready],
            Stage::Gone => &[Stage::Gone],
        };
        for passed in passed.iter().filter(|it| before.is_none_or(|before| **it > before)) {
            let step = self.steps.entry(*passed).or_default();
            step.count += 1;
            step.first.get_or_insert(at);
            step.last = Some(at);
        }
    }
}

/// A pod, as far as we look.
#[derive(Clone, Debug, Deserialize)]
struct Pod {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    resource_version: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
    #[serde(default)]
    scheduling_gates: Vec<serde::de::IgnoredAny>,
}

#[derive(Clone, Debug, Default, Deserialize)]
struct Status {
    #[serde(default)]
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug, Deserialize)]
struct Condition {
    r#type: String,
    status: String,
}

impl Pod {
    fn stage(&self) -> Stage {
        if self.status.conditions.iter().any(|it| it.r#type == "Ready" && it.status == "True") {
            Stage::Ready
        } else if self.spec.node_name.is_some() {
            Stage::Bound
        } else if self.spec.scheduling_gates.is_empty() {
            Stage::Released
        } else {
            Stage::Created
        }
    }
}

#[derive(Deserialize)]
struct List {
    metadata: ListMetadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    resource_version: String,
}

/// A running watch; it ends with this value.
pub(super) struct PodWatch {
    progress: watch::Receiver<Progress>,
    task: JoinHandle<()>,
}

impl PodWatch {
    /// Watches the pods of a namespace from now on.
    pub(super) async fn open(client: &Client, namespace: &str) -> Result<Self> {
        let path = format!("/api/v1/namespaces/{namespace}/pods");
        let list: List = client.request(http_get(&format!("{path}?limit=1"))?).await.context("list pods")?;
        let (client, version) = (client.clone(), list.metadata.resource_version);
        let (sender, progress) = watch::channel(Progress::default());
        let task = tokio::spawn(async move {
            if let Err(error) = follow(&client, &path, version, &sender).await {
                sender.send_modify(|progress| progress.ended = Some(format!("{error:#}")));
            }
        });
        Ok(Self { progress, task })
    }

    /// How far the pods are, now and whenever that changes.
    pub(super) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.clone()
    }
}

impl Drop for PodWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Follows the pods since `version`, for ever. Where a machine is overloaded, the API server ends watches that lag behind
/// by a few events, ours and its own components' likewise; we go on where that one ended and miss nothing.
async fn follow(
    client: &Client,
    path: &str,
    mut version: String,
    progress: &watch::Sender<Progress>,
) -> Result<()> {
    let mut pods: BTreeMap<String, Stage> = BTreeMap::new();
    loop {
        let query = format!("watch=1&resourceVersion={version}&timeoutSeconds={WATCH_SECONDS}");
        let events = client.request_events::<Pod>(http_get(&format!("{path}?{query}"))?).await?;
        pin_mut!(events);
        while let Some(event) = events.next().await {
            let at = Instant::now();
            let (metadata, stage) = match event? {
                WatchEvent::Added(pod) | WatchEvent::Modified(pod) => {
                    let stage = pod.stage();
                    (pod.metadata, stage)
                }
                WatchEvent::Deleted(pod) => (pod.metadata, Stage::Gone),
                WatchEvent::Bookmark(_) => continue,
                WatchEvent::Error(status) => bail!("{}", status.message),
            };
            version = metadata.resource_version;
            let before = pods.get(&metadata.name).copied();
            // A pod that terminates turns unready; it does not go back.
            if before.is_none_or(|before| stage > before) {
                pods.insert(metadata.name, stage);
                progress.send_modify(|progress| progress.reached(before, stage, at));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_stage_is_counted_once_and_what_was_passed_with_it() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut progress = Progress::default();
        progress.reached(None, Stage::Created, at(1));
        progress.reached(None, Stage::Ready, at(2));
        progress.reached(Some(Stage::Created), Stage::Ready, at(3));
        progress.reached(Some(Stage::Ready), Stage::Gone, at(4));

        let step = |count, first, last| Step { count, first: Some(at(first)), last: Some(at(last)) };
        assert_eq!(progress.of(Stage::Created), step(2, 1, 2));
        assert_eq!(progress.of(Stage::Bound), step(2, 2, 3));
        assert_eq!(progress.of(Stage::Ready), step(2, 2, 3));
        assert_eq!(progress.of(Stage::Gone), step(1, 4, 4));
    }

    #[test]
    fn a_pod_is_as_far_as_its_fields_say() {
        let pod = |text: &str| serde_json::from_str::<Pod>(text).unwrap().stage();
        assert_eq!(
            pod(
                r#"{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"schedulingGates":[{"name":"g"}]}}"#
            ),
            Stage::Created
        );
        assert_eq!(
            pod(r#"{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"containers":[]}}"#),
            Stage::Released
        );
        assert_eq!(
            pod(r#"{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"nodeName":"n"}}"#),
            Stage::Bound
        );
        let ready = r#"{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"nodeName":"n"},
            "status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":null}]}}"#;
        assert_eq!(pod(ready), Stage::Ready);
    }
}
