//! Autoscalers, as the HorizontalPodAutoscalers of the cluster want them: whoever has one is scaled every now and then, by the
//! same door as in a real cluster.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use grove_apiserver::{Action, PatchBody, Subresource};
use serde_json::json;
use tokio::time::sleep;

use super::{AUTOSCALERS, CLIQUES, Cluster, GROUPS, number, text};
use crate::random::Random;

/// The shortest and the longest time between two changes.
const PAUSE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_mins(1));

/// The controller of all autoscalers. Clones are the same one.
#[derive(Clone)]
pub(crate) struct Autoscaler {
    cluster: Cluster,
    is_over: Arc<AtomicBool>,
    /// Whether the API server is down.
    is_paused: Arc<AtomicBool>,
}

impl Autoscaler {
    pub(crate) fn new(cluster: Cluster) -> Self {
        Self { cluster, is_over: Arc::default(), is_paused: Arc::default() }
    }

    /// The API server is down, or there again.
    pub(crate) fn pause(&self, is_paused: bool) {
        self.is_paused.store(is_paused, Ordering::Relaxed);
    }

    /// From now on everything stays as it is.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// Scales, until it is over.
    pub(crate) async fn run(self, mut random: Random) {
        loop {
            sleep(PAUSE.0 + random.time(PAUSE.1)).await;
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            if !self.is_paused.load(Ordering::Relaxed) {
                self.scale(&mut random);
            }
        }
    }

    fn scale(&self, random: &mut Random) {
        let mut scalers = self.cluster.list(AUTOSCALERS);
        scalers.retain(|it| !it.is_terminating());
        let Some(scaler) = random.pick(&scalers) else { return };
        let bound = |field: &str| {
            number(scaler, &format!("/spec/{field}")).and_then(|it| u32::try_from(it).ok()).unwrap_or(1)
        };
        let replicas = random.between(bound("minReplicas"), bound("maxReplicas"));
        let kind = if text(scaler, "/spec/scaleTargetRef/kind") == "PodClique" { CLIQUES } else { GROUPS };
        let change = Action::Patch(PatchBody::Merge(json!({ "spec": { "replicas": replicas } })));
        let target = text(scaler, "/spec/scaleTargetRef/name");
        // The target may be on its way.
        drop(self.cluster.write("autoscaler", kind, target, Some(Subresource::Scale), change));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn targets_are_scaled_within_bounds_until_it_is_over() {
        let cluster = Cluster::new(1);
        let clique = json!({
            "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "metadata": { "name": "a", "namespace": "ml" },
            "spec": { "roleName": "a", "replicas": 1, "minAvailable": 1, "podSpec": { "containers": [] } },
        });
        cluster.write("user", CLIQUES, "", None, Action::Create(clique)).unwrap();
        let scaler = json!({
            "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler",
            "metadata": { "name": "a", "namespace": "ml" },
            "spec": {
                "minReplicas": 3, "maxReplicas": 4,
                "scaleTargetRef": { "apiVersion": "grove.io/v1alpha1", "kind": "PodClique", "name": "a" },
            },
        });
        cluster.write("user", AUTOSCALERS, "", None, Action::Create(scaler)).unwrap();
        let replicas = || number(&cluster.get(CLIQUES, "a").unwrap(), "/spec/replicas").unwrap();
        let autoscaler = Autoscaler::new(cluster.clone());
        let running = tokio::spawn(autoscaler.clone().run(Random::new(1, 5)));
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..100 {
            sleep(PAUSE.1).await;
            seen.insert(replicas());
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), [3, 4]);
        autoscaler.end();
        running.await.unwrap();
    }
}
