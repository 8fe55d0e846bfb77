//! What has to be deleted by hand after a gang.

use std::time::Instant;

use grove_api::{constants::labels, wire::PodGang};
use grove_runtime::Rendered;
use grove_scheduler::tree::from_pod_gang;
use tracing::{debug, warn};

use super::telling::rendered;
use crate::{
    backends::{Operation, Ready},
    controllers::Grove,
    key::Key,
    seen::label,
};

impl Grove {
    /// What the backend wants to be deleted by hand when a gang is gone.
    pub(crate) fn left_by(&self, gang: &PodGang) -> Option<Leftover> {
        let name = label(&gang.metadata, labels::SCHEDULER_NAME)?;
        let readiness = self.backends.readiness(name);
        let ready = readiness.ready()?;
        let tree = from_pod_gang(gang).ok()?;
        let objects = ready.scheduler.on_pod_gang_delete(&tree);
        Some(Leftover {
            backend: name.to_owned(),
            gang: Key::of(gang),
            ready: ready.clone(),
            objects: objects.into_iter().map(rendered).collect(),
        })
    }

    /// Deletes it. It is tried once: what has to go for certain is owned by the gang.
    pub(crate) async fn clear_away(&self, left: Leftover) {
        // It is there again.
        if self.seen.gangs.cache.get(&left.gang.namespace, &left.gang.name).is_some() {
            return;
        }
        let started = Instant::now();
        let result = left.ready.applier.delete(&left.gang.namespace, &left.objects).await;
        self.metrics.backends.operated(&left.backend, Operation::Delete, result.is_ok(), started.elapsed());
        let (backend, podgang) = (left.backend, left.gang);
        match result {
            Ok(_) => debug!(backend, operation = "delete", ?podgang, "a deleted gang was cleared away"),
            Err(error) => {
                warn!(backend, operation = "delete", ?podgang, status = "failure", %error, "a deleted gang leaves something");
            }
        }
    }
}

/// Objects of a gang that is gone.
pub(crate) struct Leftover {
    backend: String,
    gang: Key,
    ready: Ready,
    objects: Vec<Rendered>,
}
