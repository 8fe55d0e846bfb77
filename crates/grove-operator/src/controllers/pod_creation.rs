//! Creates the pods of a PodClique: slowly at first, for a limited time, and not while the operator stops.

use std::time::{Duration, Instant};

use futures::{StreamExt, future, stream};
use grove_api::{
    constants::{events::pod_clique as reasons, labels},
    wire::{PodClique, PodCliqueSet},
};
use grove_plan::{
    objects::{self, Start},
    topology::Spread,
};
use grove_runtime::{EventKind, WriteError};
use k8s_openapi::api::core::v1::Pod;

use super::{Grove, IN_FLIGHT, clique::words, scheduling::Outfitter, slice::Progress, uid};
use crate::{
    backends::Operation,
    seen::{PodView, label},
    takeover::show_pods,
};

/// How long one reconcile begins to create pods; the others come with the next one. With the time of one write it is far
/// from the deadline of a reconcile, after which nothing would be known of what it did.
const CREATES_FOR: Duration = Duration::from_secs(30);

/// Why pods were not created.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotCreated {
    #[error("{0}")]
    Unprepared(String),
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl Grove {
    /// Creates pods in batches of 1, 2, 4, …: a server that refuses them is asked once, not a thousand times.
    pub(super) async fn create_pods(
        &self,
        set: &PodCliqueSet,
        clique: &PodClique,
        indices: &[u32],
        start: Start<'_>,
    ) -> Result<Progress, NotCreated> {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let name = set.metadata.name.as_deref().unwrap_or_default();
        if indices.is_empty() {
            return Ok(Progress::All);
        }
        let outfitter = self.outfitter(set, clique).map_err(NotCreated::Unprepared)?;
        let gang = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        let gang = self.seen.gangs.cache.get(namespace, gang);
        let spread = gang.as_deref().and_then(Spread::noted);
        let begun = tokio::time::Instant::now();
        let is_over = || self.is_stopping() || begun.elapsed() >= CREATES_FOR;
        let mut rest = indices;
        let mut size = 1;
        let mut planned = 0;
        let mut created = Vec::new();
        let mut failed = None;
        while !rest.is_empty() && failed.is_none() && !is_over() {
            let (now, later) = rest.split_at(size.min(rest.len()));
            let mut pods: Vec<Pod> =
                now.iter().filter_map(|index| objects::pod(name, clique, *index, start, spread)).collect();
            if let Err(words) = self.prepare(&outfitter, &mut pods) {
                failed = Some(NotCreated::Unprepared(words));
                break;
            }
            planned += pods.len();
            let mut answers = stream::iter(pods)
                .take_while(|_| future::ready(!is_over()))
                .map(|pod| self.create_pod(clique, namespace, pod))
                .buffer_unordered(IN_FLIGHT);
            while let Some(answer) = answers.next().await {
                match answer {
                    Ok(name) => created.push(name),
                    Err(error) => {
                        failed.get_or_insert(error.into());
                    }
                }
            }
            rest = later;
            size = size.saturating_mul(2).min(IN_FLIGHT * 8);
        }
        let names: Vec<&str> = created.iter().map(String::as_str).collect();
        if let Some(note) = words("created", &names) {
            self.tell(clique, EventKind::Normal, reasons::POD_CREATED, "CreatePod", note);
        }
        match failed {
            Some(failed) => Err(failed),
            None if created.len() < planned || !rest.is_empty() => Ok(Progress::Some),
            None => Ok(Progress::All),
        }
    }

    /// Creates a pod; its name. Until the answer is in the cache, no other pod of the clique is planned. That an answer was lost
    /// is noted with the write, whatever becomes of the reconcile and of other writes beside it.
    fn create_pod(
        &self,
        clique: &PodClique,
        namespace: &str,
        pod: Pod,
    ) -> impl Future<Output = Result<String, WriteError>> + use<> {
        let (writer, cache, namespace) = (self.writer.clone(), self.seen.pods.clone(), namespace.to_owned());
        let (id, creations) = (uid(clique).to_owned(), self.memory.creations.clone());
        self.writes.run_for(uid(clique), async move {
            match writer.create::<PodView>(&namespace, &pod).await {
                Ok(pod) => Ok(cache.written(pod).fact.name.clone()),
                Err(error) => {
                    if error.is_outcome_unknown() {
                        creations.lost(&id);
                    }
                    Err(error)
                }
            }
        })
    }

    /// Lists the pods of a clique where a request for one had no answer: it may have been created, and the watch may be late.
    pub(super) async fn list_uncertain(&self, clique: &PodClique) -> Result<(), WriteError> {
        if self.memory.creations.is_uncertain(uid(clique)) {
            let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
            let name = clique.metadata.name.as_deref();
            show_pods(&self.writer, &self.seen.pods, namespace, name).await?;
            self.memory.creations.settled(uid(clique));
        }
        Ok(())
    }

    /// Lets the scheduler's backend prepare pods.
    pub(super) fn prepare(&self, outfitter: &Outfitter, pods: &mut [Pod]) -> Result<(), String> {
        let started = Instant::now();
        let result = pods.iter_mut().try_for_each(|pod| outfitter.prepare(pod));
        self.metrics.backends.operated(
            outfitter.backend(),
            Operation::Mutate,
            result.is_ok(),
            started.elapsed(),
        );
        result
    }
}
