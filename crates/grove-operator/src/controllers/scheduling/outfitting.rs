//! What pods are created with for their scheduler.

use grove_api::{
    constants::labels,
    wire::{PodClique, PodCliqueSet},
};
use grove_scheduler::{Gang, Scheduler, backend::prepare};
use k8s_openapi::api::core::v1::Pod;

use crate::{
    backends::Ready,
    controllers::{Grove, clique::gang_place},
    seen::label,
};

impl Grove {
    /// Makes pods of a clique what their scheduler wants them to be.
    pub(in crate::controllers) fn outfitter(
        &self,
        set: &PodCliqueSet,
        clique: &PodClique,
    ) -> Result<Outfitter, String> {
        let namespace = clique.metadata.namespace.as_deref().unwrap_or_default();
        let name = label(&clique.metadata, labels::POD_GANG).unwrap_or_default();
        let gang = self.seen.gangs.cache.get(namespace, name).ok_or("the gang is gone")?;
        let place = gang_place(set, clique).ok_or("the clique is in no gang of its set")?;
        let (scheduler_name, ready) = self.backend_of(set, &gang);
        let ready = ready?;
        let tree = self.tree(&ready, set, &gang, place).map_err(|it| it.to_string())?;
        Ok(Outfitter { scheduler_name, ready, tree })
    }
}

/// Gives pods of one clique what their scheduler wants.
pub(in crate::controllers) struct Outfitter {
    scheduler_name: String,
    ready: Ready,
    tree: Gang,
}

impl Outfitter {
    /// The name of the backend.
    pub(in crate::controllers) fn backend(&self) -> &str {
        &self.scheduler_name
    }

    pub(in crate::controllers) fn prepare(&self, pod: &mut Pod) -> Result<(), String> {
        let name = &mut pod.spec.get_or_insert_default().scheduler_name;
        if name.as_deref().unwrap_or_default().is_empty() {
            *name = Some(self.scheduler_name.clone());
        }
        let scheduler: &dyn Scheduler = self.ready.scheduler.as_ref();
        prepare(scheduler, pod, &self.tree).map_err(|it| it.to_string())
    }
}
