//! Proofs that a scheduler has had its turn, so that what it did not do can be told from what it has not done yet.

use std::{sync::PoisonError, time::Duration};

use anyhow::{Result, bail};
use k8s_openapi::jiff::Timestamp;
use serde_json::json;

use super::{Context, PodState, Watched};
use crate::cluster::Scheduler;

/// How long a scheduler may take to say that it still cannot place a pod: its longest backoff, and a bit.
const PATIENCE: Duration = Duration::from_secs(5);

/// The stock scheduler of these clusters tries again after a second, and looks once a second for what is due.
const LONGEST_BACKOFF: Duration = Duration::from_millis(2500);

impl Context {
    /// Shows that none of the pods whose names begin with `prefix` is bound although the scheduler has had its turn after
    /// the last change: by its own word on one of them that is newer, or, where it says no more, by a canary: a pod of
    /// the same scheduler, created now, that asks for nothing scarce. When that is bound, it has seen what came before.
    ///
    /// Pods that are bound later show in the next step, which looks at the same pods.
    pub async fn expect_none_bound(&self, prefix: &str) -> Result<()> {
        let since = *self.last_change.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.words.after(&self.namespace, prefix, since, PATIENCE).await {
            self.until_canary_sings().await?;
        }
        let pods = self.log.now(&self.namespace);
        let bound: Vec<PodState> =
            pods.into_iter().filter(|it| it.name.starts_with(prefix) && it.node.is_some()).collect();
        if !bound.is_empty() {
            bail!("bound, but should not be: {}", PodState::summary(&bound));
        }
        Ok(())
    }

    /// Waits until the scheduler has looked once more at everything that is there now. The stock one says so of one of the
    /// pods whose names begin with `prefix`, or its longest backoff has passed. The others try everything in every cycle,
    /// and a cycle that began before now has ended when a second canary is bound.
    pub(crate) async fn had_its_turn(&self, prefix: &str) -> Result<()> {
        let said = match self.scheduler() {
            Scheduler::Kube => {
                self.words.after(&self.namespace, prefix, Timestamp::now(), LONGEST_BACKOFF).await
            }
            Scheduler::Kai | Scheduler::Volcano => {
                self.until_canary_sings().await?;
                false
            }
        };
        if said { Ok(()) } else { self.until_canary_sings().await }
    }

    /// A pod of the scheduler under test that asks for nothing scarce is created, bound and deleted.
    async fn until_canary_sings(&self) -> Result<()> {
        let canary = format!("canary-{}", self.log.mark());
        self.canary(&canary).await?;
        let bound = |pods: &[PodState]| pods.iter().any(|it| it.name == canary && it.node.is_some());
        self.expect("the canary is bound", bound).await?;
        self.delete_pod(&canary).await
    }

    async fn canary(&self, name: &str) -> Result<()> {
        let more = match self.scheduler() {
            Scheduler::Kube => json!({}),
            Scheduler::Kai => {
                self.apply(&format!(
                    "apiVersion: scheduling.run.ai/v2alpha2\nkind: PodGroup\nmetadata: {{ name: {name} }}\nspec: {{ queue: test, minMember: 1 }}\n"
                ))
                .await?;
                json!({ "metadata": { "labels": { "kai.scheduler/queue": "test" }, "annotations": { "pod-group-name": name } } })
            }
            Scheduler::Volcano => {
                self.apply(&format!(
                    "apiVersion: scheduling.volcano.sh/v1beta1\nkind: PodGroup\nmetadata: {{ name: {name} }}\nspec: {{ minMember: 1, queue: default }}\n"
                ))
                .await?;
                json!({ "metadata": { "annotations": { "scheduling.k8s.io/group-name": name } } })
            }
        };
        self.pod(name, 0, more).await
    }
}
