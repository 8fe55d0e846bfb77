//! The scheduler as a cluster has it.

use grove_api::{
    constants::labels,
    field::{Error, Path},
    wire::PodCliqueSet,
};
use grove_scheduler::{Capabilities, Gang, Object, PrepareError, RenderError, Scheduler, backend::Findings};
use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

use crate::{capabilities, herd};

/// Annotation of a pod: its herd.
const HERD: &str = "herd.example.com/herd";
/// Label of a pod: its fold.
const FOLD: &str = "herd.example.com/fold";

#[derive(Debug)]
pub(crate) struct Herder {
    pub(crate) patience: u64,
    /// Whether folds may have a level.
    pub(crate) fold_levels: bool,
}

impl Scheduler for Herder {
    fn version(&self) -> Option<String> {
        Some(format!("{}/{}", herd::resource().group, herd::VERSION))
    }

    fn capabilities(&self) -> Capabilities {
        capabilities::of(self.fold_levels)
    }

    fn render(&self, gang: &Gang, existing: &[Value]) -> Result<Vec<Object>, RenderError> {
        Ok(vec![herd::herd(gang, self.patience, self.fold_levels, existing)?])
    }

    fn prepare_pod(&self, pod: &mut Pod, gang: &Gang) -> Result<(), PrepareError> {
        let own = pod.metadata.labels.get_or_insert_default();
        let fold = own.get(labels::POD_CLIQUE).cloned().unwrap_or_default();
        if gang.leaf(&fold).is_none() {
            return Err(PrepareError(format!("the pod's clique {fold:?} is not in gang {}", gang.name)));
        }
        own.insert(FOLD.to_owned(), fold);
        let notes = pod.metadata.annotations.get_or_insert_default();
        notes.insert(HERD.to_owned(), gang.name.clone());
        Ok(())
    }

    fn validate_pod_clique_set(&self, set: &PodCliqueSet, old: Option<&PodCliqueSet>) -> Findings {
        let mut errors = host_networks(set);
        // What was so before is not held against an update.
        let before = old.map(host_networks).unwrap_or_default();
        errors.retain(|it| !before.contains(it));
        Findings { errors, warnings: Vec::new() }
    }

    fn explain(&self, gang: &Gang, objects: &[Value]) -> Option<String> {
        let herd = objects.iter().find(|it| it["metadata"]["name"] == gang.name.as_str())?;
        let status = &herd["status"];
        let why = status["message"].as_str().filter(|_| status["phase"] == "Stray")?;
        Some(format!("{}: {}", gang.name, why.trim()))
    }
}

/// The imaginary scheduler does not know the ports of the host.
fn host_networks(set: &PodCliqueSet) -> Vec<Error> {
    let cliques = set.spec.template.cliques.iter().enumerate();
    cliques
        .filter(|(_, clique)| clique.spec.pod_spec.host_network == Some(true))
        .map(|(number, _)| {
            let path = Path::of(&["spec", "template", "cliques"]).index(number);
            let path = path.child("spec").child("podSpec").child("hostNetwork");
            Error::forbidden(path, "the herd scheduler does not place pods on the host's network")
        })
        .collect()
}
